//! Runs and conversations from the command line, with a scripted model behind a real API.

use std::time::Duration;

use aiwf_testkit::model_server::{Piece, Turn};
use aiwf_testkit::{ModelServer, Outcome};
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::terminal::Terminal;

/// A package of this repository: nodes `intake`, `judge`, …; agents `support`, `engineer`.
const BUG_TRIAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/packages/bug-triage");
/// `ui.ask_user`, as a model API gets its name.
const ASK_USER: &str = "ui_ask_user";

fn scene(server: &ModelServer) -> Scene {
    Scene::of_api("anthropic", server, "")
}

fn begin(input: &str) -> String {
    format!("workflow run {BUG_TRIAGE} --provider model --input '{input}'")
}

fn confirmation() -> Turn {
    let args = json!({ "widgetId": "sure", "type": "confirmation", "message": "Shall I begin?" });
    Turn::Pieces(vec![
        Piece::Text("One thing first.".to_owned()),
        Piece::ToolCall { name: ASK_USER.to_owned(), args },
    ])
}

#[track_caller]
fn error_code(outcome: &Outcome) -> Value {
    crate::json(outcome)["error"]["code"].clone()
}

#[test]
fn a_run_that_does_not_exist_is_refused_everywhere() {
    let server = ModelServer::script([]);
    let scene = scene(&server);
    for line in [
        "status nowhere",
        "show nowhere",
        "preview nowhere",
        "cancel nowhere",
        "workflow rewind nowhere --to intake",
        "workflow fork nowhere --at intake",
        "workflow resume nowhere",
        "workflow say nowhere hello",
    ] {
        let outcome = scene.exits(&format!("{line} --json"), 1);
        // A verb of every session looks for one of any kind.
        let is_common = !line.starts_with("workflow ");
        let (code, words) =
            if is_common { ("SESSION_NOT_FOUND", "no session") } else { ("RUN_ID_INVALID", "no run") };
        assert_eq!(error_code(&outcome), code, "{line}");
        let outcome = scene.exits(line, 1);
        assert_eq!(outcome.first_error_line(), format!("error: {words} `nowhere`"), "{line}");
    }
    assert!(server.asks().is_empty());
}

#[test]
fn flags_that_mean_nothing_for_a_run_are_refused_and_the_other_way_round() {
    let server = ModelServer::script([Turn::text("Hello.")]);
    let scene = scene(&server);
    scene.exits("chat --provider model --input 'Hello?'", 0);
    for (line, given) in [
        ("status latest --usage", "--usage"),
        ("events latest --follow", "--follow"),
        ("show latest plan", "plan"),
        ("preview latest --fs-ability none", "--fs-ability"),
        ("step latest --fs-ability none", "--fs-ability"),
        ("run latest --yes", "--yes"),
        ("run latest --fs-ability none", "--fs-ability"),
        ("retry latest --expect 12345678", "--expect"),
    ] {
        let outcome = scene.exits(line, 2);
        let error = format!("error: `{given}` does not apply to runs and conversations");
        assert_eq!(outcome.first_error_line(), error, "{line}");
    }
    scene.exits("change new login 'Add login' --provider manual", 0);
    for (line, given) in [("show login --entries 3", "--entries"), ("preview login --input Hello", "--input")]
    {
        let outcome = scene.exits(line, 2);
        let error = format!("error: `{given}` applies only to runs and conversations");
        assert_eq!(outcome.first_error_line(), error, "{line}");
    }
    // A word that names nothing is what is wrong then.
    assert_eq!(scene.exits("show nowhere --entries 3", 1).first_error_line(), "error: no session `nowhere`");
    assert_eq!(server.asks().len(), 1);
}

