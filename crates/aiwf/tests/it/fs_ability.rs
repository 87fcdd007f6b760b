//! `--fs-ability` is taken by every command that writes, shows or sends a prompt, and changes that prompt.

use serde_json::Value;

use crate::change::IMPLEMENTATION;
use crate::json;
use crate::scene::Scene;
use crate::session::{INIT, PLAN};

/// The reference of all commands, made from the definition of the command line; a test keeps it up to date.
const REFERENCE: &str = include_str!("../../../../docs/src/reference/commands.md");

/// What a prompt ends with when its receiver writes files and opens none.
const DOWNLOAD: &str = "Create a downloadable file named `";

/// Replies of planning and of plans of changes need no person; the first call of `flaky` fails.
const CONFIG: &str = "[gates]\n\"planning.response\" = \"skip\"\n\"plan.response\" = \"skip\"\n\
    [providers.flaky]\ntype = \"command\"\nfs_ability = \"none\"\n\
    argv = [\"sh\", \"-c\", \"cat > /dev/null; test -e $HOME/tried || { touch $HOME/tried; exit 7; }; cat plan.md\"]\n\
    [providers.fast]\ntype = \"command\"\nargv = [\"sh\", \"-c\", \"cat\"]\nfs_ability = \"none\"\n";

const MANUAL_GATES: &str = "[gates]\ndefault = \"manual\"\n";

const JPA: &str = "jpa-mt init --entity A --table a --bounded-context s --schema-file schema.sql";
const REACT: &str = "react-component init --component A --design plan.md";
const CHANGE: &str = "change new one 'Do it' --file plan.md";

const PLANNED: &[&str] =
    &[CHANGE, "change plan one", "approve one", "respond one --file plan.md", "approve one"];
const CHALLENGED: &[&str] = &[
    CHANGE,
    "change plan one",
    "approve one",
    "respond one --file plan.md",
    "approve one",
    "change challenge one",
    "approve one",
    "respond one --file pass.md",
    "approve one",
];
const IMPLEMENTED: &[&str] = &[
    CHANGE,
    "change plan one",
    "approve one",
    "respond one --file plan.md",
    "approve one",
    "change challenge one",
    "approve one",
    "respond one --file pass.md",
    "approve one",
    "change implement one",
    "approve one",
    "respond one --file code.md",
    "approve one",
];
const REVIEWED: &[&str] = &[
    CHANGE,
    "change plan one",
    "approve one",
    "respond one --file plan.md",
    "approve one",
    "change challenge one",
    "approve one",
    "respond one --file pass.md",
    "approve one",
    "change implement one",
    "approve one",
    "respond one --file code.md",
    "approve one",
    "change review one",
    "approve one",
    "respond one --file pass.md",
    "approve one",
];
const WORKFLOW: &str = r#"{"mode": "chat", "agent_definition": {"id": "a", "system_prompt": "You are Ada."}, "user_input": "Hello."}"#;
const REPLY: &str =
    r#"{"request": {"ai_message": "I am done."}, "settings": {"system_prompt": "Be brief."}, "mode": "api"}"#;

/// Where the prompt is that the flag changes.
#[derive(Clone, Copy, Debug)]
enum Prompt {
    /// In the line's own answer.
    Own,
    /// In the line's own answer; its recipe has no output instructions.
    Metadata,
    /// The reply repeats what was sent.
    Echo,
    /// What the session shows next.
    Session,
    /// What the change shows next; its recipe has no output instructions.
    Change,
    /// In this file of the only session.
    File(&'static str),
    /// Nothing that the command writes is left to see; the flag is taken.
    Taken,
}

struct Row {
    /// The command, as the reference names it.
    command: &'static str,
    config: &'static str,
    before: &'static [&'static str],
    /// The flag is added to this line.
    line: &'static str,
    prompt: Prompt,
}

const fn row(
    command: &'static str,
    config: &'static str,
    before: &'static [&'static str],
    line: &'static str,
    prompt: Prompt,
) -> Row {
    Row { command, config, before, line, prompt }
}

use Prompt::{Change, Echo, File, Metadata, Own, Session, Taken};

const GENERATION: &str = "iteration-1/generation-prompt.md";

