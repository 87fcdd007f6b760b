#![allow(clippy::disallowed_methods, reason = "tests lay out their own directories")]

use std::fs;
use std::path::Path;

use aiwf_package::{Conditions, Graph, State, is_complete};
use aiwf_prompt::{FsPolicy, McpPolicy};
use aiwf_store::sha256_hex;
use aiwf_tools::{
    Access, Annotations, Call, CallError, Grant, Offered, Outcome, PinState, Rules, Tool, ToolResult,
    ToolsError,
};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

pub(super) const NOW: &str = "2026-01-31T12:00:00Z";

/// A run state in memory that records every call.
#[derive(Debug)]
pub(super) struct FakeState {
    pub(super) graph: Option<Graph>,
    pub(super) state_path: PathBuf,
    pub(super) n_confirmations: u32,
    pub(super) intents: Vec<(StateWriter, String, String)>,
    pub(super) refuses: bool,
}

impl StateAccess for FakeState {
    fn graph(&self) -> Option<&Graph> {
        self.graph.as_ref()
    }

    fn conditions(&self) -> Conditions {
        Conditions::Warn
    }

    fn is_complete(&self) -> bool {
        let state = fs::read_to_string(&self.state_path).ok().and_then(|text| State::parse(&text).ok());
        self.graph.as_ref().zip(state).is_some_and(|(graph, state)| is_complete(graph, &state))
    }

    fn take_confirmation(&mut self) -> bool {
        let is_there = self.n_confirmations > 0;
        self.n_confirmations = 0;
        is_there
    }

    fn intend(&mut self, by: StateWriter, before: &str, after: &str) -> Result<(), ToolError> {
        // Nothing has been replaced yet.
        assert_eq!(fs::read_to_string(&self.state_path).unwrap(), before);
        if self.refuses {
            return Err(ToolError::new(ErrorCode::Internal, "the journal is full"));
        }
        self.intents.push((by, before.to_owned(), after.to_owned()));
        Ok(())
    }

    fn now(&self) -> String {
        NOW.to_owned()
    }
}

/// A project, a package and the state of a run on disk.
pub(super) struct Place {
    pub(super) root: TempDir,
    pub(super) store: FakeState,
    pub(super) tools: RunTools,
}

pub(super) fn state_at(node: &str, steps: &str, more: &str) -> String {
    format!(
        "---\nschemaVersion: \"1.1\"\nworkflowType: x\ncurrentNodeId: {node}\nstepsCompleted: [{steps}]\n{more}---\n\nbody\n"
    )
}

fn graph() -> Graph {
    let node = |id: &str, kind: &str, outputs: &[&str]| json!({ "id": id, "type": kind, "file": format!("steps/{id}.md"), "outputs": outputs });
    Graph::from_value(json!({
        "schemaVersion": "1.1",
        "entryNodeId": "one",
        "nodes": [node("one", "step", &["artifacts/one.md"]), node("choose", "decision", &[]),
            node("left", "step", &[]), node("done", "end", &[])],
        "edges": [
            { "from": "one", "to": "choose", "label": "next" },
            { "from": "choose", "to": "left", "label": "left" },
            { "from": "choose", "to": "done", "label": "straight", "isDefault": true },
            { "from": "left", "to": "done", "label": "next" },
        ],
    }))
    .unwrap()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) kind: RunKind,
    pub(super) has_fs: bool,
    pub(super) has_mcp: bool,
    pub(super) has_state: bool,
    pub(super) preview: usize,
    pub(super) max_write: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kind: RunKind::Run,
            has_fs: true,
            has_mcp: true,
            has_state: true,
            preview: 4_000,
            max_write: 100_000,
        }
    }
}

fn offered(server: &str, name: &str) -> Offered {
    let tool = Tool {
        server: server.to_owned(),
        name: name.to_owned(),
        title: None,
        description: Some("Does it.".to_owned()),
        input_schema: json!({ "type": "object" }),
        output_schema: None,
        annotations: Annotations::default(),
    };
    Offered { tool, pin: PinState::Same, is_marked_read_only: false }
}

