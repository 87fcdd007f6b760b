#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::fixture::Fixture;

/// A package whose first agent has a menu.
fn package(menu: &Value) -> Package {
    let long = format!("{}é and more", "x".repeat(MAX_PREVIEW_BYTES - 1));
    let fixture = Fixture::new()
        .set("agents.json", "/agents/0/menu", menu.clone())
        .set(
            "agents.json",
            "/agents/0/prompts",
            json!([{ "id": "greet", "content": "Look at {artifacts-root}/x.md" }]),
        )
        .text("assets/data.json", "{\"a\": 1}")
        .text("assets/broken.json", "{\"a\": ")
        .text("assets/long.csv", &long)
        .text("assets/notes.md", "# Notes\n")
        .text("assets/run.sh", "echo\n")
        .text("assets/hidden-workflow.md", crate::fixture::WORKFLOW);
    let mut files = fixture.files;
    files.insert("assets/bytes.txt".to_owned(), vec![b'a', 0xff]);
    Package::from_files(files).unwrap()
}

fn menu() -> Value {
    json!([
        { "trigger": "triage", "description": "[TR] Triage a report", "workflow": "hello-branch" },
        { "trigger": "*help", "cmd": "*assist", "description": "Show what there is", "action": "menu.show" },
        { "trigger": "web", "description": "Open the page", "action": "x", "web-only": true },
        { "trigger": "notes", "description": "Read the notes", "exec": "{package-root}/assets/notes.md", "ide-only": true,
          "triggers": [{ "type": "alias", "match": "log book" },
                       { "type": "handler", "match": "notes-greet", "action": "#greet", "data": "assets/data.json" }] },
        { "trigger": "nowhere", "description": "Neither here nor there", "ide-only": true, "web-only": true },
        { "trigger": "resume", "description": "Go on with the run", "action": "run.resume" },
        { "trigger": "bye", "description": "Leave", "action": "agent.dismiss" },
    ])
}

fn shown(routed: &Result<Routed, MenuError>) -> String {
    match routed {
        Ok(routed) => {
            let item = routed.item.map(|number| format!(" item {number}")).unwrap_or_default();
            let details = if routed.details.is_empty() {
                String::new()
            } else {
                format!(" details {:?}", routed.details)
            };
            format!(
                "{:?} ({}{item}{details})",
                routed.command,
                format!("{:?}", routed.confidence).to_lowercase()
            )
        }
        Err(error) => format!("{}: {error}\nhint: {}", error.code(), error.hint()),
    }
}

