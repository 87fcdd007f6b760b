//! Our MCP server, driven by a client that we did not write: the official Inspector; and our client in front of a
//! server that we did not write.

#![expect(clippy::disallowed_methods, reason = "these tests start a client of the server under test")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use aiwf_testkit::model_server::{Piece, Turn};
use aiwf_testkit::{ModelServer, TestProject, real_mcp_server};
use serde_json::{Value, json};

use crate::mcp_http::{Server, TOKEN};
use crate::project;
use crate::scene::Scene;
use crate::session::{PLAN, SCHEMA, at};

/// The Inspector, in front of a server.
struct Inspector<'p> {
    program: PathBuf,
    project: &'p TestProject,
    target: Vec<String>,
}

impl<'p> Inspector<'p> {
    fn of_stdio(program: &Path, project: &'p TestProject, words: &[&str]) -> Self {
        let server = [env!("CARGO_BIN_EXE_aiwf"), "mcp"];
        let target = server.iter().chain(words).map(|word| (*word).to_owned()).collect();
        Self { program: program.to_owned(), project, target }
    }

    fn of_http(program: &Path, project: &'p TestProject, server: &Server, token: &str) -> Self {
        let header = format!("Authorization: Bearer {token}");
        let target = [&server.url(), "--transport", "http", "--header", &header].map(str::to_owned).to_vec();
        Self { program: program.to_owned(), project, target }
    }

    fn output(&self, words: &[impl AsRef<OsStr>]) -> Output {
        Command::new(&self.program)
            .arg("--cli")
            .args(&self.target)
            .args(words)
            .current_dir(self.project.root())
            .env("HOME", self.project.home())
            .output()
            .unwrap()
    }

    #[track_caller]
    fn run(&self, words: &[impl AsRef<OsStr>]) -> Value {
        let output = self.output(words);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[track_caller]
    fn call(&self, tool: &str, arguments: &[&str]) -> Value {
        let mut words = vec!["--method", "tools/call", "--tool-name", tool];
        for argument in arguments {
            words.extend(["--tool-arg", argument]);
        }
        self.run(&words)
    }
}

const PARAMS: &str =
    r#"params={"entity":"Customer","table":"customer","bounded-context":"sales","schema-file":"schema.sql"}"#;

/// A whole planning phase: the client answers, a person approves.
fn check(inspector: &Inspector<'_>) {
    let project = inspector.project;
    let tools = inspector.run(&["--method", "tools/list"]);
    assert_eq!(tools["tools"].as_array().unwrap().len(), 7);
    let started = inspector.call("start_session", &["profile=jpa-mt", PARAMS]);
    assert_eq!(at(&started["structuredContent"]), ("planning", "prompt", 1));
    let id = started["structuredContent"]["session_id"].as_str().unwrap();
    let session = format!("session={id}");

    let printed = String::from_utf8(project.run("preview").stdout).unwrap();
    assert_eq!(inspector.call("preview_prompt", &[&session])["content"][0]["text"], printed);
    let prompts = inspector.run(&["--method", "prompts/list"]);
    assert_eq!(prompts["prompts"][0]["name"], id);
    let prompt = inspector.run(&["--method", "prompts/get", "--prompt-name", id]);
    assert_eq!(prompt["messages"][0]["content"]["text"], printed);

    assert_eq!(project.run("approve").exit_code(), 0);
    let reply = format!("reply={PLAN}");
    let taken = inspector.call("submit_reply", &[&session, &reply]);
    assert_eq!(at(&taken["structuredContent"]), ("planning", "response", 1));
    assert_eq!(project.run("approve").exit_code(), 0);
    let uri = format!("aiwf://session/{id}/plan");
    let plan = inspector.run(&["--method", "resources/read", "--uri", &uri]);
    assert_eq!(plan["contents"][0]["text"], PLAN);
    let listed = inspector.call("list_sessions", &[]);
    assert_eq!(listed["structuredContent"]["sessions"][0]["phase"], "generating");
}

#[test]
fn real_mcp_the_inspector_drives_a_session_over_stdio() {
    let Some(program) = real_mcp_server("mcp-inspector") else { return };
    let project = project().file("schema.sql", SCHEMA);
    check(&Inspector::of_stdio(&program, &project, &[]));
    let tools =
        Inspector::of_stdio(&program, &project, &["--allow-approve"]).run(&["--method", "tools/list"]);
    assert_eq!(tools["tools"].as_array().unwrap().len(), 11);
}

#[test]
fn real_mcp_the_inspector_drives_a_session_over_http() {
    let Some(program) = real_mcp_server("mcp-inspector") else { return };
    let project = project().file("schema.sql", SCHEMA);
    let server = Server::start(&project);
    check(&Inspector::of_http(&program, &project, &server, TOKEN));
    let stranger = Inspector::of_http(&program, &project, &server, "0123456789abcdeg");
    assert!(!stranger.output(&["--method", "tools/list"]).status.success());
}

/// Both modes, with a server that we did not write.
#[test]
fn real_mcp_a_model_calls_the_tools_of_server_everything() {
    let Some(program) = real_mcp_server("mcp-server-everything") else { return };
    let grant = "[tools.grant]\nreply = [\"all__echo\", \"all__get-sum\"]\n";
    let server = format!("[mcp.servers.all]\ncommand = \"{}\"\nargs = [\"stdio\"]\n", program.display());
    let calls = [
        Piece::ToolCall { name: "all__echo".to_owned(), args: json!({"message": "hello"}) },
        Piece::ToolCall { name: "all__get-sum".to_owned(), args: json!({"a": 1, "b": 2}) },
    ];
    let model = ModelServer::script([Turn::Pieces(calls.to_vec()), Turn::text("Done.")]);
    let scene = Scene::of_api("openai", &model, &format!("{grant}{server}"));
    let written = r#"{"tool_calls": [{"name": "all__get-sum", "arguments": {"a": 1, "b": 2}}]}"#;
    let script = format!("if grep -q 'sum of 1 and 2 is 3'; then echo Done.; else echo '{written}'; fi");
    let agent = "[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\"]\n";
    let config = String::from_utf8(scene.project.read("~/.aiwf/config.toml")).unwrap();
    scene.project.write("~/.aiwf/config.toml", format!("{config}{agent}"));
    scene.project.write("agent.sh", script);
    scene.project.write("reply.json", r#"{"request": {"ai_message": "Look."}, "mode": "cli"}"#);
    let line = "prompt send reply --input reply.json --tools --trust-servers --provider";
    let sent = scene.done(&format!("{line} model"));
    assert_eq!((&sent["reply"], &sent["rounds"]), (&json!("Done."), &json!(1)), "{sent:#}");
    let results = model.asks()[1].tool_results();
    assert!(results[0].contains("Echo: hello") && results[1].contains("is 3"), "{results:?}");
    let sent = scene.done(&format!("{line} agent"));
    assert_eq!((&sent["reply"], &sent["rounds"]), (&json!("Done.\n"), &json!(1)), "{sent:#}");
}