/// A server whose tools fail in every way there is, and repeat a real path.
fn mcp(root: &Path) -> Mcp {
    let names = ["web__say", "web__fail", "web__crash", "web__strict", "other__say", "web__dotted.name"];
    let grant = Grant { access: Access::Full, names: names.map(str::to_owned).into() };
    let offered: Vec<Offered> = names
        .iter()
        .filter_map(|name| name.split_once("__"))
        .chain([("web", "hidden")])
        .map(|(server, name)| offered(server, name))
        .collect();
    let root = root.display().to_string();
    let caller = move |call: Call, _: &Policy, _: aiwf_tools::ResultsDir<'_>, _: &Stop| {
        let text = format!("looked at {root}/project/src and {} arguments", call.arguments.len());
        let given = |is_error| ToolResult {
            is_error,
            // As of another text: that of a real path is another one every time.
            bytes: 1,
            sha256: sha256_hex(b"x"),
            text: text.clone(),
            is_cut: false,
            attachments: Vec::new(),
            structured: None,
            path: None,
        };
        let result = match call.name.as_str() {
            "web__fail" => Ok(given(true)),
            "web__crash" => Err(CallError::from(ToolsError::Stopped { tool: format!("{root}/bin/server") })),
            "web__strict" => {
                let problems = vec![format!("`{root}/x` is no number")];
                Err(CallError::from(ToolsError::BadArguments { tool: call.name.clone(), problems }))
            }
            _ => Ok(given(false)),
        };
        let server = Some("web".to_owned());
        Some(Outcome { id: call.id, name: call.name, server, result, duration: std::time::Duration::ZERO })
    };
    Mcp::of_caller(Policy::new(Rules::default(), &grant, &offered), Rc::new(caller))
}

impl Place {
    pub(super) fn new(options: Options) -> Self {
        let root = aiwf_testkit::scratch_dir();
        let dir = |name: &str| root.path().join(name);
        for name in ["project/src", "project/artifacts", "pkg/steps", "state"] {
            fs::create_dir_all(dir(name)).unwrap();
        }
        fs::write(dir("project/src/a.rs"), "fn a() {}\nfn needle() {}\n").unwrap();
        fs::write(dir("pkg/steps/one.md"), "# One\n").unwrap();
        fs::write(dir("state/workflow.md"), state_at("one", "", "")).unwrap();
        let mut mounts = Mounts::default();
        mounts.mount(Mount::Project, &dir("project")).unwrap();
        mounts.mount(Mount::Package, &dir("pkg")).unwrap();
        if options.has_state {
            mounts.mount(Mount::State, &dir("state")).unwrap();
        }
        let text = |path: PathBuf| Some(path.display().to_string());
        let roots = Roots {
            project: text(dir("project")),
            package: text(dir("pkg")),
            state: text(dir("state")),
            home: text(root.path().to_owned()),
            others: Vec::new(),
        };
        let policy = ToolPolicy {
            fs: FsPolicy {
                is_enabled: Some(options.has_fs),
                max_read_bytes: None,
                max_write_bytes: Some(options.max_write),
            },
            mcp: McpPolicy {
                is_enabled: Some(options.has_mcp),
                allowed_servers: Some(vec!["web".to_owned()]),
            },
        };
        let state_dir = options.has_state.then(|| dir("state"));
        let tools = RunTools::with_mcp(
            Rc::new(mounts),
            &policy,
            (options.kind, Some("analyst".to_owned())),
            (options.preview, state_dir),
            roots,
            Some(mcp(root.path())),
        );
        let store = FakeState {
            graph: (options.kind == RunKind::Run).then(graph),
            state_path: dir("state/workflow.md"),
            n_confirmations: 0,
            intents: Vec::new(),
            refuses: false,
        };
        Self { root, store, tools }
    }