fn check(package: &Package, inputs: &[&str]) -> String {
    let line = |input: &&str| format!("{input:?} → {}", shown(&route(package, &package.agents[0], input)));
    inputs.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What the only item of a menu does.
fn chosen(item: Value) -> String {
    let package = package(&json!([item]));
    shown(&route(&package, &package.agents[0], "1"))
}

#[test]
fn a_terminal_hides_web_only_items() {
    let package = package(&menu());
    let menu = visible_menu(&package.agents[0]);
    let line = |item: &VisibleItem<'_>| {
        format!("{} [{}] {} (at {})", item.number, item.triggers.join(", "), item.description, item.index)
    };
    insta::assert_snapshot!(menu.items.iter().map(line).collect::<Vec<_>>().join("\n"), @"
    1 [triage] [TR] Triage a report (at 0)
    2 [*help, *assist] Show what there is (at 1)
    3 [notes, log book, notes-greet] Read the notes (at 3)
    4 [resume] Go on with the run (at 5)
    5 [bye] Leave (at 6)
    ");
    let faults: Vec<String> = menu.faults.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(faults.join("\n"), @"item 5 of the agent's menu is both `ide-only` and `web-only`, so it is never shown");
}

#[test]
fn triggers_without_an_action_are_faults_and_hidden() {
    let package = package(&json!([{ "trigger": " * ", "description": "d", "triggers": [
        { "match": "a" }, { "type": "regex", "match": "b" }, { "type": "alias" }, { "type": "alias", "match": "*" },
        { "type": "handler", "match": "c" }, { "type": "handler", "match": "c", "action": 1 } ] }]));
    let menu = visible_menu(&package.agents[0]);
    assert_eq!(menu.items[0].triggers, Vec::<&str>::new());
    let faults: Vec<String> = menu.faults.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(faults.join("\n"), @"
    item 1 of the agent's menu has a trigger whose `type` is neither `alias` nor `handler`
    item 1 of the agent's menu has a trigger whose `type` is neither `alias` nor `handler`
    item 1 of the agent's menu has a trigger without `match`
    item 1 of the agent's menu has a trigger without `match`
    item 1 of the agent's menu has a handler without `workflow`, `exec` or `action`
    item 1 of the agent's menu has a handler without `workflow`, `exec` or `action`
    ");
}

#[test]
fn empty_input_shows_the_menu() {
    insta::assert_snapshot!(check(&package(&menu()), &["", "  \n\t\n"]), @r#"
    "" → ShowMenu (exact)
    "  \n\t\n" → ShowMenu (exact)
    "#);
}

#[test]
fn a_number_selects_a_visible_item() {
    insta::assert_snapshot!(check(&package(&menu()), &["1", " 2 ", "3", "4", "5", "0", "6", "99999999999999999999999"]), @r##"
    "1" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (exact item 1)
    " 2 " → ShowMenu (exact item 2)
    "3" → ExecScript { path: "@pkg/assets/notes.md", content: Some("# Notes\n"), data: None } (exact item 3)
    "4" → ResumeRun (exact item 4)
    "5" → DismissAgent (exact item 5)
    "0" → ClarifyChoice { candidates: [1, 2, 3, 4, 5] } (low)
    "6" → ClarifyChoice { candidates: [1, 2, 3, 4, 5] } (low)
    "99999999999999999999999" → ClarifyChoice { candidates: [1, 2, 3, 4, 5] } (low)
    "##);
    insta::assert_snapshot!(check(&package(&json!([])), &["1"]), @r#""1" → ClarifyChoice { candidates: [] } (low)"#);
}

#[test]
fn an_exact_trigger_is_found() {
    let inputs = ["Triage", "*TRIAGE", "*help", "help", "assist", "LOG BOOK", "notes-greet", "tr", "*TR"];
    insta::assert_snapshot!(check(&package(&menu()), &inputs), @r##"
    "Triage" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (exact item 1)
    "*TRIAGE" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (exact item 1)
    "*help" → ShowMenu (exact item 2)
    "help" → ShowMenu (exact item 2)
    "assist" → ShowMenu (exact item 2)
    "LOG BOOK" → ExecScript { path: "@pkg/assets/notes.md", content: Some("# Notes\n"), data: None } (exact item 3)
    "notes-greet" → RunAction { text: "Look at @project/artifacts/x.md", data: Some(MenuData { label: "data.json", path: "@pkg/assets/data.json", format: Json, preview: Some("{\"a\": 1}"), n_cut_bytes: 0 }) } (exact item 3)
    "tr" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (exact item 1)
    "*TR" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (exact item 1)
    "##);
}

#[test]
fn words_count_before_parts_and_triggers_before_descriptions() {
    let inputs = ["book", "report", "greet", "tri", "epor", "note", "the", "what"];
    insta::assert_snapshot!(check(&package(&menu()), &inputs), @r##"
    "book" → ExecScript { path: "@pkg/assets/notes.md", content: Some("# Notes\n"), data: None } (high item 3)
    "report" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (medium item 1)
    "greet" → RunAction { text: "Look at @project/artifacts/x.md", data: Some(MenuData { label: "data.json", path: "@pkg/assets/data.json", format: Json, preview: Some("{\"a\": 1}"), n_cut_bytes: 0 }) } (high item 3)
    "tri" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (medium item 1)
    "epor" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (low item 1)
    "note" → RunAction { text: "Look at @project/artifacts/x.md", data: Some(MenuData { label: "data.json", path: "@pkg/assets/data.json", format: Json, preview: Some("{\"a\": 1}"), n_cut_bytes: 0 }) } (medium item 3)
    "the" → ClarifyChoice { candidates: [3, 4] } (low)
    "what" → ShowMenu (medium item 2)
    "##);
}

#[test]
fn text_that_matches_nothing_is_sent_unchanged() {
    let inputs = ["please triage this\nnow", " *\n", "¿qué?", "the notes of the log book"];
    insta::assert_snapshot!(check(&package(&menu()), &inputs), @r#"
    "please triage this\nnow" → Chat { text: "please triage this\nnow" } (low)
    " *\n" → Chat { text: " *\n" } (low)
    "¿qué?" → Chat { text: "¿qué?" } (low)
    "the notes of the log book" → Chat { text: "the notes of the log book" } (low)
    "#);
}

#[test]
fn the_lines_after_the_first_are_details() {
    let inputs = ["\n triage \r\n\n  it crashes\nat start\n", "1\nnotes"];
    insta::assert_snapshot!(check(&package(&menu()), &inputs), @r#"
    "\n triage \r\n\n  it crashes\nat start\n" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (exact item 1 details "  it crashes\nat start")
    "1\nnotes" → StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (exact item 1 details "notes")
    "#);
}

#[test]
fn a_trigger_used_twice_needs_clarification() {
    let twice = json!([
        { "trigger": "a", "description": "one", "action": "x" },
        { "trigger": "b", "description": "two", "action": "y", "triggers": [{ "type": "alias", "match": "A" }] },
        { "trigger": "c", "description": "three", "action": "z" } ]);
    insta::assert_snapshot!(check(&package(&twice), &["a", "two", "o"]), @r#"
    "a" → ClarifyChoice { candidates: [1, 2] } (low)
    "two" → RunAction { text: "y", data: None } (medium item 2)
    "o" → ClarifyChoice { candidates: [1, 2] } (low)
    "#);
}

#[test]
fn a_handler_takes_precedence_over_its_item() {
    let menu = json!([{ "trigger": "draft", "description": "Write", "action": "parent",
        "triggers": [{ "type": "handler", "match": "draft", "action": "one" },
                     { "type": "handler", "match": "draft long", "action": "two" },
                     { "type": "handler", "match": "draft short", "action": "three" }] }]);
    insta::assert_snapshot!(check(&package(&menu), &["1", "draft", "raft", "long", "short"]), @r#"
    "1" → RunAction { text: "parent", data: None } (exact item 1)
    "draft" → RunAction { text: "one", data: None } (exact item 1)
    "raft" → ClarifyChoice { candidates: [1] } (low)
    "long" → RunAction { text: "two", data: None } (high item 1)
    "short" → RunAction { text: "three", data: None } (high item 1)
    "#);
}

#[test]
fn an_item_without_a_handler_uses_its_only_trigger_or_its_words() {
    let handler = |name: &str| json!({ "type": "handler", "match": name, "action": name });
    assert_eq!(
        chosen(json!({ "description": "Talk", "triggers": [handler("one")] })),
        "RunAction { text: \"one\", data: None } (exact item 1)"
    );
    assert_eq!(
        chosen(json!({ "description": "Talk", "triggers": [handler("one"), handler("two")] })),
        "RunAction { text: \"Talk\", data: None } (exact item 1)"
    );
}

#[test]
fn a_workflow_is_found_by_id_or_document() {
    let starts = |item: Value| {
        assert!(chosen(item.clone()).starts_with("StartWorkflow { workflow: \"hello-branch\""), "{item}");
    };
    for name in
        ["hello-branch", "workflow.md", "./workflow.md", "{package-root}/workflow.md", "@pkg/./workflow.md"]
    {
        starts(json!({ "description": "d", "workflow": name }));
    }
    for exec in ["workflow.md", "{package-root}\\workflow.md"] {
        starts(json!({ "description": "d", "exec": exec }));
    }
    insta::assert_snapshot!(chosen(json!({ "description": "d", "workflow": "gone" })), @"
    UNKNOWN_WORKFLOW: the menu starts `gone`, which is not a workflow of the package
    hint: use one of `hello-branch` in the menu
    ");
    insta::assert_snapshot!(chosen(json!({ "description": "d", "workflow": "steps/end-99.md" })), @"
    UNKNOWN_WORKFLOW: the menu starts `steps/end-99.md`, which is not a workflow of the package
    hint: use one of `hello-branch` in the menu
    ");
    insta::assert_snapshot!(chosen(json!({ "description": "d", "workflow": "{project-root}/workflow.md" })), @"
    UNKNOWN_WORKFLOW: the menu starts `{project-root}/workflow.md`, which is not a workflow of the package
    hint: use one of `hello-branch` in the menu
    ");
    insta::assert_snapshot!(chosen(json!({ "description": "d", "workflow": "old/Workflow.YAML" })), @"
    NOT_SUPPORTED_CLASSIC_WORKFLOW: workflow `old/Workflow.YAML` has the classic format without a graph, so it cannot be run
    hint: use a workflow of the package, or ask its author for one with a graph
    ");
}

#[test]
fn markdown_is_run_unless_it_is_a_workflow() {
    insta::assert_snapshot!(chosen(json!({ "description": "d", "exec": "assets/notes.md", "data": "assets/data.json" })), @r##"ExecScript { path: "@pkg/assets/notes.md", content: Some("# Notes\n"), data: Some(MenuData { label: "data.json", path: "@pkg/assets/data.json", format: Json, preview: Some("{\"a\": 1}"), n_cut_bytes: 0 }) } (exact item 1)"##);
    insta::assert_snapshot!(chosen(json!({ "description": "d", "exec": "{project-root}/docs/task.md" })), @r#"ExecScript { path: "@project/docs/task.md", content: None, data: None } (exact item 1)"#);
    insta::assert_snapshot!(chosen(json!({ "description": "d", "exec": "assets/hidden-workflow.md" })), @"
    UNKNOWN_WORKFLOW: the menu starts `assets/hidden-workflow.md`, which is not a workflow of the package
    hint: use one of `hello-branch` in the menu
    ");
    insta::assert_snapshot!(chosen(json!({ "description": "d", "exec": "{project-root}/x/Workflow.md" })), @"
    UNKNOWN_WORKFLOW: the menu starts `{project-root}/x/Workflow.md`, which is not a workflow of the package
    hint: use one of `hello-branch` in the menu
    ");
    insta::assert_snapshot!(chosen(json!({ "description": "d", "exec": "assets/gone.md" })), @"
    DATA_LOAD_FAILED: could not load `@pkg/assets/gone.md`: it is not in the package
    hint: add the file, or correct the menu: a path without a mount is relative to the package
    ");
    insta::assert_snapshot!(chosen(json!({ "description": "d", "exec": "assets/run.sh" })), @"
    VALIDATION_FAILED: nothing was started: `assets/run.sh` is not Markdown, so it cannot be run
    hint: correct them in the package, then select the item again
    ");
    insta::assert_snapshot!(chosen(json!({ "description": "d", "exec": "tasks/old.xml" })), @"
    NOT_SUPPORTED_CLASSIC_WORKFLOW: workflow `tasks/old.xml` has the classic format without a graph, so it cannot be run
    hint: use a workflow of the package, or ask its author for one with a graph
    ");
}

#[test]
fn an_action_is_a_prompt_a_name_or_a_text() {
    insta::assert_snapshot!(chosen(json!({ "description": "d", "action": "#greet" })), @r#"RunAction { text: "Look at @project/artifacts/x.md", data: None } (exact item 1)"#);
    insta::assert_snapshot!(chosen(json!({ "description": "d", "action": "list {project-root}/src" })), @r#"RunAction { text: "list @project/src", data: None } (exact item 1)"#);
    insta::assert_snapshot!(chosen(json!({ "description": "d", "action": "#gone" })), @"
    UNKNOWN_PROMPT_ID: the menu uses prompt `#gone`, which agent `analyst` does not have
    hint: use one of `greet` in the menu
    ");
    let package = package(&json!([]));
    let mut agent = package.agents[1].clone();
    agent.menu = vec![item("x", "#greet")];
    insta::assert_snapshot!(shown(&route(&package, &agent, "1")), @"
    UNKNOWN_PROMPT_ID: the menu uses prompt `#greet`, which agent `pm` does not have
    hint: add a prompt with this id to the agent; `aiwf package check PATH` lists all problems
    ");
}

#[test]
fn data_of_the_package_is_included_and_other_data_only_named() {
    let with = |data: &str| chosen(json!({ "description": "d", "action": "a", "data": data }));
    insta::assert_snapshot!(with("assets/data.json"), @r#"RunAction { text: "a", data: Some(MenuData { label: "data.json", path: "@pkg/assets/data.json", format: Json, preview: Some("{\"a\": 1}"), n_cut_bytes: 0 }) } (exact item 1)"#);
    insta::assert_snapshot!(with("{project-root}/in.yml"), @r#"RunAction { text: "a", data: Some(MenuData { label: "in.yml", path: "@project/in.yml", format: Yaml, preview: None, n_cut_bytes: 0 }) } (exact item 1)"#);
    insta::assert_snapshot!(with("artifacts/report.XML"), @r#"RunAction { text: "a", data: Some(MenuData { label: "report.XML", path: "@project/artifacts/report.XML", format: Xml, preview: None, n_cut_bytes: 0 }) } (exact item 1)"#);
    insta::assert_snapshot!(with("{artifacts-root}/report.txt"), @r#"RunAction { text: "a", data: Some(MenuData { label: "report.txt", path: "@project/artifacts/report.txt", format: Text, preview: None, n_cut_bytes: 0 }) } (exact item 1)"#);
    insta::assert_snapshot!(with("{state-root}/workflow.md"), @r#"RunAction { text: "a", data: Some(MenuData { label: "workflow.md", path: "@state/workflow.md", format: Text, preview: None, n_cut_bytes: 0 }) } (exact item 1)"#);
    insta::assert_snapshot!(with("assets/broken.json"), @"
    DATA_LOAD_FAILED: could not load `@pkg/assets/broken.json`: it is not JSON: EOF while parsing a value at line 1 column 6
    hint: add the file, or correct the menu: a path without a mount is relative to the package
    ");
    insta::assert_snapshot!(with("assets/bytes.txt"), @"
    DATA_LOAD_FAILED: could not load `@pkg/assets/bytes.txt`: it is not UTF-8 text: byte 1 is wrong
    hint: add the file, or correct the menu: a path without a mount is relative to the package
    ");
    insta::assert_snapshot!(with("{package-root}"), @"
    DATA_LOAD_FAILED: could not load `@pkg`: it is not a file
    hint: add the file, or correct the menu: a path without a mount is relative to the package
    ");
}

#[test]
fn a_preview_is_cut_between_characters() {
    let package = package(&json!([{ "description": "d", "action": "a", "data": "assets/long.csv" }]));
    let MenuCommand::RunAction { data: Some(data), .. } =
        route(&package, &package.agents[0], "1").unwrap().command
    else {
        panic!("the item has data");
    };
    assert_eq!((data.label.as_str(), data.format, data.n_cut_bytes > 0), ("long.csv", DataFormat::Csv, true));
    assert_eq!(data.preview.map(|preview| preview.len()), Some(MAX_PREVIEW_BYTES - 1));
}

#[test]
fn no_path_of_a_menu_escapes() {
    let with = |data: &str| chosen(json!({ "description": "d", "action": "a", "data": data }));
    insta::assert_snapshot!(with("../secret.txt"), @"
    PERMISSION_DENIED: the menu may not use `../secret.txt`: it contains `..`
    hint: start the path with `@project/`, `@pkg/` or `@state/`, or make it relative to the package
    ");
    for path in [
        "a/../b",
        "{project-root}/../x",
        "@pkg\\..\\x",
        "/etc/passwd",
        "C:\\x",
        "~/x",
        "@home/x",
        "@pkgs/x",
        "a\u{0}b",
    ] {
        assert!(with(path).starts_with("PERMISSION_DENIED: "), "{path}: {}", with(path));
    }
}

#[test]
fn files_are_checked_before_a_start() {
    let with = |files: &str| {
        chosen(json!({ "description": "d", "workflow": "hello-branch", "validate-workflow": files }))
    };
    insta::assert_snapshot!(with("hello-branch"), @r#"StartWorkflow { workflow: "hello-branch", data: None, validate: [] } (exact item 1)"#);
    insta::assert_snapshot!(with("workflow.md, {project-root}/in.md, artifacts/x.md,"), @r#"StartWorkflow { workflow: "hello-branch", data: None, validate: ["@project/in.md", "@project/artifacts/x.md"] } (exact item 1)"#);
    insta::assert_snapshot!(with("gone.md, steps/gone.md"), @"
    VALIDATION_FAILED: nothing was started: `@pkg/gone.md` is not in the package; `@pkg/steps/gone.md` is not in the package
    hint: correct them in the package, then select the item again
    ");
}

#[test]
fn global_commands_are_available_everywhere() {
    let found = |input: &str| global_command(input).map(GlobalCommand::as_str);
    for command in GlobalCommand::ALL {
        let name = command.as_str();
        for input in [format!("/{name}"), format!("*{name}"), format!(" /{} \nplease", name.to_uppercase())] {
            assert_eq!(global_command(&input), Some(command), "{input}");
        }
    }
    for other in ["", "menu", "/", "*", "/menus", "/menu now", "//menu", "say /menu", "hello\n/stop"] {
        assert_eq!(found(other), None, "{other}");
    }
}

#[test]
fn the_example_has_a_menu_that_works() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/packages/bug-triage");
    let package = Package::load(std::path::Path::new(path)).unwrap();
    assert_eq!(package.warnings, []);
    insta::assert_snapshot!(check(&package, &["tr", "report", "what a bug is", "3", "4", "5"]), @r#"
    "tr" → StartWorkflow { workflow: "bug-triage", data: None, validate: [] } (exact item 1)
    "report" → StartWorkflow { workflow: "bug-triage", data: None, validate: [] } (exact item 1)
    "what a bug is" → RunAction { text: "Explain in plain words how you distinguish bugs, feature requests and questions, with one example of each.", data: None } (medium item 2)
    "3" → ResumeRun (exact item 3)
    "4" → DismissAgent (exact item 4)
    "5" → ClarifyChoice { candidates: [1, 2, 3, 4] } (low)
    "#);
}

fn item(trigger: &str, action: &str) -> MenuItem {
    serde_json::from_value(json!({ "description": "d", "trigger": trigger, "action": action })).unwrap()
}

/// A word of few letters, so that words often collide.
fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[abAB*é\\[\\] 1-]{0,5}", any::<String>()]
}

fn target() -> impl Strategy<Value = Option<String>> {
    let known = prop::sample::select(vec![
        "hello-branch",
        "workflow.md",
        "assets/notes.md",
        "#greet",
        "menu.show",
        "x.yaml",
        "../x",
        "@project/a.md",
        "",
    ]);
    prop::option::of(prop_oneof![known.prop_map(str::to_owned), word()])
}

prop_compose! {
    fn any_trigger()(kind in prop::sample::select(vec!["alias", "handler", "odd"]), name in word(), action in target(), data in target())
        -> Map<String, Value> {
        let mut trigger = Map::new();
        trigger.insert("type".to_owned(), kind.into());
        trigger.insert("match".to_owned(), name.into());
        trigger.extend(action.map(|action| ("action".to_owned(), action.into())));
        trigger.extend(data.map(|data| ("data".to_owned(), data.into())));
        trigger
    }
}

prop_compose! {
    fn any_item()(
        description in word(), trigger in prop::option::of(word()), cmd in prop::option::of(word()),
        triggers in prop::collection::vec(any_trigger(), 0..3),
        (workflow, exec, action, data, validate_workflow) in (target(), target(), target(), target(), target()),
        (ide_only, web_only) in any::<(bool, bool)>(),
    ) -> MenuItem {
        let other = cmd.map(|cmd| ("cmd".to_owned(), Value::from(cmd))).into_iter().collect();
        MenuItem { description, trigger, triggers, workflow, exec, action, data, validate_workflow, ide_only, web_only, other }
    }
}

/// A package that is checked only once, because checking is slower than many cases.
static PLAIN: LazyLock<Package> = LazyLock::new(|| package(&json!([])));

fn with_menu(package: &Package, menu: Vec<MenuItem>) -> AgentDefinition {
    AgentDefinition { menu, ..package.agents[0].clone() }
}

/// What remains of a command without its texts.
fn kind(routed: &Routed) -> (MenuCommand, Confidence, Option<usize>) {
    let command = match &routed.command {
        MenuCommand::Chat { .. } => MenuCommand::Chat { text: String::new() },
        MenuCommand::ShowMenu
        | MenuCommand::StartWorkflow { .. }
        | MenuCommand::ResumeRun
        | MenuCommand::ExecScript { .. }
        | MenuCommand::RunAction { .. }
        | MenuCommand::DismissAgent
        | MenuCommand::ClarifyChoice { .. } => routed.command.clone(),
    };
    (command, routed.confidence, routed.item)
}

proptest! {
    #[test]
    fn any_text_and_any_menu_give_a_command_or_an_error(menu in prop::collection::vec(any_item(), 0..5), input in word()) {
        let agent = with_menu(&PLAIN, menu);
        let n_visible = visible_menu(&agent).items.len();
        match route(&PLAIN, &agent, &input) {
            Ok(routed) => {
                prop_assert!(routed.item.is_none_or(|number| (1..=n_visible).contains(&number)));
                if let MenuCommand::ClarifyChoice { candidates } = routed.command {
                    prop_assert!(candidates.is_sorted_by(|a, b| a < b));
                    prop_assert!(candidates.iter().all(|number| (1..=n_visible).contains(number)));
                }
            }
            Err(error) => {
                prop_assert!(!error.to_string().ends_with('.') && !error.code().is_empty() && !error.hint().is_empty());
            }
        }
    }

    #[test]
    fn only_the_first_line_decides(menu in prop::collection::vec(any_item(), 0..5), line in "[ab*é 1-]{1,4}", rest in any::<String>()) {
        prop_assume!(!line.trim().is_empty());
        let agent = with_menu(&PLAIN, menu);
        let alone = route(&PLAIN, &agent, &line);
        let more = route(&PLAIN, &agent, &format!("{line}\n{rest}"));
        prop_assert_eq!(alone.map(|routed| kind(&routed)), more.map(|routed| kind(&routed)));
    }

    #[test]
    fn a_number_always_selects_that_item(menu in prop::collection::vec(any_item(), 1..6), number in 1..6_usize) {
        let agent = with_menu(&PLAIN, menu);
        let n_visible = visible_menu(&agent).items.len();
        match route(&PLAIN, &agent, &number.to_string()) {
            Ok(routed) if number <= n_visible => {
                prop_assert_eq!((routed.item, routed.confidence), (Some(number), Confidence::Exact));
            }
            Ok(routed) => {
                let candidates = (1..=n_visible).collect();
                prop_assert_eq!(routed.command, MenuCommand::ClarifyChoice { candidates });
            }
            Err(_) => prop_assert!(number <= n_visible),
        }
    }

    #[test]
    fn an_exact_trigger_is_never_beaten_by_a_partial_match(
        names in prop::collection::btree_set("[ab]{1,4}", 1..6),
        wanted in any::<prop::sample::Index>(),
    ) {
        let agent = with_menu(&PLAIN, names.iter().map(|name| item(name, name)).collect());
        let number = wanted.index(names.len());
        let name = names.iter().nth(number).unwrap();
        let routed = route(&PLAIN, &agent, &format!("*{}", name.to_uppercase())).unwrap();
        prop_assert_eq!((routed.item, routed.confidence), (Some(number + 1), Confidence::Exact));
        prop_assert_eq!(routed.command, MenuCommand::RunAction { text: name.clone(), data: None });
    }
}
