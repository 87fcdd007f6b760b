//! A model and its tools: a scripted model, a server of a few lines of shell, and everything between them.

use std::num::NonZeroU32;
use std::path::PathBuf;

use aiwf_engine::config::Flags;
use aiwf_engine::prompt::{Recipe, Sha256Hex};
use aiwf_engine::{BuildOptions, ChangeFlags, Document, PhaseOptions, SessionError, ToolOptions};
use aiwf_testkit::TOOL_SERVER;
use serde_json::{Value, json};

use crate::driver::{Change, PLAN, Session, approve, begin};
use crate::fake_provider::{Asked, FakeProvider, Piece, Turn};
use crate::run_driver::calls;
use crate::scene::{CONFIG, Scene};

const GRANT: &str = "[tools.grant]\nreply = [\"fake__echo\", \"fake__trap\", \"fake__fail\", \"fake__write\", \"fake__slow\"]\n";
const PLANNING: &str = "[tools.grant]\nplanning = [\"fake__echo\", \"fake__write\"]\n";

/// The scene with a server that its user agrees to.
pub(crate) fn with_server(scene: Scene) -> Scene {
    let servers = r#"{"mcpServers": {"fake": {"command": "/bin/sh", "args": ["server.sh"]}}}"#;
    scene.file("server.sh", TOOL_SERVER).file(".mcp.json", servers).agreeing()
}

/// A model with tools of its own.
fn api(turns: impl IntoIterator<Item = Turn>, more: &str) -> (FakeProvider, Scene) {
    let model = FakeProvider::script(turns);
    let scene = with_server(Scene::of_model(&model, &format!("{GRANT}{more}")));
    (model, scene)
}

/// A provider that reads the tools in its prompt; it repeats its last reply.
fn cli(replies: &[&str]) -> (FakeProvider, Scene) {
    let agent = repeating(replies);
    let scene = with_server(Scene::of_agent(&agent, GRANT));
    (agent, scene)
}

fn repeating(replies: &[&str]) -> FakeProvider {
    let replies: Vec<String> = replies.iter().map(|reply| (*reply).to_owned()).collect();
    let mut n_asked = 0;
    FakeProvider::answering(move |_| {
        n_asked += 1;
        Turn::text(replies.get(n_asked - 1).or(replies.last()).cloned().unwrap_or_default())
    })
}

/// A session of a provider whose planning may look and would like to write.
fn planning(replies: &[&str]) -> (FakeProvider, Session) {
    planning_with(replies, TOOL_SERVER)
}

fn planning_with(replies: &[&str], server: &str) -> (FakeProvider, Session) {
    let agent = repeating(replies);
    let scene = with_server(Scene::of_agent(&agent, PLANNING)).file("server.sh", server);
    (agent, Session::in_scene(scene, &Flags::default()))
}

/// What the server was called with, by the names of the tools.
pub(crate) fn called(scene: &Scene) -> Vec<String> {
    let text = std::fs::read_to_string(scene.world().join("calls.txt")).unwrap_or_default();
    let name = |line: &str| {
        let call: Value = serde_json::from_str(line).unwrap();
        call["params"]["name"].as_str().unwrap().to_owned()
    };
    text.lines().map(name).collect()
}

/// Sends a prompt of the recipe `reply` with its tools.
#[track_caller]
fn send(scene: &Scene) -> Value {
    try_send(scene, "model", ToolOptions::default()).unwrap()
}

fn try_send(scene: &Scene, provider: &str, tools: ToolOptions) -> Result<Value, SessionError> {
    let document = r#"{"request": {"ai_message": "I am done."}, "mode": "api"}"#;
    let document = Document::from_json(Recipe::Reply, document).unwrap();
    let (flags, options) = (ChangeFlags::default(), BuildOptions::default());
    let built = scene.engine.build_with_tools(document, &flags, &options, provider, &|_| ())?;
    let sent = scene.engine.send(&built, provider, Some(tools))?;
    let report = sent.tools.as_ref().unwrap();
    Ok(json!({
        "reply": std::fs::read_to_string(sent.reply_path()).unwrap(),
        "rounds": report.rounds,
        "tool_calls": report.tool_calls,
        "max_rounds_reached": report.max_rounds_reached,
        "loop_detected": report.loop_detected,
        "warning": report.warning,
    }))
}

