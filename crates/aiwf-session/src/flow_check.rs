//! Checks a flow before any session follows it.
//!
//! In: a flow, from a file or a journal. Out: every problem, with the phase and key it is about and what to change. A
//! flow without problems always ends, whatever its reviewers answer.

use std::collections::BTreeSet;

use crate::common_artifact::reserved_artifact_names;
use crate::flow::{Access, Flow, Gives, PhaseRecipe, PhaseSpec, ReplyParser, Target};
use crate::gate_pattern::GatePattern;
use crate::phase::{Phase, Role};
use crate::verdict::Verdict;

const MAX_PHASES: usize = 64;
pub(crate) const MAX_ROUNDS: u32 = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowProblem {
    /// Index of the phase.
    pub phase: Option<usize>,
    pub key: Option<&'static str>,
    /// The line of the file, if the flow comes from a file.
    pub line: Option<usize>,
    pub message: String,
    pub hint: String,
}

struct Findings<'f> {
    flow: &'f Flow,
    problems: Vec<FlowProblem>,
}

impl Flow {
    /// All problems; a flow without any can be followed.
    pub fn problems(&self) -> Vec<FlowProblem> {
        let mut findings = Findings { flow: self, problems: Vec::new() };
        findings.check_shape();
        // Consequences of other problems would only repeat them.
        if findings.problems.is_empty() {
            findings.check_paths();
            findings.check_loops();
            findings.check_files();
        }
        findings.problems
    }
}