const ROWS: &[Row] = &[
    row("aiwf jpa-mt init", MANUAL_GATES, &[], JPA, Session),
    row("aiwf react-component init", MANUAL_GATES, &[], REACT, Session),
    row("aiwf preview", MANUAL_GATES, &[JPA], "preview", Own),
    // At the gate of a prompt the prompt is written again; at the gate of a reply the next one is written.
    row("aiwf approve", MANUAL_GATES, &[JPA], "approve", Session),
    row(
        "aiwf approve",
        MANUAL_GATES,
        &[JPA, "approve", "respond --file plan.md"],
        "approve",
        File(GENERATION),
    ),
    row("aiwf reject", MANUAL_GATES, &[JPA], "reject -f shorter", Session),
    row(
        "aiwf revise",
        MANUAL_GATES,
        &[JPA, "approve", "respond --file plan.md", "approve"],
        "revise latest plan --reason shorter",
        Session,
    ),
    row("aiwf step", CONFIG, &[JPA, "approve", "respond --file plan.md", "step"], "step", File(GENERATION)),
    row("aiwf run", MANUAL_GATES, &[JPA], "run --yes", File("iteration-1/planning-prompt.md")),
    row("aiwf run", MANUAL_GATES, &[JPA, "approve", "respond --file plan.md"], "run --yes", File(GENERATION)),
    row(
        "aiwf retry",
        CONFIG,
        &[
            "jpa-mt init --entity A --table a --bounded-context s --schema-file schema.sql --planner flaky",
            "approve",
        ],
        "retry",
        File(GENERATION),
    ),
    row(
        "aiwf prompt build session",
        CONFIG,
        &[],
        "prompt build session --session-dir s --phase planning --iteration 1 --profile-prompt plan.md",
        Own,
    ),
    row(
        "aiwf prompt preview session",
        CONFIG,
        &[],
        "prompt preview session --session-dir s --phase planning --iteration 1 --profile-prompt plan.md",
        Own,
    ),
    row(
        "aiwf prompt send session",
        CONFIG,
        &[],
        "prompt send session --provider fast --session-dir s --phase planning --iteration 1 --profile-prompt plan.md",
        Echo,
    ),
    row(
        "aiwf prompt build change",
        CONFIG,
        &[],
        "prompt build change --phase plan --instructions x",
        Metadata,
    ),
    row(
        "aiwf prompt preview change",
        CONFIG,
        &[],
        "prompt preview change --phase plan --instructions x",
        Metadata,
    ),
    row(
        "aiwf prompt send change",
        CONFIG,
        &[],
        "prompt send change --provider fast --phase plan --instructions x",
        Taken,
    ),
    row("aiwf prompt build workflow", CONFIG, &[], "prompt build workflow --input turn.json", Metadata),
    row("aiwf prompt preview workflow", CONFIG, &[], "prompt preview workflow --input turn.json", Metadata),
    row(
        "aiwf prompt send workflow",
        CONFIG,
        &[],
        "prompt send workflow --provider fast --input turn.json",
        Taken,
    ),
    row("aiwf prompt build reply", CONFIG, &[], "prompt build reply --input reply.json", Metadata),
    row("aiwf prompt preview reply", CONFIG, &[], "prompt preview reply --input reply.json", Metadata),
    row("aiwf prompt send reply", CONFIG, &[], "prompt send reply --provider fast --input reply.json", Taken),
    row("aiwf do", MANUAL_GATES, &[], "do 'Greet' --name one --flow change", Change),
    row("aiwf flow start", MANUAL_GATES, &[], "flow start change 'Greet' --name one", Change),
    row("aiwf change plan", MANUAL_GATES, &[CHANGE], "change plan one", Change),
    row("aiwf change run", MANUAL_GATES, &[CHANGE], "change run one", Change),
    row("aiwf preview", MANUAL_GATES, &[CHANGE, "change plan one"], "preview one", Metadata),
    row("aiwf approve", MANUAL_GATES, &[CHANGE, "change plan one"], "approve one", Change),
    row("aiwf reject", MANUAL_GATES, &[CHANGE, "change plan one"], "reject one -f no", Change),
    row("aiwf retry", CONFIG, &[CHANGE, "change plan one --agent flaky", "approve one"], "retry one", Taken),
    row("aiwf change challenge", MANUAL_GATES, PLANNED, "change challenge one", Change),
    row("aiwf change implement", MANUAL_GATES, CHALLENGED, "change implement one", Change),
    row("aiwf change review", MANUAL_GATES, IMPLEMENTED, "change review one", Change),
    row("aiwf change archive", MANUAL_GATES, REVIEWED, "change archive one", Change),
];

