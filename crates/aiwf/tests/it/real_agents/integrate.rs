//! The real agents list the server that `aiwf integrate` adds, and no server once it is taken back.

#![expect(clippy::disallowed_methods, reason = "these tests start agents, in a home of their own")]

use std::env;
use std::process::{Command, Stdio};

use aiwf_testkit::{TestProject, real_agent};

/// What an agent prints when it is asked for its servers.
fn servers(program: &str, project: &TestProject) -> Option<String> {
    let output = Command::new(real_agent(program)?)
        .args(["mcp", "list"])
        .current_dir(project.root())
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .env("HOME", project.home())
        .env("ANTHROPIC_API_KEY", "no secret")
        .env("GEMINI_API_KEY", "no secret")
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
        .env("GEMINI_CLI_NO_RELAUNCH", "true")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:#?}");
    Some(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

fn is_listed_and_taken_back(agent: &str) {
    let project = TestProject::on_disk(env!("CARGO_BIN_EXE_aiwf"));
    let Some(before) = servers(agent, &project) else { return };
    assert!(!before.contains("aiwf mcp"), "{before}");
    let is_listed = |text: &str| {
        text.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").contains("aiwf mcp"))
    };
    assert_eq!(project.run(&format!("integrate {agent} --yes")).exit_code(), 0);
    let with_ours = servers(agent, &project).unwrap_or_default();
    assert!(is_listed(&with_ours), "{with_ours}");
    assert_eq!(project.run(&format!("integrate {agent} --remove --yes")).exit_code(), 0);
    let after = servers(agent, &project).unwrap_or_default();
    assert!(!is_listed(&after), "{after}");
}

#[test]
fn claude_lists_our_server() {
    is_listed_and_taken_back("claude");
}

#[test]
fn codex_lists_our_server() {
    is_listed_and_taken_back("codex");
}

#[test]
fn gemini_lists_our_server() {
    is_listed_and_taken_back("gemini");
}