    pub(super) fn run(&mut self, name: &str, arguments: Value) -> Ran {
        let call = ToolCall { id: "call-1".to_owned(), name: name.to_owned(), arguments, signature: None };
        let ran = self.tools.run(&call, &mut self.store, &Stop::default());
        let content: Value = serde_json::from_str(&ran.content).unwrap();
        assert_eq!(content["ok"], !ran.is_error, "{content}");
        assert_eq!(ran.exec.output["ok"], !ran.is_error);
        let real = self.root.path().display().to_string();
        let all = format!("{ran:?} {} {}", ran.content, json!(ran.exec));
        assert!(!all.contains(&real), "a real path is in {all}");
        ran
    }

    #[track_caller]
    pub(super) fn works(&mut self, name: &str, arguments: Value) -> Value {
        let ran = self.run(name, arguments);
        assert!(!ran.is_error, "{}", ran.content);
        serde_json::from_str(&ran.content).unwrap()
    }

    #[track_caller]
    pub(super) fn fails(&mut self, name: &str, arguments: Value, code: &str) -> Value {
        let ran = self.run(name, arguments);
        let content: Value = serde_json::from_str(&ran.content).unwrap();
        assert_eq!(content["error"]["code"], code, "{content}");
        assert_eq!(ran.exec.output["code"], code);
        content["error"].clone()
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.path().join(path)).ok()
    }

    pub(super) fn put(&self, path: &str, text: &str) {
        fs::write(self.root.path().join(path), text).unwrap();
    }

    pub(super) fn state(&self) -> String {
        self.text("state/workflow.md").unwrap()
    }
}

fn names(tools: &RunTools) -> Vec<String> {
    tools.specs().into_iter().map(|spec| spec.name).collect()
}

#[test]
fn what_is_listed_depends_on_policy_and_kind() {
    let place = Place::new(Options::default());
    let listed = names(&place.tools);
    assert_eq!(
        listed.get(..7).unwrap(),
        [
            "fs_list",
            "fs_read",
            "fs_search",
            "fs_write",
            "fs_apply_patch",
            "ui_ask_user",
            "workflow_complete_node"
        ]
    );
    assert_eq!(listed.len(), 12, "{listed:?}");
    assert!(listed.contains(&"mcp__web__say".to_owned()), "{listed:?}");
    assert!(
        !listed.iter().any(|name| name.contains("other") || name.contains("hidden") || name.contains('.'))
    );
    let own: Vec<String> = place.tools.schemas().into_iter().map(|schema| schema.name).collect();
    assert_eq!(own.first().unwrap(), "fs.list");
    assert!(own.contains(&"mcp__web__dotted.name".to_owned()));
    let bare =
        Place::new(Options { kind: RunKind::Chat, has_fs: false, has_mcp: false, ..Options::default() });
    assert_eq!(names(&bare.tools), ["ui_ask_user"]);
    let stateless =
        Place::new(Options { kind: RunKind::Agent, has_state: false, has_mcp: false, ..Options::default() });
    assert_eq!(names(&stateless.tools), ["fs_list", "fs_read", "fs_search", "fs_write", "ui_ask_user"]);
}

#[test]
fn every_schema_is_closed() {
    fn check(schema: &Value, place: &str) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            assert_eq!(schema["additionalProperties"], false, "{place}");
            for (key, property) in properties {
                check(property, &format!("{place}.{key}"));
            }
        }
        if let Some(items) = schema.get("items") {
            check(items, place);
        }
    }
    for tool in Builtin::ALL {
        check(&tool.parameters(), tool.name());
        assert!(tool.description().ends_with('.'));
    }
}

