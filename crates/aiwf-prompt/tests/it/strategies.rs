//! Requests, sections and texts for property tests.

use aiwf_prompt::{
    Artifact, Capability, ChangeRequest, CodeFile, ComponentSetting, ContextItem, DataContext, Format,
    FsAbility, Intent, ItemKind, Mode, Need, NodeBrief, NodeType, Part, PartBody, ReplyMode, ReplyRequest,
    Request, Role, Section, SectionKind, SessionPhase, SessionRequest, Text, ToolPolicy, ToolSchema,
    Transition, WorkflowRequest,
};
use proptest::prelude::*;

use crate::fixtures::{agent, change, input, intake, reply, roots, workflow};

/// Text that is difficult for formats and vocabularies.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-zA-Z0-9 ]{0,8}",
        1 => "\\PC{0,4}",
        4 => prop::sample::select(vec![
            "\n", "\n\n", "\r\n", "\r", "\t", "  \n", "/", "//", "`", "```", "````\n", "~~~", "---", "\n---\n", "## Output",
            "### a", "<", ">", "&", "\"", "'", "]]>", "<![CDATA[", "&#13;", "</file>", "</prompt>", "\0", "\u{b}", "\u{1b}",
            "\u{85}", "\u{2028}", "\u{fffe}", "\u{feff}", "é", "日本", "🙂", "{{ x }}", "{%", "@", "/home/me", "/home/me/shop/a",
            "C:\\x", "'s", "1234567", "RUN_DIRECTIVE", "- intent: resume", "\\n", "\\",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

pub(crate) fn body() -> impl Strategy<Value = PartBody> {
    prop_oneof![
        4 => text().prop_map(|text| PartBody::Inline(Text::from(text))),
        1 => text().prop_map(PartBody::Reference),
        1 => text().prop_map(PartBody::Note),
    ]
}

pub(crate) fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..3)
}

pub(crate) fn maybe<T: std::fmt::Debug + 'static>(
    strategy: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    prop::option::of(strategy)
}

pub(crate) fn session() -> impl Strategy<Value = Request> {
    let artifact =
        || maybe((text(), text()).prop_map(|(path, text)| Artifact { path, text: Text::from(text) }));
    let code = prop::collection::vec(
        (text(), text(), body()).prop_map(|(name, path, body)| CodeFile { name, path, body }),
        0..4,
    );
    let phase = prop::sample::select(SessionPhase::ALL.to_vec());
    (phase, text(), artifact(), (artifact(), artifact()), code, artifact(), maybe(text()), maybe(text()))
        .prop_map(
            |(
                phase,
                profile_prompt,
                plan,
                (standards, project_context),
                code,
                review,
                feedback,
                response_path,
            )| {
                Request::Session(SessionRequest {
                    tools: Vec::new(),
                    phase,
                    profile_prompt: Text::from(profile_prompt),
                    profile_source: input("profile_prompt"),
                    plan,
                    standards,
                    project_context: project_context.into_iter().collect(),
                    code,
                    review,
                    comments: feedback.clone().map(Text::from).map(Box::new),
                    notes: response_path.clone().map(Text::from).map(Box::new),
                    feedback: feedback.map(Text::from),
                    rejected_reply: None,
                    project_files: Vec::new(),
                    changes: None,
                    checks: None,
                    answer_format: None,
                    response_path,
                })
            },
        )
}

pub(crate) fn context_items() -> impl Strategy<Value = Vec<ContextItem>> {
    let kind = prop::sample::select(ItemKind::ALL.to_vec());
    let item = (kind, text(), body()).prop_map(|(kind, name, body)| ContextItem {
        is_required: false,
        kind,
        name,
        body,
        source: input("context"),
    });
    prop::collection::vec(item, 0..5)
}

pub(crate) fn change_request() -> impl Strategy<Value = ChangeRequest> {
    (maybe(text()), context_items(), text()).prop_map(|(system_prompt, context, instructions)| {
        ChangeRequest {
            system_prompt: system_prompt.map(|text| (Text::from(text), input("system_prompt"))),
            context,
            ..change(&instructions)
        }
    })
}

