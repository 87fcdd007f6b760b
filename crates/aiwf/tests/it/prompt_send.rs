//! `aiwf prompt send`: a prompt of each recipe is built, sent, and its reply printed.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;
use serde_json::{Value, json as value};

use crate::json;
use crate::scene::{MODEL, Scene, plain};
use crate::session::PLAN;

const WORKFLOW: &str = r#"{"mode": "chat", "agent_definition": {"id": "a", "system_prompt": "You are Ada."}, "user_input": "Hello."}"#;
const REPLY: &str =
    r#"{"request": {"ai_message": "I am done."}, "settings": {"system_prompt": "Be brief."}, "mode": "api"}"#;

fn scene(turns: impl IntoIterator<Item = Turn>) -> (ModelServer, Scene) {
    let server = ModelServer::script(turns);
    let scene = Scene::of_api("openai", &server, "");
    (server, scene)
}

#[test]
fn flags_about_tools_are_offered_where_tools_run() {
    let project = crate::project();
    let help = |recipe: &str| project.run(&format!("prompt send {recipe} --help")).success().stdout_text();
    assert!(help("reply").contains("--tools"), "{}", help("reply"));
    for recipe in ["session", "change", "workflow"] {
        assert!(!help(recipe).contains("--tools"), "{recipe}");
        assert!(!help(recipe).contains("--max-rounds"), "{recipe}");
    }
    let refusal = project.run("prompt send change --provider codex --instructions x --tools");
    assert_eq!(refusal.first_error_line(), "error: `--tools` cannot be used with `change`");
}

#[test]
fn a_prompt_of_each_recipe_is_sent_as_it_is_previewed() {
    for (recipe, flags) in [
        ("change", "--phase plan --instructions 'Add a login.'"),
        ("workflow", "--input turn.json"),
        ("reply", "--input reply.json"),
    ] {
        let (server, scene) = scene([Turn::text("A reply.\n"), Turn::text("A reply.\n")]);
        scene.project.write("turn.json", WORKFLOW);
        scene.project.write("reply.json", REPLY);
        let sent = scene.exits(&format!("prompt send {recipe} --provider model {flags}"), 0);
        assert_eq!(sent.stdout, b"A reply.\n", "{sent}");
        let again = scene.done(&format!("prompt send {recipe} --provider model {flags}"));
        let asks = server.asks();
        assert!(asks[0].body == asks[1].body);
        assert_eq!(again["reply"], "A reply.\n");
        assert_eq!(again["command"], "prompt send");
        let preview = scene.done(&format!("prompt build {recipe} --for openai {flags}"));
        // An API has one place for system text: messages that stand there are joined.
        let parts = asks[0].text_parts();
        let messages = preview["messages"].as_array().unwrap();
        assert!(!messages.is_empty());
        for message in messages {
            let text = message["content"].as_str().unwrap();
            assert!(parts.iter().any(|part| part.contains(text)), "{recipe}: {text}");
        }
    }
}

/// A command line of each recipe, for [`with_material`].
const RECIPES: [(&str, &str); 4] = [
    ("session", "--session-dir s --phase reviewing --iteration 1 --profile-prompt p.md"),
    ("change", "--phase plan --instructions 'Add a login.' --file p.md"),
    ("workflow", "--input turn.json"),
    ("reply", "--input reply.json"),
];

fn with_material(scene: Scene) -> Scene {
    scene.project.write("turn.json", WORKFLOW);
    scene.project.write("reply.json", REPLY);
    scene.project.write("s/plan.md", "# Plan\n");
    scene.project.write("s/standards-bundle.md", "Rule 1\n");
    scene.project.write("s/iteration-1/code/a.rs", "fn a() {}\n");
    scene.project.write("p.md", "Review it.\n");
    scene
}

/// Builds, previews and sends one request; all three must report one hash. Returns the preview.
#[track_caller]
fn reports_one_hash(scene: &Scene, provider: &str, recipe: &str, flags: &str) -> Value {
    let preview = scene.done(&format!("prompt preview {recipe} --for {provider} {flags}"));
    let built = scene.done(&format!("prompt build {recipe} --for {provider} {flags}"));
    let sent = scene.done(&format!("prompt send {recipe} --provider {provider} {flags}"));
    let hash = sent["payload_sha256"].as_str().unwrap();
    assert_eq!(preview["metadata"]["payload_sha256"], hash, "{provider} {recipe}");
    assert_eq!(built["metadata"]["payload_sha256"], hash, "{provider} {recipe}");
    preview
}