fn outcomes(sent: &Value) -> Vec<(&str, &str)> {
    let calls = sent["tool_calls"].as_array().unwrap().iter();
    calls.map(|call| (call["tool"].as_str().unwrap(), call["outcome"].as_str().unwrap())).collect()
}

#[test]
fn a_program_is_asked_again_with_the_whole_exchange() {
    let first = calls(&[("fake__echo", json!({"text": "one"}))]);
    let second = calls(&[("fake__echo", json!({"text": "two"}))]);
    let (agent, scene) = cli(&[&first, &second, "All is well.\n"]);
    let sent = send(&scene);
    assert_eq!(sent["reply"], "All is well.\n");
    assert_eq!(sent["rounds"], 2);
    assert_eq!(outcomes(&sent), [("fake__echo", "done"), ("fake__echo", "done")]);
    let call = &sent["tool_calls"][0];
    assert_eq!((&call["server"], &call["arguments"]), (&json!("fake"), &json!({"text": "one"})));
    assert_eq!(call["bytes"], "you said one".len());
    assert_eq!(call["sha256"].as_str().unwrap().len(), 64);
    assert!(call["duration_ms"].is_u64());
    assert_eq!((&sent["max_rounds_reached"], &sent["loop_detected"]), (&json!(false), &json!(false)));
    let (one, two, three) =
        (agent.asks()[0].as_prompt(), agent.asks()[1].as_prompt(), agent.asks()[2].as_prompt());
    assert!(one.contains("### fake__echo") && !one.contains("fake__hidden"), "{one}");
    assert!(two.starts_with(&one) && three.starts_with(&two), "{three}");
    assert!(two.contains(first.trim()) && two.contains("you said one"));
    assert!(three.contains(second.trim()) && three.contains("you said two"));
}