pub(crate) fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        text().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::from),
            prop::collection::btree_map(text(), inner, 0..3)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

pub(crate) fn node_brief() -> impl Strategy<Value = NodeBrief> {
    let transition = (text(), text(), any::<bool>(), maybe(text()))
        .prop_map(|(to, label, is_default, condition)| Transition { to, label, is_default, condition });
    let node_type =
        prop_oneof![Just("step".to_owned()), Just("decision".to_owned()), Just("end".to_owned()), text()];
    (node_type, maybe(text()), text(), texts(), texts(), prop::collection::vec(transition, 0..3)).prop_map(
        |(node_type, title, step_file, inputs, outputs, transitions)| NodeBrief {
            node_type: NodeType::from_name(&node_type),
            title,
            step_file: format!("steps/{step_file}"),
            inputs,
            outputs,
            transitions,
            ..intake()
        },
    )
}

pub(crate) fn workflow_request() -> impl Strategy<Value = WorkflowRequest> {
    let mode = prop::sample::select(Mode::ALL.to_vec());
    let intent = maybe(prop::sample::select(Intent::ALL.to_vec()));
    let data = maybe((text(), text(), text()).prop_map(|(label, path, preview)| DataContext {
        n_cut_bytes: 0,
        label,
        path,
        preview,
    }));
    let template =
        maybe(prop::sample::select(vec!["{{ userInput }}", "A\n```\n{{ userInput }}\n", "", "none"]));
    let state = (prop::collection::btree_map(text(), json(), 0..3), texts(), texts(), any::<bool>());
    let person = (maybe(text()), text(), texts());
    (mode, intent, node_brief(), maybe(text()), data, template, state, person, text(), any::<bool>())
        .prop_map(
            |(mode, intent, brief, user_input, data_context, template, state, person, id, is_autopilot)| {
                let mut agent = agent();
                agent.user_prompt_template = template.map(str::to_owned);
                let (system_prompt, identity, principles) = person;
                agent.system_prompt = system_prompt;
                if let Some(persona) = &mut agent.persona {
                    persona.identity = identity;
                    persona.principles = principles;
                }
                agent.tools = ToolPolicy::default();
                let (variables, steps_completed, artifacts, is_completed) = state;
                WorkflowRequest {
                    roots: roots(),
                    workflow_id: Some(format!("w{id}")),
                    graph_path: Some(format!("graph{id}")),
                    effective_agent_id: Some(id),
                    agent,
                    variables: variables.into_iter().collect(),
                    steps_completed,
                    artifacts,
                    node_brief: Some(brief),
                    intent,
                    is_autopilot,
                    user_input,
                    data_context,
                    is_completed,
                    ..workflow(mode)
                }
            },
        )
}

pub(crate) fn reply_request() -> impl Strategy<Value = Request> {
    let tool = (text(), maybe(text()), maybe(json()))
        .prop_map(|(name, description, input_schema)| ToolSchema { name, description, input_schema });
    let ids = ["system-prompt", "mcp-tools", "user-context", "tool-results", "ai-message", "closing"];
    let setting = (prop::sample::select(ids.to_vec()), maybe(any::<i32>()), maybe(any::<bool>()))
        .prop_map(|(id, order, is_enabled)| ComponentSetting { id: id.to_owned(), order, is_enabled });
    let mode = prop::sample::select(ReplyMode::ALL.to_vec());
    let tools = (prop::collection::vec(tool, 0..3), maybe(text()), maybe(text()));
    let spoken = (text(), maybe(text()), maybe(text()), maybe(text()), maybe(text()));
    (mode, spoken, tools, prop::collection::vec(setting, 0..4)).prop_map(
        |(mode, spoken, tools, components)| {
            let (ai_message, user_context, tool_results, system_prompt, closing) = spoken;
            let (tools, project_name, project_path) = tools;
            Request::Reply(ReplyRequest {
                ai_message: Text::from(ai_message),
                user_context: user_context.map(Text::from),
                tool_results: tool_results.map(Text::from),
                includes_tools: true,
                project_name,
                project_path,
                system_prompt: system_prompt.map(Text::from),
                closing: closing.map(Text::from),
                components,
                tools,
                ..reply(mode)
            })
        },
    )
}

