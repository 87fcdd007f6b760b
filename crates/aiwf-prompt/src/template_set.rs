//! The system template of an agent in a phase.
//!
//! `[AGENT]-[PHASE].md`, otherwise `BASE-[PHASE].md`. This file knows the names, the built-in set and the variables;
//! the engine knows the layers on disk.

/// The variables of every system template; the engine always sets them all.
pub const TEMPLATE_VARIABLES: [&str; 8] =
    ["AGENT", "ARTIFACTS", "PHASE", "PROJECT_CONTEXT", "PROJECT_STRUCTURE", "SKELETON", "STANDARDS", "TASKS"];

/// The agent and the phase of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateName {
    agent: String,
    phase: String,
}

/// The default for agents without their own template.
const BASE: &str = "BASE";

impl TemplateName {
    /// The name for an agent and a phase; `None` if one of them could escape the directory.
    pub fn new(agent: Option<&str>, phase: &str) -> Option<Self> {
        let agent = agent.unwrap_or(BASE);
        (is_plain(agent) && is_plain(phase))
            .then(|| Self { agent: agent.to_ascii_uppercase(), phase: phase.to_owned() })
    }

    pub fn agent(&self) -> &str {
        &self.agent
    }

    pub fn phase(&self) -> &str {
        &self.phase
    }

    /// The file names to try in a layer, the agent's own first.
    pub fn files(&self) -> Vec<String> {
        let mut files = vec![format!("{}-{}.md", self.agent, self.phase)];
        if self.agent != BASE {
            files.push(format!("{BASE}-{}.md", self.phase));
        }
        files
    }
}

fn is_plain(word: &str) -> bool {
    let is_plain_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !word.is_empty()
        && word.len() <= 64
        && word.bytes().all(is_plain_byte)
        && word.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no template for agent `{agent}` in phase `{phase}` (TemplateNotFound){}", list(tried))]
pub struct TemplateNotFound {
    pub agent: String,
    pub phase: String,
    /// Every path that was tried, in order.
    pub tried: Vec<String>,
}

fn list(tried: &[String]) -> String {
    tried.iter().flat_map(|path| ["\n  tried: ", path]).collect()
}

impl TemplateNotFound {
    pub fn hint(&self) -> String {
        let phases = ["plan", "challenge", "implement", "review", "archive"];
        let own = format!("create `.aiwf/templates/system/BASE-{}.md`", self.phase);
        match crate::nearest::nearest(&self.phase, phases) {
            Some(close) if close != self.phase => {
                format!("did you mean phase `{close}`? for a new phase, {own}")
            }
            _ => own,
        }
    }
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../templates/system/", $name)))),*]
    };
}

static BUILT_IN: &[(&str, &str)] = built_in![
    "BASE-archive.md",
    "BASE-challenge.md",
    "BASE-gate.md",
    "BASE-implement.md",
    "BASE-plan.md",
    "BASE-review.md",
    "CLAUDE-archive.md",
    "CLAUDE-challenge.md",
    "CLAUDE-implement.md",
    "CLAUDE-plan.md",
    "CLAUDE-review.md",
    "CODEX-archive.md",
    "CODEX-challenge.md",
    "CODEX-implement.md",
    "CODEX-plan.md",
    "CODEX-review.md",
    "GEMINI-archive.md",
    "GEMINI-challenge.md",
    "GEMINI-implement.md",
    "GEMINI-plan.md",
    "GEMINI-review.md",
];

pub fn built_in_templates() -> &'static [(&'static str, &'static str)] {
    BUILT_IN
}

pub fn built_in_template(file: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(name, _)| *name == file).map(|(_, text)| *text)
}

#[cfg(test)]
#[path = "template_set_tests.rs"]
mod tests;