#[test]
fn a_package_or_workflow_that_is_not_there_begins_nothing() {
    let server = ModelServer::script([]);
    let scene = scene(&server);
    scene.exits("workflow run nowhere --provider model", 1);
    let outcome = scene.exits(&format!("workflow run {BUG_TRIAGE} --workflow x --provider model --json"), 1);
    assert_eq!(error_code(&outcome), "WORKFLOW_REF_MISMATCH");
    let outcome = scene.exits(&format!("workflow run {BUG_TRIAGE} --agent anna --provider model --json"), 1);
    assert_eq!(error_code(&outcome), "AGENT_NOT_FOUND");
    assert_eq!(scene.done("list --flow package")["total"], 0);
    assert!(server.asks().is_empty());
}

#[test]
fn a_waiting_run_exits_with_three_and_continues_after_a_message() {
    let server = ModelServer::script([Turn::text("What happened?"), Turn::text("Thank you.")]);
    let scene = scene(&server);
    let outcome = scene.exits(&begin("It is slow"), 3);
    assert_eq!(outcome.stdout_text(), "What happened?\n");
    assert!(outcome.stderr_text().contains("is waiting for you at `intake`"), "{outcome}");
    assert!(outcome.stderr_text().contains("continue with: aiwf workflow say "), "{outcome}");

    let said = scene.answers("workflow say latest 'Since Monday'", 3);
    assert_eq!(said["phase"], "waiting-user");
    assert_eq!(said["package"], "bug-triage");
    assert_eq!(said["workflow"], "bug-triage");
    assert_eq!(said["node"], "intake");
    assert_eq!(said["reply"], "Thank you.");
    assert_eq!(said["warnings"], json!([]));
    assert_eq!(said.get("error"), None);
}

#[test]
fn stdin_is_the_message() {
    let server = ModelServer::script([Turn::text("What happened?"), Turn::text("Thank you.")]);
    let scene = scene(&server);
    scene.exits(&begin("It is slow"), 3);
    let outcome = scene.command("workflow say latest").stdin("Since Monday\nor Tuesday\n").run();
    assert_eq!(outcome.exit_code(), 3, "{outcome}");
    let asked = server.asks().last().unwrap().body.to_string();
    assert!(asked.contains("Since Monday\\nor Tuesday"), "{asked}");
}

#[test]
fn a_question_is_shown_in_words_with_the_command_that_answers_it() {
    let server = ModelServer::script([confirmation(), Turn::text("Then I begin.")]);
    let scene = scene(&server);
    let outcome = scene.exits(&begin("It is slow"), 3);
    assert_eq!(outcome.stdout_text(), "One thing first.\n\nShall I begin?\n");
    assert!(outcome.stderr_text().contains("'WIDGET_SUBMIT\n{\"widgetId\":\"sure\""), "{outcome}");

    let answer =
        "WIDGET_SUBMIT\n{\"widgetId\":\"sure\",\"type\":\"confirmation\",\"value\":{\"confirmed\":true}}";
    let outcome = scene.command("workflow say latest").arg(answer).run();
    assert_eq!(outcome.exit_code(), 3, "{outcome}");
    assert_eq!(outcome.stdout_text(), "Then I begin.\n");
}

#[test]
fn calls_in_a_models_text_are_not_part_of_its_message() {
    let call = r#"{"tool_calls":[{"name":"ui.ask_user","arguments":{"widgetId":"sure","type":"confirmation","message":"Shall I begin?"}}]}"#;
    let reply = format!("One thing first.\n\n```json\n{call}\n```\n");
    let scene = Scene::new(
        "[providers.model]\ntype = \"command\"\nargv = [\"sh\", \"-c\", \"cat > /dev/null; cat reply.md\"]\n",
    );
    scene.project.write("reply.md", reply);
    let outcome = scene.exits(&begin("It is slow"), 3);
    assert_eq!(outcome.stdout_text(), "One thing first.\n\nShall I begin?\n");
    assert_eq!(scene.done("status latest")["reply"], "One thing first.");
}