#[test]
fn files_are_listed_read_searched_and_written_by_both_names() {
    let mut place = Place::new(Options::default());
    for name in ["fs.list", "fs_list"] {
        let result = place.works(name, json!({ "path": "@project" }));
        assert_eq!(result, json!({ "ok": true, "path": "@project", "entries": ["artifacts/", "src/"] }));
    }
    for name in ["fs.read", "fs_read"] {
        let result = place.works(name, json!({ "path": "@project/src/a.rs", "startLine": 2 }));
        assert_eq!(result["content"], "fn needle() {}\n");
    }
    for name in ["fs.search", "fs_search"] {
        let result = place.works(name, json!({ "path": "@project", "pattern": "needle" }));
        assert_eq!(result["matches"][0]["path"], "@project/src/a.rs");
    }
    for name in ["fs.write", "fs_write"] {
        let result = place.works(name, json!({ "path": "@project/src/b.rs", "content": name }));
        assert_eq!(result["bytesWritten"], 8);
        assert_eq!(place.text("project/src/b.rs").as_deref(), Some(name));
    }
    for name in ["fs.apply_patch", "fs_apply_patch"] {
        let patch =
            json!({ "operation": "updateFrontmatter", "update": { "variables": { "set": { "a": 1 } } } });
        let result = place.works(name, json!({ "path": "@state/workflow.md", "patch": patch }));
        assert_eq!(result["sha256After"], sha256_hex(place.state().as_bytes()));
    }
    assert_eq!(place.tools.canonical_name("fs_read"), "fs.read");
    assert_eq!(place.tools.canonical_name("web__say"), "mcp__web__say");
    assert_eq!(place.tools.canonical_name("mcp__web__say"), "mcp__web__say");
    assert_eq!(place.tools.canonical_name("no\nsuch"), "no such");
}

#[test]
fn what_is_wrong_has_its_code() {
    let mut place = Place::new(Options { max_write: 3_000, ..Options::default() });
    let of_path = |path: &str| json!({ "path": path });
    place.fails("fs.read", of_path("@project/no.txt"), "ENOENT");
    let error = place.fails("fs.read", of_path("@project/../x"), "E_SANDBOX_VIOLATION");
    assert_eq!(error["details"]["mount"], "@project");
    let real = place.root.path().join("project/src/a.rs").display().to_string();
    place.fails("fs.read", of_path(&real), "E_SANDBOX_VIOLATION");
    place.fails("fs.read", of_path("/etc/passwd"), "E_SANDBOX_VIOLATION");
    place.fails("fs.write", json!({ "path": "@pkg/steps/one.md", "content": "" }), "E_SANDBOX_VIOLATION");
    place.fails("fs.write", json!({ "path": "@state/logs/x", "content": "" }), "E_SANDBOX_VIOLATION");
    place.fails("fs.write", json!({ "path": "@project/x", "content": "x".repeat(3_001) }), "E_WRITE_LIMIT");
    let stale = json!({ "path": "@project/src/a.rs", "content": "", "ifMatchSha256": "00" });
    place.fails("fs.write", stale, "E_PRECONDITION_FAILED");
    place.put("project/src/huge.txt", &"a line\n".repeat(100_000));
    place.fails("fs.read", json!({ "path": "@project/src/huge.txt", "startLine": 2 }), "E_READ_LIMIT");
    place.fails("fs.read", json!({}), "E_INVALID_ARGS");
    place.fails("fs.read", json!({ "path": "@project", "more": 1 }), "E_INVALID_ARGS");
    let error = place.fails(
        "fs.read",
        json!({ "path": "@project/a", "startLine": format!("{real} \"x\"") }),
        "E_INVALID_ARGS",
    );
    assert_eq!(
        error["message"],
        "invalid arguments (invalid type: string, expected u64): correct them, then call again"
    );
    for broken in [json!("{\"path\": "), json!([1]), json!(7), json!(true)] {
        place.fails("fs.read", broken, "TOOL_ARGS_INVALID_JSON");
    }
    for nothing in [Value::Null, json!(" ")] {
        place.fails("fs.list", nothing, "E_INVALID_ARGS");
    }
    for unknown in
        ["", "fs.delete", "fs", "mcp__", "mcp__web__nothing", "mcp__web__hidden", "web__hidden", &real]
    {
        place.fails(unknown, json!({}), "TOOL_NOT_AVAILABLE");
    }
    let error = place.fails("mcp__other__say", json!({}), "TOOL_NOT_AVAILABLE");
    assert!(error["message"].as_str().unwrap().contains("`other` is not allowed"), "{error}");
}

