//! Tests of prompts and replies: the cases of TOML files, run against what would be sent.
//!
//! In: test files and options. Out: a report. A prompt is built by the way that sends it, without the user's own
//! configuration, so that it is the same on every machine; sessions are walked in a project of their own. Looking
//! writes nothing: only `update` writes golden files, and only `record_missing` recordings. Providers are asked only
//! with `live`.
//!
//! [`case_file`] reads a file and [`place`] finds it; the assertions are pure functions of a built prompt or a reply
//! (`prompt_assert`, `reply_assert`, `lint`, `golden`); [`prepare`] builds the prompt of a case, [`unit`] checks it, and
//! [`run`] runs all of them.

mod assertion;
mod case_file;
mod effects;
mod finding;
mod golden;
mod lint;
mod live;
mod place;
mod prepare;
mod prompt_assert;
mod reply_assert;
mod report;
mod report_file;
mod run;
mod scenario;
mod scratch;
mod shape;
mod subject;
pub(crate) mod test_error;
mod unit;
mod walk;

pub use report::{
    AssertionResult, JudgeExchange, ReplyFacts, Spread, TestCounts, TestDrop, TestOutcome, TestReport,
    TestResult, VariantSummary,
};
pub use run::TestOptions;