#[test]
fn the_status_of_a_run_is_shown_and_listed() {
    let server = ModelServer::script([Turn::text("What happened?")]);
    let scene = scene(&server);
    let id = scene.answers(&begin("It is slow"), 3)["run_id"].as_str().unwrap().to_owned();

    let status = scene.run("status latest").success().stdout_text();
    assert!(status.starts_with(&format!("run       {id}\npackage   bug-triage\n")), "{status}");
    assert!(status.contains("\nnode      [>] intake: Take the report (step)\n"), "{status}");

    let list = scene.run("list --flow package").success().stdout_text();
    let mut lines = list.lines();
    assert!(lines.next().unwrap().starts_with(&id), "{list}");

    let shown = scene.run("show latest --entries 1").success().stdout_text();
    assert!(shown.contains("… "), "{shown}");
    let all = scene.done("show latest");
    let whats: Vec<&str> =
        all["entries"].as_array().unwrap().iter().map(|entry| entry["what"].as_str().unwrap()).collect();
    assert_eq!(whats.first(), Some(&"created"));
    assert!(whats.contains(&"assistant"), "{whats:?}");
}

#[test]
fn a_preview_is_the_next_request_and_changes_nothing() {
    let server = ModelServer::script([Turn::text("What happened?"), Turn::text("Thank you.")]);
    let scene = scene(&server);
    scene.exits(&begin("It is slow"), 3);
    let before = scene.done("show latest");
    let preview = scene.done("preview latest --input 'Since Monday'");
    let outcome = scene.exits("preview latest --input 'Since Monday'", 0);
    assert!(outcome.stdout_text().starts_with("{\n  \"system\": [\n"), "{outcome}");
    assert!(outcome.stderr_text().starts_with("next request of "), "{outcome}");
    // What is printed is the canonical form: its hash is the one that is reported.
    let printed = aiwf_engine::prompt::Sha256Hex::of([outcome.stdout_text().as_str()]).to_string();
    assert_eq!(preview["payload_sha256"], printed);
    assert!(outcome.stderr_text().contains(&format!("payload_sha256 {printed}\n")), "{outcome}");
    // In JSON it is the same form, and beside it only what its parts are.
    assert_eq!(format!("{:#}", preview["payload"]), outcome.stdout_text());
    for name in ["messages", "tools", "system"] {
        assert!(preview.get(name).is_none(), "{name}: {preview:#}");
    }
    let layers = preview["layers"].as_array().unwrap();
    assert!(!layers.is_empty() && layers.iter().all(|layer| layer.get("content").is_none()), "{layers:#?}");
    assert_eq!(scene.done("show latest")["entries"], before["entries"]);

    scene.exits("workflow say latest 'Since Monday'", 3);
    let asked = server.asks().last().unwrap().body.to_string();
    let messages = preview["payload"]["messages"].as_array().unwrap();
    let of_messages = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
    for text in of_messages.chain(preview["payload"]["system"].as_array().unwrap()) {
        let text = text.to_string();
        let text = text.trim_matches('"');
        assert!(asked.contains(text), "{text}\n\nis not in\n\n{asked}");
    }
    // And the hash is what the journal says was sent.
    let run_id = preview["run_id"].as_str().unwrap();
    let journal = scene.project.read(&format!(".aiwf/sessions/{run_id}/journal.jsonl"));
    let journal = String::from_utf8(journal).unwrap();
    let sent = journal.lines().rfind(|line| line.contains("\"run-asked\"")).unwrap();
    assert!(sent.contains(&format!("\"payload_sha256\":\"{printed}\"")), "{sent}");
}

#[test]
fn a_cancelled_run_is_done_and_stays_so() {
    let server = ModelServer::script([Turn::text("What happened?")]);
    let scene = scene(&server);
    scene.exits(&begin("It is slow"), 3);
    assert_eq!(scene.done("cancel latest --reason 'not needed'")["phase"], "cancelled");
    let outcome = scene.exits("workflow say latest hello --json", 1);
    assert_eq!(error_code(&outcome), "RUN_CANCELLED");
}

