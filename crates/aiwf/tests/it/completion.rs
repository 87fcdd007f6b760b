//! What a shell is offered when somebody presses Tab, and how a shell learns to ask.

#![expect(clippy::disallowed_methods, reason = "files of the home are put in place")]

use std::path::Path;

use aiwf_testkit::{Outcome, TestProject};

use crate::session::Session;
use crate::{json, project};

/// Asks as the script of a shell does: the last word is the one at the cursor.
fn ask(project: &TestProject, shell: &str, words: &[&str]) -> Outcome {
    project
        .command_args(["--", "aiwf"].iter().chain(words).copied())
        .env("COMPLETE", shell)
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .run()
}

#[track_caller]
fn offered(project: &TestProject, words: &[&str]) -> Vec<String> {
    let outcome = ask(project, "bash", words);
    assert_eq!(outcome.stderr, b"", "{outcome}");
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    outcome.stdout_text().lines().map(str::to_owned).collect()
}

#[track_caller]
fn check(project: &TestProject, words: &[&str], expected: &[&str]) {
    assert_eq!(offered(project, words), expected, "{words:?}");
}

#[test]
fn the_first_word_is_a_command_or_a_profile() {
    let project = project();
    check(&project, &["appr"], &["approve"]);
    check(&project, &["jpa"], &["jpa-mt"]);
    let all = offered(&project, &[""]);
    assert!(all.iter().any(|word| word == "status") && all.iter().any(|word| word == "react-component"));
    assert!(!all.iter().any(|word| word == "man" || word.starts_with('-')), "{all:?}");
}

#[test]
fn profiles_offer_their_commands_flags_and_choices() {
    let project = project();
    assert!(offered(&project, &["jpa-mt", ""]).contains(&"init".to_owned()));
    check(&project, &["jpa-mt", "init", "--bounded"], &["--bounded-context"]);
    check(&project, &["jpa-mt", "init", "--conventions", ""], &["layered", "feature", "lombok"]);
    check(
        &project,
        &["react-component", "init", "--variant", ""],
        &["primary", "secondary", "ghost", "link"],
    );
    project.write("schema.sql", "");
    check(&project, &["jpa-mt", "init", "--schema-file", "sch"], &["schema.sql"]);
    let flags = offered(&project, &["jpa-mt", "init", "--"]);
    assert!(flags.contains(&"--planner".to_owned()) && flags.contains(&"--yes".to_owned()), "{flags:?}");
}

#[test]
fn providers_are_offered_wherever_one_is_named() {
    let project =
        project().file(".aiwf/config.toml", "[providers.our-agent]\ntype = \"command\"\nargv = [\"x\"]\n");
    for words in [
        ["chat", "--provider", "our"].as_slice(),
        &["change", "plan", "login", "--agent", "our"],
        &["jpa-mt", "init", "--planner", "our"],
        &["jpa-mt", "init", "--reviewer", "our"],
        &["prompt", "build", "change", "--for", "our"],
        &["providers", "our"],
    ] {
        check(&project, words, &["our-agent"]);
    }
    check(&project, &["chat", "--provider", "man"], &["manual"]);
}

#[test]
fn a_decision_is_offered_the_sessions_that_wait_with_their_titles() {
    let scene = Session::new("");
    let id = scene.id.clone();
    check(&scene.project, &["approve", ""], &[id.as_str()]);
    check(&scene.project, &["approve", "zzz"], &[]);
    check(&scene.project, &["show", id.get(..6).unwrap()], &[id.as_str()]);
    let with_help = ask(&scene.project, "fish", &["approve", ""]).stdout_text();
    let (offered, title) = with_help.lines().next().unwrap().split_once('\t').unwrap();
    assert_eq!(offered, id);
    assert!(title.starts_with("jpa-mt ") && title.ends_with("(planning, waiting)"), "{title}");
    // Flags are offered when one is begun.
    assert!(self::offered(&scene.project, &["approve", "--re"]).contains(&"--rebind".to_owned()));

    assert_eq!(scene.run(&format!("cancel {id}")).exit_code(), 0);
    assert!(self::offered(&scene.project, &["approve", ""]).iter().all(|word| word.starts_with('-')));
    check(&scene.project, &["show", ""], &[id.as_str()]);
}

#[test]
fn a_change_is_offered_by_its_name() {
    let project = project();
    assert_eq!(project.run_args(["change", "new", "login", "Add a login page"]).exit_code(), 0);
    let with_help = ask(&project, "fish", &["change", "plan", ""]).stdout_text();
    assert!(with_help.starts_with("login\tAdd a login page ("), "{with_help}");
}

#[test]
fn flows_are_offered_with_what_they_do() {
    let project = project();
    check(&project, &["flow", "graph", "s"], &["spec"]);
    let with_help = ask(&project, "fish", &["flow", "start", "d"]).stdout_text();
    assert!(with_help.starts_with("do\tPlan, implement, review"), "{with_help}");
}

