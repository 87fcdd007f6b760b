//! When a model that calls tools is asked again: how many rounds there may be, and the rule for repeated failures.
//!
//! One loop for sessions, prompts and runs. Who runs the calls is not its affair: a run's tools change its state and are on
//! record one by one, those of a session and a prompt ([`super::tool_caller`]) only answer.

use super::repeats::{CallResult, MAX_EQUAL_FAILURES, Repeats};

/// How long a loop may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// So many rounds of calls; the model answers the results of the last one, and what it calls then is not run.
    Rounds(u32),
    /// So many requests; what the reply to the last one calls is run, for whoever goes on later.
    Requests(u32),
}

/// Why a loop ended before the model was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutShort {
    /// The model wanted more than there may be.
    Limit,
    /// The same call failed again and again.
    Loop,
}

/// The rounds of one exchange.
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

    /// The loop of a model that has no tools.
    pub(crate) fn without_tools() -> Self {
        Self::new(Limit::Rounds(0))
    }

    /// How many rounds of calls there were.
    pub(crate) fn n_rounds(&self) -> u32 {
        self.n_done
    }

    /// Why it ended before the model was done, when it did.
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

    /// Takes the results of a round: whether the model is not going in circles.
    pub(crate) fn end_round(&mut self, results: &[CallResult]) -> bool {
        let is_looping = self.repeats.take_round(results);
        if is_looping {
            self.cut_short = Some(CutShort::Loop);
        }
        !is_looping
    }

    /// Whether there may be another request.
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

    /// What a person should know about how the loop ended.
    pub(crate) fn warning(&self) -> Option<String> {
        Some(match self.cut_short? {
            CutShort::Limit => format!(
                "the model still called tools after {} rounds, the most there may be; its last reply is used and its \
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