pub(crate) fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        session(),
        change_request().prop_map(Request::Change),
        workflow_request().prop_map(|request| Request::Workflow(Box::new(request))),
        reply_request(),
    ]
}

pub(crate) fn format() -> impl Strategy<Value = Format> {
    prop::sample::select(Format::ALL.to_vec())
}

pub(crate) fn capability() -> impl Strategy<Value = Capability> {
    let ability = maybe(prop::sample::select(FsAbility::ALL.to_vec()));
    (ability, any::<bool>(), any::<bool>()).prop_map(
        |(fs_ability, supports_system_prompt, supports_file_attachments)| Capability {
            fs_ability,
            supports_system_prompt,
            supports_file_attachments,
            sends_files: false,
        },
    )
}

/// Custom sections: every need, role and kind, with and without parts and headings.
pub(crate) fn sections() -> impl Strategy<Value = Vec<Section>> {
    let need = || prop_oneof![Just(Need::Required), (0u32..3).prop_map(Need::Optional)];
    let kind = || {
        prop::sample::select(vec![
            SectionKind::Instructions,
            SectionKind::File,
            SectionKind::Artifact,
            SectionKind::Thought,
        ])
    };
    let part = (text(), kind(), body(), need()).prop_map(|(name, kind, body, need)| Part {
        name,
        kind,
        source: input("part"),
        body,
        need,
        cut: None,
        attached: None,
    });
    let role = prop::sample::select(vec![Role::System, Role::User]);
    let parts = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(part, 1..4)];
    let section = (role, kind(), need(), maybe(text()), text(), parts).prop_map(
        |(role, kind, need, heading, body, parts)| Section {
            role,
            kind,
            need,
            heading,
            parts,
            ..Section::new("custom", "A <title>", input("custom"), body)
        },
    );
    prop::collection::vec(section, 0..6)
}

/// What may be adjacent to a path without being part of it.
pub(crate) fn surroundings() -> impl Strategy<Value = (String, String)> {
    let before =
        ["", " ", "\"", "'", "`", "(", "[", "=", ":", ",", "\n", "\\n", "\\t", "见", "→", "<", "|", "a: "];
    let after =
        ["", "/x", "/x.rs", "/", "\"", "'", "`", ")", "]", ",", ";", ".", ":", "\n", " and", "中的", "?"];
    (prop::sample::select(before.to_vec()), prop::sample::select(after.to_vec()))
        .prop_map(|(before, after)| (before.to_owned(), after.to_owned()))
}

/// A piece of a template, valid or not.
pub(crate) fn template_piece() -> impl Strategy<Value = String> {
    let fragments = [
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        "{{ a }}",
        "{{ b.c }}",
        "{{ a[0] }}",
        "{{ a|upper }}",
        "{{ a|length }}",
        "{{ a|join(', ') }}",
        "{{ a + b }}",
        "{{ a ~ b }}",
        "{{ a * 3 }}",
        "{{ -a }}",
        "{{ a % 0 }}",
        "{{ a // b }}",
        "{{ a is defined }}",
        "{{ undefined_name }}",
        "{{ range(9) }}",
        "{{ loop.index }}",
        "{{ a|indent(2) }}",
        "{% if a %}",
        "{% elif b %}",
        "{% else %}",
        "{% endif %}",
        "{% for x in a %}",
        "{% for x in range(5) %}",
        "{{ x }}",
        "{% endfor %}",
        "{% set y = a %}",
        "{{ y }}",
        "{% macro m(p) %}",
        "{% endmacro %}",
        "{{ m(a) }}",
        "{% include 'x' %}",
        "{% extends 'x' %}",
        "{% block z %}",
        "{% endblock %}",
        "{% raw %}",
        "{% endraw %}",
        "{{ caller() }}",
        "{{ a|nofilter }}",
        "{{ 'é' }}",
        "日本",
        "\n",
        "\r\n",
        "-%}",
        "{%- ",
        "\"",
        "'",
        "\\",
    ];
    prop_oneof![
        4 => prop::sample::select(fragments.to_vec()).prop_map(str::to_owned),
        1 => text(),
    ]
}
