//! The MCP server on stdio, driven by raw lines.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use aiwf_testkit::TestProject;
use serde_json::{Value, json};

use crate::project;
use crate::session::{CODE, PLAN, SCHEMA, Session, at};

/// What a client says first.
pub(crate) fn initialize(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

/// A client that writes a line and reads the next.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Client {
    fn start(project: &TestProject, line: &str) -> Self {
        let mut client = Self::without_handshake(project, line);
        let answer = client.request("initialize", initialize("2025-06-18"));
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer:#}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "aiwf");
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    fn without_handshake(project: &TestProject, line: &str) -> Self {
        let mut child = project.command(line).spawn_piped();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, next_id: 1 }
    }

    fn write(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    #[track_caller]
    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        loop {
            let mut line = String::new();
            self.stdout.read_line(&mut line).unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
            // What cannot be read is answered to nobody.
            assert_eq!(answer["id"], Value::Null, "{answer:#}");
        }
    }

    /// The result of a tool that did what it was asked for.
    #[track_caller]
    fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(answer["result"]["isError"], false, "{answer:#}");
        answer["result"].clone()
    }

    /// The text of a tool that did not.
    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(answer["result"]["isError"], true, "{answer:#}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        let error = &answer["result"]["structuredContent"]["error"];
        assert!(error["code"].is_string(), "{answer:#}");
        let hint = error["hint"].as_str().map(|hint| format!("\n\nhint: {hint}")).unwrap_or_default();
        assert_eq!(text, format!("error: {}{hint}", error["message"].as_str().unwrap()), "{answer:#}");
        text
    }

    /// The message of a request that was refused.
    #[track_caller]
    fn error(&mut self, method: &str, params: Value) -> String {
        let answer = self.request(method, params);
        assert!(answer["error"]["message"].is_string(), "{answer:#}");
        assert!(answer["error"]["data"]["code"].is_string(), "{answer:#}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    }

    /// Closes the input and awaits the end: the exit code.
    fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

fn names(tools: &Value) -> Vec<&str> {
    tools["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn approving_is_offered_only_if_allowed() {
    let project = project();
    let tools = Client::start(&project, "mcp").request("tools/list", json!({}));
    assert_eq!(
        names(&tools),
        [
            "list_sessions",
            "session_status",
            "preview_prompt",
            "submit_reply",
            "start_session",
            "comment",
            "list_comments",
        ]
    );
    let tools = Client::start(&project, "mcp --allow-approve").request("tools/list", json!({}));
    assert_eq!(names(&tools)[7..], ["approve", "reject", "resolve_comment", "revise"]);
    insta::assert_json_snapshot!("mcp_tools", tools["result"]["tools"]);
}

#[test]
fn a_client_starts_a_session_and_a_person_decides() {
    let project = project().file("schema.sql", SCHEMA);
    let mut client = Client::start(&project, "mcp");
    let params = json!({ "entity": "Customer", "table": "customer", "bounded-context": "sales", "schema-file": "schema.sql" });
    let started = client.done("start_session", json!({ "profile": "jpa-mt", "params": params }));
    let id = started["structuredContent"]["session_id"].as_str().unwrap().to_owned();
    assert_eq!(at(&started["structuredContent"]), ("planning", "prompt", 1));
    assert_eq!(started["content"][1]["text"], "planning: wrote the prompt iteration-1/planning-prompt.md\n");

    let refusal = client.refused("submit_reply", json!({ "session": id, "reply": PLAN }));
    assert!(refusal.starts_with("error: no reply is expected now"), "{refusal}");
    for tool in ["approve", "reject", "resolve_comment", "revise"] {
        let refusal = client.refused(tool, json!({ "session": id, "feedback": "no" }));
        assert!(refusal.starts_with(&format!("error: `{tool}` is not available")), "{refusal}");
    }
    assert_eq!(project.run("approve").exit_code(), 0);

    let taken = client.done("submit_reply", json!({ "session": "latest", "reply": PLAN }));
    assert_eq!(at(&taken["structuredContent"]), ("planning", "response", 1));
    assert_eq!(taken["structuredContent"]["gate"]["state"], "pending");
    // A comment decides nothing, so every client can make one.
    let comment = json!({ "session": id, "place": "plan:1", "text": "Which plan?" });
    let commented = client.done("comment", comment);
    assert_eq!(commented["structuredContent"]["comment"]["surface"], "mcp");
    let listed = client.done("list_comments", json!({ "session": id, "open": true }));
    assert_eq!(listed["structuredContent"]["comments"][0]["text"], "Which plan?");
    let nowhere = client.refused("comment", json!({ "session": id, "place": "plan:99", "text": "x" }));
    assert!(nowhere.starts_with("error: `plan` has no line 99"), "{nowhere}");
    assert_eq!(project.run("approve").exit_code(), 0);

    let status = client.done("session_status", json!({ "session": id }));
    assert_eq!(at(&status["structuredContent"]), ("generating", "prompt", 1));
    let listed = client.done("list_sessions", json!({}));
    assert_eq!(listed["structuredContent"]["total"], 1);
    assert_eq!(listed["structuredContent"]["sessions"][0]["session_id"], id.as_str());
    assert_eq!(client.close(), Some(0));
}

#[test]
fn results_are_the_fields_of_the_command_line() {
    let session = Session::new("");
    let mut client = Client::start(&session.project, "mcp");
    for (tool, arguments, line) in [
        ("session_status", json!({ "session": session.id }), "status latest"),
        ("preview_prompt", json!({ "session": session.id }), "preview"),
        ("list_sessions", json!({ "status": "waiting" }), "list --status waiting"),
    ] {
        let mut printed = session.done(line);
        for envelope in ["schema_version", "command", "exit_code"] {
            printed.as_object_mut().unwrap().shift_remove(envelope);
        }
        let mut result = client.done(tool, arguments);
        if tool != "preview_prompt" {
            assert_eq!(result["content"][0]["text"], result["structuredContent"].to_string());
        }
        // What to do next is said in commands on a command line, and in tools here.
        if let Some(next) = result["structuredContent"].get_mut("next") {
            assert_eq!(printed["next"], format!("aiwf approve {}", session.id));
            assert_eq!(*next, format!("`approve` with session `{}`", session.id));
            *next = printed["next"].clone();
        }
        assert_eq!(result["structuredContent"], printed, "{tool}");
    }
}

#[test]
fn a_preview_is_byte_for_byte_what_the_command_prints() {
    let session = Session::new("--planner claude-code");
    let printed = String::from_utf8(session.run("preview").stdout).unwrap();
    let mut client = Client::start(&session.project, "mcp");
    let preview = client.done("preview_prompt", json!({ "session": session.id }));
    assert_eq!(preview["content"], json!([{ "type": "text", "text": printed }]));

    let prompts = client.request("prompts/list", json!({}));
    assert_eq!(prompts["result"]["prompts"][0]["name"], session.id.as_str());
    let prompt = client.request("prompts/get", json!({ "name": session.id }));
    assert_eq!(
        prompt["result"]["messages"],
        json!([{ "role": "user", "content": { "type": "text", "text": printed } }])
    );
    session.done("cancel");
    let prompts = client.request("prompts/list", json!({}));
    assert_eq!(prompts["result"]["prompts"], json!([]));
    assert_eq!(client.error("prompts/get", json!({ "name": session.id })), "phase `cancelled` has no prompt");
}

#[test]
fn a_client_that_may_decide_walks_on_by_itself() {
    let session = Session::new("");
    let id = &session.id;
    let mut client = Client::start(&session.project, "mcp --allow-approve");
    client.done("approve", json!({ "session": id }));
    client.done("submit_reply", json!({ "session": id, "reply": PLAN }));
    let rejected = client.done("reject", json!({ "session": id, "feedback": "Two entities." }));
    assert_eq!(at(&rejected["structuredContent"]), ("planning", "prompt", 1));
    assert!(session.text("iteration-1/planning-prompt.md").contains("Two entities."));
    client.done("approve", json!({ "session": id }));
    client.done("submit_reply", json!({ "session": id, "reply": PLAN }));
    let approved = client.done("approve", json!({ "session": id }));
    assert_eq!(at(&approved["structuredContent"]), ("generating", "prompt", 1));
    let events = session.done("events")["events"].clone();
    let approval = events.as_array().unwrap().iter().map(|line| &line["event"]);
    let approval = approval.into_iter().find(|event| event["event"] == "prompt-approved").unwrap();
    let by = serde_json::json!({ "person": "unknown", "surface": "mcp" });
    assert_eq!(approval["by"], by, "{approval:#}");
}

#[test]
fn a_client_that_names_the_gate_decides_on_no_other() {
    let session = Session::new("");
    let id = session.id.as_str();
    let mut client = Client::start(&session.project, "mcp --allow-approve");
    let gate_hash = |client: &mut Client| {
        let status = client.done("session_status", json!({ "session": id }));
        status["structuredContent"]["gate"]["sha256"].as_str().unwrap().to_owned()
    };
    let prompt = gate_hash(&mut client);
    for (tool, arguments) in [
        ("approve", json!({ "session": id, "expect": "0123456789" })),
        ("reject", json!({ "session": id, "feedback": "no", "expect": "0123456789" })),
        ("submit_reply", json!({ "session": id, "reply": PLAN, "expect": "0123456789" })),
    ] {
        let refusal = client.refused(tool, arguments);
        assert!(refusal.starts_with("error: the gate has changed since you looked"), "{tool}: {refusal}");
    }
    client.done("approve", json!({ "session": id, "expect": prompt }));
    client.done("submit_reply", json!({ "session": id, "reply": PLAN, "expect": prompt }));
    // What it saw was the prompt; the plan came later.
    let refusal = client.refused("approve", json!({ "session": id, "expect": prompt }));
    assert!(refusal.contains("planning response"), "{refusal}");
    let plan = gate_hash(&mut client);
    let approved = client.done("approve", json!({ "session": id, "expect": plan.get(..8) }));
    assert_eq!(at(&approved["structuredContent"]), ("generating", "prompt", 1));
}

#[test]
fn a_cancelled_call_is_stopped() {
    const SLOW: &str =
        "[providers.slow]\ntype = \"command\"\nargv = [\"sleep\", \"600\"]\n[roles]\nplanner = \"slow\"\n";
    let session = Session::of(project().file("schema.sql", SCHEMA).file("~/.aiwf/config.toml", SLOW), "");
    let mut client = Client::start(&session.project, "mcp --allow-approve");
    let call = json!({ "name": "approve", "arguments": { "session": session.id } });
    client.write(
        &json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": call }).to_string(),
    );
    while !session.events().contains(&"prompt-sent".to_owned()) {}
    let cancelled = json!({ "requestId": "slow", "reason": "enough" });
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
    client.write(&cancelled.to_string());
    // The session is free again as soon as the program is gone; until then it is locked.
    let call = json!({ "name": "preview_prompt", "arguments": { "session": session.id } });
    while client.request("tools/call", call.clone())["result"]["isError"] == true {}
    let status = client.done("session_status", json!({ "session": session.id }));
    assert_eq!(status["structuredContent"]["phase"], "planning");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_reply_passes_gates_that_the_project_skips() {
    let session = Session::new("--gate planning.prompt=skip --gate planning.response=skip");
    let mut client = Client::start(&session.project, "mcp");
    let taken = client.done("submit_reply", json!({ "session": session.id, "reply": PLAN }));
    assert_eq!(at(&taken["structuredContent"]), ("generating", "prompt", 1));
}

#[test]
fn artifacts_are_resources_and_nothing_else_is() {
    let session = Session::new("");
    session.answer(PLAN);
    session.answer(CODE);
    let id = &session.id;
    let directory = session.project.path(session.path(""));
    std::os::unix::fs::symlink("/etc/passwd", directory.join("link.md")).unwrap();
    std::os::unix::fs::symlink(session.project.path("schema.sql"), directory.join("near.md")).unwrap();
    session.project.write(&session.path("large.md"), "x".repeat(5 * 1024 * 1024));

    let mut client = Client::start(&session.project, "mcp");
    let listed = client.request("resources/list", json!({}));
    let uris: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap().strip_prefix("aiwf://session/").unwrap())
        .map(|rest| rest.strip_prefix(id.as_str()).unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "/inputs/schema_file",
            "/iteration-1/code/Customer.java",
            "/iteration-1/code/Other.java",
            "/iteration-1/generation-prompt.md",
            "/iteration-1/generation-response.md",
            "/iteration-1/planning-prompt.md",
            "/iteration-1/planning-response.md",
            "/iteration-1/review-prompt.md",
            "/plan.md",
            "/standards-bundle.md",
        ]
    );
    let mut read =
        |path: &str| client.request("resources/read", json!({ "uri": format!("aiwf://session/{path}") }));
    for path in [format!("{id}/plan"), format!("{id}/plan.md"), "latest/plan%2Emd".to_owned()] {
        assert_eq!(read(&path)["result"]["contents"][0]["text"], PLAN, "{path}");
    }
    assert_eq!(read(&format!("{id}/plan"))["result"]["contents"][0]["mimeType"], "text/markdown");
    let root = session.project.root().to_string_lossy().into_owned();
    let mut refusals = String::new();
    for path in [
        "ID/../../../schema.sql",
        "ID/..%2F..%2F..%2Fschema.sql",
        "ID/plan.md/../../../config.toml",
        "ID//etc/passwd",
        "ID/%2Fetc%2Fpasswd",
        "ID/link.md",
        "ID/near.md",
        "ID/large.md",
        "ID/absent.md",
        "ID/%FF",
        "../plan",
        "%2E%2E/plan",
        "ID",
    ] {
        let answer = read(&path.replace("ID", id));
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{path}: {answer:#}"));
        assert!(!answer.to_string().contains(&root), "{answer:#}");
        let _ = writeln!(refusals, "{path}: {}", message.replace(id.as_str(), "ID"));
    }
    insta::assert_snapshot!(refusals, @"
    ID/../../../schema.sql: an artifact must be a path inside the session, not `../../../schema.sql`
    ID/..%2F..%2F..%2Fschema.sql: an artifact must be a path inside the session, not `../../../schema.sql`
    ID/plan.md/../../../config.toml: an artifact must be a path inside the session, not `plan.md/../../../config.toml`
    ID//etc/passwd: an artifact must be a path inside the session, not `[path]`
    ID/%2Fetc%2Fpasswd: an artifact must be a path inside the session, not `[path]`
    ID/link.md: `.aiwf/sessions/ID/link.md` is not used: it is a link, or reached through one
    ID/near.md: `.aiwf/sessions/ID/near.md` is not used: it is a link, or reached through one
    ID/large.md: `.aiwf/sessions/ID/large.md` has 5242880 bytes, more than 4194304
    ID/absent.md: session `ID` has no `absent.md` yet
    ID/%FF: no resource has this URI
    ../plan: no session `..`
    %2E%2E/plan: no session `..`
    ID: no resource has this URI
    ");
}

#[test]
fn files_of_parameters_are_read_in_the_project_only() {
    let project = project().file("~/secret.sql", SCHEMA).file("sub/schema.sql", SCHEMA);
    let project = project.link("link.sql", "../home/secret.sql");
    let mut client = Client::start(&project, "mcp");
    let mut start = |path: &str| {
        let params = json!({ "entity": "Customer", "table": "customer", "bounded-context": "sales", "schema-file": path });
        let call = json!({ "name": "start_session", "arguments": { "profile": "jpa-mt", "params": params } });
        client.request("tools/call", call)["result"].clone()
    };
    let secret = project.home().join("secret.sql");
    for path in [secret.to_str().unwrap(), "../home/secret.sql", "../home/absent.sql", "link.sql"] {
        let result = start(path);
        assert_eq!(result["isError"], true, "{path}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("which cannot be read: it is not in the project"), "{text}");
    }
    assert_eq!(start("sub/../sub/schema.sql")["isError"], false);
}

#[test]
fn errors_are_reported_and_the_server_keeps_running() {
    let session = Session::new("");
    let other = session.done(crate::session::INIT)["session_id"].clone();
    let mut client = Client::start(&session.project, "mcp");
    let mut said = String::new();
    for (tool, arguments) in [
        ("session_status", json!({ "session": "nope" })),
        ("session_status", json!({ "session": 1 })),
        ("session_status", json!({})),
        ("session_status", json!({ "session": "latest", "verbose": true })),
        ("start_session", json!({ "profile": "jpa", "params": {} })),
        (
            "start_session",
            json!({ "profile": "react-component", "params": { "component": "button", "x": 1 } }),
        ),
    ] {
        let _ = write!(said, "{}\n\n", client.refused(tool, arguments));
    }
    said += &client.error("tools/call", json!({ "name": "apply", "arguments": {} }));
    insta::assert_snapshot!(said, @"
    error: no session `nope`

    hint: `list_sessions` lists the sessions; `start_session` starts one

    error: invalid arguments for `session_status`: invalid type: integer `1`, expected a string

    hint: `tools/list` describes the arguments of each tool

    error: invalid arguments for `session_status`: missing field `session`

    hint: `tools/list` describes the arguments of each tool

    error: invalid arguments for `session_status`: unknown field `verbose`, expected `session`

    hint: `tools/list` describes the arguments of each tool

    error: unknown profile `jpa`

    hint: the input schema of `start_session` describes the profiles and their parameters

    error: profile `react-component` cannot start a session
      unknown parameter `x`
      `--component` is `button`, not a component name in PascalCase such as `Button`

    hint: the input schema of `start_session` describes the profiles and their parameters

    unknown tool `apply`
    ");
    assert_ne!(other, session.id.as_str());
    client.done("list_sessions", json!({ "limit": 1 }));
}

#[test]
fn losing_a_lock_is_reported() {
    let session = Session::new("");
    session.done("approve");
    let lock =
        std::fs::File::options().write(true).open(session.project.path(session.path(".lock"))).unwrap();
    lock.lock().unwrap();
    let mut client = Client::start(&session.project, "mcp");
    // Looking needs no lock.
    client.done("preview_prompt", json!({ "session": session.id }));
    let reply = json!({ "session": session.id, "reply": PLAN });
    let refusal = client.refused("submit_reply", reply.clone());
    assert!(refusal.starts_with("error: another aiwf process is working on this session"), "{refusal}");
    drop(lock);
    client.done("submit_reply", reply);
}

#[test]
fn every_version_since_2025_06_18_is_spoken() {
    let project = project();
    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = Client::without_handshake(&project, "mcp");
        let answer = client.request("initialize", initialize(version));
        assert_eq!(answer["result"]["protocolVersion"], version);
    }
}

#[test]
fn garbage_does_not_end_it_and_a_closed_input_does() {
    let project = project();
    assert_eq!(project.run("mcp").to_string(), "--- exit code 0");
    assert_eq!(project.run_with_input("mcp", "hello\n").exit_code(), 0);
    let mut client = Client::start(&project, "mcp");
    for line in ["hello", "{", "[]", "\u{1}", ""] {
        client.write(line);
    }
    client.done("list_sessions", json!({}));
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_token_is_for_http() {
    insta::assert_snapshot!(project().run("mcp --token-file t"), @"
    --- stderr
    error: missing `--http <ADDR>`

    hint: write it like `aiwf mcp --http 8765 --token-file token`; `aiwf mcp --help` shows more
    --- exit code 2
    ");
}
