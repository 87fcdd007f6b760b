//! A problem of a setting, with its position.

use std::fmt;

use crate::fault::ConfigFault;
use crate::origin::Origin;

/// One problem of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigProblem {
    /// The affected line or flag.
    pub origin: Origin,
    /// The column, counted from 1 in characters.
    pub column: Option<usize>,
    pub fault: ConfigFault,
}

impl ConfigProblem {
    /// File, line and column; or the flag.
    pub(crate) fn place(&self) -> String {
        match self.column {
            Some(column) => format!("{}:{column}", self.origin),
            None => self.origin.to_string(),
        }
    }
}

impl fmt::Display for ConfigProblem {
    /// One line of a list of problems.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.fault)?;
        match self.fault.near() {
            Some(nearest) => write!(f, " (did you mean `{nearest}`?)"),
            None => Ok(()),
        }
    }
}

/// The message for one or more problems.
pub(crate) fn shown(problems: &[ConfigProblem]) -> String {
    const MOST: usize = 20;
    if let [problem] = problems {
        return format!("{}\n --> {}", problem.fault, problem.place());
    }
    let listed = problems.iter().take(MOST).map(|problem| format!("\n  {problem}"));
    let n_more = problems.len().saturating_sub(MOST);
    let more = (n_more > 0).then(|| format!("\n  … and {n_more} more"));
    format!("configuration has {} problems{}", problems.len(), listed.chain(more).collect::<String>())
}
