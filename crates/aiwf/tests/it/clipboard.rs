//! Prompts that go to the clipboard, and replies that come from it.

use aiwf_testkit::{Outcome, Run, TestProject};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::project;
use crate::scene::Scene;
use crate::session::{INIT, PLAN, SCHEMA};
use crate::terminal::Terminal;

/// A project with a clipboard: what is copied lies in `~/clipboard`.
fn with_clipboard() -> TestProject {
    let project = project().file("schema.sql", SCHEMA);
    let clipboard = project.home().join("clipboard").display().to_string();
    project.script("~/bin/wl-copy", &format!("#!/bin/sh\ncat > '{clipboard}'\n"));
    project.script("~/bin/wl-paste", &format!("#!/bin/sh\ncat '{clipboard}'\n"));
    project
}

/// Runs a command on a desktop whose clipboard programs are those of the project.
fn on_desktop<'p>(project: &'p TestProject, line: &str) -> Run<'p> {
    let path = format!("{}:/usr/bin:/bin", project.home().join("bin").display());
    project.command(line).env("PATH", path).env("WAYLAND_DISPLAY", "wayland-0")
}

#[track_caller]
fn done(outcome: Outcome) -> Outcome {
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    outcome
}

const BUILD: &str = "prompt build change --phase plan --instructions hello";

#[test]
fn a_prompt_is_copied_instead_of_printed() {
    let project = with_clipboard();
    let printed = done(on_desktop(&project, BUILD).run()).stdout;
    let copied = done(on_desktop(&project, &format!("{BUILD} --copy")).run());
    assert_eq!(copied.stdout_text(), "");
    assert_eq!(copied.stderr_text(), "copied to the clipboard with wl-copy\n");
    assert_eq!(project.read("~/clipboard"), printed);
    let json = done(on_desktop(&project, &format!("{BUILD} --copy --json")).run());
    assert!(json.stdout_text().starts_with('{'), "{json}");
}

#[test]
fn a_phase_in_a_web_chat_takes_a_copy_and_a_paste() {
    let project = with_clipboard();
    done(project.run(INIT));
    let printed = done(on_desktop(&project, "preview").run()).stdout;
    let copied = done(on_desktop(&project, "preview --copy").run());
    assert_eq!(copied.stdout_text(), "");
    assert!(copied.stderr_text().contains("copied to the clipboard with wl-copy\n"), "{copied}");
    assert_eq!(project.read("~/clipboard"), printed);
    project.write("~/clipboard", PLAN);
    done(on_desktop(&project, "respond --paste").run());
    let shown = done(project.run("show latest response"));
    assert_eq!(shown.stdout_text(), PLAN);
}

#[test]
fn a_phase_of_a_web_chat_takes_two_commands_with_the_clipboard() {
    let project = with_clipboard();
    let begun = on_desktop(&project, "do 'Add an index' --agent manual --copy").run();
    assert_eq!(begun.exit_code(), 3, "{begun}");
    assert!(begun.stderr_text().contains("copied to the clipboard with wl-copy\n"), "{begun}");
    let prompt = done(on_desktop(&project, "preview").run()).stdout;
    assert_eq!(project.read("~/clipboard"), prompt);
    project.write("~/clipboard", "# Plan\n\nChange schema.sql.\n");
    done(on_desktop(&project, "respond --paste").run());
    done(on_desktop(&project, "approve --copy").run());
    let copied = String::from_utf8(project.read("~/clipboard")).unwrap();
    assert!(copied.contains("You implement"), "{copied}");
    // Without a clipboard the work is done all the same.
    let begun = project.command("do 'Add another' --agent manual --copy").run();
    assert_eq!(begun.exit_code(), 3, "{begun}");
    assert!(begun.stderr_text().contains("there is no desktop session"), "{begun}");
}

#[test]
fn without_a_clipboard_nothing_is_copied_or_pasted() {
    let project = with_clipboard();
    done(project.run(INIT));
    let outcome = project.run(&format!("{BUILD} --copy"));
    insta::assert_snapshot!(outcome, @"
    --- stderr
    error: there is no desktop session, so there is no clipboard

    hint: use a file or a pipe instead
    --- exit code 1
    ");
    project.write("~/clipboard", " \n");
    let outcome = on_desktop(&project, "respond --paste").run();
    insta::assert_snapshot!(outcome, @"
    --- stderr
    error: the clipboard is empty

    hint: copy the text again, or save it to a file
    --- exit code 1
    ");
    let both = on_desktop(&project, "respond --paste --file reply.md").run();
    assert_eq!(both.exit_code(), 2, "{both}");
}

#[test]
fn a_terminal_is_sent_the_text() {
    let scene = Scene::new("");
    let printed = done(scene.run(BUILD)).stdout;
    let arguments: Vec<&str> = BUILD.split(' ').chain(["--copy"]).collect();
    let mut terminal = Terminal::open(&scene, &arguments);
    let seen = terminal.read_to_end();
    assert_eq!(terminal.wait(), 0, "{seen}");
    let sequence = format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(printed));
    assert!(seen.contains(&sequence), "{seen:?}");
    assert!(seen.contains("sent to the clipboard of your terminal, if it takes OSC 52"), "{seen:?}");
}
