//! A flow: the phases of a session as data, and where each verdict leads.
//!
//! A flow is read from a file ([`crate::parse_flow`]), checked ([`Flow::problems`]), and kept in the first event of a
//! session, so that a session is not changed by an edit of the file it began with. The machine asks the flow what
//! follows; nothing else decides by the name of a phase.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::phase::{Phase, Role};
use crate::setup::GateSetting;
use crate::verdict::Verdict;

/// The phases of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Its name.
    pub name: String,
    /// What it does, in a few words.
    pub title: String,
    /// How gates work unless the user decides otherwise, by pattern: `*.prompt`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<String, GateSetting>,
    /// Whether each phase begins with a command of its own, so that its agent can be chosen then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// The phases; a session begins with the first.
    pub phases: Vec<PhaseSpec>,
}

/// What a phase does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseSpec {
    /// Its name.
    pub name: Phase,
    /// Who does its work.
    pub role: Role,
    /// The recipe of its prompt.
    pub recipe: PhaseRecipe,
    /// A template beside the flow file (`review.md`), or the phase whose system template is used; its own by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// A sentence that introduces the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// How its replies are read.
    pub parser: ReplyParser,
    /// The stem of its files: `review` in `review-prompt.md`.
    pub file: String,
    /// What later phases call its result: `implementation` for `implementation.md`.
    pub artifact: String,
    /// The phases whose results its prompt carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Phase>,
    /// What its reply gives.
    pub gives: Gives,
    /// What it may touch.
    #[serde(default)]
    pub access: Access,
    /// Whether the project's checks run on what it gives, before the next phase.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checks: bool,
    /// Whether a new iteration begins with it, however it is entered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub iterates: bool,
    /// What follows an approved reply; a phase that gives a verdict has `on` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Target>,
    /// What follows each verdict; one that is not listed waits for a person.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub on: BTreeMap<Verdict, Target>,
    /// How many rounds the loop may have that its verdict, or its failing checks, close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rounds: Option<u32>,
}

/// How the prompt of a phase is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseRecipe {
    /// From a profile: approved plan, standards, code.
    Session,
    /// From a request: template, files, results of other phases.
    Change,
}

/// What the reply of a phase gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gives {
    /// A text that later phases read.
    Text,
    /// Whole files.
    Files,
    /// Changes of files: whole files, edits, deletions, renames; or what an agent did in a worktree.
    Edits,
    /// A verdict on what other phases gave.
    Verdict,
}

/// How a reply is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyParser {
    /// As it is.
    Plain,
    /// `<<<FILE: name>>>` blocks.
    FileMarkers,
    /// Fenced blocks with a file name.
    FencedFiles,
    /// `<<<FILE: name>>>` blocks, and a `<task_status>` for each task.
    TaskFiles,
    /// `<<<FILE>>>`, `<<<EDIT>>>`, `<<<DELETE>>>` and `<<<RENAME>>>` blocks, and unified diffs.
    Edits,
    /// The same, and a `<task_status>` for each task.
    TaskEdits,
    /// `@@@REVIEW_META`.
    ReviewMeta,
    /// `<review>…</review>`.
    VerdictTag,
}

/// What a phase may touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Nothing is written.
    #[default]
    Read,
    /// Its files are written, where the session's plan says.
    Write,
}

/// Where a phase leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Phase", into = "Phase")]
pub enum Target {
    /// Another phase.
    Phase(Phase),
    /// The end.
    Complete,
    /// The session stops until a person decides.
    Stop,
}

/// The word for [`Target::Stop`].
pub(crate) const STOP: &str = "stop";

impl From<Phase> for Target {
    fn from(phase: Phase) -> Self {
        match phase.as_str() {
            STOP => Self::Stop,
            _ if phase == Phase::COMPLETE => Self::Complete,
            _ => Self::Phase(phase),
        }
    }
}

impl From<Target> for Phase {
    fn from(target: Target) -> Self {
        match target {
            Target::Phase(phase) => phase,
            Target::Complete => Self::COMPLETE,
            Target::Stop => Self::from_name(STOP).unwrap_or(Self::CANCELLED),
        }
    }
}

impl Gives {
    /// Whether files of the project change by it.
    pub fn changes_files(self) -> bool {
        match self {
            Self::Files | Self::Edits => true,
            Self::Text | Self::Verdict => false,
        }
    }
}

