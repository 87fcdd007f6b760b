//! What is wrong with a setting, and where.

use std::fmt;

use crate::origin::Origin;

/// One thing wrong with the configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigProblem {
    /// The line or flag that is wrong.
    pub origin: Origin,
    /// The column in that line, counted from 1 in characters.
    pub column: Option<usize>,
    /// What is wrong: lower case, no final period, names in backticks.
    pub message: String,
    /// The name that was probably meant.
    pub nearest: Option<String>,
    /// What to do about it.
    pub advice: Option<String>,
}

impl ConfigProblem {
    pub(crate) fn new(origin: Origin, message: impl Into<String>) -> Self {
        Self { origin, column: None, message: message.into(), nearest: None, advice: None }
    }

    pub(crate) fn with_nearest(mut self, nearest: Option<&str>) -> Self {
        self.nearest = nearest.map(str::to_owned);
        self
    }

    pub(crate) fn with_advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match (&self.nearest, &self.advice) {
            (Some(nearest), Some(advice)) => format!("did you mean `{nearest}`? {advice}"),
            (Some(nearest), None) => format!("did you mean `{nearest}`?"),
            (None, Some(advice)) => advice.clone(),
            (None, None) => format!("correct {}", self.place()),
        }
    }

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
        write!(f, "{}: {}", self.place(), self.message)?;
        match &self.nearest {
            Some(nearest) => write!(f, " (did you mean `{nearest}`?)"),
            None => Ok(()),
        }
    }
}

/// The message for one or more problems.
pub(crate) fn shown(problems: &[ConfigProblem]) -> String {
    const MOST: usize = 20;
    if let [problem] = problems {
        return format!("{}\n --> {}", problem.message, problem.place());
    }
    let listed = problems.iter().take(MOST).map(|problem| format!("\n  {problem}"));
    let n_more = problems.len().saturating_sub(MOST);
    let more = (n_more > 0).then(|| format!("\n  … and {n_more} more"));
    format!("configuration has {} problems{}", problems.len(), listed.chain(more).collect::<String>())
}
