//! Decides when a model that calls tools is asked again: the limit of rounds, and the rule for repeated failures.
//!
//! One loop for sessions, prompts and runs. It does not run calls: the tools of a run change its state and record each
//! call, those of a session or prompt ([`super::tool_caller`]) only return results.

use super::repeats::{CallResult, MAX_EQUAL_FAILURES, Repeats};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// At most this many rounds of calls. The model sees the results of the last one; calls in its answer are not run.
    Rounds(u32),
    /// At most this many requests. Calls in the last reply are run, for a later resume.
    Requests(u32),
}

/// Why a loop ended before the model was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutShort {
    /// The model wanted more rounds than allowed.
    Limit,
    /// The same call kept failing.
    Loop,
}

#[derive(Debug)]
pub(crate) struct Rounds {
    limit: Limit,
    n_done: u32,
    repeats: Repeats,
    cut_short: Option<CutShort>,
}

impl Rounds {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, n_done: 0, repeats: Repeats::default(), cut_short: None }
    }

    /// The loop of a model without tools.
    pub(crate) fn without_tools() -> Self {
        Self::new(Limit::Rounds(0))
    }

    pub(crate) fn n_rounds(&self) -> u32 {
        self.n_done
    }

    /// Why it ended before the model was done, if it did.
    pub(crate) fn cut_short(&self) -> Option<CutShort> {
        self.cut_short
    }

    /// Whether the calls of a reply may be run.
    pub(crate) fn begin_round(&mut self) -> bool {
        let may_run = match self.limit {
            Limit::Rounds(max) => self.n_done < max,
            Limit::Requests(_) => true,
        };
        if may_run {
            self.n_done += 1;
        } else {
            self.cut_short = Some(CutShort::Limit);
        }
        may_run
    }

    /// Records the results of a round; returns false if the same call keeps failing.
    pub(crate) fn end_round(&mut self, results: &[CallResult]) -> bool {
        let is_looping = self.repeats.take_round(results);
        if is_looping {
            self.cut_short = Some(CutShort::Loop);
        }
        !is_looping
    }

    pub(crate) fn may_ask_again(&mut self) -> bool {
        let may_ask = match self.limit {
            Limit::Rounds(_) => true,
            Limit::Requests(max) => self.n_done < max,
        };
        if !may_ask {
            self.cut_short = Some(CutShort::Limit);
        }
        may_ask
    }

    /// A warning for the user about how the loop ended.
    pub(crate) fn warning(&self) -> Option<String> {
        Some(match self.cut_short? {
            CutShort::Limit => format!(
                "the model still called tools after {} rounds, the limit; its last reply is used and its \
                 calls were not run",
                self.n_done
            ),
            CutShort::Loop => format!(
                "the same call failed {MAX_EQUAL_FAILURES} times; the model was not asked again and its last reply is \
                 used"
            ),
        })
    }
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;