impl PhaseSpec {
    /// The file of its result, relative to the session.
    pub fn artifact_file(&self) -> String {
        format!("{}.md", self.artifact)
    }

    /// Whether its reply reports what became of tasks.
    pub fn reports_tasks(&self) -> bool {
        matches!(self.parser, ReplyParser::TaskFiles | ReplyParser::TaskEdits)
    }

    /// Where it can lead, with the verdict that does.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (Option<Verdict>, Target)> {
        let next = self.next.map(|target| (None, target));
        next.into_iter().chain(self.on.iter().map(|(verdict, target)| (Some(*verdict), *target)))
    }
}

impl Flow {
    /// The phase with that name.
    pub fn spec(&self, phase: Phase) -> Option<&PhaseSpec> {
        self.phases.iter().find(|spec| spec.name == phase)
    }

    /// The phase that a session begins with.
    pub fn first(&self) -> Phase {
        self.phases.first().map_or(Phase::COMPLETE, |spec| spec.name)
    }

    /// The names of its phases, in their order.
    pub fn names(&self) -> impl Iterator<Item = Phase> {
        self.phases.iter().map(|spec| spec.name)
    }

    /// Whether it is walked by a profile: some of its prompts are a profile's.
    pub fn needs_profile(&self) -> bool {
        self.phases.iter().any(|spec| spec.recipe == PhaseRecipe::Session)
    }

    /// Whether a phase gives files.
    pub fn gives_files(&self, phase: Phase) -> bool {
        self.spec(phase).is_some_and(|spec| spec.gives.changes_files())
    }

    /// Whether a phase judges files: the phase before it, or before other judges, gives them. Then a person may accept
    /// them in spite of its verdict.
    pub fn judges_files(&self, phase: Phase) -> bool {
        let mut judges = BTreeSet::from([phase]);
        let mut open = vec![phase];
        while let Some(judge) = open.pop() {
            if self.spec(judge).is_none_or(|spec| spec.gives != Gives::Verdict) {
                continue;
            }
            let leads_here = |spec: &&PhaseSpec| {
                let pass = spec.on.get(&Verdict::Pass).or(spec.next.as_ref());
                pass == Some(&Target::Phase(judge))
            };
            for spec in self.phases.iter().filter(leads_here) {
                if spec.gives.changes_files() {
                    return true;
                }
                if judges.insert(spec.name) {
                    open.push(spec.name);
                }
            }
        }
        false
    }

    /// The phases that can follow a phase, however long it takes; itself only when a loop leads back.
    pub fn reachable_from(&self, phase: Phase) -> BTreeSet<Phase> {
        let mut reached = BTreeSet::new();
        let mut open = vec![phase];
        while let Some(phase) = open.pop() {
            for (_, target) in self.spec(phase).into_iter().flat_map(PhaseSpec::targets) {
                if let Target::Phase(next) = target
                    && reached.insert(next)
                {
                    open.push(next);
                }
            }
        }
        reached
    }

    /// Whether a verdict of a phase leads into another round: it did not pass, and the target leads back to it.
    pub(crate) fn is_again(&self, from: Phase, verdict: Option<Verdict>, target: Target) -> bool {
        let is_no = verdict.is_some_and(|verdict| verdict != Verdict::Pass);
        match target {
            Target::Phase(phase) => is_no && (phase == from || self.reachable_from(phase).contains(&from)),
            Target::Complete | Target::Stop => false,
        }
    }

    /// The phase whose verdict closes the loop that a phase is in.
    pub(crate) fn judge_of(&self, phase: Phase) -> Option<Phase> {
        let mut current = phase;
        for _ in 0..=self.phases.len() {
            let spec = self.spec(current)?;
            if spec.gives == Gives::Verdict {
                return Some(current);
            }
            match spec.next? {
                Target::Phase(next) => current = next,
                Target::Complete | Target::Stop => return None,
            }
        }
        None
    }

    /// Whether nothing that follows a phase can change files any more.
    pub fn is_settled_in(&self, phase: Phase) -> bool {
        phase == Phase::COMPLETE
            || (self.spec(phase).is_some_and(|spec| spec.access == Access::Read)
                && !self.reachable_from(phase).into_iter().any(|next| self.gives_files(next)))
    }

    /// The same flow with another cap for every loop.
    #[must_use]
    pub fn capped(mut self, max_rounds: u32) -> Self {
        for spec in &mut self.phases {
            spec.max_rounds = spec.max_rounds.map(|_| max_rounds);
        }
        self
    }
}
