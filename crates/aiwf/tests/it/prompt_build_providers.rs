//! `--for` of `aiwf prompt build`: what each provider can take shapes the prompt.

use aiwf_testkit::TestProject;
use serde_json::Value;

use crate::{json, project};

fn session() -> TestProject {
    project().file("s/plan.md", "# Plan").file("p.md", "Generate code")
}

const GENERATE: &str =
    "prompt build session --session-dir s --phase generating --iteration 1 --profile-prompt p.md --json";

fn built(session: &TestProject, flags: &str) -> Value {
    json(&session.run(&format!("{GENERATE} {flags}")).success())
}

const OUTPUT: &str = "## Output\n\nSave your complete response to `s/iteration-1/generation-response.md`";
const TASK: &str = "## Approved Plan\n\n# Plan\n\n---\n\nGenerate code";

#[test]
fn a_person_and_a_program_that_writes_a_file_get_one_text_that_says_where_to_save() {
    let filer =
        "[providers.filer]\ntype = \"command\"\nargv = [\"filer\", \"{response_path}\"]\nreply = \"file\"\n";
    let session = session().file("~/.aiwf/config.toml", filer);
    for provider in ["manual", "filer"] {
        let json = built(&session, &format!("--for {provider}"));
        assert_eq!(json.get("system_prompt"), None, "{provider}");
        assert_eq!(json["user_prompt"], format!("{TASK}\n\n---\n\n{OUTPUT}"), "{provider}");
        assert_eq!(json["metadata"]["tokenizer"], "estimate", "{provider}");
    }
}

#[test]
fn a_program_that_prints_its_reply_is_not_told_to_save() {
    let json = built(&session(), "--for command");
    assert_eq!(json.get("system_prompt"), None);
    assert_eq!(json["user_prompt"], TASK);
    assert_eq!(json["metadata"]["fs_ability"], "none");
}

/// `prompt send` holds agents to reading, and prints their reply: what is built for them is what it sends.
#[test]
fn read_only_agents_are_not_told_to_save() {
    let session = session();
    for (provider, tokenizer) in
        [("claude-code", "estimate"), ("codex", "o200k_base"), ("gemini-cli", "estimate")]
    {
        let json = built(&session, &format!("--for {provider}"));
        assert_eq!(json.get("system_prompt"), None, "{provider}");
        assert_eq!(json["user_prompt"], TASK, "{provider}");
        assert_eq!(json["metadata"]["fs_ability"], "none", "{provider}");
        assert_eq!(json["metadata"]["tokenizer"], tokenizer, "{provider}");
    }
}

#[test]
fn apis_are_not_told_to_save() {
    let session = session();
    for (provider, is_exact) in [("anthropic", false), ("openai", true), ("gemini", false)] {
        let json = built(&session, &format!("--for {provider}"));
        assert_eq!(json.get("system_prompt"), None, "{provider}");
        assert_eq!(json["user_prompt"], TASK, "{provider}");
        assert_eq!(json["metadata"]["exact"], is_exact, "{provider}");
    }
}

#[test]
fn flags_win_over_what_a_provider_can_take() {
    let session = session();
    let json =
        built(&session, "--for anthropic --fs-ability local-read --system-prompt off --attachments on");
    assert_eq!(json.get("system_prompt"), None);
    let expected = "## Approved Plan\n\n@s/plan.md\n\n---\n\nGenerate code\n\n---\n\n## Output\n\nName your output file `generation-response.md`";
    assert_eq!(json["user_prompt"], expected);
    let json = built(&session, "--for openai --tokenizer estimate");
    assert_eq!(json["metadata"]["tokenizer"], "estimate");
}

#[test]
fn a_document_wins_over_what_a_provider_can_take() {
    let session = session();
    let document = r#"{"session_dir": "s", "phase": "generating", "iteration": 1, "profile_prompt": "Generate code", "fs_ability": "write-only", "supports_system_prompt": false, "supports_file_attachments": true}"#;
    let built = |provider: &str| {
        let line = format!("prompt build session --input - --for {provider} --json");
        json(&session.run_with_input(&line, document).success())
    };
    let task = "## Approved Plan\n\n@s/plan.md\n\n---\n\nGenerate code";
    let output = "## Output\n\nCreate a downloadable file named `generation-response.md`";
    for provider in ["manual", "anthropic"] {
        let json = built(provider);
        assert_eq!(json.get("system_prompt"), None, "{provider}");
        assert_eq!(json["user_prompt"], format!("{task}\n\n---\n\n{output}"), "{provider}");
    }
    // It does not let an agent write that is held to reading.
    let json = built("claude-code");
    assert_eq!(json.get("system_prompt"), None);
    assert_eq!(json["user_prompt"], task);
    assert_eq!(json["metadata"]["fs_ability"], "none");
}

#[test]
fn system_layers_join_the_user_text_for_those_who_take_none() {
    let project = project().file(".aiwf/templates/system/BASE-plan.md", "Plan with care.");
    let roles = |provider: &str| {
        let line = format!(
            "prompt build change --phase plan --instructions x --format messages --for {provider} --json"
        );
        let json = json(&project.run(&line).success());
        let messages = json["messages"].as_array().unwrap().iter();
        messages.map(|message| message["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roles("claude-code"), ["system", "user"]);
    assert_eq!(roles("manual"), ["user", "user"]);
}