fn scene(config: &str) -> Scene {
    let scene = Scene::new(config);
    scene.project.write("plan.md", PLAN);
    scene.project.write("code.md", IMPLEMENTATION);
    scene.project.write("pass.md", "Fine.\n\n<review>PASS</review>\n");
    scene.project.write("s/standards-bundle.md", "Rule 1\n");
    scene.project.write("turn.json", WORKFLOW);
    scene.project.write("reply.json", REPLY);
    scene
}

#[test]
fn the_flag_is_taken_by_every_command_that_writes_shows_or_sends_a_prompt() {
    for Row { command, config, before, line, prompt } in ROWS {
        let scene = scene(config);
        for line in *before {
            let outcome = scene.run(line);
            assert!(![1, 2, 70].contains(&outcome.exit_code()), "{command}: {line}\n{outcome}");
        }
        let line = format!("{line} --fs-ability write-only --json");
        let outcome = scene.run(&line);
        assert!([0, 3].contains(&outcome.exit_code()), "{line}\n{outcome}");
        let shown = match prompt {
            Own | Metadata | Taken => json(&outcome),
            Echo => {
                let reply = json(&outcome)["reply"].as_str().unwrap().to_owned();
                assert!(reply.contains(DOWNLOAD), "{line}\n{reply}");
                continue;
            }
            Session => scene.done("preview"),
            Change => scene.done("preview one"),
            File(path) => {
                let text = scene.text(path);
                assert!(text.contains(DOWNLOAD), "{line}\n{text}");
                scene.done("preview")
            }
        };
        if matches!(prompt, Taken) {
            continue;
        }
        assert_eq!(shown["metadata"]["fs_ability"], "write-only", "{line}\n{shown:#}");
        if matches!(prompt, Own | Session | File(_)) {
            check_instructions(&line, &shown);
        }
    }
}

/// The flag changed what stands there, not whose it is: nobody edited it.
#[track_caller]
fn check_instructions(line: &str, shown: &Value) {
    let text = ["prompt", "user_prompt"].into_iter().find_map(|name| shown[name].as_str()).unwrap();
    assert!(text.contains(DOWNLOAD), "{line}\n{text}");
    let sections = shown["sections"].as_array().unwrap();
    let last = sections.last().unwrap();
    assert_eq!(last["id"], "output-instructions", "{line}\n{sections:#?}");
    assert_eq!(last["source"], "engine:fs_ability write-only", "{line}");
    let is_edited =
        |section: &Value| section["source"].as_str().is_some_and(|source| source.starts_with("edited"));
    assert!(!sections.iter().any(is_edited), "{line}\n{sections:#?}");
}

#[test]
fn every_command_that_has_the_flag_has_a_row() {
    let mut command = "";
    let mut missing = Vec::new();
    for line in REFERENCE.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            command = name;
        }
        if line.trim_start().starts_with("--fs-ability") && !ROWS.iter().any(|row| row.command == command) {
            missing.push(command);
        }
    }
    assert!(missing.is_empty(), "add a row for: {missing:#?}");
}

#[test]
fn an_approved_prompt_stays_as_it_is_and_the_preview_says_so() {
    let scene = scene(MANUAL_GATES);
    scene.done(INIT);
    scene.exits("approve", 0);
    let approved = scene.done("preview");
    let warning = "the approved prompt is shown as it will be sent; `--fs-ability write-only` applies to the next prompt \
                   that is written";
    let shown = scene.exits("preview --fs-ability write-only", 0);
    assert!(shown.stderr_text().contains(&format!("warning: {warning}\n")), "{shown}");
    assert_eq!(shown.stdout_text(), approved["prompt"].as_str().unwrap());
    let shown = scene.done("preview --fs-ability write-only");
    assert_eq!(shown["warnings"], serde_json::json!([warning]));
    assert_eq!(shown["metadata"], approved["metadata"]);
    // Nothing to say when the flag names what the prompt was written for, or when it still counts.
    assert!(scene.done("preview --fs-ability local-write").get("warnings").is_none());
    scene.exits("respond --file plan.md", 0);
    scene.exits("approve", 0);
    assert!(scene.done("preview --fs-ability write-only").get("warnings").is_none());
}
