//! `aiwf providers`, `aiwf validate providers`, and what a provider is held to.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;

use crate::scene::{KEY, Scene, plain};
use crate::session::PLAN;

/// Puts programs on the reader's path: a Claude Code that is too old, a Codex that works, no Gemini CLI, and node.
fn with_programs(scene: Scene) -> Scene {
    let script = |program: &str, version: &str, options: &str| {
        let text = format!(
            "#!/bin/sh\necho $0 \"$@\" >> '{}'\nif [ \"$1\" = --version ]; then echo '{version}'; else echo '{options}'; fi\n",
            scene.project.home().join("started").display()
        );
        scene.project.script(&format!("~/bin/{program}"), &text);
    };
    script("node", "v20.20.2", "");
    script("claude", "2.1.197 (Claude Code)", "--strict-mcp-config --tools <tools...>");
    script(
        "codex",
        "codex-cli 0.165.0",
        "--json --ephemeral --skip-git-repo-check --ignore-user-config --ignore-rules",
    );
    scene
}

fn listed(scene: &Scene, line: &str) -> aiwf_testkit::Outcome {
    let outcome = scene.command(line).env("PATH", scene.project.home().join("bin")).run();
    assert_eq!(outcome.exit_code(), 0, "{line}\n{outcome}");
    outcome
}

