//! Folds events into the state.
//!
//! Nothing fails here: `decide` checked every event before it was written.

use std::sync::Arc;

use super::State;
use crate::call::{Call, Spent};
use crate::change::{Artifact, ChangeSetup};
use crate::comment::Comment;
use crate::event::{Actor, Event, FileHash, Outcome};
use crate::phase::{Phase, Stage};
use crate::session_path::{code_path, is_rejected_version};
use crate::setup::{GateSetting, Setup, gate_key};
use crate::step::{Bound, Feedback, GateState, Pause, Step};
use crate::verdict::Verdict;
use crate::versions::VersionOutcome;

impl State {
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        events.into_iter().fold(Self::default(), Self::evolve)
    }

    /// Returns the state after an event.
    ///
    /// Never fails: `decide` checked the event before it was written.
    #[must_use]
    pub fn evolve(mut self, event: &Event) -> Self {
        self.n_events += 1;
        match event {
            Event::SessionCreated { setup } => self.create(setup),
            Event::PromptWritten { phase, iteration, prompt, system_prompt, seen, fs_ability, left_out } => {
                self.prompt_fs_ability.clone_from(fs_ability);
                self.left_out.clone_from(left_out);
                self.written = std::iter::once(prompt).chain(system_prompt).cloned().collect();
                self.change.seen.clone_from(seen);
                self.prompt_at_gate(*phase, *iteration);
            }
            Event::PromptApproved { files, is_checked, .. } => {
                for file in files {
                    self.bind(file, *is_checked);
                }
                self.stage = Some(Stage::Response);
                self.step = Step::AskWanted;
                self.gate = GateState::Pending;
                self.reopen_gate();
            }
            Event::PromptRejected { by, feedback, .. } => self.reject(by, feedback, None),
            Event::PromptSent { provider, is_free, .. } => {
                self.step = Step::Asked { is_free: *is_free };
                self.n_sent += 1;
                self.spend(provider, *is_free, false);
            }
            // Tool calls are part of the exchange and do not change the state.
            Event::ToolCalled(_) => {}
            Event::AskedAgain { provider, is_free, call, .. } => {
                self.settle(Some(call));
                self.spend(provider, *is_free, false);
            }
            Event::ReplyReceived { response, call, changes } => {
                self.reply_received(response, call.as_deref(), changes.as_ref());
            }
            Event::AskFailed { message, call, limit_until } => {
                self.ask_failed(message, call.as_deref(), *limit_until);
            }
            Event::BudgetReached { message } => self.budget_reached(message),
            Event::BudgetRaised => self.budget_raised(),
            Event::ReplyRefused { response, problems } => {
                self.response = Some(response.clone());
                self.version_read(response);
                self.step = Step::ReplyReady { problems: problems.clone() };
                self.needs_person = true;
            }
            Event::OutputsIntended { files } => self.intended.clone_from(files),
            Event::ResponseApproved { by, response, outcome, runs_checks, note } => {
                self.version_approved(response, by, note.as_ref());
                let verdict = self.take_over(response, outcome);
                if *runs_checks {
                    self.checks = Vec::new();
                    self.step = Step::ChecksWanted;
                } else {
                    self.follow(verdict);
                }
            }
            Event::CheckRan(result) => {
                self.step = Step::ChecksWanted;
                self.checks.push(result.as_ref().clone());
            }
            Event::ChecksFinished => self.follow_checks(),
            Event::ChecksHeld { names } => {
                self.remark = Some(names.join(", "));
                self.step = Step::Paused(Pause::CheckConsent);
            }
            Event::SentBack { by, feedback } => {
                self.rounds.remove(&self.phase);
                self.feedback =
                    Some(Feedback { by: by.clone(), text: feedback.clone(), rejected_reply: None });
                self.want(self.phase, self.iteration + 1);
            }
            Event::PromptWithdrawn { .. } => {
                self.unbind_prompt();
                self.want(self.phase, self.iteration);
            }
            Event::ResponseRejected { by, feedback, kept } => {
                let response = self.response_path().unwrap_or_default();
                let is_reply = |file: &&FileHash| is_rejected_version(&file.path, &response);
                let reply = kept.iter().find(is_reply).cloned();
                self.version_dropped(kept, VersionOutcome::Rejected);
                self.reject(by, feedback, reply);
            }
            Event::Retried { .. } if self.step == Step::Paused(Pause::Checks) => {
                self.checks = Vec::new();
                self.step = Step::ChecksWanted;
            }
            Event::Retried { kept, .. } => {
                self.version_dropped(kept, VersionOutcome::Replaced);
                self.step = Step::AskWanted;
                self.changes = None;
                self.response = None;
                self.reopen_gate();
            }
            Event::GateAsked { provider, is_free, .. } => {
                self.is_judged = true;
                self.spend(provider, *is_free, true);
            }
            Event::GateAnswered { call, .. } => {
                self.is_judged = false;
                self.settle(call.as_deref());
            }
            Event::GateUndecided { provider, message } => {
                self.needs_person = true;
                self.is_judged = false;
                self.remark = Some(format!("{provider}: {message}"));
            }
            Event::CapRaised { max_iterations } => self.raise_cap(*max_iterations),
            Event::Accepted { .. } if self.step == Step::Paused(Pause::Checks) => {
                self.rounds.remove(&self.phase);
                self.follow(None);
            }
            Event::Accepted { .. } => self.follow(Some(Verdict::Pass)),
            Event::AgentChosen { phase, agent } => {
                if let Some(setup) = self.setup.as_mut().filter(|setup| setup.change.is_none()) {
                    setup.agents.insert(*phase, agent.clone());
                }
                self.choose(|change| drop(change.agents.insert(*phase, agent.clone())));
            }
            Event::InstructionsAdded { phase, text } => {
                self.choose(|change| change.instructions.entry(*phase).or_default().push(text.clone()));
            }
            Event::FilesAdded { phase, patterns } => {
                self.choose(|change| {
                    change.phase_files.entry(*phase).or_default().extend(patterns.iter().cloned());
                });
            }
            Event::WriteAllowed => self.choose(|change| change.may_write = true),
            Event::GatesOpened { phases } => self.open_gates(phases),
            Event::Reopened { by, feedback } => {
                self.rounds.clear();
                self.feedback =
                    feedback.clone().map(|text| Feedback { by: by.clone(), text, rejected_reply: None });
                self.want(self.flow.first(), self.iteration + 1);
            }
            Event::Revised { by, phase, reason } => self.revise(by, *phase, reason),
            Event::CommentAdded(comment) => {
                self.n_comments = self.n_comments.max(comment.number);
                let added = Comment { new: comment.as_ref().clone(), resolution: None };
                self.comments.insert(comment.number, added);
            }
            Event::CommentResolved { by, number, how } => {
                if let Some(comment) = self.comments.get_mut(number) {
                    comment.resolution = Some((*how, by.clone()));
                }
            }
            Event::CommentRemoved { number, .. } => drop(self.comments.remove(number)),
            Event::Rebound { files, .. } => self.rebind(files),
            Event::Cancelled { .. } => self.end(Phase::CANCELLED),
            Event::ApplyIntended { files, is_undo } => {
                self.applying = Some(files.clone());
                self.is_undoing = *is_undo;
            }
            Event::Applied => {
                self.applied = self.applying.take().unwrap_or_default();
                self.is_applied = !self.is_undoing;
            }
            Event::Committed(commit) => {
                self.is_applied = !commit.is_revert;
                self.commits.push(commit.clone());
            }
            Event::ApplyUndone => self.applying = None,
        }
        self
    }

    fn create(&mut self, setup: &Setup) {
        self.setup = Some(setup.clone());
        self.flow = setup.flow();
        if setup.change.is_some() {
            self.want(self.flow.first(), 1);
        } else {
            // A profile session starts only when its first prompt is ready.
            self.step = Step::PromptWanted { phase: self.flow.first(), iteration: 1 };
        }
        for file in setup.standards.iter().chain(&setup.inputs) {
            self.bind(file, true);
        }
    }

    fn prompt_at_gate(&mut self, phase: Phase, iteration: u32) {
        self.phase = phase;
        self.iteration = iteration;
        self.stage = Some(Stage::Prompt);
        self.step = Step::PromptReady;
        self.gate = GateState::Pending;
        self.response = None;
        self.n_sent = 0;
        self.reopen_gate();
    }

    fn reply_received(&mut self, response: &FileHash, call: Option<&Call>, changes: Option<&FileHash>) {
        self.response = Some(response.clone());
        self.version_arrived(response);
        self.changes = changes.cloned();
        self.reopen_gate();
        self.settle(call);
        let notes = call.map(|call| call.notes.join("; ")).unwrap_or_default();
        self.remark = Some(notes).filter(|notes| !notes.is_empty());
        let problems = self.touched(call);
        // If an agent changed files it must not change, a person decides, whatever the gate says.
        self.needs_person = !problems.is_empty();
        self.step = Step::ReplyReady { problems };
    }

    fn ask_failed(&mut self, message: &str, call: Option<&Call>, limit_until: Option<u64>) {
        self.settle(call);
        let kept = call.iter().flat_map(|call| &call.kept);
        let kept: Vec<&str> = kept.map(|file| file.path.as_str()).collect();
        self.remark = (!kept.is_empty()).then(|| format!("the partial reply is in: {}", kept.join(", ")));
        // Changes made before a failure stay, so a call that failed may still have done work.
        let touched = self.touched(call);
        let problems = std::iter::once(message.to_owned()).chain(touched).collect();
        self.step = Step::AskFailed { problems, limit_until };
    }

    fn raise_cap(&mut self, max_rounds: u32) {
        if let Some(setup) = &mut self.setup {
            setup.max_iterations = max_rounds;
        }
        let has_own_flow = self.setup.as_ref().is_some_and(|setup| setup.flow.is_some());
        let mut flow = self.flow.as_ref().clone();
        // Journals of 0.1.0 have one cap for all loops.
        for spec in flow.phases.iter_mut().filter(|spec| !has_own_flow || spec.name == self.phase) {
            spec.max_rounds = spec.max_rounds.map(|_| max_rounds);
        }
        self.flow = Arc::new(flow);
        if self.step == Step::Paused(Pause::IterationCap) {
            self.follow(self.change.verdicts.get(&self.phase).copied());
        }
    }

    fn open_gates(&mut self, phases: &[Phase]) {
        if let Some(setup) = &mut self.setup {
            for phase in phases {
                for stage in Stage::ALL {
                    setup.gates.insert(gate_key(*phase, stage), GateSetting::SKIP);
                }
            }
        }
    }

    fn budget_reached(&mut self, message: &str) {
        self.remark = Some(message.to_owned());
        if self.step == Step::AskWanted {
            self.step = Step::Paused(Pause::Budget);
        } else {
            self.gate_over_budget = true;
        }
    }

    fn budget_raised(&mut self) {
        self.remark = None;
        self.gate_over_budget = false;
        if self.step == Step::Paused(Pause::Budget) {
            self.step = Step::AskWanted;
        }
    }

    fn bind(&mut self, file: &FileHash, is_checked: bool) {
        let bound = Bound { sha256: file.sha256.clone(), rank: self.n_events, is_checked };
        self.outdated.remove(&file.path);
        self.bound.insert(file.path.clone(), bound);
    }

    fn reject(&mut self, by: &Actor, feedback: &str, reply: Option<FileHash>) {
        // Earlier feedback still applies: no reply was approved since.
        let earlier = self.feedback.take();
        let text = match &earlier {
            Some(earlier) => format!("{}\n\n{feedback}", earlier.text),
            None => feedback.to_owned(),
        };
        let rejected_reply = reply.or_else(|| earlier.and_then(|earlier| earlier.rejected_reply));
        self.feedback = Some(Feedback { by: by.clone(), text, rejected_reply });
        self.n_rejected += 1;
        // Each gate counts its own rejections.
        match (by, self.stage) {
            (Actor::Provider(_), Some(Stage::Prompt)) => self.n_prompts_rejected_by_provider += 1,
            (Actor::Provider(_), Some(Stage::Response)) => self.n_replies_rejected_by_provider += 1,
            (Actor::Provider(_), None) | (Actor::Person(_) | Actor::OpenGate, _) => {}
        }
        // The approvals on the way to this reply are about to be replaced.
        self.unbind_prompt();
        self.changes = None;
        self.stage = Some(Stage::Prompt);
        self.gate = GateState::Rejected;
        self.step = Step::PromptWanted { phase: self.phase, iteration: self.iteration };
        self.response = None;
        self.reopen_gate();
    }

    /// Leaves what the session works on, and makes an approved artifact again.
    fn revise(&mut self, by: &Actor, phase: Phase, reason: &str) {
        self.version_dropped(&[], VersionOutcome::Replaced);
        let reopened = self.version_reopened(phase);
        // A phase that reads its own result gets it as an artifact.
        let reads_itself = self.flow.spec(phase).is_some_and(|spec| spec.reads.contains(&phase));
        self.feedback = Some(Feedback {
            by: by.clone(),
            text: reason.to_owned(),
            rejected_reply: reopened.filter(|_| !reads_itself),
        });
        self.rounds.clear();
        self.n_rejected = 0;
        self.n_prompts_rejected_by_provider = 0;
        self.n_replies_rejected_by_provider = 0;
        self.intended = Vec::new();
        self.reopen_gate();
        self.want(phase, self.iteration + 1);
    }

    fn unbind_prompt(&mut self) {
        let paths = [self.prompt_path(), self.flow.system_prompt_path(self.phase, self.iteration)];
        for path in paths.into_iter().flatten() {
            self.bound.remove(&path);
        }
    }

    /// Something new is at the gate: no decision has been made on it.
    fn reopen_gate(&mut self) {
        self.needs_person = false;
        self.is_judged = false;
        self.gate_over_budget = false;
        self.remark = None;
    }

    fn spend(&mut self, provider: &str, is_free: bool, is_gate: bool) {
        if !is_free {
            self.spent.push(Spent {
                phase: self.phase,
                iteration: self.iteration,
                provider: provider.to_owned(),
                is_gate,
                model: None,
                usage: None,
                millis: None,
            });
        }
    }

    /// Records the cost of the call that just ended.
    fn settle(&mut self, call: Option<&Call>) {
        let (Some(call), Some(last)) = (call, self.spent.last_mut().filter(|last| last.millis.is_none()))
        else {
            return;
        };
        last.usage = call.usage;
        last.model.clone_from(&call.model);
        last.millis = Some(call.millis);
    }

    /// Records the outcome of an approved reply and returns its verdict.
    fn take_over(&mut self, response: &FileHash, outcome: &Outcome) -> Option<Verdict> {
        self.bind(response, true);
        if let Some(changes) = self.changes.take() {
            self.bind(&changes, true);
        }
        self.gate = GateState::Passed;
        self.feedback = None;
        self.n_rejected = 0;
        self.n_prompts_rejected_by_provider = 0;
        self.n_replies_rejected_by_provider = 0;
        self.intended = Vec::new();
        self.reopen_gate();
        let verdict = match outcome {
            Outcome::Plan { plan } => {
                self.bind(plan, true);
                None
            }
            Outcome::Code { files } => {
                for file in files {
                    self.bind(file, true);
                }
                None
            }
            Outcome::Pass => Some(Verdict::Pass),
            Outcome::Fail => Some(Verdict::Fail),
            Outcome::Artifact(artifact) => {
                self.take_artifact(artifact);
                artifact.verdict
            }
        };
        if let Some(verdict) = verdict {
            self.change.verdicts.insert(self.phase, verdict);
        }
        verdict
    }

    fn take_artifact(&mut self, artifact: &Artifact) {
        self.bind(&artifact.file, true);
        self.bind(&artifact.copy, true);
        for file in &artifact.files {
            let path = code_path(self.iteration, &file.path);
            self.bind(&FileHash { path, sha256: file.sha256.clone() }, true);
        }
        self.change.take_over(self.flow.spec(self.phase), artifact);
    }

    /// Changes the options of a phase. An unapproved prompt is built again with them.
    fn choose(&mut self, change: impl FnOnce(&mut ChangeSetup)) {
        if let Some(setup) = self.setup.as_mut().and_then(|setup| setup.change.as_mut()) {
            change(setup);
        }
        if self.step == Step::PromptReady {
            self.step = Step::PromptWanted { phase: self.phase, iteration: self.iteration };
        }
    }

    /// Records what an agent changed in the project; returns a problem for each file it must not change.
    fn touched(&mut self, call: Option<&Call>) -> Vec<String> {
        let touched = call.map(|call| call.touched.as_slice()).unwrap_or_default();
        let may_write =
            self.setup.as_ref().is_some_and(|setup| setup.may_write_project(&self.flow, self.phase));
        // Write access to the project does not include its rules and configuration.
        let (edited, forbidden): (Vec<_>, Vec<_>) =
            touched.iter().cloned().partition(|file| may_write && !file.path.starts_with(".aiwf/"));
        self.change.edit(&edited);
        forbidden
            .iter()
            .map(|file| format!("the agent changed `{}`, which it was not allowed to touch", file.path))
            .collect()
    }

    fn rebind(&mut self, files: &[FileHash]) {
        let first = files.iter().filter_map(|file| self.bound.get(&file.path)).map(|bound| bound.rank).min();
        for file in files {
            let bound = self.bound.get(&file.path);
            let (is_checked, rank) =
                bound.map_or((true, self.n_events), |bound| (bound.is_checked, bound.rank));
            self.bind(file, is_checked);
            // The entry keeps its position, so that files it was made from are not counted as made from it.
            if let Some(bound) = self.bound.get_mut(&file.path) {
                bound.rank = rank;
            }
        }
        let Some(first) = first else { return };
        let derived = |(path, bound): (&String, &Bound)| {
            (bound.rank > first && !files.iter().any(|file| file.path == *path)).then(|| path.clone())
        };
        let derived: Vec<String> = self.bound.iter().filter_map(derived).collect();
        self.outdated.extend(derived);
        // An unapproved prompt is built again from the accepted files.
        if self.step == Step::PromptReady {
            self.step = Step::PromptWanted { phase: self.phase, iteration: self.iteration };
        }
    }
}