#[test]
fn a_fork_sends_nothing_until_it_is_resumed() {
    let server = ModelServer::script([Turn::text("What happened?"), Turn::text("Once more.")]);
    let scene = scene(&server);
    let first = scene.answers(&begin("It is slow"), 3);
    let fork = scene.done("workflow fork latest --at intake");
    assert_ne!(fork["run_id"], first["run_id"]);
    assert_eq!(server.asks().len(), 1);
    let fork = scene.answers("workflow fork latest --at intake --input 'Shorter'", 3);
    assert_eq!(fork["reply"], "Once more.");
    let outcome = scene.exits("workflow fork latest --at close --json", 1);
    assert_eq!(error_code(&outcome), "E_INVALID_TRANSITION");
}

#[test]
fn a_failed_model_is_a_provider_failure_and_the_run_can_be_resumed() {
    let refused = Turn::Status { code: 401, headers: Vec::new(), body: String::new() };
    let server = ModelServer::script([refused, Turn::text("Here I am.")]);
    let scene = scene(&server);
    let failed = scene.answers(&begin("It is slow"), 4);
    assert_eq!(failed["phase"], "failed");
    assert_eq!(failed["error"]["code"], "LLM_AUTH_FAILED");
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Here I am.");
}

#[test]
fn an_interrupted_call_exits_with_130_and_the_run_can_be_resumed() {
    let server = ModelServer::script([Turn::Hang(Duration::from_mins(1)), Turn::text("Here I am.")]);
    let scene = scene(&server);
    let running = scene.command(&begin("It is slow")).arg("--json").spawn();
    crate::scene::eventually("the model is asked", || !server.asks().is_empty());
    running.signal("INT");
    let outcome = running.wait();
    assert_eq!(outcome.exit_code(), 130, "{outcome}");
    assert_eq!(error_code(&outcome), "ENGINE_ABORTED");
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Here I am.");
}

#[test]
fn one_turn_with_a_model_or_an_agent_exits_with_zero_and_can_continue() {
    let server = ModelServer::script([
        Turn::text("A project."),
        Turn::text("More of it."),
        Turn::text("I am Sam."),
        Turn::text("What happened?"),
    ]);
    let scene = scene(&server);
    let outcome = scene.exits("chat --provider model --input 'What is this?'", 0);
    assert_eq!(outcome.stdout_text(), "A project.\n");
    assert_eq!(scene.answers("workflow say latest 'And more?'", 0)["reply"], "More of it.");
    let outcome = scene.exits("workflow rewind latest --to intake --json", 1);
    assert_eq!(error_code(&outcome), "NOT_A_WORKFLOW");

    let outcome =
        scene.command(&format!("agent {BUG_TRIAGE} support --provider model")).stdin("Who are you?").run();
    assert_eq!((outcome.exit_code(), outcome.stdout_text().as_str()), (0, "I am Sam.\n"), "{outcome}");

    let started = scene.answers(&format!("agent {BUG_TRIAGE} support --provider model --input triage"), 3);
    assert_eq!((started["kind"].as_str(), started["workflow"].as_str()), (Some("run"), Some("bug-triage")));

    assert_eq!(scene.done("list --flow package")["total"], 3);
}

#[test]
fn a_terminal_streams_the_answer_once_and_shows_how_to_continue() {
    let chunks = ["It is ", "a project", ".\u{1b}[2J"].map(str::to_owned).to_vec();
    let server = ModelServer::script([Turn::TextSlowly { chunks, delay: Duration::from_millis(50) }]);
    let scene = scene(&server);
    let mut terminal = Terminal::open(&scene, &["chat", "--provider", "model"]);
    terminal.expect("> ");
    terminal.send("What is this?\r");
    terminal.expect("It is a project.\\u{1b}[2J");
    terminal.expect("> ");
    terminal.send("/nonsense\r");
    terminal.expect("unknown command `/nonsense`");
    terminal.send("\u{4}");
    terminal.expect("saved; continue with: aiwf workflow resume ");
    assert_eq!(terminal.wait(), 0);
    assert_eq!(terminal.seen().matches("It is a project.").count(), 1, "{}", terminal.seen());
    assert!(scene.project.cache().join("aiwf/talk-history").exists());
}

