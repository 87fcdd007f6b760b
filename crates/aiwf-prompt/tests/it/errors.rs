//! Every error message as the user sees it: what is wrong, where, and what to do.

use std::collections::BTreeMap;

use aiwf_prompt::{
    ComponentSetting, Format, Mode, PromptAggregator, PromptError, ReplyMode, ReplyRequest, Request,
    TemplateError, TemplateNotFound, TemplateSource, WorkflowRequest, check_template, render_template,
};

use crate::fixtures::{PLAIN, change, options, reply, with_budget, workflow};

fn shown(message: &str, hint: Option<String>) -> String {
    hint.map_or_else(|| format!("error: {message}"), |hint| format!("error: {message}\n\nhint: {hint}"))
}

fn of_request(request: &Request) -> String {
    let options = with_budget(10, options(Format::Xml, PLAIN));
    let error = PromptAggregator::new().aggregate(request, &options).unwrap_err();
    shown(&error.to_string(), error.hint())
}

fn of_workflow(request: WorkflowRequest) -> String {
    of_request(&Request::Workflow(Box::new(request)))
}

fn of_template(text: &str) -> String {
    let template = TemplateSource { name: "templates/review.md".to_owned(), text: text.to_owned() };
    let variables: BTreeMap<String, serde_json::Value> = [
        ("reviewers", serde_json::json!(["ann", "bob"])),
        ("task", serde_json::json!({ "id": 7 })),
        ("files", serde_json::json!([])),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let error = PromptError::from(render_template(&template, &variables).unwrap_err());
    shown(&error.to_string(), error.hint())
}

fn of_check(text: &str) -> String {
    let template = TemplateSource { name: "templates/review.md".to_owned(), text: text.to_owned() };
    let errors = check_template(&template, &["files", "reviewers", "task"]).unwrap_err();
    let one = |error: TemplateError| shown(&error.to_string(), error.hint());
    errors.into_iter().map(one).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn required_sections_that_are_too_large() {
    insta::assert_snapshot!(of_request(&Request::Change(change(&"word ".repeat(20_000)))), @"
    error: required sections need 25,012 tokens but the budget is 10
      largest: `instructions` (25,012 tokens)

    hint: shorten that section, or set a larger budget with `--budget`
    ");
}

#[test]
fn a_field_that_a_mode_lacks() {
    insta::assert_snapshot!(of_workflow(WorkflowRequest { workflow_id: None, ..workflow(Mode::Run) }), @"
    error: mode `run` needs `workflowId`

    hint: add `workflowId` to the document
    ");
}

#[test]
fn two_fields_that_contradict_each_other() {
    let request = WorkflowRequest { current_node_id: Some("end-99".to_owned()), ..workflow(Mode::Run) };
    insta::assert_snapshot!(of_workflow(request), @"
    error: `currentNodeId` is `end-99` but `nodeBrief.nodeId` is `step-01-intake`

    hint: set `currentNodeId` and `nodeBrief.nodeId` to the same value, or remove one
    ");
}

fn with_setting(id: &str) -> Request {
    let setting = ComponentSetting { id: id.to_owned(), order: None, is_enabled: Some(false) };
    Request::Reply(ReplyRequest { components: vec![setting], ..reply(ReplyMode::Api) })
}

#[test]
fn an_unknown_component_with_a_near_name() {
    insta::assert_snapshot!(of_request(&with_setting("tool-result")), @"
    error: unknown component `tool-result`

    hint: did you mean `tool-results`? known: `system-prompt`, `mcp-tools`, `user-context`, `tool-results`, `ai-message`, `closing`
    ");
}

#[test]
fn an_unknown_component_like_no_other() {
    insta::assert_snapshot!(of_request(&with_setting("xyz")), @"
    error: unknown component `xyz`

    hint: known: `system-prompt`, `mcp-tools`, `user-context`, `tool-results`, `ai-message`, `closing`
    ");
}

#[test]
fn a_component_that_cannot_make_its_sections() {
    let error = PromptError::Component { id: "licences".to_owned(), message: "no licence file".to_owned() };
    insta::assert_snapshot!(shown(&error.to_string(), error.hint()), @"
    error: component `licences`: no licence file

    hint: provide what component `licences` needs, or remove it from the recipe
    ");
}

fn of_missing(phase: &str) -> String {
    let error = PromptError::from(TemplateNotFound {
        agent: "CLAUDE".to_owned(),
        phase: phase.to_owned(),
        tried: vec![
            format!(".aiwf/templates/system/CLAUDE-{phase}.md"),
            format!(".aiwf/templates/system/BASE-{phase}.md"),
            format!("built-in:CLAUDE-{phase}.md"),
            format!("built-in:BASE-{phase}.md"),
        ],
    });
    shown(&error.to_string(), error.hint())
}

#[test]
fn a_template_that_does_not_exist() {
    insta::assert_snapshot!(of_missing("deploy"), @"
    error: no template for agent `CLAUDE` in phase `deploy` (TemplateNotFound)
      tried: .aiwf/templates/system/CLAUDE-deploy.md
      tried: .aiwf/templates/system/BASE-deploy.md
      tried: built-in:CLAUDE-deploy.md
      tried: built-in:BASE-deploy.md

    hint: create `.aiwf/templates/system/BASE-deploy.md`
    ");
}

#[test]
fn a_template_for_a_phase_with_a_near_name() {
    insta::assert_snapshot!(of_missing("reviews"), @"
    error: no template for agent `CLAUDE` in phase `reviews` (TemplateNotFound)
      tried: .aiwf/templates/system/CLAUDE-reviews.md
      tried: .aiwf/templates/system/BASE-reviews.md
      tried: built-in:CLAUDE-reviews.md
      tried: built-in:BASE-reviews.md

    hint: did you mean phase `review`? for a new phase, create `.aiwf/templates/system/BASE-reviews.md`
    ");
}

#[test]
fn an_undefined_variable() {
    insta::assert_snapshot!(of_template("# Review\n\nDear {{ reviewer }},\n"), @"
    error: variable `reviewer` is not defined
     --> templates/review.md:3:9
      |
    3 | Dear {{ reviewer }},
      |         ^^^^^^^^

    hint: did you mean `reviewers`? defined here: `files`, `reviewers`, `task`
    ");
}

#[test]
fn an_undefined_variable_like_no_other() {
    insta::assert_snapshot!(of_template("é{{ zzz }}"), @"
    error: variable `zzz` is not defined
     --> templates/review.md:1:5
      |
    1 | é{{ zzz }}
      |     ^^^

    hint: defined here: `files`, `reviewers`, `task`
    ");
}

#[test]
fn an_undefined_variable_where_none_is_defined() {
    let template = TemplateSource { name: "t.md".to_owned(), text: "{{ task }}".to_owned() };
    let error = render_template(&template, &BTreeMap::new()).unwrap_err();
    insta::assert_snapshot!(shown(&error.to_string(), error.hint()), @"
    error: variable `task` is not defined
     --> t.md:1:4
      |
    1 | {{ task }}
      |    ^^^^

    hint: remove it: no variable is defined here
    ");
}

#[test]
fn an_undefined_attribute() {
    insta::assert_snapshot!(of_template("{% if true %}\n  Task {{ task.title }}\n{% endif %}"), @"
    error: variable `task.title` is not defined
     --> templates/review.md:2:11
      |
    2 |   Task {{ task.title }}
      |           ^^^^^^^^^^

    hint: defined here: `files`, `reviewers`, `task`
    ");
}

#[test]
fn an_undefined_variable_in_a_filter() {
    insta::assert_snapshot!(of_template("{{ reviewer|upper }} and {{ task }}"), @"
    error: variable `reviewer` is not defined
     --> templates/review.md:1:4
      |
    1 | {{ reviewer|upper }} and {{ task }}
      |    ^^^^^^^^

    hint: did you mean `reviewers`? defined here: `files`, `reviewers`, `task`
    ");
}

#[test]
fn an_undefined_variable_in_a_loop() {
    insta::assert_snapshot!(of_template("{% for file in fils %}{{ file }}{% endfor %}"), @"
    error: variable `fils` is not defined
     --> templates/review.md:1:16
      |
    1 | {% for file in fils %}{{ file }}{% endfor %}
      |                ^^^^

    hint: did you mean `files`? defined here: `files`, `reviewers`, `task`
    ");
}

#[test]
fn a_template_that_is_not_closed() {
    insta::assert_snapshot!(of_template("# Review\n{% for file in files %}\n- {{ file }}\n"), @"
    error: template is invalid: unexpected end of input, expected end of block
     --> templates/review.md:3:13
      |
    3 | - {{ file }}
      |             ^

    hint: `aiwf template check` shows all errors of all templates
    ");
}

#[test]
fn a_template_with_an_unknown_filter() {
    insta::assert_snapshot!(of_template("{{ task|shout }}"), @"
    error: template is invalid: filter shout is unknown
     --> templates/review.md:1:9
      |
    1 | {{ task|shout }}
      |         ^^^^^

    hint: `aiwf template check` shows all errors of all templates
    ");
}

#[test]
fn a_template_that_includes_another() {
    insta::assert_snapshot!(of_template("{% include '../../secret.md' %}"), @"
    error: template is invalid: tried to include non-existing template '../../secret.md'
     --> templates/review.md:1:4
      |
    1 | {% include '../../secret.md' %}
      |    ^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: `aiwf template check` shows all errors of all templates
    ");
}

#[test]
fn a_template_that_takes_too_many_steps() {
    let text = "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}";
    insta::assert_snapshot!(of_template(text), @"
    error: template `templates/review.md` takes more than 1000000 steps to render

    hint: check for a loop with too many iterations
    ");
}

#[test]
fn a_template_that_writes_too_much() {
    let text = format!("{{% for a in range(700) %}}{}{{% endfor %}}", "x".repeat(100_000));
    insta::assert_snapshot!(of_template(&text), @"
    error: the output of template `templates/review.md` exceeds 67108864 bytes

    hint: check for a loop with too much output
    ");
}

#[test]
fn a_check_names_every_undefined_variable_where_it_is_used() {
    let text =
        "The reviewer and the zebra:\n{# reviewer #}\n{{ reviewer }}\n{% if zebra %}{{ task }}{% endif %}\n";
    insta::assert_snapshot!(of_check(text), @"
    error: variable `reviewer` is not defined
     --> templates/review.md:3:4
      |
    3 | {{ reviewer }}
      |    ^^^^^^^^

    hint: did you mean `reviewers`? defined here: `files`, `reviewers`, `task`

    error: variable `zebra` is not defined
     --> templates/review.md:4:7
      |
    4 | {% if zebra %}{{ task }}{% endif %}
      |       ^^^^^

    hint: defined here: `files`, `reviewers`, `task`
    ");
}

#[test]
fn a_check_reports_invalid_templates() {
    insta::assert_snapshot!(of_check("{{ task"), @"
    error: template is invalid: unexpected end of input, expected end of variable block
     --> templates/review.md:1:4
      |
    1 | {{ task
      |    ^^^^

    hint: `aiwf template check` shows all errors of all templates
    ");
}
