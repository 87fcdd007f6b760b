//! Typical mistakes on every command line there is, and what is said about them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::*;
use crate::commands::profile;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::failure::tests::{bare_engine, faults_of};

fn known(line: &str) -> KnownCommand {
    let root = crate::cli::command();
    KnownCommand::of(&root, line.split(' ').map(OsString::from))
}

#[test]
fn the_words_before_a_mistake_name_the_command() {
    assert_eq!(known("aiwf --json prompt build chnge").name, "prompt build");
    assert_eq!(known("aiwf --project-dir prompt template shw").name, "template");
    assert_eq!(known("aiwf prompt build session --phase x").name, "prompt build");
    assert_eq!(known("aiwf prompt build session --phase x").words, "aiwf prompt build session");
    assert_eq!(known("aiwf promt").name, "");
}

/// What is said about a command line; nothing when it makes sense, or when the first word might be a profile.
///
/// A profile reads its own words: `root` is the profile's then.
fn said(root: &clap::Command, line: &[String]) -> Option<Failure> {
    let is_of_profile = root.get_name() != "aiwf";
    let words = line.iter().skip(usize::from(is_of_profile));
    let mut root = root.clone();
    let error = root.try_get_matches_from_mut(words).err().filter(clap::Error::use_stderr)?;
    let command = KnownCommand::of(&root, line.iter().map(OsString::from));
    Some(error_of(&error, &command).into())
}

/// The mistakes that can be made with a command: one of each kind, and every value that is checked.
fn mistakes(root: &clap::Command, command: &clap::Command, words: &[String]) -> Vec<Vec<String>> {
    let with =
        |more: &[&str]| words.iter().cloned().chain(more.iter().map(|word| (*word).to_owned())).collect();
    let mut lines: Vec<Vec<String>> = vec![with(&[]), with(&["--zzz"])];
    let flags: Vec<(&clap::Arg, &str)> =
        command.get_arguments().filter_map(|arg| Some((arg, arg.get_long()?))).collect();
    if let Some((_, long)) = flags.iter().find(|(_, long)| long.len() > 3) {
        lines.push(with(&[&format!("--{}", long.get(..long.len() - 1).unwrap())]));
    }
    if let Some((_, long)) =
        flags.iter().find(|(arg, _)| matches!(arg.get_action(), clap::ArgAction::SetTrue))
    {
        lines.push(with(&[&format!("--{long}"), &format!("--{long}")]));
    }
    for (arg, long) in &flags {
        let others = command.get_arg_conflicts_with(arg).into_iter().filter_map(clap::Arg::get_long);
        lines.extend(others.map(|other| with(&[&format!("--{long}"), &format!("--{other}")])));
    }
    let has_choices = |arg: &clap::Arg| !arg.get_possible_values().is_empty();
    for is_chosen in [false, true] {
        let is_it = |arg: &clap::Arg| arg.get_action().takes_values() && has_choices(arg) == is_chosen;
        if let Some((_, long)) = flags.iter().find(|(arg, _)| is_it(arg)) {
            lines.push(with(&[&format!("--{long}")]));
        }
    }
    let positionals: Vec<String> = command.get_positionals().map(a_value).collect();
    let positionals: Vec<&str> = positionals.iter().map(String::as_str).collect();
    if command.has_subcommands() {
        lines.push(with(&["zzz"]));
    } else {
        lines.push(with(&[positionals.as_slice(), &["more"]].concat()));
    }
    let mut checked: Vec<Vec<String>> = Vec::new();
    for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
        match arg.get_long() {
            Some(long) => checked.push(with(&[&format!("--{long}"), "?"])),
            None => checked.push(with(&["?"])),
        }
    }
    let is_about_the_value =
        |line: &Vec<String>| said(root, line).is_some_and(|failure| failure.message.contains("`?`"));
    lines.extend(checked.into_iter().filter(is_about_the_value));
    lines
}

/// A value that an argument takes.
fn a_value(arg: &clap::Arg) -> String {
    arg.get_possible_values().first().map_or("x".to_owned(), |value| value.get_name().to_owned())
}

/// What is said about all the mistakes.
#[derive(Default)]
struct Page {
    text: String,
    seen: BTreeSet<String>,
    faults: String,
}

fn add_page(root: &clap::Command, command: &clap::Command, words: &mut Vec<String>, page: &mut Page) {
    let mut n_said = 0;
    for line in mistakes(root, command, words) {
        let Some(failure) = said(root, &line) else { continue };
        n_said += 1;
        let shown = line.join(" ");
        let text =
            format!("error: {}\nhint: {}\n", failure.message, failure.hint().as_deref().unwrap_or_default());
        // What is said in the same words about several commands is read once.
        if page.seen.insert(text.replace(&words.join(" "), "COMMAND")) {
            let _ = writeln!(page.text, "$ {shown}\n{text}");
        }
        if failure.exit != Exit::Usage {
            let _ = writeln!(page.faults, "{shown}: ends with {}", failure.exit.code());
        }
        for fault in faults_of(&failure) {
            let _ = writeln!(page.faults, "{shown}: {fault}");
        }
    }
    assert!(n_said > 1, "nothing is wrong with any `{}`", words.join(" "));
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        words.push(below.get_name().to_owned());
        add_page(root, below, words, page);
        words.pop();
    }
}

#[test]
fn every_usage_error_has_one_thing_to_do() {
    let mut page = Page::default();
    let root = crate::cli::command();
    add_page(&root, &root, &mut vec!["aiwf".to_owned()], &mut page);
    for found in bare_engine().profiles() {
        let root = profile::command(&found.profile.unwrap()).bin_name(format!("aiwf {}", found.name));
        add_page(&root, &root, &mut vec!["aiwf".to_owned(), found.name], &mut page);
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("mistakes", page.text);
    });
    assert!(page.faults.is_empty(), "{}", page.faults);
}

/// `tests/it/typed_paths.rs` finds the options that take paths by what their values are called.
#[test]
fn every_value_that_is_a_path_is_called_one() {
    fn add(command: &clap::Command, faults: &mut Vec<String>) {
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            let is_path = arg.get_value_parser().type_id() == std::any::TypeId::of::<std::path::PathBuf>();
            let name = arg.get_value_names().and_then(|names| names.first()).map(clap::builder::Str::as_str);
            if is_path && !matches!(name, Some("DIR" | "FILE" | "FILE|-" | "PATH")) {
                faults.push(format!("{} {}: {name:?}", command.get_name(), arg.get_id()));
            }
        }
        command.get_subcommands().for_each(|below| add(below, faults));
    }
    let mut faults = Vec::new();
    add(&crate::cli::command(), &mut faults);
    assert!(faults.is_empty(), "{faults:#?}");
}
