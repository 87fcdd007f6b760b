//! Where a session goes from here: the next phase, another round, a pause or its end.

use std::sync::Arc;

use super::State;
use crate::checks::CheckResult;
use crate::flow::Target;
use crate::phase::{Phase, Stage};
use crate::step::{GateState, Pause, Step};
use crate::verdict::Verdict;

impl State {
    /// Moves to what the flow says comes next.
    pub(super) fn follow(&mut self, verdict: Option<Verdict>) {
        let flow = Arc::clone(&self.flow);
        let spec = flow.spec(self.phase);
        let target = match verdict {
            Some(verdict) => spec.and_then(|spec| spec.on.get(&verdict)),
            None => spec.and_then(|spec| spec.next.as_ref()),
        };
        self.remark = None;
        let Some(target) = target else {
            self.step = Step::Paused(Pause::NoTarget);
            self.remark = Some(match verdict {
                Some(verdict) => {
                    format!("the flow does not say what comes after {}: you decide", verdict.as_str())
                }
                None => "the flow does not say what comes next: you decide".to_owned(),
            });
            return;
        };
        match *target {
            Target::Complete => self.end(Phase::COMPLETE),
            Target::Stop => self.step = Step::Paused(Pause::Verdict),
            Target::Phase(next) if flow.is_again(self.phase, verdict, *target) => self.once_more(next),
            Target::Phase(next) => {
                if verdict.is_some() {
                    self.rounds.remove(&self.phase);
                }
                let begins_anew = flow.spec(next).is_some_and(|spec| spec.iterates);
                self.want(next, self.iteration + u32::from(begins_anew));
            }
        }
    }

    /// Moves on after the last check: the next phase, another round, or a person's decision.
    pub(super) fn follow_checks(&mut self) {
        if self.checks.iter().all(CheckResult::is_passed) {
            self.rounds.remove(&self.phase);
            return self.follow(None);
        }
        if !self.count_round() {
            self.step = Step::Paused(Pause::Checks);
            return;
        }
        self.want(self.phase, self.iteration + 1);
    }

    /// Counts another round of the current loop; returns whether its cap allows it.
    fn count_round(&mut self) -> bool {
        let round = self.rounds.get(&self.phase).copied().unwrap_or(1);
        let cap = self.flow.spec(self.phase).and_then(|spec| spec.max_rounds).unwrap_or(0);
        if round < cap {
            self.rounds.insert(self.phase, round + 1);
        }
        round < cap
    }

    /// Starts another round, if the cap allows it.
    fn once_more(&mut self, next: Phase) {
        if !self.count_round() {
            self.step = Step::Paused(Pause::IterationCap);
            return;
        }
        self.want(next, self.iteration + 1);
    }

    pub(super) fn want(&mut self, phase: Phase, iteration: u32) {
        self.phase = phase;
        self.iteration = iteration;
        if let Some(judge) = self.flow.judge_of(phase) {
            self.round = self.rounds.get(&judge).copied().unwrap_or(1);
        }
        self.stage = Some(Stage::Prompt);
        self.gate = GateState::Pending;
        self.step = Step::PromptWanted { phase, iteration };
        self.response = None;
        self.changes = None;
        self.remark = None;
    }

    pub(super) fn end(&mut self, phase: Phase) {
        if phase == Phase::COMPLETE {
            self.settle_versions();
        }
        self.phase = phase;
        self.stage = None;
        self.step = Step::Ended;
    }
}
