//! The result of every parser: a value, and what is wrong with the text.

use std::fmt;

/// What a parser read and what is wrong with it.
///
/// `value` contains everything that was readable, even if there are problems; the caller decides whether a value with
/// problems is good enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<T> {
    pub value: T,
    /// Problems in the order of the text; empty for a correct reply.
    pub problems: Vec<Problem>,
}

/// One thing wrong with a reply, as a sentence a model can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line in the text, counted from 1.
    pub line: usize,
    /// Character in that line, counted from 1.
    pub column: usize,
    /// What is wrong and what to write instead: lower case, no final period, names in backticks.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
pub(crate) mod tests;
