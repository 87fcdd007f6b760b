//! No text that is not ours reaches a terminal unescaped, whatever prints it; a pipe gets the bytes as they are.

use crate::scene::Scene;
use crate::session::{CODE, PLAN, review};
use crate::terminal::Terminal;

/// Clears the screen, sets the title, turns text around, hides a space.
const EVIL: &str = "\u{1b}[2Jpwned\u{1b}]0;title\u{7}\u{202e}\u{200b}\u{9b}31m";

/// Runs a command in a terminal: `pwned` stands there, and nothing a terminal obeys does.
#[track_caller]
fn check(scene: &Scene, arguments: &[&str]) {
    let seen = Terminal::open(scene, arguments).read_to_end();
    assert!(seen.contains("pwned"), "aiwf {arguments:?}: {seen:?}");
    assert_safe(&seen);
}

#[track_caller]
fn assert_safe(seen: &str) {
    let is_obeyed =
        |character: char| matches!(character, '\u{1b}' | '\u{7}' | '\u{9b}' | '\u{202e}' | '\u{200b}');
    assert!(!seen.contains(is_obeyed), "{seen:?}");
}

fn hostile() -> Scene {
    let scene = Scene::new("");
    scene.project.write("schema.sql", format!("create table customer (id bigint); -- {EVIL}\n"));
    scene
}

/// A session that came with a checkout says what it likes of itself.
#[test]
fn what_status_and_list_show_is_escaped() {
    let scene = hostile();
    scene.init("");
    let path = format!("{}/journal.jsonl", scene.session_dir());
    scene.project.write(&path, format!("{{\"{EVIL}\": 1}}\n"));
    scene
        .project
        .write(&format!("{}/session.json", scene.session_dir()), format!("{{\"phase\": \"{EVIL}\"}}"));
    for arguments in [["status", "latest"], ["list", "--json"], ["show", "latest"], ["verify", "latest"]] {
        assert_safe(&Terminal::open(&scene, &arguments).read_to_end());
    }
    assert_safe(&Terminal::open(&scene, &["list"]).read_to_end());
}

#[test]
fn session_output_is_escaped() {
    let scene = hostile();
    scene.init("");
    check(&scene, &["preview", "latest"]);
    check(&scene, &["show", "latest"]);
    check(&scene, &["show", "latest", "prompt"]);
    scene.done("approve latest");
    let reply = format!("{PLAN}\n{EVIL}\n");
    assert_eq!(scene.project.run_with_input("respond latest", reply.clone()).exit_code(), 0);
    check(&scene, &["show", "latest", "response"]);
    assert_eq!(scene.run("show latest response").stdout, reply.as_bytes(), "a pipe gets the bytes");
    scene.done("approve latest");
    let feedback = ["reject", "latest", "--feedback", EVIL];
    assert_eq!(scene.project.run_args(feedback).exit_code(), 0);
    check(&scene, &["events", "latest", "--json"]);
    check(&scene, &["preview", "latest"]);
    scene.done("approve latest");
    let code = CODE.replace("class", &format!("/* {EVIL} */ class"));
    assert_eq!(scene.project.run_with_input("respond latest", code).exit_code(), 0);
    scene.done("approve latest");
    check(&scene, &["diff", "latest"]);
    scene.done("approve latest");
    let verdict = format!("{}{EVIL}\n", review("PASS", 0));
    assert_eq!(scene.project.run_with_input("respond latest", verdict).exit_code(), 0);
    check(&scene, &["show", "latest", "response"]);
    scene.done("approve latest");
    check(&scene, &["apply", "latest", "--dry-run"]);
    check(&scene, &["apply", "latest"]);
}

#[test]
fn echoed_arguments_are_escaped() {
    let scene = hostile();
    check(&scene, &["status", EVIL]);
    check(&scene, &[EVIL]);
    check(&scene, &[&format!("--{EVIL}")]);
    check(&scene, &["list", "--json", EVIL]);
    check(&scene, &["reply", "parse", "--as", EVIL]);
}

#[test]
fn texts_of_prompts_replies_and_templates_are_escaped() {
    let scene = hostile();
    scene.project.write("request.json", serde_json::json!({ "instructions": EVIL }).to_string());
    scene.project.write("reply.md", format!("<<<FILE: {EVIL}.md>>>\nx\n"));
    scene.project.write(".aiwf/templates/system/CLAUDE-plan.md", format!("You {EVIL}\n"));
    for verb in ["build", "preview"] {
        check(&scene, &["prompt", verb, "change", "--input", "request.json", "--format", "text"]);
        check(&scene, &["prompt", verb, "change", "--input", "request.json", "--json"]);
    }
    check(&scene, &["reply", "parse", "--as", "file-markers", "reply.md"]);
    check(&scene, &["template", "show", "claude", "plan"]);
}

#[test]
fn what_a_sent_prompt_brings_back_is_escaped() {
    let scene = Scene::new("[providers.echo]\ntype = \"command\"\nargv = [\"cat\"]\nfs_ability = \"none\"\n");
    scene.project.write("request.json", serde_json::json!({ "instructions": EVIL }).to_string());
    let mut terminal = Terminal::open(
        &scene,
        &["prompt", "send", "change", "--input", "request.json", "--format", "text", "--provider", "echo"],
    );
    terminal.wait();
    terminal.expect("\\u{1b}[2Jpwned\\u{1b}]0;title\\u{7}\\u{202e}\\u{200b}\\u{9b}31m");
}

#[test]
fn texts_of_profiles_and_servers_are_escaped() {
    let scene = hostile();
    assert_eq!(scene.run("profile new notes --project").exit_code(), 0);
    let path = ".aiwf/profiles/notes/profile.toml";
    let manifest = String::from_utf8(scene.project.read(path)).unwrap();
    let evil = "\\u001b[2Jpwned\\u001b]0;title\\u0007\\u202e\\u200b\\u009b31m";
    let described = manifest
        .lines()
        .map(|line| match line.split_once(" = ") {
            Some((key @ ("description" | "help"), _)) => format!("{key} = \"{evil}\"\n"),
            _ => format!("{line}\n"),
        })
        .collect::<String>();
    scene.project.write(path, described);
    check(&scene, &["profiles"]);
    check(&scene, &["--help"]);
    check(&scene, &["notes", "--help"]);
    check(&scene, &["notes", "info"]);
    scene.project.write(path, format!("\"{evil}\" = 1\n{manifest}"));
    check(&scene, &["validate"]);
    check(&scene, &["profiles"]);
    scene.project.write(
        ".mcp.json",
        serde_json::json!({ "mcpServers": { "fake": { "command": format!("/bin/{EVIL}") } } }).to_string(),
    );
    check(&scene, &["tools", "list"]);
    scene.project.write(".aiwf/config.toml", format!("[providers.\"{evil}\"]\ntype = \"{evil}\"\n"));
    check(&scene, &["validate"]);
    check(&scene, &["config", "show"]);
    check(&scene, &["jpa-mt", EVIL]);
}
