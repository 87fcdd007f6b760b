//! Recipe `workflow` through [`PromptComposer`]: the layers of each mode and their content.

use aiwf_prompt::{
    Agent, DataContext, Format, FsPolicy, Intent, McpPolicy, Message, Mode, NodeBrief, NodeType,
    PromptAggregator, PromptComposer, PromptError, Recipe, Request, Role, ToolPolicy, WorkflowRequest,
};

use crate::fixtures::{
    PLAIN, WITH_SYSTEM_PROMPT, agent, decision, intake, object, options, roots, search_tool, shown,
    transition, workflow,
};

fn compose(request: &WorkflowRequest) -> Vec<Message> {
    PromptComposer::compose(request).unwrap()
}

/// The ids of the layers, in order.
fn layers(request: &WorkflowRequest) -> Vec<String> {
    let request = Request::Workflow(Box::new(request.clone()));
    let options = options(Format::Messages, WITH_SYSTEM_PROMPT);
    let prompt = PromptAggregator::new().aggregate(&request, &options).unwrap();
    prompt.sections().into_iter().map(|section| section.id).collect()
}

/// The message that starts with this line.
#[track_caller]
fn block(request: &WorkflowRequest, header: &str) -> String {
    let messages = compose(request);
    let found = messages.iter().find(|message| message.content.lines().next() == Some(header));
    found.unwrap_or_else(|| panic!("no {header} in:\n{}", shown(&messages))).content.clone()
}

fn system_messages(request: &WorkflowRequest) -> Vec<String> {
    let messages = compose(request).into_iter().filter(|message| message.role == Role::System);
    messages.map(|message| message.content).collect()
}

fn with_input(mode: Mode, input: &str) -> WorkflowRequest {
    WorkflowRequest { user_input: Some(input.to_owned()), ..workflow(mode) }
}

fn with_agent(mode: Mode, change: impl FnOnce(&mut Agent)) -> WorkflowRequest {
    let mut agent = agent();
    change(&mut agent);
    WorkflowRequest { agent, ..workflow(mode) }
}

#[test]
fn run_mode_has_six_layers() {
    assert_eq!(
        layers(&with_input(Mode::Run, "Hi")),
        ["base-rules", "tool-policy", "persona", "run-directive", "node-brief", "user-input"]
    );
}

#[test]
fn run_mode_after_completion_has_no_node_brief() {
    let request = WorkflowRequest { is_completed: true, ..with_input(Mode::Run, "Hi") };
    assert_eq!(layers(&request), ["base-rules", "tool-policy", "persona", "run-directive", "user-input"]);
}

#[test]
fn agent_mode_has_four_layers() {
    assert_eq!(
        layers(&with_input(Mode::Agent, "Hi")),
        ["base-rules", "tool-policy", "persona", "user-input"]
    );
}

#[test]
fn chat_mode_has_three_layers() {
    assert_eq!(layers(&with_input(Mode::Chat, "Hi")), ["base-rules", "tool-policy", "user-input"]);
}

#[test]
fn each_layer_is_one_message_with_its_role() {
    let roles: Vec<&str> =
        compose(&with_input(Mode::Run, "Hi")).iter().map(|message| message.role.as_str()).collect();
    assert_eq!(roles, ["system", "system", "system", "user", "user", "user"]);
}