#[test]
fn ctrl_c_stops_the_turn_and_the_conversation_continues() {
    let server = ModelServer::script([Turn::Hang(Duration::from_mins(1)), Turn::text("Here again.")]);
    let scene = scene(&server);
    let mut terminal = Terminal::open(&scene, &["chat", "--provider", "model"]);
    terminal.expect("> ");
    terminal.send("Think hard\r");
    crate::scene::eventually("the model is asked", || !server.asks().is_empty());
    terminal.send("\u{3}");
    terminal.expect("stopped; send a message, or type /resume");
    terminal.expect("> ");
    terminal.send("\u{3}");
    terminal.expect("Ctrl-D or /exit leaves");
    terminal.send("Are you there?\r");
    terminal.expect("Here again.");
    terminal.expect("> ");
    terminal.send("/exit\r");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn a_question_is_answered_on_the_terminal() {
    let server = ModelServer::script([confirmation(), Turn::text("Then I begin.")]);
    let scene = scene(&server);
    let mut terminal = Terminal::open(&scene, &["workflow", "run", BUG_TRIAGE, "--provider", "model"]);
    terminal.expect("Shall I begin?");
    terminal.expect("y/n> ");
    terminal.send("perhaps\r");
    terminal.expect("enter y or n");
    terminal.send("y\r");
    terminal.expect("Then I begin.");
    terminal.expect("intake> ");
    terminal.send("/stop\r");
    assert_eq!(terminal.wait(), 0);
    let asked = server.asks().last().unwrap().body.to_string();
    assert!(asked.contains("WIDGET_SUBMIT"), "{asked}");
    assert!(asked.contains("confirmed"), "{asked}");
}

#[test]
fn an_agent_starts_a_workflow_and_is_there_again_afterwards() {
    let server = ModelServer::script([Turn::text("What happened?"), Turn::text("I am Sam.")]);
    let scene = scene(&server);
    let mut terminal = Terminal::open(&scene, &["agent", BUG_TRIAGE, "support", "--provider", "model"]);
    terminal.expect("Sam, Support");
    terminal.expect("1. [TR] Triage a report (triage, report)");
    terminal.expect("support> ");
    terminal.send("1\r");
    terminal.expect("What happened?");
    terminal.expect("intake> ");
    terminal.send("/pause\r");
    terminal.expect("back with 🎧 Sam, Support");
    terminal.expect("support> ");
    terminal.send("Who are you?\r");
    terminal.expect("I am Sam.");
    terminal.send("/dismiss\r");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn a_path_of_a_package_is_remembered_from_anywhere() {
    let server = ModelServer::script([Turn::text("What happened?"), Turn::text("Thank you.")]);
    let scene = scene(&server);
    scene.exits("package new flow", 0);
    scene.project.write("below/note.md", "");
    let line = "workflow run ../flow --provider model --input slow";
    let outcome = scene.command(line).in_dir("below").run();
    assert_eq!(outcome.exit_code(), 3, "{outcome}");
    scene.exits("workflow say latest 'Since Monday'", 3);
}

#[test]
fn a_model_can_be_named_for_one_command() {
    let server = ModelServer::script([Turn::text("Hello."), Turn::text("Hello."), Turn::text("Hello.")]);
    let scene = scene(&server);
    scene.done("chat --provider model --model other-model --input 'Hello?'");
    scene.done("workflow say latest 'And now?'");
    scene.done(&format!("agent {BUG_TRIAGE} support --provider model --model third --input 'Well?'"));
    let models: Vec<Value> = server.asks().iter().map(|ask| ask.body["model"].clone()).collect();
    assert_eq!(models, ["other-model", crate::scene::MODEL, "third"]);
}

#[test]
fn every_vendors_api_has_a_default_model() {
    let project = crate::project();
    for name in ["anthropic", "openai", "gemini"] {
        let shown = crate::json(&project.run(&format!("providers {name} --json")));
        let provider = &shown["providers"][0];
        assert!(provider["model"].as_str().is_some_and(|model| !model.is_empty()), "{name}: {shown:#}");
        assert_eq!(provider["can_be_asked"], true, "{name}: {shown:#}");
    }
}
