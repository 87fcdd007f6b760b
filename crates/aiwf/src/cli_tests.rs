//! The lean parser accepts what the complete parser accepts, with the same result.

use std::collections::BTreeSet;

use super::*;

/// Splits a line as a shell does: words, some of them in single quotes.
fn words(line: &str) -> Vec<OsString> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words.into_iter().map(OsString::from).collect()
}

/// The results of the lean and the complete parser; `None` for an error or help.
fn results(line: &str) -> [Option<String>; 2] {
    [lean_command(), command()]
        .map(|mut command| parsed(&mut command, words(line)).ok().map(|cli| format!("{cli:?}")))
}

#[track_caller]
fn check(line: &str) {
    let [lean, whole] = results(line);
    assert!(whole.is_some(), "`{line}` is invalid");
    assert_eq!(lean, whole, "{line}");
}

/// Collects the examples in the help of a command and its subcommands, hidden ones included.
fn add_examples(command: &clap::Command, examples: &mut BTreeSet<String>) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for line in help.replace("\\\n", "").lines() {
        let line = line.trim_start_matches("Example:").trim();
        // Redirections and pipes belong to the shell.
        let line = line.split([';', '<', '>', '|']).next().unwrap_or(line);
        if line.starts_with("aiwf ") && !line.contains('`') && !line.contains("PROFILE") {
            examples.insert(line.to_owned());
        }
    }
    command.get_subcommands().for_each(|below| add_examples(below, examples));
}

#[test]
fn every_example_of_the_help_gives_the_same_result() {
    let mut examples = BTreeSet::new();
    add_examples(&command(), &mut examples);
    assert!(examples.len() > 80, "{examples:#?}");
    for line in &examples {
        check(line);
    }
}

#[test]
fn global_flags_before_and_after_a_command_give_the_same_result() {
    check("aiwf --json status");
    check("aiwf status latest --json");
    check("aiwf --project-dir do status");
    check("aiwf --project-dir=list --json do 'list' --check 'a b'");
    check("aiwf --json prompt --project-dir . build session --input - --json");
    check("aiwf prompt --json recipes");
    check("aiwf comment --json list latest");
    check("aiwf --json comment latest plan:3 -x --adopt");
    check("aiwf comment plan -- list");
}

#[test]
fn aliases_hidden_commands_and_profiles_give_the_same_result() {
    check("aiwf approve --max-rounds 3");
    check("aiwf approve latest --max-iterations 3");
    check("aiwf man --dir pages");
    check("aiwf prompt send reply --input r.json --provider codex --tools --max-rounds 2");
    check("aiwf prompt --json send --provider codex session --input - --events");
    check("aiwf jpa-mt init --json --entity Customer");
    check("aiwf statu");
    check("aiwf 'a profile' help --help");
}

#[test]
fn help_and_invalid_lines_are_left_to_the_complete_parser() {
    for line in [
        "aiwf",
        "aiwf --help",
        "aiwf -h",
        "aiwf help",
        "aiwf help prompt",
        "aiwf help prompt build session",
        "aiwf help man",
        "aiwf prompt",
        "aiwf prompt help",
        "aiwf prompt build --help",
        "aiwf prompt help build",
        "aiwf prompt build help session",
        "aiwf --json workflow say -h",
        "aiwf status --jsn",
        "aiwf status one two",
        "aiwf status --usage --usage",
        "aiwf revise",
        "aiwf comment list --opn",
        "aiwf comment resolve --help",
        "aiwf reject --feedback",
        "aiwf prompt bild",
        "aiwf show --entries x",
        "aiwf apply --zzz",
        "aiwf status --version",
        "aiwf --version status",
    ] {
        assert_eq!(results(line), [None, None], "{line}");
    }
}