#[test]
fn programs_that_are_missing_or_too_old_cannot_be_asked() {
    let scene = with_programs(Scene::new(""));
    let home = scene.project.home().display().to_string();
    let shown = |name: &str| {
        let provider =
            crate::json(&listed(&scene, &format!("providers {name} --json")))["providers"][0].clone();
        let fields = ["can_be_asked", "program", "version", "tested_version", "problem"];
        let line = |field: &str| format!("{field}: {}", provider[field]);
        fields.map(line).join("\n").replace(&home, "~")
    };
    insta::assert_snapshot!(shown("claude-code"), @r#"
    can_be_asked: false
    program: "[home]/bin/claude"
    version: "2.1.197"
    tested_version: "2.1.325"
    problem: "`claude` 2.1.197 (Claude Code) is too old: it has no option `--restricted`; install the version that aiwf is tested with: `npm install -g @anthropic-ai/claude-code@2.1.325`"
    "#);
    insta::assert_snapshot!(shown("codex"), @r#"
    can_be_asked: true
    program: "[home]/bin/codex"
    version: "0.165.0"
    tested_version: "0.166.0"
    problem: null
    "#);
    insta::assert_snapshot!(shown("gemini-cli"), @r#"
    can_be_asked: false
    program: null
    version: null
    tested_version: "0.61.0"
    problem: "`gemini`: there is no such program; install it with `npm install -g @google/gemini-cli@0.61.0`, or set `program` in `[providers.gemini-cli]`"
    "#);
}

#[test]
fn a_program_is_not_started_for_a_provider_that_only_the_checkout_names() {
    let scene = with_programs(Scene::checkout(
        "[providers.theirs]\ntype = \"codex\"\nbase_url = \"http://model.invalid/v1\"\n",
    ));
    let theirs = crate::json(&listed(&scene, "providers theirs --json"))["providers"][0].clone();
    assert_eq!(theirs["can_be_asked"], false, "{theirs:#}");
    assert!(theirs["problem"].as_str().unwrap().contains("aiwf trust add provider theirs"), "{theirs:#}");
    assert!(!scene.project.home().join("started").exists());
    listed(&scene, "providers codex");
    assert!(scene.project.home().join("started").exists(), "the user's own is");
}

#[test]
fn the_list_has_a_line_for_each() {
    let server = ModelServer::script([]);
    let scene = with_programs(Scene::of_api("openai", &server, ""));
    insta::assert_snapshot!(listed(&scene, "providers").stdout_text(), @"
    anthropic    anthropic    none         Anthropic's API, model claude-sonnet-4-5
    claude-code  claude-code  local-write  Claude Code (not configured)
    codex        codex        local-write  Codex CLI
    command      command      none         any program that reads a prompt (not configured)
    gemini       gemini       none         Gemini's API, model gemini-2.5-pro
    gemini-cli   gemini-cli   local-write  Gemini CLI (not configured)
    manual       manual       local-write  a person who pastes the prompt into any chat
    model        openai       none         OpenAI's API, or one like it, model scripted-model
    openai       openai       none         OpenAI's API, or one like it, model gpt-5
    replay       replay       none         recorded answers, offline (not configured)
    ");
}

#[test]
fn one_provider_is_shown_with_all_it_can() {
    let server = ModelServer::script([]);
    let scene = Scene::of_api("openai", &server, "context_window = 128_000\n");
    let scene = with_programs(scene);
    let model = scene.exits("providers model", 0).stdout_text();
    assert!(!model.contains(KEY));
    insta::assert_snapshot!(plain(&model), @"
    model
      type           openai (OpenAI's API, or one like it)
      model          scripted-model
      address        http://127.0.0.1:[port]/v1
      key            `MODEL_KEY`, which is set
      files          none
      edits files    in its reply
      confinement    touches no files
      system prompt  yes
      attachments    no
      window         128000 tokens
      reply limit    32000 tokens
      streaming      yes
      tools          yes
      templates      CODEX, else BASE
      set up         yes
    ");
    insta::assert_snapshot!(plain(&listed(&scene, "providers claude-code").stdout_text()), @"
    claude-code
      type           claude-code (Claude Code)
      model          not set
      program        [home]/bin/claude, version 2.1.197 (tested with 2.1.325)
      files          local-write; none in plans and reviews, where it may only read
      edits files    in a worktree
      confinement    can be limited to writing the response file
      system prompt  yes
      attachments    no
      window         200000 tokens
      reply limit    none
      streaming      no
      tools          no
      templates      CLAUDE, else BASE
      set up         no: `claude` 2.1.197 (Claude Code) is too old: it has no option `--restricted`; install the version that aiwf is tested with: `npm install -g @anthropic-ai/claude-code@2.1.325`
    ");
    insta::assert_snapshot!(plain(&listed(&scene, "providers codex").stdout_text()), @"
    codex
      type           codex (Codex CLI)
      model          not set
      program        [home]/bin/codex, version 0.165.0 (tested with 0.166.0)
      files          local-write; lowered to none, since it may only read
      edits files    in a worktree
      confinement    can be limited to reading
      system prompt  yes
      attachments    no
      window         256000 tokens
      reply limit    none
      streaming      no
      tools          no
      templates      CODEX, else BASE
      set up         yes
    ");
    insta::assert_snapshot!(scene.exits("providers gemini", 0).stdout_text(), @"
    gemini
      type           gemini (Gemini's API)
      model          gemini-2.5-pro
      key            `GEMINI_API_KEY`, which is not set
      files          none
      edits files    in its reply
      confinement    touches no files
      system prompt  yes
      attachments    no
      window         1000000 tokens
      reply limit    32000 tokens
      streaming      yes
      tools          yes
      templates      GEMINI, else BASE
      set up         yes
    ");
    insta::assert_snapshot!(scene.exits("providers manual", 0).stdout_text(), @"
    manual
      type           manual (a person who pastes the prompt into any chat)
      model          not set
      files          local-write
      edits files    in its reply
      confinement    not sandboxed
      system prompt  no
      attachments    no
      window         unknown
      reply limit    none
      streaming      no
      tools          no
      set up         yes
    ");
    let shown = scene.done("providers codex")["providers"][0].clone();
    assert_eq!(shown["fs_ability"], "none");
    assert_eq!(shown["lowered_from"], "local-write");
    insta::assert_snapshot!(scene.exits("providers codx", 1).to_string(), @"
    --- stderr
    error: unknown provider `codx`

    hint: did you mean `codex`? `aiwf providers` lists all; a table `[providers.NAME]` adds one
    --- exit code 1
    ");
}

#[test]
fn validate_really_looks() {
    let server = ModelServer::script([]);
    let scene = Scene::of_api(
        "anthropic",
        &server,
        "[providers.gone]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\n\
         [providers.keyless]\ntype = \"gemini\"\nmodel = \"m\"\napi_key_env = \"NO_SUCH_KEY\"\n\
         [providers.script]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\"]\n\
         [providers.missing]\ntype = \"command\"\nargv = [\"no-such-agent\"]\n\
         [providers.codex]\nprogram = \"no-such-codex\"\n\
         [providers.tape]\ntype = \"replay\"\ndir = \"tape\"\n\
         [providers.claude-code]\nprogram = \"./claude\"\n",
    );
    scene.project.write(
        ".aiwf/config.toml",
        "[providers.withheld]\ntype = \"openai\"\nbase_url = \"http://model.invalid/v1\"\nmodel = \"m\"\napi_key_env = \"MODEL_KEY\"\n",
    );
    scene.project.script("claude", "#!/bin/sh\necho '2.0.1 (Claude Code)'\n");
    let scene = with_programs(scene);
    let search_path = format!("{}:/bin", scene.project.home().join("bin").display());
    let outcome = scene.command("validate providers").env("PATH", search_path).run();
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    insta::assert_snapshot!(plain(&outcome.to_string()), @r#"
    --- stdout
    provider claude-code: ok
      program: `./claude` 2.0.1 (Claude Code)
    provider codex: FAILED
      program: `no-such-codex`: there is no such program
      hint: install it with `npm install -g @openai/codex@0.166.0`, or set `program` in `[providers.codex]`
    provider gone: FAILED
      key: none is sent
      url: `gone` failed: could not connect to `http://127.0.0.1:[port]/v1`: Connection refused
      hint: check the network and `base_url` of the provider
    provider keyless: FAILED
      key: there is no key for provider `keyless`: the variable `NO_SUCH_KEY` is not set
      hint: set `NO_SUCH_KEY`, or name another variable as `api_key_env` in `[providers.keyless]`
    provider missing: FAILED
      program: `no-such-agent`: there is no such program
      hint: install it, or change `argv` in `[providers.missing]`
    provider model: ok
      key: it is in `MODEL_KEY`
      url: `http://127.0.0.1:[port]` answers
    provider script: ok
      program: `sh` is installed
    provider tape: FAILED
      recordings: recordings in `[home]/tape` cannot be read: there is no such directory
      hint: check the `dir` of the provider in `.aiwf/config.toml`
    provider withheld: FAILED
      provider `withheld` is defined by this project, and you have not agreed to it
        type = "openai"
        base_url = "http://model.invalid/v1"
        api_key_env = "MODEL_KEY"
      hint: `aiwf trust add provider withheld` agrees to exactly this
    3 of 9 ok
    --- exit code 1
    "#);
    assert_eq!(server.asks().len(), 0, "nobody is asked");
    assert!(!server.requests().is_empty(), "but someone is there");
}

#[test]
fn validate_is_content_when_all_is_well() {
    let server = ModelServer::script([]);
    let scene = Scene::of_api("gemini", &server, "");
    insta::assert_snapshot!(plain(&scene.exits("validate providers", 0).to_string()), @"
    --- stdout
    provider model: ok
      key: it is in `MODEL_KEY`
      url: `http://127.0.0.1:[port]` answers
    1 of 1 ok
    --- exit code 0
    ");
    let found = scene.done("validate providers");
    assert_eq!(found["all_passed"], true);
}

/// A stand-in for the agent: it is never asked here.
fn claude() -> Scene {
    Scene::new("[roles]\ndefault = \"claude-code\"\n[providers.claude-code]\nprogram = \"true\"\n")
}

#[test]
fn a_read_only_provider_is_not_told_to_save_its_reply() {
    let scene = claude();
    scene.init("");
    assert!(!scene.text("iteration-1/planning-prompt.md").contains("## Output"));
    assert!(!scene.names("iteration-1").contains(&"planning-system-prompt.md".to_owned()));
    let preview = scene.run("preview");
    let note = preview.stderr_text().lines().last().unwrap().to_owned();
    insta::assert_snapshot!(note, @"file ability: none, because claude-code (local-write) may only read in this phase; its reply comes as text");
    let metadata = scene.done("preview")["metadata"].clone();
    assert_eq!((&metadata["fs_ability"], &metadata["lowered_from"]), (&"none".into(), &"local-write".into()));
    insta::assert_snapshot!(scene.shown(&scene.exits("approve --fs-ability local-write", 1)), @"
    --- stderr
    error: provider `claude-code` may only read here, but `local-write` was requested

    hint: omit `--fs-ability`: the reply comes as text
    --- exit code 1
    ");
    // Less may be asked for.
    scene.exits("approve --fs-ability local-read", 4);
}

#[test]
fn a_provider_that_may_write_its_reply_is_told_where() {
    let scene = claude();
    scene.init("--planner manual");
    scene.done("approve");
    assert_eq!(scene.command("respond").stdin(PLAN).run().exit_code(), 0);
    scene.done("approve");
    let system = scene.text("iteration-1/generation-system-prompt.md");
    assert!(system.contains("Save your complete response to `.aiwf/sessions/"), "{system}");
    let metadata = scene.done("preview")["metadata"].clone();
    assert_eq!(metadata["fs_ability"], "local-write");
    assert_eq!(metadata["lowered_from"], serde_json::Value::Null);
}

#[test]
fn a_program_of_ones_own_is_never_lowered() {
    let scene = Scene::new(
        "[roles]\ndefault = \"agent\"\n[providers.agent]\ntype = \"command\"\nargv = [\"true\"]\nfs_ability = \"local-write\"\n",
    );
    scene.init("");
    assert!(scene.text("iteration-1/planning-prompt.md").contains("Save your complete response to"));
    let server = ModelServer::script([Turn::text(PLAN)]);
    // Nor is a model that is said to write: its text is taken, and that is said.
    let scene = Scene::of_api("openai", &server, "fs_ability = \"local-write\"\n");
    scene.init("");
    let asked = scene.done("approve");
    assert_eq!(asked["remark"], "model wrote no file; using its stdout");
}
