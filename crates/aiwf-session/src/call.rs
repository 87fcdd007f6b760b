//! Calls to providers: what they did and cost.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::event::FileHash;
use crate::phase::Phase;

/// An amount of money in billionths of a dollar, serialized as dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars {
    nanos: u64,
}

const NANOS: f64 = 1e9;

impl Dollars {
    /// Negative and absurdly large amounts become the nearest valid one.
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

    /// The cost of a number of tokens at a price per million.
    pub fn of_tokens(n_tokens: u64, per_million: Self) -> Self {
        let nanos = u128::from(n_tokens) * u128::from(per_million.nanos) / 1_000_000;
        Self { nanos: u64::try_from(nanos).unwrap_or(u64::MAX) }
    }

    pub fn as_f64(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "fifteen digits are enough for money")]
        let nanos = self.nanos as f64;
        nanos / NANOS
    }

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

/// The cost of a call. A value that the provider did not report is missing, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, including those from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens sent that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
}

/// A file of the project that an agent changed during a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFile {
    /// Relative to the project.
    pub path: String,
    /// SHA-256 before the call; `None` if the file did not exist or its content is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// SHA-256 after the call; `None` if the file is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Usage and side effects of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Tokens and cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Duration in milliseconds.
    #[serde(default)]
    pub millis: u64,
    /// Other output of the agent, stored in the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<FileHash>,
    /// Files of the project that changed during the call and should not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<TouchedFile>,
    /// Remarks on the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A section of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentSection {
    /// The section.
    pub id: String,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Its place: `system`, `file` or `user`.
    pub role: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its text.
    pub sha256: String,
}

/// What a request consists of, so that it can be compared with the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentParts {
    /// The sections, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SentSection>,
    /// SHA-256 of the stored list of tools; missing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<String>,
    /// SHA-256 of the stored turns since the previous request; missing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<String>,
}

impl SentParts {
    /// The hashes in it.
    pub fn hashes(&self) -> impl Iterator<Item = &String> {
        let sections = self.sections.iter().map(|section| &section.sha256);
        sections.chain(&self.tools).chain(&self.turns)
    }
}

/// How the call of a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolOutcome {
    /// The tool did what it was asked for.
    Done,
    /// It reported an error or returned nothing.
    Failed,
    /// The policy does not allow it; nothing was sent.
    Refused,
    /// The call was sent and no answer came back: it may have taken effect.
    Unknown,
}

/// A tool that a model called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// Id of the call.
    pub id: String,
    /// The server; missing if the name contains no server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: serde_json::Value,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Size of the result.
    pub bytes: u64,
    /// SHA-256 of the result.
    pub sha256: String,
    /// How the call ended.
    pub outcome: ToolOutcome,
    /// Why it was refused, returned nothing or has no known outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A call that may have cost something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spent {
    pub phase: Phase,
    pub iteration: u32,
    pub provider: String,
    pub is_gate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `None` while the call is running, and when the provider reported nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
}

/// The sum over calls. A value that no call reported is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Total {
    pub calls: u64,
    /// Over the calls that report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Over the calls that report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Over the calls that report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Over the calls that have a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
    /// Calls that reported no token counts.
    pub calls_without_tokens: u64,
    /// Calls that reported no price.
    pub calls_without_cost: u64,
}

impl Total {
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a Spent>) -> Self {
        calls.into_iter().fold(Self::default(), |total, call| total.with(call.usage.as_ref()))
    }

    /// Adds one more call.
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