#[test]
fn a_preview_and_a_send_report_one_hash_for_every_recipe_and_api() {
    for kind in ["anthropic", "openai", "gemini"] {
        let server = ModelServer::answering(|_| Turn::text("A reply.\n"));
        let scene = with_material(Scene::of_api(kind, &server, "fs_ability = \"local-read\"\n"));
        for (n_asked, (recipe, flags)) in RECIPES.into_iter().enumerate() {
            let preview = reports_one_hash(&scene, "model", recipe, flags);
            // And what has that hash is what arrived.
            let asks = server.asks();
            assert_eq!(asks.len(), n_asked + 1, "{kind} {recipe}: only a send asks");
            let arrived =
                format!("{}\n{}", asks[n_asked].system_text(), asks[n_asked].user_messages().concat());
            let sections = preview["sections"].as_array().unwrap();
            assert!(!sections.is_empty(), "{kind} {recipe}");
            for section in sections {
                let text = section["content"].as_str().unwrap().trim();
                assert!(arrived.contains(text), "{kind} {recipe}: {text}\n\nis not in\n\n{arrived}");
            }
        }
    }
}

#[test]
fn a_preview_and_a_send_report_one_hash_for_files_that_travel_along() {
    for kind in ["anthropic", "gemini"] {
        let server = ModelServer::answering(|_| Turn::text("A reply.\n"));
        let scene = with_material(Scene::of_api(kind, &server, "supports_file_attachments = true\n"));
        let (recipe, flags) = RECIPES[0];
        reports_one_hash(&scene, "model", recipe, flags);
    }
}

#[test]
fn a_preview_and_a_send_report_one_hash_for_programs() {
    let scene = with_material(Scene::new(
        "[providers.printer]\ntype = \"command\"\nargv = [\"sh\", \"-c\", \"cat > /dev/null; echo reply\"]\n\
         [providers.filer]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\", \"{response_path}\"]\nreply = \"file\"\n",
    ));
    scene.project.write("agent.sh", "cat > /dev/null; echo 'A reply.' > \"$1\"");
    for provider in ["printer", "filer"] {
        for (recipe, flags) in RECIPES {
            reports_one_hash(&scene, provider, recipe, flags);
        }
    }
}

#[test]
fn the_answer_as_json_has_the_hash_the_reply_and_the_usage() {
    let (_server, scene) = scene([Turn::text("A reply.\n")]);
    let sent = scene.done("prompt send change --provider model --phase plan --instructions x");
    let hash = sent["payload_sha256"].as_str().unwrap();
    assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(
        sent,
        value!({
            "schema_version": 1, "command": "prompt send", "exit_code": 0,
            "payload_sha256": hash, "left_out": [], "reply": "A reply.\n", "provider": "model", "model": MODEL,
            "usage": {"input_tokens": 148, "output_tokens": 15, "cached_tokens": 40},
        })
    );
}

#[test]
fn a_price_is_part_of_the_usage_when_it_is_known() {
    let server = ModelServer::script([Turn::text("A reply.\n")]);
    let scene = Scene::of_api("openai", &server, "[prices.\"scripted-model\"]\ninput = 3.0\noutput = 15.0\n");
    let sent = scene.done("prompt send change --provider model --phase plan --instructions x");
    assert_eq!(sent["usage"]["cost"], 0.000_669);
}

#[test]
fn a_reply_goes_to_a_file_and_the_anatomy_is_explained() {
    let (_server, scene) = scene([Turn::text("One.\n"), Turn::text("Two.\n"), Turn::text("Three.\n")]);
    let line = "prompt send change --provider model --phase plan --instructions x --explain";
    let sent = scene.exits(&format!("{line} --out reply.md"), 0);
    assert_eq!(
        (sent.stdout.as_slice(), scene.project.read("reply.md").as_slice()),
        (&b""[..], &b"One.\n"[..])
    );
    assert!(
        sent.stderr_text().contains("system-template  ") && sent.stderr_text().contains("stable prefix"),
        "{sent}"
    );
    let sent = scene.done(&format!("{line} --out reply.md"));
    assert_eq!(sent["reply"], "Two.\n");
    assert_eq!(scene.project.read("reply.md"), b"Two.\n");
    assert_eq!(scene.exits(&format!("{line} --out -"), 0).stdout, b"Three.\n");
}