#[test]
fn tool_results_are_never_executed() {
    let (agent, scene) = cli(&[&calls(&[("fake__trap", json!({}))]), "Nothing to do.\n"]);
    let sent = send(&scene);
    assert_eq!(outcomes(&sent), [("fake__trap", "done")]);
    assert!(agent.asks()[1].as_prompt().contains(r#"{"tool_calls": [{"name": "fake__write""#));
    assert_eq!(called(&scene), ["trap"]);
    let (_model, scene) = api([Turn::tool_call("fake__trap", json!({})), Turn::text("No.")], "");
    assert_eq!(outcomes(&send(&scene)), [("fake__trap", "done")]);
    assert_eq!(called(&scene), ["trap"]);
}

#[test]
fn a_program_that_repeats_its_prompt_calls_nothing_by_that() {
    let call = calls(&[("fake__trap", json!({}))]);
    let mut is_first = true;
    let agent = FakeProvider::answering(move |asked| {
        let prompt = asked.as_prompt();
        Turn::text(if std::mem::take(&mut is_first) { format!("{prompt}{call}") } else { prompt })
    });
    let scene = with_server(Scene::of_agent(&agent, GRANT));
    let sent = send(&scene);
    assert_eq!((outcomes(&sent), &sent["rounds"]), (vec![("fake__trap", "done")], &json!(1)));
    assert_eq!(called(&scene), ["trap"]);
}

#[test]
fn unknown_and_ungranted_tools_are_refused_and_the_model_is_told() {
    let wanted = [("fake__nothing", json!({})), ("fake__hidden", json!({})), ("echo", json!({}))];
    let says = |text: &str| {
        assert!(text.contains("there is no tool `fake__nothing`"), "{text}");
        assert!(text.contains("`fake__hidden` is not granted here"), "{text}");
        assert!(text.contains("there is no tool `echo`"), "{text}");
    };
    let expected = [("fake__nothing", "refused"), ("fake__hidden", "refused"), ("echo", "refused")];
    let (agent, scene) = cli(&[&calls(&wanted), "I see.\n"]);
    assert_eq!(outcomes(&send(&scene)), expected);
    says(&agent.asks()[1].as_prompt());
    assert!(called(&scene).is_empty());
    let piece = |(name, args): (&str, Value)| Piece::ToolCall { name: name.to_owned(), args };
    let turn = Turn::Pieces(wanted.into_iter().map(piece).collect());
    let (model, scene) = api([turn, Turn::text("I see.")], "");
    assert_eq!(outcomes(&send(&scene)), expected);
    says(&model.asks()[1].tool_results().join("\n"));
    assert!(called(&scene).is_empty());
}

#[test]
fn after_the_last_round_the_reply_is_final() {
    let once =
        |scene: &Scene| try_send(scene, "model", ToolOptions { max_rounds: NonZeroU32::new(1) }).unwrap();
    let again: Vec<String> =
        (0..12).map(|n| calls(&[("fake__echo", json!({"text": n.to_string()}))])).collect();
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let (_agent, scene) = cli(&again);
    let sent = send(&scene);
    assert_eq!((&sent["rounds"], &sent["max_rounds_reached"]), (&json!(10), &json!(true)));
    assert_eq!(sent["reply"], again[10]);
    assert_eq!(called(&scene).len(), 10);
    let warning = sent["warning"].as_str().unwrap();
    assert!(warning.contains("the model still called tools after 10 rounds"), "{warning}");
    let turns = |n: usize| (0..n).map(|n| Turn::tool_call("fake__echo", json!({"text": n.to_string()})));
    let (model, scene) = api(turns(4), "[tools]\nmax_rounds = 3\n");
    let sent = send(&scene);
    assert_eq!((&sent["rounds"], &sent["max_rounds_reached"]), (&json!(3), &json!(true)));
    assert_eq!(model.asks().len(), 4);
    let (model, scene) = api(turns(2), "");
    assert_eq!(once(&scene)["rounds"], 1);
    assert_eq!(model.asks().len(), 2);
    // A model that is done with its last round is just done.
    let (_model, scene) = api(turns(1).chain([Turn::text("Done.")]), "");
    assert_eq!(once(&scene)["max_rounds_reached"], false);
}

#[test]
fn the_same_failing_call_stops_the_loop_at_the_third_time() {
    let failing = calls(&[("fake__fail", json!({"text": "x"}))]);
    let (_agent, scene) = cli(&[&failing]);
    let sent = send(&scene);
    assert_eq!((&sent["rounds"], &sent["loop_detected"]), (&json!(3), &json!(true)));
    assert_eq!(sent["reply"], failing);
    let warning = sent["warning"].as_str().unwrap();
    assert!(warning.contains("the same call failed 3 times"), "{warning}");
    let turns = (0..3).map(|_| Turn::tool_call("fake__none", json!({})));
    let (model, scene) = api(turns, "");
    assert_eq!(send(&scene)["loop_detected"], true);
    assert_eq!(model.asks().len(), 3);
}

#[test]
fn calls_that_cannot_be_read_go_back_as_problems() {
    let broken = "```json\n{\"tool_calls\": [{\"name\": \"fake__echo\", \"arguments\": {\n```\n";
    let (agent, scene) = cli(&[broken, &calls(&[("fake__echo", json!({"text": 1}))]), "I give up.\n"]);
    let sent = send(&scene);
    assert_eq!(sent["reply"], "I give up.\n");
    assert_eq!(outcomes(&sent), [("fake__echo", "failed")]);
    assert!(
        agent.asks()[1].as_prompt().contains("### Calls that could not be read"),
        "{}",
        agent.asks()[1].as_prompt()
    );
    assert!(
        agent.asks()[2].as_prompt().contains("invalid arguments for `fake__echo`"),
        "{}",
        agent.asks()[2].as_prompt()
    );
    assert!(called(&scene).is_empty());
}

#[test]
fn every_call_of_the_model_counts_in_the_budget() {
    let turns = (0..3).map(|n| Turn::tool_call("fake__echo", json!({"text": n.to_string()})));
    let (model, scene) = api(turns, "[budget]\nmax_calls = 2\n");
    let refused = try_send(&scene, "model", ToolOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("2 of 2 calls are used"), "{refused}");
    assert_eq!(model.asks().len(), 2);
}

#[test]
fn a_session_sends_the_tools_of_its_phase_as_they_are_previewed() {
    let call = calls(&[("fake__echo", json!({"text": "one"})), ("fake__write", json!({}))]);
    let (agent, session) = planning(&[&call, PLAN]);
    let preview = session.preview();
    let shown = preview["prompt"].as_str().unwrap();
    assert!(shown.contains("## Tools") && shown.contains("### fake__echo"), "{shown}");
    // Planning only reads.
    assert!(!shown.contains("### fake__write"), "{shown}");
    assert!(preview.get("tools").is_none());
    let approved = session.approve();
    assert_eq!(approved["status"], "waiting", "{approved:#}");
    assert!(agent.asks()[0].as_prompt() == shown);
    assert!(agent.asks()[1].as_prompt().starts_with(shown));
    assert!(agent.asks()[1].as_prompt().contains("`fake__write` is not marked read-only, and this phase is"));
    assert_eq!(called(&session.scene), ["echo"]);
    assert_eq!(session.text("iteration-1/planning-response.md"), PLAN);
    let names = session.event_names();
    let from = names.iter().position(|name| name == "prompt-sent").unwrap();
    assert_eq!(names[from..], ["prompt-sent", "tool-called", "tool-called", "asked-again", "reply-received"]);
    let events = session.events();
    let call = &events[from + 1];
    assert_eq!((&call["server"], &call["tool"]), (&json!("fake"), &json!("fake__echo")));
    assert_eq!((&call["arguments"], &call["outcome"]), (&json!({"text": "one"}), &json!("done")));
    assert_eq!((&call["bytes"], call["duration_ms"].is_u64()), (&json!(12), true));
    assert_eq!(call["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(events[from + 2]["outcome"], "refused");
    assert!(events[from]["payload_sha256"] == preview["metadata"]["payload_sha256"]);
    assert_eq!(session.engine().session_usage(session.which()).unwrap().total.calls, 2);
    assert!(session.is_intact());
}

#[test]
fn a_session_gives_a_model_its_tools_and_hashes_them() {
    let model =
        FakeProvider::script([Turn::tool_call("fake__echo", json!({"text": "one"})), Turn::text(PLAN)]);
    let scene = Scene::of_model(&model, PLANNING);
    let servers = r#"{"mcpServers": {"fake": {"command": "/bin/sh", "args": ["server.sh"]}}}"#;
    let scene = scene.file("server.sh", TOOL_SERVER).file(".mcp.json", servers);
    let refused = begin(&scene, &Flags::default()).unwrap_err().to_string();
    assert!(refused.contains("server `fake` is not trusted yet"), "{refused}");
    let session = Session::in_scene(scene.agreeing(), &Flags::default());
    let shown = session.engine().preview_session(session.which()).unwrap();
    assert!(shown.text().contains("\"name\": \"fake__echo\""), "{}", shown.text());
    let preview = session.preview();
    assert_eq!(preview["tools"][0]["name"], "fake__echo");
    assert_eq!(preview["tools"].as_array().unwrap().len(), 1);
    assert!(!preview["prompt"].as_str().unwrap().contains("fake__echo"));
    session.approve();
    let asks = model.asks();
    assert_eq!(asks[0].tool_names(), ["fake__echo"]);
    assert!(asks[1].tool_results()[0].contains("you said one"));
    assert!(session.event("prompt-sent")["payload_sha256"] == preview["metadata"]["payload_sha256"]);
    assert_eq!(session.text("iteration-1/planning-response.md"), PLAN);
    let total = session.engine().session_usage(session.which()).unwrap().total;
    assert_eq!((total.calls, total.output_tokens), (2, Some(30)));
    // Without its tools it is another payload.
    let off = preview["metadata"]["payload_sha256"].as_str().unwrap();
    assert!(session.event("asked-again")["payload_sha256"] != off);
}

#[test]
fn a_session_without_a_grant_starts_nothing() {
    let model = FakeProvider::saying([PLAN]);
    let session = Session::in_scene(with_server(Scene::of_model(&model, "")), &Flags::default());
    session.approve();
    assert!(model.asks()[0].tool_names().is_empty());
    assert!(!session.event_names().contains(&"tool-called".to_owned()));
}

#[test]
fn a_budget_that_ends_between_two_rounds_is_a_failure_that_can_be_retried() {
    let model = FakeProvider::script([Turn::tool_call("fake__echo", json!({"text": "one"}))]);
    let more = format!("{PLANNING}[budget]\nmax_calls = 1\n");
    let session = Session::in_scene(with_server(Scene::of_model(&model, &more)), &Flags::default());
    let refused = session.refused(approve);
    assert!(refused.contains("1 of 1 calls are used"), "{refused}");
    let names = session.event_names();
    assert_eq!(names[names.len() - 3..], ["prompt-sent", "tool-called", "ask-failed"]);
    assert_eq!(session.engine().session_usage(session.which()).unwrap().total.calls, 1);
}

#[test]
fn a_phase_of_a_change_calls_its_tools() {
    let call = calls(&[("fake__echo", json!({"text": "one"}))]);
    let agent = repeating(&[&call, "# Plan\n\n- [ ] 1. Do it.\n"]);
    let scene = with_server(Scene::of_agent(&agent, &PLANNING.replace("planning =", "plan =")));
    let change = Change::in_scene(scene, Flags::default());
    let options = PhaseOptions { agent: Some("model".to_owned()), ..PhaseOptions::default() };
    change.phase_with("plan", options);
    let preview = change.preview();
    let shown = preview["prompt"].as_str().unwrap();
    assert!(shown.contains("## Tools") && shown.contains("### fake__echo"), "{shown}");
    assert!(!shown.contains("### fake__write"), "{shown}");
    change.approve();
    let prompts: Vec<String> = agent.asks().iter().map(Asked::as_prompt).collect();
    assert!(prompts[0] == shown);
    assert!(prompts[1].starts_with(shown) && prompts[1].contains("you said one"));
    let names = change.event_names();
    assert!(
        names.ends_with(&["prompt-sent", "tool-called", "asked-again", "reply-received"].map(str::to_owned)),
        "{names:?}"
    );
}

#[test]
fn a_recorded_loop_is_replayed_without_its_model() {
    let tape = "[providers.tape]\ntype = \"replay\"\ndir = \"../project/tape\"\n";
    let turns = [Turn::tool_call("fake__echo", json!({"text": "one"})), Turn::text("All is well.\n")];
    let (model, mut scene) = api(turns, tape);
    let engine = scene.engine.clone();
    scene.engine = engine.clone().recording_to(Some(PathBuf::from("tape")));
    send(&scene);
    assert_eq!(scene.project.names_in("tape").len(), 2);
    scene.engine = engine;
    let replayed = try_send(&scene, "tape", ToolOptions::default()).unwrap();
    assert_eq!((&replayed["reply"], &replayed["rounds"]), (&json!("All is well.\n"), &json!(1)));
    assert_eq!((model.asks().len(), called(&scene).len()), (2, 2));
}

/// A server whose `echo` answers with so much that it is cut, another text each time.
const LARGE: &str = r#"*) n=$((n+1)); text "result $n $(head -c 40000 /dev/zero | tr '\0' x)" ;;"#;

#[test]
fn whole_results_are_kept_by_their_hash_in_the_session_and_a_recording_replays() {
    let server = TOOL_SERVER.replace("*) text \"you said $said\" ;;", LARGE);
    let call = |text: &str| calls(&[("fake__echo", json!({ "text": text }))]);
    let (agent, session) = planning_with(&[&call("one"), &call("two"), PLAN], &server);
    let recording = session.engine().clone().recording_to(Some(PathBuf::from("tape")));
    approve(&recording, session.which()).unwrap();
    let kept = session.names("objects");
    let noted = |number: usize| {
        let prompt = agent.asks()[number].as_prompt();
        let (_, note) = prompt.rsplit_once("the complete result is in `").expect("a note");
        note.split('`').next().unwrap().to_owned()
    };
    let (first, second) = (noted(1), noted(2));
    for path in [&first, &second] {
        assert!(path.starts_with(&session.path("objects/")), "{path}");
        let text = session.scene.read(path);
        assert!(path.ends_with(&Sha256Hex::of([text.as_str()]).to_string()), "{path}");
        assert!(text.starts_with("result "), "{path}");
        assert!(kept.contains(&path.rsplit('/').next().unwrap().to_owned()));
    }
    assert!(first != second);
    assert!(session.is_intact());

    let tape = session.scene.project.path("tape").display().to_string();
    let replay =
        format!("[roles]\ndefault = \"tape\"\n[providers.tape]\ntype = \"replay\"\ndir = \"{tape}\"\n");
    let scene = with_server(Scene::configured(&format!("{replay}{PLANNING}"))).file("server.sh", server);
    let replaying = Session::in_scene(scene, &Flags::default());
    replaying.approve();
    assert_eq!(replaying.text("iteration-1/planning-response.md"), PLAN);
    assert!(replaying.names("objects").iter().filter(|name| kept.contains(name)).count() >= 2);
}

#[test]
fn a_granted_tool_that_appears_can_be_called() {
    // `late` is listed once `echo` has been called, and the server says so.
    let server = TOOL_SERVER
        .replace("\"capabilities\":{\"tools\":{}}", "\"capabilities\":{\"tools\":{\"listChanged\":true}}")
        .replace("$(tool slow true)", "$(tool slow true)$late")
        .replace(
            "*) text \"you said $said\" ;;",
            "*'\"name\":\"late\"'*) text 'here I am' ;;\n*) late=,$(tool late true); printf '%s\\n' \
             '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}'; text \"you said $said\" ;;",
        );
    let grant = "[tools.grant]\nreply = [\"fake__echo\", \"fake__late\"]\n";
    let replies = [
        calls(&[("fake__echo", json!({"text": "one"}))]),
        calls(&[("fake__late", json!({})), ("fake__write", json!({}))]),
        "All is well.\n".to_owned(),
    ];
    let (agent, scene) = cli(&replies.each_ref().map(String::as_str));
    let config = scene.read(CONFIG);
    scene.write(CONFIG, config.replace(GRANT, grant));
    scene.write("server.sh", &server);
    let sent = send(&scene);
    assert_eq!(
        outcomes(&sent),
        [("fake__echo", "done"), ("fake__late", "done"), ("fake__write", "refused")],
        "{sent:#}"
    );
    // What is refused carries its server as well.
    assert_eq!(sent["tool_calls"][2]["server"], "fake");
    assert!(agent.asks()[1].as_prompt().contains("## More tools that you can call now\n\n### `fake__late`"));

    let turns = [
        Turn::tool_call("fake__echo", json!({"text": "one"})),
        Turn::tool_call("fake__late", json!({})),
        Turn::text("All is well.\n"),
    ];
    let (model, scene) = api(turns, "");
    let config = scene.read(CONFIG);
    scene.write(CONFIG, config.replace(GRANT, grant));
    scene.write("server.sh", &server);
    assert_eq!(outcomes(&send(&scene)), [("fake__echo", "done"), ("fake__late", "done")]);
    let asks = model.asks();
    assert_eq!((asks[0].tool_names().len(), asks[1].tool_names().len()), (1, 2));
}

#[test]
fn a_call_that_was_sent_and_lost_its_server_has_an_unknown_outcome() {
    let call = calls(&[("fake__echo", json!({"text": "one"}))]);
    let server = TOOL_SERVER.replace("*) text \"you said $said\" ;;", "*) kill -KILL $$ ;;");
    let (agent, session) = planning_with(&[&call, PLAN], &server);
    session.approve();
    let prompt = agent.asks()[1].as_prompt();
    assert!(prompt.contains(": sent, outcome unknown\n"), "{prompt}");
    assert!(!prompt.contains("not run"));
    let event = session.event("tool-called");
    assert_eq!((&event["outcome"], &event["server"]), (&json!("unknown"), &json!("fake")));
}