impl Findings<'_> {
    fn report(
        &mut self,
        phase: Option<usize>,
        key: Option<&'static str>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let (message, hint) = (message.into(), hint.into());
        self.problems.push(FlowProblem { phase, key, line: None, message, hint });
    }

    fn check_shape(&mut self) {
        let flow = self.flow;
        if flow.phases.is_empty() {
            self.report(None, None, "the flow has no phase", "add a `[[phase]]`");
        }
        if flow.phases.len() > MAX_PHASES {
            let message =
                format!("the flow has {} phases; at most {MAX_PHASES} are allowed", flow.phases.len());
            self.report(None, None, message, "split it into several flows");
            return;
        }
        for pattern in flow.gates.keys() {
            self.check_gate(pattern);
        }
        for (idx, spec) in flow.phases.iter().enumerate() {
            self.check_names(idx, spec);
            self.check_targets(idx, spec);
            self.check_gives(idx, spec);
        }
    }

    fn check_gate(&mut self, pattern: &str) {
        let known = GatePattern::parse(pattern).is_some_and(|pattern| pattern.matches_any(self.flow));
        if !known {
            let names: Vec<&str> = self.flow.phases.iter().map(|spec| spec.name.as_str()).collect();
            let hint = format!(
                "write `PHASE.prompt`, `PHASE.response`, `PHASE.*` or `*.prompt`; phases: {}",
                list(&names)
            );
            self.report(None, Some("gates"), format!("gate `{pattern}` matches no gate of this flow"), hint);
        }
    }

    fn check_names(&mut self, idx: usize, spec: &PhaseSpec) {
        let name = spec.name;
        let earlier = self.flow.phases.iter().take(idx);
        if earlier.clone().any(|other| other.name == name) {
            let message = format!("two phases are named `{name}`");
            self.report(Some(idx), Some("name"), message, "give each phase a different name");
            return;
        }
        if name.is_final() || name == Phase::INITIALIZED || Target::from(name) == Target::Stop {
            let message = format!("`{name}` is not a valid phase name");
            self.report(
                Some(idx),
                Some("name"),
                message,
                "`complete`, `stop`, `initialized` and `cancelled` are reserved",
            );
        }
        if earlier.clone().any(|other| other.file == spec.file) {
            let message = format!("two phases write `{}-prompt.md`", spec.file);
            self.report(Some(idx), Some("file"), message, "give each phase a different `file`");
        }
        if earlier.clone().any(|other| {
            other.artifact == spec.artifact
                && other.recipe == spec.recipe
                && spec.recipe == PhaseRecipe::Change
        }) {
            let message = format!("two phases produce the artifact `{}`", spec.artifact);
            self.report(Some(idx), Some("artifact"), message, "give each phase a different `artifact`");
        }
        for (key, value) in [("file", &spec.file), ("artifact", &spec.artifact)] {
            if Phase::from_name(value).is_none() {
                let message = format!("`{value}` is not a valid file name");
                self.report(
                    Some(idx),
                    Some(key),
                    message,
                    "use up to 31 lower-case letters, digits, `-` and `_`",
                );
            }
        }
        let reserved: Vec<&str> = reserved_artifact_names().collect();
        if reserved.contains(&spec.artifact.as_str()) {
            let message = format!("`{}` is not a valid artifact name", spec.artifact);
            self.report(
                Some(idx),
                Some("artifact"),
                message,
                format!("choose another name than {}", list(&reserved)),
            );
        }
    }

    fn check_targets(&mut self, idx: usize, spec: &PhaseSpec) {
        let name = spec.name;
        for (verdict, target) in spec.targets() {
            if let Target::Phase(phase) = target
                && self.flow.spec(phase).is_none()
            {
                let key = if verdict.is_some() { "on" } else { "next" };
                self.unknown_phase(idx, key, phase);
            }
        }
        for read in &spec.reads {
            if self.flow.spec(*read).is_none() {
                self.unknown_phase(idx, "reads", *read);
            }
        }
        let gives_verdict = spec.gives == Gives::Verdict;
        if gives_verdict && spec.next.is_some() {
            let message = format!("phase `{name}` gives a verdict, so `next` does nothing");
            self.report(Some(idx), Some("next"), message, "write `on = { PASS = … }` instead");
        }
        if !gives_verdict && !spec.on.is_empty() {
            let message = format!("phase `{name}` gives no verdict, so `on` does nothing");
            self.report(Some(idx), Some("on"), message, "write `next = …`, or `gives = \"verdict\"`");
        }
        if gives_verdict && !spec.on.contains_key(&Verdict::Pass) {
            let message = format!("phase `{name}` does not say where PASS leads");
            self.report(Some(idx), Some("on"), message, "add `PASS = \"complete\"` or another phase to `on`");
        }
        if !gives_verdict && spec.on.is_empty() && spec.next.is_none() {
            let message = format!("phase `{name}` does not say what comes next");
            self.report(Some(idx), Some("next"), message, "add `next = \"complete\"` or another phase");
        }
        if let Some(max_rounds) = spec.max_rounds
            && (!(gives_verdict || spec.checks) || max_rounds == 0 || max_rounds > MAX_ROUNDS)
        {
            let message = format!("`max_rounds = {max_rounds}` is not possible in phase `{name}`");
            self.report(
                Some(idx),
                Some("max_rounds"),
                message,
                format!("use 1 to {MAX_ROUNDS}, in a phase that gives a verdict or runs checks"),
            );
        }
    }

    fn unknown_phase(&mut self, idx: usize, key: &'static str, phase: Phase) {
        let names: Vec<&str> = self.flow.phases.iter().map(|spec| spec.name.as_str()).collect();
        let ends = if key == "reads" { "" } else { ", or `complete` or `stop`" };
        let hint = format!("phases of this flow: {}{ends}", list(&names));
        self.report(Some(idx), Some(key), format!("there is no phase `{phase}`"), hint);
    }

    fn check_gives(&mut self, idx: usize, spec: &PhaseSpec) {
        let name = spec.name;
        match (spec.gives, spec.access) {
            (Gives::Files | Gives::Edits, Access::Read) => {
                let message = format!("phase `{name}` produces files but may not write");
                self.report(Some(idx), Some("access"), message, "add `access = \"write\"`");
            }
            (Gives::Text | Gives::Verdict, Access::Write) => {
                let message = format!("phase `{name}` may write but produces no files");
                self.report(
                    Some(idx),
                    Some("access"),
                    message,
                    "remove `access`, or write `gives = \"files\"`",
                );
            }
            (Gives::Files | Gives::Edits, Access::Write) | (Gives::Text | Gives::Verdict, Access::Read) => {}
        }
        if spec.checks && !spec.gives.changes_files() {
            let message = format!("phase `{name}` produces no files, so there is nothing to check");
            self.report(Some(idx), Some("checks"), message, "remove `checks`");
        }
        let fits = match spec.parser {
            ReplyParser::Plain => spec.gives == Gives::Text,
            ReplyParser::FileMarkers | ReplyParser::FencedFiles | ReplyParser::TaskFiles => {
                spec.gives == Gives::Files
            }
            ReplyParser::Edits | ReplyParser::TaskEdits => spec.gives == Gives::Edits,
            ReplyParser::ReviewMeta | ReplyParser::VerdictTag => spec.gives == Gives::Verdict,
        };
        if !fits {
            let message = format!("the parser of phase `{name}` does not read what it gives");
            self.report(Some(idx), Some("parser"), message, "remove `parser`: the default fits `gives`");
        }
        let unread = spec.on.keys().find(|verdict| match spec.parser {
            ReplyParser::ReviewMeta => !matches!(verdict, Verdict::Pass | Verdict::Fail),
            ReplyParser::VerdictTag => **verdict == Verdict::Fail,
            ReplyParser::Plain
            | ReplyParser::FileMarkers
            | ReplyParser::FencedFiles
            | ReplyParser::TaskFiles
            | ReplyParser::Edits
            | ReplyParser::TaskEdits => false,
        });
        if let Some(verdict) = unread {
            let message = format!("a reply in phase `{name}` cannot end with {}", verdict.as_str());
            let hint = "with `review-meta` it ends with PASS or FAIL, else with PASS, NEEDS_CHANGES, NEEDS_REVISION, MAJOR_ISSUES or REJECTED";
            self.report(Some(idx), Some("on"), message, hint);
        }
        if spec.recipe == PhaseRecipe::Session && !Role::STANDARD.contains(&spec.role) {
            let roles: Vec<&str> = Role::STANDARD.iter().map(Role::as_str).collect();
            let message = format!("role `{}` has no prompt in profiles", spec.role.as_str());
            self.report(
                Some(idx),
                Some("role"),
                message,
                format!("use {}, or `recipe = \"change\"`", list(&roles)),
            );
        }
    }

    fn check_paths(&mut self) {
        let flow = self.flow;
        let mut reached = flow.reachable_from(flow.first());
        reached.insert(flow.first());
        for (idx, spec) in flow.phases.iter().enumerate() {
            if !reached.contains(&spec.name) {
                let message = format!("phase `{}` is never reached", spec.name);
                self.report(Some(idx), Some("name"), message, "let another phase lead to it, or remove it");
            }
            let ends = |phase: Phase| {
                flow.spec(phase)
                    .is_some_and(|spec| spec.targets().any(|(_, target)| target == Target::Complete))
            };
            let followers = flow.reachable_from(spec.name);
            if !ends(spec.name) && !followers.iter().any(|phase| ends(*phase)) {
                let message = format!("the end cannot be reached from phase `{}`", spec.name);
                self.report(
                    Some(idx),
                    Some("next"),
                    message,
                    "let it, or a phase after it, lead to `complete`",
                );
            }
        }
    }

    /// Checks that every loop has a judging phase and a cap.
    fn check_loops(&mut self) {
        let flow = self.flow;
        for (idx, spec) in flow.phases.iter().enumerate() {
            let counts = spec.targets().any(|(verdict, target)| flow.is_again(spec.name, verdict, target));
            if counts && spec.max_rounds.is_none() {
                let message = format!("the loop that phase `{}` closes has no limit", spec.name);
                self.report(Some(idx), Some("on"), message, "add `max_rounds = 3`");
            }
            if self.returns_uncounted(spec.name) {
                let message =
                    format!("a loop leads back to phase `{}` without a verdict that asks for it", spec.name);
                self.report(Some(idx), Some("next"), message, "lead back only by a verdict other than PASS");
            }
        }
    }

    /// Whether a phase can follow itself without counting a round.
    fn returns_uncounted(&self, phase: Phase) -> bool {
        self.uncounted_from(phase).contains(&phase)
    }

    fn uncounted_from(&self, phase: Phase) -> BTreeSet<Phase> {
        let mut reached = BTreeSet::new();
        let mut open = vec![phase];
        while let Some(from) = open.pop() {
            for (verdict, target) in self.flow.spec(from).into_iter().flat_map(PhaseSpec::targets) {
                if let Target::Phase(next) = target
                    && !self.flow.is_again(from, verdict, target)
                    && reached.insert(next)
                {
                    open.push(next);
                }
            }
        }
        reached
    }

    /// Checks that no two phases of an iteration write the same file.
    fn check_files(&mut self) {
        let flow = self.flow;
        for (idx, spec) in flow.phases.iter().enumerate() {
            let writer = flow.phases.iter().find(|other| {
                other.gives.changes_files()
                    && other.name != spec.name
                    && self.uncounted_from(other.name).contains(&spec.name)
            });
            if let Some(writer) = writer
                && spec.gives.changes_files()
                && !spec.iterates
            {
                let message =
                    format!("phase `{}` writes over the files of phase `{}`", spec.name, writer.name);
                self.report(
                    Some(idx),
                    Some("gives"),
                    message,
                    "add `iterates = true`, which begins a new iteration",
                );
            }
        }
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "flow_check_tests.rs"]
mod tests;
