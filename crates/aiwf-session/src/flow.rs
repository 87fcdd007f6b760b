//! A flow: the phases of a session as data, and where each verdict leads.
//!
//! A flow is parsed from a file ([`crate::parse_flow`]), checked ([`Flow::problems`]), and stored in the first event of
//! a session, so that editing the file changes no running session. The state machine follows the flow; no code decides
//! by the name of a phase.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::phase::{Phase, Role};
use crate::setup::GateSetting;
use crate::verdict::Verdict;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    pub name: String,
    pub title: String,
    /// Gate settings by pattern (`*.prompt`); the user's own settings win.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<String, GateSetting>,
    /// Whether each phase starts with a command of its own, so that its agent can be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// A session starts with the first.
    pub phases: Vec<PhaseSpec>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseSpec {
    pub name: Phase,
    pub role: Role,
    pub recipe: PhaseRecipe,
    /// A template next to the flow file (`review.md`), or the phase whose system template is used. Defaults to its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// A sentence before the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub parser: ReplyParser,
    /// Prefix of its file names: `review` in `review-prompt.md`.
    pub file: String,
    /// The name of its result for later phases: `implementation` for `implementation.md`.
    pub artifact: String,
    /// The phases whose results are part of its prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Phase>,
    pub gives: Gives,
    #[serde(default)]
    pub access: Access,
    /// Whether the project's checks run on its results before the next phase.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checks: bool,
    /// Whether entering it starts a new iteration.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub iterates: bool,
    /// The target after an approved reply. A phase that gives a verdict has `on` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Target>,
    /// The target of each verdict; a verdict that is not listed waits for a person.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub on: BTreeMap<Verdict, Target>,
    /// The cap of the loop closed by its verdict or by failing checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rounds: Option<u32>,
}

/// How a prompt is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseRecipe {
    /// From a profile: approved plan, standards, code.
    Session,
    /// From a request: template, files, artifacts.
    Change,
}

/// What a phase produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gives {
    /// A text for later phases.
    Text,
    /// Whole files.
    Files,
    /// Changes of files: whole files, edits, deletions and renames, or the changes of an agent's worktree.
    Edits,
    /// A verdict on the results of other phases.
    Verdict,
}

/// How a reply is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyParser {
    Plain,
    /// `<<<FILE: name>>>` blocks.
    FileMarkers,
    /// Fenced code blocks with a file name.
    FencedFiles,
    /// `<<<FILE: name>>>` blocks, and a `<task_status>` for each task.
    TaskFiles,
    /// `<<<FILE>>>`, `<<<EDIT>>>`, `<<<DELETE>>>` and `<<<RENAME>>>` blocks, and unified diffs.
    Edits,
    /// Like `Edits`, with a `<task_status>` for each task.
    TaskEdits,
    ReviewMeta,
    /// `<review>…</review>`.
    VerdictTag,
}

/// The file access of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Writes nothing.
    #[default]
    Read,
    /// Writes the files that the write plan allows.
    Write,
}

/// What follows a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Phase", into = "Phase")]
pub enum Target {
    /// Another phase.
    Phase(Phase),
    Complete,
    /// Stop until a person decides.
    Stop,
}

/// The name of [`Target::Stop`] in flow files.
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
    /// Whether it changes project files.
    pub fn changes_files(self) -> bool {
        match self {
            Self::Files | Self::Edits => true,
            Self::Text | Self::Verdict => false,
        }
    }
}

impl PhaseSpec {
    /// The artifact's path, relative to the session.
    pub fn artifact_file(&self) -> String {
        format!("{}.md", self.artifact)
    }

    /// Whether its result is an artifact: a text for later phases, with the changes of files.
    pub fn gives_artifact(&self) -> bool {
        self.recipe == PhaseRecipe::Change || self.gives == Gives::Edits
    }

    /// Whether its reply reports the status of tasks.
    pub fn reports_tasks(&self) -> bool {
        matches!(self.parser, ReplyParser::TaskFiles | ReplyParser::TaskEdits)
    }

    /// All targets, each with its verdict.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (Option<Verdict>, Target)> {
        let next = self.next.map(|target| (None, target));
        next.into_iter().chain(self.on.iter().map(|(verdict, target)| (Some(*verdict), *target)))
    }
}

impl Flow {
    pub fn spec(&self, phase: Phase) -> Option<&PhaseSpec> {
        self.phases.iter().find(|spec| spec.name == phase)
    }

    pub fn first(&self) -> Phase {
        self.phases.first().map_or(Phase::COMPLETE, |spec| spec.name)
    }

    /// In the order of the flow.
    pub fn names(&self) -> impl Iterator<Item = Phase> {
        self.phases.iter().map(|spec| spec.name)
    }

    /// Whether some prompts come from a profile.
    pub fn needs_profile(&self) -> bool {
        self.phases.iter().any(|spec| spec.recipe == PhaseRecipe::Session)
    }

    pub fn gives_files(&self, phase: Phase) -> bool {
        self.spec(phase).is_some_and(|spec| spec.gives.changes_files())
    }

    /// Whether a phase judges files, produced directly before it or before other judging phases. A person may accept
    /// such files despite the verdict.
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

    /// The phases that can follow a phase, directly or later. Contains the phase itself only if a loop leads back to
    /// it.
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

    /// Whether a verdict starts another round: it did not pass, and its target leads back to the phase.
    pub(crate) fn is_again(&self, from: Phase, verdict: Option<Verdict>, target: Target) -> bool {
        let is_no = verdict.is_some_and(|verdict| verdict != Verdict::Pass);
        match target {
            Target::Phase(phase) => is_no && (phase == from || self.reachable_from(phase).contains(&from)),
            Target::Complete | Target::Stop => false,
        }
    }

    /// The phase whose verdict closes the loop around a phase.
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

    /// Whether no later phase can change files.
    pub fn is_settled_in(&self, phase: Phase) -> bool {
        phase == Phase::COMPLETE
            || (self.spec(phase).is_some_and(|spec| spec.access == Access::Read)
                && !self.reachable_from(phase).into_iter().any(|next| self.gives_files(next)))
    }

    /// Sets the cap of every loop.
    #[must_use]
    pub fn capped(mut self, max_rounds: u32) -> Self {
        for spec in &mut self.phases {
            spec.max_rounds = spec.max_rounds.map(|_| max_rounds);
        }
        self
    }
}