#[test]
fn what_is_not_listed_cannot_be_called() {
    let options = Options { kind: RunKind::Agent, has_fs: false, has_mcp: false, ..Options::default() };
    let mut place = Place::new(options);
    for tool in Builtin::ALL.into_iter().filter(|tool| *tool != Builtin::AskUser) {
        for name in [tool.name(), tool.api_name()] {
            // Not even broken arguments are looked at.
            place.fails(name, json!("{"), "TOOL_NOT_AVAILABLE");
        }
    }
    let error = place.fails("mcp__web__say", json!({}), "TOOL_NOT_AVAILABLE");
    assert!(error["message"].as_str().unwrap().contains("MCP is disabled"), "{error}");
}

#[test]
fn a_server_that_fails_is_an_error_of_the_tool() {
    let mut place = Place::new(Options::default());
    for name in ["mcp__web__say", "web__say"] {
        let result = place.works(name, json!({ "a": 1 }));
        assert_eq!(result["content"], "looked at @project/src and 1 arguments");
    }
    place.works("mcp__web__dotted.name", json!({}));
    let listed = names(&place.tools);
    let api_name = listed.iter().find(|name| name.starts_with("mcp__web__dotted_name_")).unwrap();
    place.works(api_name, json!({}));
    let error = place.fails("web__fail", json!({}), "TOOL_EXEC_FAILED");
    assert_eq!(error["message"], "looked at @project/src and 0 arguments");
    place.fails("web__crash", json!({}), "TOOL_EXEC_FAILED");
    place.fails("web__strict", json!({}), "E_INVALID_ARGS");
    place.fails("web__say", json!("{"), "TOOL_ARGS_INVALID_JSON");
}

#[test]
fn a_file_that_names_its_own_directory_is_read_with_the_alias() {
    let mut place = Place::new(Options::default());
    let real = place.root.path().display().to_string();
    place.put("project/src/p.txt", &format!("cd {real}/project && ls {real}/state\n"));
    let result = place.works("fs.read", json!({ "path": "@project/src/p.txt" }));
    assert_eq!(result["content"], "cd @project && ls @state\n");
    place.works("fs.search", json!({ "path": "@project", "pattern": format!("{real}/project") }));
}

#[test]
fn a_large_file_is_read_in_windows() {
    let mut place = Place::new(Options { preview: 1_000, ..Options::default() });
    let lines: Vec<String> = (1..=500).map(|n| format!("line \"{n}\"\n")).collect();
    let text = lines.concat();
    place.put("project/src/big.txt", &text);
    let (mut next, mut all) = (1, String::new());
    loop {
        let ran = place.run("fs.read", json!({ "path": "@project/src/big.txt", "startLine": next }));
        assert!(ran.content.len() <= 1_000, "{}", ran.content.len());
        assert_eq!(ran.exec.output["bytes"], text.len());
        let result: Value = serde_json::from_str(&ran.content).unwrap();
        if let Some(rest) = result["content"].as_str() {
            all.push_str(rest);
            break;
        }
        assert_eq!(result["truncated"], true);
        let shown = result["contentPreview"].as_str().unwrap();
        all.push_str(shown);
        next += shown.lines().count();
        let hint = result["hint"].as_str().unwrap();
        assert!(hint.contains(&format!("startLine {next} ")), "{hint}");
    }
    assert_eq!(all, text);
    assert!(place.text("state/logs/tool-results/call-1.json").is_none());
}

#[test]
fn the_whole_of_a_large_result_is_in_a_file_that_can_be_read() {
    let mut place = Place::new(Options { preview: 1_000, ..Options::default() });
    place.put("project/src/big.txt", &"needle in a line\n".repeat(100));
    let search = |pattern: &str| json!({ "path": "@project", "pattern": pattern });
    let ran = place.run("fs.search", search("needle"));
    assert!(ran.content.len() <= 1_000 && ran.content.len() > 700, "{}", ran.content.len());
    let result: Value = serde_json::from_str(&ran.content).unwrap();
    assert_eq!(result["resultPath"], "@state/logs/tool-results/call-1.json");
    assert_eq!(ran.exec.output["resultPath"], result["resultPath"]);
    assert_eq!(ran.exec.output["nMatches"], 50);
    let whole = place.text("state/logs/tool-results/call-1.json").unwrap();
    assert_eq!(result["bytes"], whole.len());
    assert!(whole.starts_with(result["preview"].as_str().unwrap()));
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["matches"].as_array().unwrap().len(), 50);
    // The same id again does not lose the earlier result.
    let again = place.works("fs.search", search("line"));
    assert_ne!(again["resultPath"], result["resultPath"]);
    let read = json!({ "path": result["resultPath"], "startLine": 1, "endLine": 5 });
    place.works("fs.read", read);
}

