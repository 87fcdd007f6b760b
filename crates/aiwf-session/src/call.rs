//! What calls to providers did and cost.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::event::FileHash;
use crate::phase::Phase;

/// An amount of money, in billionths of a dollar; written as dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars {
    nanos: u64,
}

const NANOS: f64 = 1e9;

impl Dollars {
    /// From dollars; less than nothing, or more than anybody has, is taken for the nearest that makes sense.
    pub fn new(dollars: f64) -> Self {
        let nanos = (dollars * NANOS).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of a float stops at the ends of the range"
        )]
        let nanos = nanos as u64;
        Self { nanos }
    }

    /// What a number of tokens costs at a price per million.
    pub fn of_tokens(n_tokens: u64, per_million: Self) -> Self {
        let nanos = u128::from(n_tokens) * u128::from(per_million.nanos) / 1_000_000;
        Self { nanos: u64::try_from(nanos).unwrap_or(u64::MAX) }
    }

    /// In dollars.
    pub fn as_f64(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "fifteen digits are enough for money")]
        let nanos = self.nanos as f64;
        nanos / NANOS
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_add(other.nanos) }
    }
}

impl Serialize for Dollars {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::new)
    }
}

/// What a call cost, as far as it is known; what is not known is left out and never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, those from a cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// How many of the tokens sent came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// The price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
}

/// A file of the project that an agent changed during a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFile {
    /// Its path, relative to the project.
    pub path: String,
    /// SHA-256 of what was there, when it is known; nothing when nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// SHA-256 of what is there now; nothing when nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// How a call went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub millis: u64,
    /// What else the agent said or printed, under the names it is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<FileHash>,
    /// Files of the project that changed meanwhile although they should not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<TouchedFile>,
    /// Things worth saying.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How the call of a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolOutcome {
    /// The tool did what it was asked for.
    Done,
    /// It said that it failed, or gave nothing.
    Failed,
    /// It may not be called; nothing was sent.
    Refused,
    /// It was sent and no answer came back: it may have taken effect.
    Unknown,
}

/// A tool that a model called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The id of the call.
    pub id: String,
    /// The server that was asked, or would have been; none when the name names no server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool, as it was called.
    pub tool: String,
    /// What it was given.
    pub arguments: serde_json::Value,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// How many bytes it gave.
    pub bytes: u64,
    /// SHA-256 of them.
    pub sha256: String,
    /// How it ended.
    pub outcome: ToolOutcome,
    /// Why it was refused, gave nothing or has no known outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A call that may have cost something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// The phase.
    pub phase: Phase,
    /// The iteration.
    pub iteration: u32,
    /// Who was asked.
    pub provider: String,
    /// Whether it was to judge at a gate.
    pub is_gate: bool,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it cost; unknown while it is under way, and when nobody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
}

/// The sum over calls; what no call says is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Total {
    /// How many calls there were.
    pub calls: u64,
    /// Tokens sent, over the calls that say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens received, over the calls that say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens that came from a cache, over the calls that say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// The price, over the calls that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
    /// Calls whose tokens nobody knows.
    pub calls_without_tokens: u64,
    /// Calls whose price nobody knows.
    pub calls_without_cost: u64,
}

impl Total {
    /// Adds up.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a Spent>) -> Self {
        calls.into_iter().fold(Self::default(), |total, call| total.with(call.usage.as_ref()))
    }

    /// The same and one more call.
    #[must_use]
    pub fn with(self, usage: Option<&Usage>) -> Self {
        let usage = usage.copied().unwrap_or_default();
        let is_counted = usage.input_tokens.is_some() && usage.output_tokens.is_some();
        Self {
            calls: self.calls + 1,
            input_tokens: sum(self.input_tokens, usage.input_tokens, u64::saturating_add),
            output_tokens: sum(self.output_tokens, usage.output_tokens, u64::saturating_add),
            cached_tokens: sum(self.cached_tokens, usage.cached_tokens, u64::saturating_add),
            cost: sum(self.cost, usage.cost, Dollars::plus),
            calls_without_tokens: self.calls_without_tokens + u64::from(!is_counted),
            calls_without_cost: self.calls_without_cost + u64::from(usage.cost.is_none()),
        }
    }

    /// What the calls cost together.
    pub fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cached_tokens: self.cached_tokens,
            cost: self.cost,
        }
    }

    /// Tokens sent and received, as far as they are known.
    pub fn known_tokens(&self) -> u64 {
        self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0))
    }
}

fn sum<T>(a: Option<T>, b: Option<T>, add: fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_written_as_dollars_and_adds_up_exactly() {
        let price = Dollars::new(3.0);
        assert_eq!(Dollars::of_tokens(1_000, price), Dollars::new(0.003));
        assert_eq!(serde_json::to_string(&Dollars::new(0.1).plus(Dollars::new(0.2))).unwrap(), "0.3");
        assert_eq!(serde_json::from_str::<Dollars>("0.3").unwrap(), Dollars::new(0.3));
        assert_eq!(Dollars::new(-1.0), Dollars::default());
        assert_eq!(Dollars::new(f64::NAN), Dollars::default());
    }

    #[test]
    fn what_is_not_known_is_counted_apart() {
        let call = |usage| Spent {
            phase: Phase::INITIALIZED,
            iteration: 1,
            provider: "p".to_owned(),
            is_gate: false,
            model: None,
            usage,
            millis: None,
        };
        let known = Usage {
            input_tokens: Some(10),
            output_tokens: Some(5),
            cached_tokens: None,
            cost: Some(Dollars::new(0.5)),
        };
        let total = Total::of(&[call(Some(known)), call(None)]);
        assert_eq!((total.calls, total.input_tokens, total.output_tokens), (2, Some(10), Some(5)));
        assert_eq!(Total::of(&[call(None)]).cost, None);
        assert_eq!((total.calls_without_tokens, total.calls_without_cost), (1, 1));
    }
}