#[test]
fn completion_changes_nothing_and_is_quiet_about_what_is_broken() {
    let project =
        project().file(".aiwf/config.toml", "this is no TOML").dir(".aiwf/sessions/20260101-000000-broken");
    let before = project.names_in(".aiwf");
    check(&project, &["chat", "--provider", "x"], &[]);
    offered(&project, &["approve", ""]);
    check(&project, &["--project-dir", "nowhere", "appr"], &["approve"]);
    assert_eq!(project.names_in(".aiwf"), before);
    assert_eq!(project.names_in(".aiwf/sessions/20260101-000000-broken"), Vec::<String>::new());
}

#[test]
fn names_that_a_shell_would_read_as_more_are_not_offered() {
    let project = project()
        .file(".aiwf/profiles/$(touch x)/profile.toml", "name = 3\n")
        .file(".aiwf/profiles/*/profile.toml", "name = 3\n")
        .file(".aiwf/profiles/bad/profile.toml", "name = 3\n");
    check(
        &project,
        &["profiles", ""],
        &["bad", "jpa-mt", "python-module", "react-component", "rust-crate", "typescript-module"],
    );
}

#[test]
fn a_variable_of_another_program_does_not_turn_completion_on() {
    let project = project();
    for value in ["1", "tcsh", "yes"] {
        let outcome = project.command("list").env("COMPLETE", value).run();
        assert_eq!(outcome.stdout_text(), "no sessions\n", "{value}");
    }
    assert_eq!(project.command("list").env("COMPLETE", "bash").run().stdout_text(), "no sessions\n");
}

#[test]
fn the_script_asks_the_program() {
    let project = project();
    for (shell, words) in [
        ("bash", "complete -o nospace"),
        ("zsh", "#compdef aiwf\n# Written by `aiwf completions`"),
        ("fish", "complete --keep-order"),
        ("elvish", "edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = project.run(&format!("completions {shell}")).success().stdout_text();
        assert!(script.contains(words) && script.contains("COMPLETE"), "{script}");
    }
    let of_shell = project.command("completions").env("SHELL", "/usr/bin/fish").run();
    assert_eq!(of_shell, project.run("completions fish"));
}

#[test]
fn the_shell_is_taken_from_the_environment_or_asked_for() {
    let project = project();
    let unknown = project.command("completions").env("SHELL", "/bin/tcsh").run();
    assert_eq!(unknown.exit_code(), 2);
    assert_eq!(unknown.first_error_line(), "error: no completions for the shell `tcsh`");
    let unset = project.command("completions").env("SHELL", "").run();
    assert_eq!(unset.first_error_line(), "error: no shell is given and `SHELL` is not set");
}

#[test]
fn the_script_is_installed_where_the_shell_finds_it() {
    for (shell, path) in [
        ("bash", ".local/share/bash-completion/completions/aiwf"),
        ("zsh", ".local/share/zsh/site-functions/_aiwf"),
        ("fish", ".config/fish/completions/aiwf.fish"),
    ] {
        let project = project();
        let (shown, path) = (format!("[home]/{path}"), project.home().join(path));
        let installed = project.command("completions --install").env("SHELL", format!("/bin/{shell}")).run();
        assert_eq!(installed.exit_code(), 0, "{installed}");
        assert_eq!(installed.stdout_text(), format!("wrote {shown}\n"));
        assert_eq!(read(&path), project.run(&format!("completions {shell}")).stdout_text());
        let is_hinted = installed.stderr_text().contains("fpath=(");
        assert_eq!(is_hinted, shell == "zsh", "{installed}");
        // Our own file is written again.
        let again = json(&project.run(&format!("completions --install {shell} --json")));
        assert_eq!(again["path"], shown);
    }
}

#[test]
fn the_data_directory_of_the_user_is_respected() {
    let project = project();
    let data = project.path("data");
    let installed = project.command("completions --install bash").env("XDG_DATA_HOME", &data).run();
    assert_eq!(installed.exit_code(), 0, "{installed}");
    assert!(data.join("bash-completion/completions/aiwf").is_file());
}

#[test]
fn a_foreign_file_is_replaced_only_with_force() {
    let project = project();
    let path = project.home().join(".config/fish/completions/aiwf.fish");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "complete -c aiwf\n").unwrap();
    let refused = project.run("completions --install fish");
    assert_eq!(refused.exit_code(), 1, "{refused}");
    assert!(
        refused.first_error_line().ends_with("aiwf.fish` exists and was not written by aiwf"),
        "{refused}"
    );
    assert_eq!(read(&path), "complete -c aiwf\n");
    assert_eq!(project.run("completions --install fish --force").exit_code(), 0);
    assert!(read(&path).contains("COMPLETE=fish"));
}

#[test]
fn a_shell_without_such_a_place_is_refused() {
    let refused = project().run("completions --install elvish");
    assert_eq!(refused.exit_code(), 2);
    assert_eq!(refused.first_error_line(), "error: completions for `elvish` cannot be installed");
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
