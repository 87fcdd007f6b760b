//! The groups in which `aiwf --help` lists the commands.
//!
//! In: the command line. Out: the same, with help that has a list for each group. Clap has no groups of commands, so
//! the whole help of the program is a template. The one line about a command stays where the command is declared.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::{StyledStr, Styles};

/// Commands that belong together, most used first.
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) commands: &'static [&'static str],
}

/// Every command that the help shows is in exactly one group; a test checks it.
pub(crate) const GROUPS: [Group; 5] = [
    Group { title: "Start", commands: &["do", "demo", "change", "flow", "workflow", "chat", "agent"] },
    Group {
        title: "Decide",
        commands: &[
            "approve", "reject", "comment", "revise", "respond", "retry", "run", "step", "apply", "undo",
            "assign", "restore", "cancel", "adopt", "rm",
        ],
    },
    Group {
        title: "Inspect",
        commands: &["ui", "status", "list", "show", "preview", "diff", "events", "cache", "verify"],
    },
    Group { title: "Build", commands: &["prompt", "test", "template", "reply", "profile", "package"] },
    Group {
        title: "Set up",
        commands: &[
            "providers",
            "profiles",
            "tools",
            "config",
            "validate",
            "checks",
            "trust",
            "mcp",
            "integrate",
            "import",
            "completions",
        ],
    },
];

/// The width of the column with the names.
pub(crate) const NAME_WIDTH: usize = 15;

/// The command line with grouped commands in its help.
pub(crate) fn with_groups(command: Command) -> Command {
    let template = template(&command);
    command.help_template(template)
}

fn template(command: &Command) -> StyledStr {
    let styles = Styles::default();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let mut text = StyledStr::new();
    // Writing to a string cannot fail.
    let _ = write!(text, "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n");
    for group in &GROUPS {
        let _ = write!(text, "\n{header}{}:{header:#}", group.title);
        for name in group.commands {
            let Some(found) = command.find_subcommand(name) else { continue };
            let about = found.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = write!(text, "\n  {literal}{name:NAME_WIDTH$}{literal:#}  {about}");
        }
        let _ = writeln!(text);
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Vec<String> {
        let is_shown = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
        let command = crate::cli::command();
        command.get_subcommands().filter(is_shown).map(|command| command.get_name().to_owned()).collect()
    }

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.commands.iter().copied()).collect();
        let mut shown = shown();
        grouped.sort_unstable();
        shown.sort_unstable();
        assert_eq!(grouped, shown, "`GROUPS` in command_groups.rs lists each command once");
    }

    #[test]
    fn every_line_about_a_command_fits_80_columns_and_starts_with_a_verb() {
        let command = crate::cli::command();
        for name in shown() {
            let about = command.find_subcommand(&name).unwrap().get_about().unwrap().to_string();
            assert!(NAME_WIDTH + 4 + about.chars().count() <= 80, "`{name}`: {about}");
            let verb = about.split([' ', ',']).next().unwrap();
            assert!(VERBS.contains(&verb), "`{name}` does not start with a known verb: {about}");
        }
    }

    /// What the lines start with; add a verb in the imperative when a command needs another one.
    const VERBS: &[&str] = &[
        "Approve", "Assign", "Build", "Cancel", "Change", "Chat", "Check", "Comment", "Connect", "Continue",
        "Copy", "Create", "Import", "List", "Parse", "Print", "Provide", "Reject", "Remove", "Reopen",
        "Restore", "Review", "Run", "Send", "Serve", "Show", "Talk", "Test",
    ];
}
