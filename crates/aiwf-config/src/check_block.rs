//! Adds a check to the text of a configuration file.
//!
//! In: the text, a name and a command. Out: the same text with a table at its end, or `None` if the result would have
//! another meaning. The text before the table is unchanged, including comments and layout.

use std::fmt;
use std::path::Path;

use crate::check_config::CheckCommand;
use crate::layer_reader;
use crate::origin::ConfigFile;

/// A table `[[checks]]` as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckBlock {
    name: String,
    run: String,
}

impl fmt::Display for CheckBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[[checks]]\nname = {}\nrun = {}\n", quoted(&self.name), quoted(&self.run))
    }
}

impl CheckBlock {
    /// The table of a check; `None` if the name or the command is invalid.
    pub fn new(name: &str, run: &str) -> Option<Self> {
        let block = Self { name: name.to_owned(), run: run.to_owned() };
        block.added_to("").is_some().then_some(block)
    }

    /// The text with the table at its end; `None` if the result is not the same configuration with one more check.
    pub fn added_to(&self, text: &str) -> Option<String> {
        let before = read(text)?;
        let newlines = if text.is_empty() || text.ends_with("\n\n") {
            ""
        } else if text.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        let after = format!("{text}{newlines}{self}");
        let checks = read(&after)?;
        let (added, others) = checks.split_last()?;
        let is_added = *added == (self.name.clone(), CheckCommand::Shell(self.run.clone()));
        (is_added && others == before).then_some(after)
    }
}

/// The names and commands of the checks of a file; `None` if the file is invalid.
fn read(text: &str) -> Option<Vec<(String, CheckCommand)>> {
    let (layer, problems) = layer_reader::read(ConfigFile::Project, Path::new(""), text);
    let checks = layer.checks.into_iter().filter_map(|check| Some((check.name?.value, check.run?.value)));
    problems.is_empty().then(|| checks.collect())
}

/// A line of text as a basic string of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn added(text: &str) -> Option<String> {
        CheckBlock::new("tests", "grep \"a\\.b\" *").unwrap().added_to(text)
    }

    #[test]
    fn the_table_comes_last_and_the_rest_stays() {
        let block = "[[checks]]\nname = \"tests\"\nrun = \"grep \\\"a\\\\.b\\\" *\"\n";
        assert_eq!(added("").unwrap(), block);
        let before = "# mine\n[session]\nmax_iterations = 3 # few";
        assert_eq!(added(before).unwrap(), format!("{before}\n\n{block}"));
        let before = "[[checks]]\nname = \"a\"\nrun = \"b\"\n";
        assert_eq!(added(before).unwrap(), format!("{before}\n{block}"));
        assert_eq!(added(&format!("{before}\n")).unwrap(), format!("{before}\n{block}"));
    }

    #[test]
    fn a_file_where_it_would_have_another_meaning_is_unchanged() {
        assert_eq!(added("checks = [{ name = \"a\", run = \"b\" }]\n"), None);
        assert_eq!(added("[[checks]]\nname = \"tests\"\nrun = \"x\"\n"), None);
        assert_eq!(added("[session]\nno_such_key = 1\n"), None);
        assert_eq!(added("x = \"\"\""), None);
    }

    #[test]
    fn an_invalid_check_has_no_table() {
        assert_eq!(CheckBlock::new("two words", "x"), None);
        assert_eq!(CheckBlock::new("a", ""), None);
        assert_eq!(CheckBlock::new("a", "x\ny"), None);
    }

    proptest! {
        #[test]
        fn every_command_round_trips(run in "\\PC{1,40}") {
            if let Some(block) = CheckBlock::new("a", &run) {
                let text = block.added_to("[session]\n").unwrap();
                prop_assert_eq!(read(&text).unwrap(), [("a".to_owned(), CheckCommand::Shell(run))]);
            } else {
                prop_assert!(run.trim().is_empty());
            }
        }
    }
}
