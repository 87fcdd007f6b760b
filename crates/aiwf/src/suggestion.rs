//! Suggests commands for a word that is not a command.
//!
//! In: the word and the command line. Out: commands to type instead, best first; empty if there is no good match. The
//! table has words of other programs; commands in it that do not exist are skipped.

/// Words that are not commands, and the commands that do the same.
const INSTEAD: &[(&[&str], &[&str])] = &[
    (&["init"], &["aiwf PROFILE init"]),
    (&["new", "start", "begin", "create"], &["aiwf do", "aiwf change new", "aiwf flow start"]),
    (&["ask", "query", "send"], &["aiwf chat", "aiwf prompt send"]),
    (&["talk", "conversation"], &["aiwf chat", "aiwf agent"]),
    (&["continue", "resume", "next", "go"], &["aiwf run"]),
    (&["accept", "ok", "yes", "confirm"], &["aiwf approve"]),
    (&["deny", "decline", "refuse"], &["aiwf reject"]),
    (&["answer", "paste"], &["aiwf respond"]),
    (&["again", "redo"], &["aiwf retry"]),
    (&["abort", "stop", "kill", "close"], &["aiwf cancel"]),
    (&["delete", "remove", "clean", "prune"], &["aiwf rm", "aiwf cancel"]),
    (&["revert", "reset"], &["aiwf undo", "aiwf restore"]),
    (&["merge", "copy", "write"], &["aiwf apply"]),
    (&["ls", "ps", "sessions", "session", "history"], &["aiwf list"]),
    (&["changes"], &["aiwf change list"]),
    (&["runs"], &["aiwf list"]),
    (&["flows"], &["aiwf flow list"]),
    (&["info", "state", "st"], &["aiwf status"]),
    (&["log", "logs", "journal"], &["aiwf events"]),
    (&["cat", "view", "open"], &["aiwf show"]),
    (&["generate", "gen"], &["aiwf PROFILE init", "aiwf change new"]),
    (&["models", "agents", "llm"], &["aiwf providers"]),
    (&["settings", "configure", "configuration"], &["aiwf config show"]),
    (&["doctor", "check", "lint"], &["aiwf validate"]),
    (&["server", "serve"], &["aiwf mcp"]),
    (&["web"], &["aiwf ui"]),
    (&["install"], &["aiwf profile add"]),
    (&["version"], &["aiwf --version"]),
];

/// More commands than this are no suggestion.
const MAX_SUGGESTED: usize = 3;

pub(crate) fn instead_of(word: &str, root: &clap::Command) -> Vec<String> {
    let listed =
        INSTEAD.iter().filter(|(words, _)| words.contains(&word)).flat_map(|(_, commands)| *commands);
    let mut suggested: Vec<String> =
        listed.filter(|command| exists(command, root)).map(|command| (*command).to_owned()).collect();
    if suggested.is_empty() {
        suggested = below(word, root);
    }
    suggested.truncate(MAX_SUGGESTED);
    suggested
}

/// The commands of groups that have this very name, unless there are many.
fn below(word: &str, root: &clap::Command) -> Vec<String> {
    let groups = root.get_subcommands().filter(|group| group.get_name() != "help" && !group.is_hide_set());
    let found: Vec<String> = groups
        .filter(|group| group.get_subcommands().any(|command| command.get_name() == word && word != "help"))
        .map(|group| format!("aiwf {} {word}", group.get_name()))
        .collect();
    if found.len() > MAX_SUGGESTED { Vec::new() } else { found }
}

/// Whether a command can be typed: flags always, a profile's commands too.
fn exists(line: &str, root: &clap::Command) -> bool {
    let mut command = root;
    for word in line.split(' ').skip(1) {
        if word == "PROFILE" || word.starts_with('-') {
            return true;
        }
        let Some(found) = command.find_subcommand(word) else { return false };
        command = found;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_words_are_unique_and_not_commands() {
        let root = crate::cli::command();
        let mut seen = Vec::new();
        for word in INSTEAD.iter().flat_map(|(words, _)| *words) {
            assert!(root.find_subcommand(word).is_none(), "`{word}` is a command");
            assert!(!seen.contains(word), "`{word}` stands there twice");
            seen.push(*word);
        }
    }

    #[test]
    fn every_suggestion_can_be_typed_or_is_a_command_that_comes_soon() {
        let root = crate::cli::command();
        for suggestion in INSTEAD.iter().flat_map(|(_, commands)| *commands) {
            let first = suggestion.split(' ').nth(1).unwrap();
            assert!(exists(suggestion, &root) || ["flow", "rm", "ui"].contains(&first), "{suggestion}");
        }
    }

    #[track_caller]
    fn check(word: &str, expected: &[&str]) {
        assert_eq!(instead_of(word, &crate::cli::command()), expected, "{word}");
    }

    #[test]
    fn a_command_that_only_a_group_has_is_found() {
        check("build", &["aiwf prompt build"]);
        check("fork", &["aiwf workflow fork"]);
        check("help", &[]);
        check("zzz", &[]);
    }

    #[test]
    fn a_command_that_does_not_exist_is_not_suggested() {
        let without = clap::Command::new("aiwf").subcommand(clap::Command::new("cancel"));
        assert_eq!(instead_of("delete", &without), ["aiwf cancel"]);
        let with = without.subcommand(clap::Command::new("rm"));
        assert_eq!(instead_of("delete", &with), ["aiwf rm", "aiwf cancel"]);
    }
}
