//! Changes whose phases are done by different models behind real APIs.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;

use crate::change::{Change, IMPLEMENTATION, PLAN, verdict};
use crate::{json, project};

fn config(server: &ModelServer) -> String {
    format!(
        "[providers.one]\ntype = \"anthropic\"\nbase_url = \"{url}\"\nmodel = \"m\"\n\
         [providers.two]\ntype = \"openai\"\nbase_url = \"{openai}\"\nmodel = \"m\"\n\
         [providers.three]\ntype = \"gemini\"\nbase_url = \"{url}\"\nmodel = \"m\"\n\
         [change]\nagents = {{ plan = \"three\", challenge = \"two\", implement = \"one\" }}\n\
         [roles]\ndefault = \"two\"\n",
        url = server.url(),
        openai = server.openai_url(),
    )
}

#[test]
fn every_phase_is_one_call_whose_only_text_is_the_prompt() {
    let replies = [
        PLAN.to_owned(),
        verdict("NEEDS_REVISION"),
        "# Plan two\n".to_owned(),
        verdict("PASS"),
        IMPLEMENTATION.to_owned(),
        verdict("PASS"),
        "# Record\n".to_owned(),
    ];
    let server = ModelServer::script(replies.map(Turn::text));
    let change = Change::in_project(project().file("~/.aiwf/config.toml", config(&server)), "");
    let outcome = change.run("run login --yes --json");
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    assert_eq!(json(&outcome)["phase"], "complete");
    let prompts = [
        "iteration-1/plan-prompt.md",
        "iteration-1/challenge-prompt.md",
        "iteration-2/plan-prompt.md",
        "iteration-2/challenge-prompt.md",
        "iteration-2/implement-prompt.md",
        "iteration-2/review-prompt.md",
        "iteration-2/archive-prompt.md",
    ];
    let asks = server.asks();
    assert_eq!(asks.len(), prompts.len());
    for (ask, prompt) in asks.iter().zip(prompts) {
        assert_eq!(ask.user_messages(), [change.text(prompt)], "{prompt}");
        assert_eq!(ask.system_text(), "", "{prompt}");
    }
    // Each model gets the template of its family.
    assert!(change.text("iteration-1/plan-prompt.md").contains("Agent: GEMINI"));
    assert!(change.text("iteration-1/challenge-prompt.md").contains("Agent: CODEX"));
    assert!(change.text("iteration-2/implement-prompt.md").contains("Agent: CLAUDE"));
    let usage = change.done("status login --usage");
    assert_eq!(usage["usage"]["total"]["calls"], 7);
    let usage = change.run("status login --usage").stdout_text();
    assert!(usage.starts_with("session   login\n"), "{usage}");
}

#[test]
fn a_verdict_that_says_no_stops_a_run() {
    let server = ModelServer::script([PLAN.to_owned(), verdict("REJECTED")].map(Turn::text));
    let change = Change::in_project(project().file("~/.aiwf/config.toml", config(&server)), "--yes");
    let report = change.exits("run login", 1);
    assert_eq!((report["phase"].as_str(), report["status"].as_str()), (Some("challenge"), Some("rejected")));
    assert_eq!(server.asks().len(), 2);
}

#[test]
fn the_budget_pauses_a_change_and_a_raised_one_lets_it_go_on() {
    let server = ModelServer::script([PLAN.to_owned(), verdict("REJECTED")].map(Turn::text));
    let limited = format!("{}[budget]\nmax_calls = 1\n", config(&server));
    let change = Change::in_project(project().file("~/.aiwf/config.toml", limited), "--yes");
    assert_eq!(change.exits("run login", 3)["status"], "paused");
    assert_eq!(server.asks().len(), 1);
    change.project.write("~/.aiwf/config.toml", config(&server));
    assert_eq!(change.exits("challenge login", 1)["status"], "rejected");
}

#[test]
fn a_model_can_stand_at_a_gate_of_a_change() {
    let replies = [PLAN.to_owned(), verdict("NEEDS_REVISION"), "# Better\n".to_owned(), verdict("PASS")];
    let server = ModelServer::script(replies.map(Turn::text));
    let gates = "[gates]\n\"plan.prompt\" = \"skip\"\n[gates.\"plan.response\"]\napprover = \"ai:two\"\nmax_retries = 2\n";
    let change =
        Change::in_project(project().file("~/.aiwf/config.toml", format!("{}{gates}", config(&server))), "");
    let report = change.done("plan login");
    assert_eq!(report["phase"], "challenge");
    assert_eq!(change.text("plan.md"), "# Better\n");
    let second = &server.asks()[2].user_texts()[0];
    assert!(second.contains("Your last reply was turned down"), "{second}");
}

#[test]
fn a_recorded_run_is_replayed_to_the_byte() {
    let replies = [
        PLAN.to_owned(),
        verdict("PASS"),
        IMPLEMENTATION.to_owned(),
        verdict("PASS"),
        "# Record\n".to_owned(),
    ];
    let server = ModelServer::script(replies.map(Turn::text));
    let change = Change::in_project(project().file("~/.aiwf/config.toml", config(&server)), "--yes");
    change.done("run login --record tape");
    drop(server);
    let names = ["one", "two", "three"]
        .map(|name| format!("[providers.{name}]\ntype = \"replay\"\ndir = \"tape\"\n"));
    let agents = "[change]\nagents = { plan = \"three\", challenge = \"two\", implement = \"one\" }\n[roles]\ndefault = \"two\"\n";
    change.project.write("~/.aiwf/config.toml", "");
    change.project.write(".aiwf/config.toml", format!("{}{agents}", names.concat()));
    change.done("new again 'Greet the world' --file 'src/*' --yes");
    let outcome = change.run("run again --json");
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    for file in ["iteration-1/plan-prompt.md", "iteration-1/review-prompt.md", "implementation.md"] {
        let again = change.project.read(&change.path_in("again", file));
        assert_eq!(String::from_utf8(again).unwrap(), change.text(file), "{file}");
    }
}