#[test]
fn a_large_reply_is_printed_whole() {
    let reply = "0123456789abcdef\n".repeat(100_000);
    let (_server, scene) = scene([Turn::text(reply.clone())]);
    let sent = scene.exits("prompt send change --provider model --phase plan --instructions x", 0);
    assert!(sent.stdout == reply.as_bytes());
}

#[test]
fn the_provider_must_be_given_known_and_able() {
    let scene = Scene::new("");
    let change = "prompt send change --phase plan --instructions x";
    insta::assert_snapshot!(scene.exits(change, 2).to_string(), @"
    --- stderr
    error: no provider is given to send the prompt to

    hint: name one with `--provider NAME`; `aiwf providers` lists all
    --- exit code 2
    ");
    insta::assert_snapshot!(scene.exits(&format!("{change} --provider opnai"), 1).to_string(), @"
    --- stderr
    error: unknown provider `opnai` for `--provider`

    hint: did you mean `openai`? `aiwf providers` lists all; a table `[providers.NAME]` adds one
    --- exit code 1
    ");
    insta::assert_snapshot!(scene.exits(&format!("{change} --provider manual"), 1).to_string(), @"
    --- stderr
    error: provider `manual` needs a person and cannot reply here

    hint: `aiwf prompt build` prints the prompt; choose another provider to send it
    --- exit code 1
    ");
    insta::assert_snapshot!(scene.exits(&format!("{change} --provider openai"), 4).to_string(), @"
    --- stderr
    error: there is no key for provider `openai`: the variable `OPENAI_API_KEY` is not set

    hint: set `OPENAI_API_KEY`, or name another variable as `api_key_env` in `[providers.openai]`
    --- exit code 4
    ");
    insta::assert_snapshot!(scene.exits(&format!("{change} --provider command"), 1).to_string(), @"
    --- stderr
    error: provider `command` cannot be asked: `argv` is not set

    hint: set `argv`, the program and its arguments, in `[providers.command]`
    --- exit code 1
    ");
    insta::assert_snapshot!(scene.exits("prompt send --provider openai", 2).first_error_line(), @"error: `aiwf prompt send` needs a recipe");
}

#[test]
fn a_failure_is_also_reported_as_json() {
    let (_server, scene) = scene([Turn::status(401)]);
    let outcome = scene.run("prompt send change --provider model --phase plan --instructions x --json");
    insta::assert_snapshot!(format!("{:#}", json(&outcome)), @r#"
    {
      "schema_version": 1,
      "command": "prompt send",
      "exit_code": 4,
      "error": {
        "code": "LLM_AUTH_FAILED",
        "message": "`model` answered 401: scripted status 401",
        "hint": "check the key: `aiwf validate providers` shows where aiwf looks for it"
      }
    }
    "#);
    assert_eq!(outcome.exit_code(), 4);
}

#[test]
fn events_are_lines_of_json_on_the_standard_error() {
    let busy = Turn::status(429).with_header("retry-after", "0");
    let (_server, scene) = scene([busy, Turn::text("A reply.\n")]);
    let sent = scene.exits("prompt send change --provider model --phase plan --instructions x --events", 0);
    assert_eq!(sent.stdout, b"A reply.\n");
    let mut events: Vec<serde_json::Value> =
        sent.stderr_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &mut events {
        if event["elapsed_ms"].is_u64() {
            event["elapsed_ms"] = 0.into();
        }
    }
    assert_eq!(
        events,
        [
            value!({"event": "call-started", "provider": "model", "name": "change"}),
            value!({"event": "call-retry", "attempt": 2, "wait_ms": 0}),
            value!({"event": "call-progress", "bytes": 3}),
            value!({"event": "call-ended", "ok": true, "elapsed_ms": 0}),
        ]
    );
}

#[test]
fn every_line_of_a_session_s_standard_error_is_json_when_events_are_asked_for() {
    let (_server, scene) = scene([Turn::text(PLAN)]);
    scene.init("");
    let asked = scene.exits("approve --events", 0);
    let names: Vec<String> = asked
        .stderr_text()
        .lines()
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            event["event"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(names, ["call-started", "call-progress", "call-ended", "note"]);
}

#[test]
fn files_changed_by_a_program_are_reported() {
    let scene = Scene::new(
        "[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"-c\", \"cat > /dev/null; echo x > made.txt; echo done\"]\n",
    );
    let outcome = scene.exits("prompt send change --provider agent --phase plan --instructions x", 1);
    insta::assert_snapshot!(plain(&outcome.to_string()), @"
    --- stdout
    done
    --- stderr
    warning: the agent changed `made.txt`, which it was not allowed to touch
    --- exit code 1
    ");
    let told = scene.answers("prompt send change --provider agent --phase plan --instructions x", 1);
    assert_eq!(told["touched"], value!(["made.txt"]));
}

#[test]
fn a_call_that_fails_leaves_nothing_in_the_temporary_directory() {
    let scene = Scene::new(
        "[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"-c\", \"cat > /dev/null; stat -c %a $TMPDIR/* >&2; exit 7\"]\n",
    );
    let temporary = scene.project.root().join("../temporary");
    aiwf_engine::create_dir(&temporary).unwrap();
    let outcome = scene
        .project
        .command("prompt send change --provider agent --phase plan --instructions x")
        .env("TMPDIR", temporary.as_os_str())
        .run();
    assert!(!outcome.stderr_text().contains("75") && outcome.stderr_text().contains("700"), "{outcome}");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{outcome}");
}

#[test]
fn attached_files_travel_as_document_parts_and_what_cannot_is_reported() {
    for kind in ["anthropic", "gemini"] {
        let server = ModelServer::script([Turn::text("A reply.\n")]);
        let scene = with_material(Scene::of_api(kind, &server, "supports_file_attachments = true\n"));
        scene.project.write("s/iteration-1/code/logo.png", [0x89, b'P', b'N', b'G', 0, 255]);
        let (recipe, flags) = RECIPES[0];
        let sent = scene.done(&format!("prompt send {recipe} --provider model {flags}"));
        let ask = server.asks().remove(0);
        let parts: Vec<Value> = match kind {
            "anthropic" => {
                let messages = ask.body["messages"].as_array().unwrap();
                let parts = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
                parts.filter(|part| part["type"] == "document").cloned().collect()
            }
            _ => ask.body["contents"].as_array().unwrap()[0]["parts"].as_array().unwrap().clone(),
        };
        let is_of_code = |part: &&Value| match kind {
            "anthropic" => part["title"] == "s/iteration-1/code/a.rs",
            _ => part["inlineData"]["mimeType"] == "text/plain",
        };
        let of_code: Vec<&Value> = parts.iter().filter(is_of_code).collect();
        let content = match kind {
            "anthropic" => &of_code[0]["source"]["data"],
            _ => &of_code[of_code.len() - 1]["inlineData"]["data"],
        };
        let base64 = "Zm4gYSgpIHt9Cg==";
        assert_eq!(content, if kind == "anthropic" { "fn a() {}\n" } else { base64 }, "{:#}", ask.body);
        // What is no text cannot be a document; the prompt says so in its place, and so does the answer.
        let left_out = sent["left_out"].to_string();
        assert!(left_out.contains("logo.png") && left_out.contains("encoding"), "{kind}: {left_out}");
        let is_logo = |part: &Value| part["title"].as_str().is_some_and(|title| title.contains("logo"));
        assert!(!parts.iter().any(is_logo), "{:#}", ask.body);
    }
}

#[test]
fn attachments_that_an_api_cannot_take_are_refused_by_validate_and_before_the_first_call() {
    let server = ModelServer::script([Turn::text("A reply.\n")]);
    let scene = with_material(Scene::of_api("openai", &server, "supports_file_attachments = true\n"));
    let said = "its API does not accept text files as attachments";
    let validated = scene.run("validate");
    assert_eq!(validated.exit_code(), 1, "{validated}");
    assert!(format!("{validated}").contains(said), "{validated}");
    let (recipe, flags) = RECIPES[0];
    let refused = scene.run(&format!("prompt send {recipe} --provider model {flags}"));
    assert_ne!(refused.exit_code(), 0, "{refused}");
    assert!(refused.stderr_text().contains(said), "{refused}");
    assert!(refused.stderr_text().contains("supports_file_attachments = false"), "{refused}");
    assert!(server.asks().is_empty());
}