#[test]
fn a_result_that_cannot_be_kept_is_still_one() {
    let mut place = Place::new(Options { preview: 1_000, ..Options::default() });
    place.put("project/src/big.txt", &"needle in a line\n".repeat(100));
    place.put("state/logs", "a file where the directory should be");
    let ran = place.run("fs.search", json!({ "path": "@project", "pattern": "needle" }));
    let result: Value = serde_json::from_str(&ran.content).unwrap();
    assert_eq!((ran.is_error, &result["truncated"], result.get("resultPath")), (false, &json!(true), None));
    assert!(result["hint"].as_str().unwrap().contains("could not be stored"));
    assert_eq!(ran.warnings.len(), 1);
}

#[test]
fn ids_become_names_of_files() {
    assert_eq!(large::file_stem("toolu_01-a.b"), "toolu_01-a.b");
    for odd in ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "con", "ü", "a:b", &"x".repeat(300)] {
        let stem = large::file_stem(odd);
        assert!(stem.starts_with("call-") && stem.len() < 110, "{stem}");
        assert!(stem.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)), "{stem}");
    }
    assert_ne!(large::file_stem("a/b"), large::file_stem("a:b"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let path = prop_oneof![
        "[@a-z./\\\\]{0,12}",
        Just("@state/workflow.md".to_owned()),
        Just("@project/artifacts/x".to_owned()),
        Just("@project/./src//a.rs".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        path.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        let key = prop_oneof![
            Just("path".to_owned()),
            Just("content".to_owned()),
            Just("patch".to_owned()),
            Just("pattern".to_owned()),
            Just("update".to_owned()),
            Just("nodeId".to_owned()),
            Just("type".to_owned()),
            Just("startLine".to_owned()),
            ".{0,5}",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_call_has_one_result(
        calls in proptest::collection::vec((0..9_usize, ".{0,12}", any_json(), ".{0,8}"), 1..6),
        preview in 0..3_000_usize,
    ) {
        let mut place = Place::new(Options { preview, ..Options::default() });
        for (tool, other, arguments, id) in calls {
            let name = Builtin::ALL.get(tool).map_or(other.as_str(), |tool| tool.name()).to_owned();
            let call = ToolCall { id, name, arguments, signature: None };
            let ran = place.tools.run(&call, &mut place.store, &Stop::default());
            let content: Value = serde_json::from_str(&ran.content).unwrap();
            prop_assert_eq!(content["ok"].as_bool(), Some(!ran.is_error));
            prop_assert_eq!(content.get("error").is_some(), ran.is_error);
        }
        // Whatever was called, the state file is one.
        prop_assert!(State::parse(&place.state()).is_ok());
    }
}

#[test]
fn a_file_whose_real_paths_were_hidden_is_not_replaced_by_what_was_shown() {
    let mut place = Place::new(Options::default());
    let text = format!("WORKDIR {}/project\n", place.root.path().display());
    place.put("project/Dockerfile", &text);
    let shown = place.works("fs_read", json!({ "path": "@project/Dockerfile" }));
    assert_eq!(shown["content"], "WORKDIR @project\n");
    let arguments = json!({ "path": "@project/Dockerfile", "content": "WORKDIR @project\n" });
    place.fails("fs_write", arguments, "E_SANDBOX_VIOLATION");
    assert_eq!(place.text("project/Dockerfile").as_deref(), Some(text.as_str()));
}