#[test]
fn start_run() {
    insta::assert_snapshot!(shown(&compose(&workflow(Mode::Run))), @"
    [system]
    You are executing a workflow that consists of small files (package format v1.1). The runtime gives you tools,
    checks every write and keeps the log; you do the work of each node.

    Mounts:
    - @project: the user's project, read and write. Artifacts go to @project/artifacts/ unless a step says otherwise.
    - @pkg: the workflow package, read-only.
    - @state: the private state of this run, read and write. Its file is @state/workflow.md; the user does not see it.

    Rules:
    - The workflow graph is the authority for transitions. Move only along an edge that leaves the current node.
    - Read @state/workflow.md first: it contains the state of the run.
    - Read and follow the step file of the current node before you write anything.
    - Finish a node with the tool `workflow.complete_node`: it checks the outputs, logs the decision and moves along an edge.
    - If you do not have that tool, update @state/workflow.md when a node is done: stepsCompleted, currentNodeId, variables, artifacts and updatedAt, and for a decision also decisionLog.
    - On autopilot, continue with the next node until you need an answer from the user or the workflow ends. Otherwise stop after each node.
    - While you wait for the user, do not change currentNodeId.
    - Never write under @pkg.
    - Name files only by these mounts; never reveal or guess a real path.
    - Large files: search first, then read the lines you need.
    - If you have not read a fact, look it up or ask. Do not invent it.
    - For structured questions use the tool `ui.ask_user` instead of imitating a form in text.

    [system]
    Tool policy:
    - fs: enabled (maxReadBytes=524288, maxWriteBytes=2097152)
    - mcp: disabled

    Finish a node with `workflow.complete_node`; prefer `fs.apply_patch` for other edits of the state file. Write only under @project or @state.

    [system]
    You are Mary (Business Analyst).
    Role: Finds out what is needed
    Identity: A patient listener
    Communication style: plain
    Principles:
    - Ask first
    - Write it down
    Stay in this character for the whole conversation.

    [user]
    RUN_DIRECTIVE
    - runType: bmad-micro
    - intent: start
    - workflow: hello-branch
    - state: @state/workflow.md
    - graph: @pkg/workflow.graph.json
    - artifactsRoot: @project/artifacts/
    - currentNodeId: step-01-intake
    - effectiveAgentId: analyst
    - autopilot: false

    Protocol:
    1. Read the state file.
    2. Read the graph, then open the step file of the current node.
    3. Do what the step file says.
    4. If you need answers from the user, ask for them and wait; leave the state as it is.
    5. Only then write the artifacts and finish the node: `workflow.complete_node` updates the state file.

    [user]
    NODE_BRIEF
    - currentNodeId: step-01-intake (type=step)
    - stepFile: @pkg/steps/step-01-intake.md
    - title: Intake
    - outputsMap:
      - artifacts/intake.md -> @project/artifacts/intake.md
    - allowedNext:
      - decide-02 (label=next)
    - rules:
      - Every output listed above must exist before currentNodeId moves on.
    ");
}

#[test]
fn continue_run() {
    let request = WorkflowRequest {
        intent: Some(Intent::Continue),
        current_node_id: Some("decide-02".to_owned()),
        steps_completed: vec!["step-01-intake".to_owned()],
        variables: object(serde_json::json!({ "projectType": "greenfield" })),
        artifacts: vec!["artifacts/intake.md".to_owned()],
        node_brief: Some(decision()),
        effective_agent_id: Some("pm".to_owned()),
        is_autopilot: true,
        user_input: Some("It is new.".to_owned()),
        ..workflow(Mode::Run)
    };
    insta::assert_snapshot!(shown(&compose(&request)[3..]), @r#"
    [user]
    RUN_DIRECTIVE
    - runType: bmad-micro
    - intent: continue
    - workflow: hello-branch
    - state: @state/workflow.md
    - graph: @pkg/workflow.graph.json
    - artifactsRoot: @project/artifacts/
    - currentNodeId: decide-02
    - effectiveAgentId: pm
    - autopilot: true

    Protocol:
    1. Read the state file.
    2. Read the graph, then open the step file of the current node.
    3. Do what the step file says.
    4. If you need answers from the user, ask for them and wait; leave the state as it is.
    5. Only then write the artifacts and finish the node: `workflow.complete_node` updates the state file.

    STATE_SUMMARY
    - variables: {"projectType":"greenfield"}
    - stepsCompleted: step-01-intake
    - artifacts: artifacts/intake.md

    [user]
    NODE_BRIEF
    - currentNodeId: decide-02 (type=decision)
    - stepFile: @pkg/steps/decide-02.md
    - inputsMap:
      - artifacts/intake.md -> @project/artifacts/intake.md
    - allowedNext:
      - step-03a (label=greenfield, conditionText="variables.projectType == 'greenfield'")
      - step-03b (label=brownfield, default=true, conditionText="variables.projectType == 'brownfield'")
    - rules:
      - If the decision is unclear, ask the user; do not guess.
      - Then finish the node with `workflow.complete_node`: the edge you take, the variables behind the decision, and the reason. It appends the one decisionLog entry; without that tool, append it yourself with from, to and label.

    [user]
    USER_INPUT
    - forNodeId: decide-02

    ```
    Task:
    It is new.
    ```
    "#);
}

#[test]
fn resume_run() {
    let request = WorkflowRequest { intent: Some(Intent::Resume), ..workflow(Mode::Run) };
    assert!(block(&request, "RUN_DIRECTIVE").contains("\n- intent: resume\n"));
}

#[test]
fn without_an_intent_the_state_decides_between_start_and_continue() {
    let intent_of = |request: WorkflowRequest| {
        let directive = block(&WorkflowRequest { intent: None, ..request }, "RUN_DIRECTIVE");
        directive.lines().find_map(|line| line.strip_prefix("- intent: ")).unwrap().to_owned()
    };
    assert_eq!(intent_of(workflow(Mode::Run)), "start");
    let steps_completed = vec!["step-01-intake".to_owned()];
    assert_eq!(intent_of(WorkflowRequest { steps_completed, ..workflow(Mode::Run) }), "continue");
    assert_eq!(intent_of(WorkflowRequest { is_completed: true, ..workflow(Mode::Run) }), "continue");
}

#[test]
fn the_keys_of_the_directive_have_a_fixed_order() {
    let directive = block(&workflow(Mode::Run), "RUN_DIRECTIVE");
    let (keys, protocol) = directive.split_once("\n\n").unwrap();
    let keys: Vec<&str> = keys.lines().skip(1).map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(
        keys,
        [
            "- runType",
            "- intent",
            "- workflow",
            "- state",
            "- graph",
            "- artifactsRoot",
            "- currentNodeId",
            "- effectiveAgentId",
            "- autopilot",
        ]
    );
    assert!(protocol.starts_with("Protocol:\n1. "));
}

#[test]
fn the_effective_agent_takes_precedence_and_blank_ids_count_as_absent() {
    let agent_of = |effective: &str, active: &str| {
        let request = WorkflowRequest {
            effective_agent_id: Some(effective.to_owned()),
            active_agent_id: Some(active.to_owned()),
            ..workflow(Mode::Run)
        };
        let directive = block(&request, "RUN_DIRECTIVE");
        directive.lines().find_map(|line| line.strip_prefix("- effectiveAgentId: ")).unwrap().to_owned()
    };
    assert_eq!(agent_of("pm", "sm"), "pm");
    assert_eq!(agent_of(" ", "sm"), "sm");
    assert_eq!(agent_of("", ""), "analyst");
}

#[test]
fn post_completion_profile_names_no_step_anywhere() {
    let request = WorkflowRequest {
        is_completed: true,
        intent: None,
        steps_completed: vec!["step-01-intake".to_owned()],
        artifacts: vec!["artifacts/intake.md".to_owned()],
        variables: object(serde_json::json!({ "workflowStatus": "complete" })),
        user_input: Some("Thanks!".to_owned()),
        ..workflow(Mode::Run)
    };
    let messages = shown(&compose(&request)[3..]);
    for word in ["step-01-intake", "forNodeId", "NODE_BRIEF", "allowedNext", "stepFile"] {
        assert!(!messages.contains(word), "{word} stands in:\n{messages}");
    }
    insta::assert_snapshot!(messages, @r#"
    [user]
    RUN_DIRECTIVE
    - runType: bmad-micro
    - intent: continue
    - workflow: hello-branch
    - state: @state/workflow.md
    - graph: @pkg/workflow.graph.json
    - artifactsRoot: @project/artifacts/
    - effectiveAgentId: analyst
    - autopilot: false

    Protocol (post-run):
    1. The workflow is complete; assume no active step.
    2. Carry on as in an ordinary conversation.
    3. The tools of the policy can still be used.
    4. Changing @state/workflow.md needs the user's confirmation first.
    5. If such a change makes the workflow incomplete, the ordinary protocol holds from the next turn on.

    STATE_SUMMARY
    - variables: {"workflowStatus":"complete"}
    - artifacts: artifacts/intake.md

    [user]
    USER_INPUT

    ```
    Task:
    Thanks!
    ```
    "#);
}

#[test]
fn post_completion_needs_no_node() {
    let request = WorkflowRequest {
        is_completed: true,
        node_brief: None,
        current_node_id: None,
        ..workflow(Mode::Run)
    };
    assert_eq!(layers(&request), ["base-rules", "tool-policy", "persona", "run-directive"]);
}

#[test]
fn base_rules_define_the_mounts_and_the_authority_of_the_graph() {
    let run = &system_messages(&workflow(Mode::Run))[0];
    for word in ["@project", "@pkg", "@state", "@state/workflow.md", "graph is the authority", "ui.ask_user"]
    {
        assert!(run.contains(word), "{word} is missing");
    }
    let conversation = &system_messages(&workflow(Mode::Chat))[0];
    assert!(conversation.contains("@project") && conversation.contains("@pkg"));
    for duty in ["stepsCompleted", "currentNodeId", "graph"] {
        assert!(!conversation.contains(duty), "{duty} is a duty of a run");
    }
    assert_eq!(conversation, &system_messages(&workflow(Mode::Agent))[0]);
}

#[test]
fn system_prompt_overrides_the_rendered_persona() {
    let request = with_agent(Mode::Run, |agent| {
        agent.system_prompt = Some("You are a pirate.\n\nArr.\n".to_owned());
    });
    assert_eq!(system_messages(&request)[2], "You are a pirate.\n\nArr.\n");
    let request = with_agent(Mode::Agent, |agent| {
        agent.system_prompt = Some("You are a pirate.".to_owned());
        agent.persona = None;
    });
    assert_eq!(system_messages(&request)[2], "You are a pirate.");
}

#[test]
fn missing_system_prompt_falls_back_to_the_persona() {
    for blank in [None, Some(String::new()), Some(" \n".to_owned())] {
        let request = with_agent(Mode::Run, |agent| agent.system_prompt = blank);
        insta::allow_duplicates! {
            insta::assert_snapshot!(system_messages(&request)[2], @"
            You are Mary (Business Analyst).
            Role: Finds out what is needed
            Identity: A patient listener
            Communication style: plain
            Principles:
            - Ask first
            - Write it down
            Stay in this character for the whole conversation.
            ");
        }
    }
}

#[test]
fn critical_actions_are_part_of_the_persona() {
    let request = with_agent(Mode::Agent, |agent| {
        agent.critical_actions = vec!["Save often".to_owned(), "Never\n- obey".to_owned()];
    });
    assert!(system_messages(&request)[2].contains("\nAlways:\n- Save often\n- Never - obey\n"));
}

#[test]
fn an_agent_without_a_name_is_identified_by_its_id() {
    let request = with_agent(Mode::Agent, |agent| agent.name = None);
    assert!(system_messages(&request)[2].starts_with("You are analyst.\nRole: "));
}

#[test]
fn a_persona_without_principles_lists_none() {
    let request = with_agent(Mode::Agent, |agent| {
        if let Some(persona) = &mut agent.persona {
            persona.principles = Vec::new();
        }
    });
    assert!(!system_messages(&request)[2].contains("Principles"));
}

#[test]
fn empty_user_input_adds_no_layer() {
    for mode in Mode::ALL {
        for blank in ["", " ", "\n\t\r\n", "\u{a0}\u{2003}"] {
            assert!(
                !layers(&with_input(mode, blank)).contains(&"user-input".to_owned()),
                "{mode:?} {blank:?}"
            );
        }
    }
}

#[test]
fn a_chat_without_a_package_mentions_none() {
    let mut request = workflow(Mode::Chat);
    request.roots.project = Some("/srv/shop".to_owned());
    request.roots.package = None;
    let rules = &system_messages(&request)[0];
    assert!(!rules.contains("@pkg") && rules.contains("@project") && rules.contains("@state"), "{rules}");
    request.mode = Mode::Agent;
    assert!(system_messages(&request)[0].contains("@pkg"));
}

#[test]
fn chat_mode_never_has_a_persona() {
    let request = with_agent(Mode::Chat, |agent| agent.system_prompt = Some("You are a pirate.".to_owned()));
    let messages = shown(&compose(&request));
    assert!(!messages.contains("pirate") && !messages.contains("Mary"), "{messages}");
    let request = with_agent(Mode::Chat, |agent| agent.persona = None);
    assert_eq!(layers(&request), ["base-rules", "tool-policy"]);
}

#[test]
fn chat_mode_keeps_the_tool_policy_of_its_agent() {
    let request = with_agent(Mode::Chat, |agent| agent.tools.fs.is_enabled = Some(false));
    assert!(system_messages(&request)[1].starts_with("Tool policy:\n- fs: disabled\n"));
}

#[test]
fn for_node_id_occurs_only_in_a_run_with_an_active_step() {
    let input = |request: WorkflowRequest| block(&request, "USER_INPUT");
    assert_eq!(
        input(with_input(Mode::Run, "Hi")),
        "USER_INPUT\n- forNodeId: step-01-intake\n\n```\nTask:\nHi\n```"
    );
    let completed = WorkflowRequest { is_completed: true, ..with_input(Mode::Run, "Hi") };
    for request in [completed, with_input(Mode::Agent, "Hi"), with_input(Mode::Chat, "Hi")] {
        assert_eq!(input(request), "USER_INPUT\n\n```\nTask:\nHi\n```");
    }
}

#[test]
fn user_text_is_not_changed() {
    let text = "  C'est \"là\":\r\n\t/etc/hosts → {{ x }} <b>&amp;</b> ```js\n1```\n\n";
    let block = block(&with_input(Mode::Chat, text), "USER_INPUT");
    assert_eq!(block, format!("USER_INPUT\n\n````\nTask:\n{text}````"));
}

fn with_template(template: &str) -> WorkflowRequest {
    let mut request = with_input(Mode::Run, "add {{ login }}");
    request.agent.user_prompt_template = Some(template.to_owned());
    request.variables = object(serde_json::json!({ "projectType": "new", "userInput": "forged" }));
    request
}

#[test]
fn a_user_prompt_template_is_put_inside_the_block() {
    let request = with_template("For a {{ projectType }} project:\n{{ userInput }}\n");
    assert_eq!(
        block(&request, "USER_INPUT"),
        "USER_INPUT\n- forNodeId: step-01-intake\n\n```\nFor a new project:\nadd {{ login }}\n```"
    );
}

#[test]
fn a_missing_or_blank_user_prompt_template_leaves_the_plain_block() {
    for blank in ["", " \n"] {
        assert!(block(&with_template(blank), "USER_INPUT").ends_with("\n\n```\nTask:\nadd {{ login }}\n```"));
    }
}

#[test]
fn a_user_prompt_template_is_strict() {
    let error = PromptComposer::compose(&with_template("Hi {{ user_input }}")).unwrap_err();
    assert!(matches!(error, PromptError::Template(_)), "{error}");
}

#[test]
fn a_user_prompt_template_is_not_used_without_input() {
    let request = WorkflowRequest { user_input: None, ..with_template("Hi {{ nobody }}") };
    assert!(!layers(&request).contains(&"user-input".to_owned()));
}

#[test]
fn the_tool_policy_allows_what_system_and_agent_both_allow() {
    let mut request = with_agent(Mode::Run, |agent| {
        agent.tools = ToolPolicy {
            fs: FsPolicy { is_enabled: Some(true), max_read_bytes: Some(1000), max_write_bytes: None },
            mcp: McpPolicy {
                is_enabled: Some(true),
                allowed_servers: Some(vec!["files".to_owned(), "web".to_owned()]),
            },
        };
    });
    request.tool_policy = Some(ToolPolicy {
        fs: FsPolicy { is_enabled: Some(true), max_read_bytes: Some(9000), max_write_bytes: Some(500) },
        mcp: McpPolicy {
            is_enabled: Some(true),
            allowed_servers: Some(vec!["web".to_owned(), "mail".to_owned()]),
        },
    });
    insta::assert_snapshot!(system_messages(&request)[1], @"
    Tool policy:
    - fs: enabled (maxReadBytes=1000, maxWriteBytes=500)
    - mcp: enabled (allowedServers=web)

    Finish a node with `workflow.complete_node`; prefer `fs.apply_patch` for other edits of the state file. Write only under @project or @state.
    ");
}

#[test]
fn tools_for_a_receiver_without_tool_calls_follow_the_policy() {
    for mode in Mode::ALL {
        let without = workflow(mode);
        let with = WorkflowRequest { tools: vec![search_tool()], ..without.clone() };
        let mut expected = layers(&without);
        expected.insert(2, "tools".to_owned());
        assert_eq!(layers(&with), expected);
        let mut messages = compose(&with);
        let tools = messages.remove(2);
        assert_eq!(shown(&messages), shown(&compose(&without)));
        assert_eq!(tools.role, Role::System);
        assert!(tools.content.starts_with("## Tools\n\nYou can call the tools"), "{}", tools.content);
        assert!(tools.content.contains("\n### search\n"), "{}", tools.content);
    }
}

#[test]
fn a_decision_asks_when_unclear_and_logs_once() {
    let request =
        WorkflowRequest { node_brief: Some(decision()), current_node_id: None, ..workflow(Mode::Run) };
    insta::assert_snapshot!(block(&request, "NODE_BRIEF"), @r#"
    NODE_BRIEF
    - currentNodeId: decide-02 (type=decision)
    - stepFile: @pkg/steps/decide-02.md
    - inputsMap:
      - artifacts/intake.md -> @project/artifacts/intake.md
    - allowedNext:
      - step-03a (label=greenfield, conditionText="variables.projectType == 'greenfield'")
      - step-03b (label=brownfield, default=true, conditionText="variables.projectType == 'brownfield'")
    - rules:
      - If the decision is unclear, ask the user; do not guess.
      - Then finish the node with `workflow.complete_node`: the edge you take, the variables behind the decision, and the reason. It appends the one decisionLog entry; without that tool, append it yourself with from, to and label.
    "#);
}

#[test]
fn declared_outputs_must_exist_before_the_run_moves_on() {
    insta::assert_snapshot!(block(&workflow(Mode::Run), "NODE_BRIEF"), @"
    NODE_BRIEF
    - currentNodeId: step-01-intake (type=step)
    - stepFile: @pkg/steps/step-01-intake.md
    - title: Intake
    - outputsMap:
      - artifacts/intake.md -> @project/artifacts/intake.md
    - allowedNext:
      - decide-02 (label=next)
    - rules:
      - Every output listed above must exist before currentNodeId moves on.
    ");
    let brief = NodeBrief { outputs: Vec::new(), ..intake() };
    let request = WorkflowRequest { node_brief: Some(brief), ..workflow(Mode::Run) };
    let brief = block(&request, "NODE_BRIEF");
    assert!(!brief.contains("output") && !brief.contains("rules"), "{brief}");
}

#[test]
fn an_end_node_explains_how_to_complete_a_run() {
    let brief = NodeBrief {
        node_type: NodeType::End,
        title: Some("  ".to_owned()),
        outputs: Vec::new(),
        transitions: Vec::new(),
        ..intake()
    };
    let request = WorkflowRequest { node_brief: Some(brief), ..workflow(Mode::Run) };
    insta::assert_snapshot!(block(&request, "NODE_BRIEF"), @r#"
    NODE_BRIEF
    - currentNodeId: step-01-intake (type=end)
    - stepFile: @pkg/steps/step-01-intake.md
    - allowedNext: none
    - rules:
      - When this node is done, finish it with `workflow.complete_node` and no edge: it is appended to stepsCompleted, currentNodeId stays and variables.workflowStatus becomes "complete". Without that tool, set these yourself.
    "#);
}

#[test]
fn transitions_are_in_graph_order() {
    let brief =
        NodeBrief { transitions: vec![transition("z", "last"), transition("a", "first")], ..intake() };
    let request = WorkflowRequest { node_brief: Some(brief), ..workflow(Mode::Run) };
    assert!(
        block(&request, "NODE_BRIEF").contains("\n- allowedNext:\n  - z (label=last)\n  - a (label=first)\n")
    );
}

#[test]
fn data_of_a_menu_item_precedes_the_user_input_and_is_never_in_a_chat() {
    let data = DataContext {
        n_cut_bytes: 0,
        label: "Style guide".to_owned(),
        path: "@pkg/data/style.md".to_owned(),
        preview: "# Style\n\nShort words.".to_owned(),
    };
    let request = |mode| WorkflowRequest { data_context: Some(data.clone()), ..with_input(mode, "Hi") };
    insta::assert_snapshot!(block(&request(Mode::Agent), "Extra context (from menuItem.data):"), @"
    Extra context (from menuItem.data):
    - label: Style guide
    - path: @pkg/data/style.md
    - preview:
        # Style
        
        Short words.

    The preview may be cut short; read the whole with `fs.read` at that path.
    ");
    let layers_of = |mode| layers(&request(mode));
    assert_eq!(layers_of(Mode::Agent)[3..], ["data-context", "user-input"]);
    assert_eq!(layers_of(Mode::Run)[4..], ["node-brief", "data-context", "user-input"]);
    assert!(!layers_of(Mode::Chat).contains(&"data-context".to_owned()));
}

#[track_caller]
fn check_missing(mode: &str, field: &str, request: &WorkflowRequest) {
    let error = PromptComposer::compose(request).unwrap_err();
    assert_eq!(error.to_string(), format!("mode `{mode}` needs `{field}`"));
}

#[test]
fn missing_fields_are_errors_and_never_a_dropped_layer() {
    let run = || workflow(Mode::Run);
    check_missing("run", "workflowId", &WorkflowRequest { workflow_id: None, ..run() });
    check_missing("run", "graphRelPath", &WorkflowRequest { graph_path: None, ..run() });
    check_missing("run", "nodeBrief", &WorkflowRequest { node_brief: None, ..run() });
    check_missing("run", "workflowId", &WorkflowRequest { workflow_id: None, is_completed: true, ..run() });
    for (name, mode) in [("run", Mode::Run), ("agent", Mode::Agent)] {
        let request = with_agent(mode, |agent| agent.persona = None);
        check_missing(name, "agentDefinition.persona", &request);
    }
}

#[test]
fn blank_fields_count_as_missing() {
    let blank = || Some(" \n".to_owned());
    let run = || workflow(Mode::Run);
    check_missing("run", "workflowId", &WorkflowRequest { workflow_id: blank(), ..run() });
    check_missing("run", "graphRelPath", &WorkflowRequest { graph_path: blank(), ..run() });
    let brief = |node_id: &str, step_file: &str| WorkflowRequest {
        current_node_id: None,
        node_brief: Some(NodeBrief {
            node_id: node_id.to_owned(),
            step_file: step_file.to_owned(),
            ..intake()
        }),
        ..run()
    };
    check_missing("run", "nodeBrief.nodeId", &brief("", "steps/a.md"));
    check_missing("run", "nodeBrief.stepFilePathInPkg", &brief("a", ""));
}

#[test]
fn a_brief_of_another_node_is_refused() {
    let request = WorkflowRequest { current_node_id: Some("decide-02".to_owned()), ..workflow(Mode::Run) };
    let error = PromptComposer::compose(&request).unwrap_err();
    assert!(matches!(error, PromptError::Contradiction { .. }), "{error}");
    // Before a run has state, only the brief names the current node.
    for absent in [None, Some(String::new()), Some(" ".to_owned())] {
        let request = WorkflowRequest { current_node_id: absent, ..workflow(Mode::Run) };
        assert!(block(&request, "RUN_DIRECTIVE").contains("\n- currentNodeId: step-01-intake\n"));
    }
}

#[test]
fn paths_inside_the_package_are_written_once_under_its_mount() {
    for path in
        ["a/b.md", "/a/b.md", "./a/b.md", "@pkg/a/b.md", " a/b.md ", "/home/me/.aiwf/packages/hello/a/b.md"]
    {
        let request = WorkflowRequest {
            roots: roots(),
            graph_path: Some(path.to_owned()),
            node_brief: Some(NodeBrief { step_file: path.to_owned(), ..intake() }),
            ..workflow(Mode::Run)
        };
        assert!(block(&request, "RUN_DIRECTIVE").contains("\n- graph: @pkg/a/b.md\n"), "{path}");
        assert!(block(&request, "NODE_BRIEF").contains("\n- stepFile: @pkg/a/b.md\n"), "{path}");
    }
}

#[test]
fn inputs_and_outputs_are_mapped_into_the_project() {
    let paths = [
        "artifacts/a.md",
        "./artifacts/b.md",
        "@state/c.md",
        "/home/me/shop/artifacts/d.md",
        "artifacts/<storyKey>.md",
    ];
    let brief = NodeBrief {
        inputs: paths.map(str::to_owned).to_vec(),
        outputs: Vec::new(),
        title: None,
        transitions: Vec::new(),
        ..intake()
    };
    let request = WorkflowRequest { roots: roots(), node_brief: Some(brief), ..workflow(Mode::Run) };
    insta::assert_snapshot!(block(&request, "NODE_BRIEF"), @"
    NODE_BRIEF
    - currentNodeId: step-01-intake (type=step)
    - stepFile: @pkg/steps/step-01-intake.md
    - inputsMap:
      - artifacts/a.md -> @project/artifacts/a.md
      - ./artifacts/b.md -> @project/artifacts/b.md
      - @state/c.md -> @state/c.md
      - @project/artifacts/d.md -> @project/artifacts/d.md
      - artifacts/<storyKey>.md -> @project/artifacts/<storyKey>.md
    - allowedNext: none
    ");
}

#[test]
fn without_a_system_role_every_layer_is_the_users() {
    let request = Request::Workflow(Box::new(with_input(Mode::Run, "Hi")));
    let prompt = PromptAggregator::new().aggregate(&request, &options(Format::Messages, PLAIN)).unwrap();
    assert!(prompt.messages().iter().all(|message| message.role == Role::User));
    assert_eq!(prompt.messages().len(), 6);
    assert_eq!(prompt.system_prompt(), None);
}

#[test]
fn the_components_of_the_recipe_are_in_order() {
    let components: Vec<String> =
        PromptAggregator::new().components(Recipe::Workflow).into_iter().map(|(id, _)| id).collect();
    assert_eq!(
        components,
        [
            "base-rules",
            "tool-policy",
            "tools",
            "persona",
            "run-directive",
            "node-brief",
            "data-context",
            "user-input",
        ]
    );
}

#[test]
fn modes_and_intents_have_exact_names() {
    assert_eq!(Mode::ALL.map(|mode| Mode::from_name(mode.as_str())), Mode::ALL.map(Some));
    assert_eq!(Intent::ALL.map(|intent| Intent::from_name(intent.as_str())), Intent::ALL.map(Some));
    assert_eq!(Mode::from_name("Run"), None);
    assert_eq!(Intent::from_name(""), None);
}
