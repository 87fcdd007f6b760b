//! Patterns of gates: `plan.prompt`, `plan.*`, `*.prompt`, `*`.

use std::fmt;

use crate::flow::Flow;
use crate::phase::{Phase, Stage};

/// The gates that a setting is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GatePattern {
    phase: Option<Phase>,
    stage: Option<Stage>,
}

impl GatePattern {
    /// Every gate.
    pub const ALL: Self = Self { phase: None, stage: None };

    /// Reads a pattern; `None` when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::ALL);
        }
        let (phase, stage) = text.split_once('.')?;
        let phase = if phase == "*" { None } else { Some(Phase::from_name(phase)?) };
        let stage = match stage {
            "*" => None,
            "prompt" => Some(Stage::Prompt),
            "response" => Some(Stage::Response),
            _ => return None,
        };
        Some(Self { phase, stage })
    }

    /// The phase it names; `None` when it is about every phase.
    pub fn phase(&self) -> Option<Phase> {
        self.phase
    }

    /// The gate it names, when it names one alone.
    pub fn gate(&self) -> Option<(Phase, Stage)> {
        Some((self.phase?, self.stage?))
    }

    /// Whether it is about a gate.
    pub fn matches(&self, phase: Phase, stage: Stage) -> bool {
        self.phase.is_none_or(|own| own == phase) && self.stage.is_none_or(|own| own == stage)
    }

    /// Whether it is about any gate of a flow.
    pub fn matches_any(&self, flow: &Flow) -> bool {
        self.phase.is_none_or(|phase| flow.spec(phase).is_some())
    }

    /// How narrow it is: of two patterns about one gate, the greater wins. A phase counts for more than a stage.
    pub fn specificity(&self) -> u8 {
        u8::from(self.phase.is_some()) * 2 + u8::from(self.stage.is_some())
    }
}

impl fmt::Display for GatePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.phase, self.stage) {
            (None, None) => formatter.write_str("*"),
            (Some(phase), None) => write!(formatter, "{phase}.*"),
            (None, Some(stage)) => write!(formatter, "*.{}", stage.as_str()),
            (Some(phase), Some(stage)) => write!(formatter, "{phase}.{}", stage.as_str()),
        }
    }
}
