//! What the calls of a project cost, by day, provider and phase, from its journals.

use std::collections::BTreeMap;

use aiwf_engine::machine::{Dollars, Event, Usage};
use aiwf_engine::{Engine, JournalLine, LedgerKind, RunEvent, RunLine};
use serde::Serialize;

use crate::words::{Refusal, dollars, thousands};

/// Sessions whose spending is summed up, the newest.
const MAX_SUMMED: usize = 300;
/// The longest bar of a chart.
const BAR: f64 = 300.0;
/// Bars of one chart.
const MAX_BARS: usize = 31;

#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    title: &'static str,
    bars: Vec<Bar>,
}

#[derive(Debug, Serialize)]
struct Bar {
    label: String,
    amount: String,
    width: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Spending {
    charts: Vec<Chart>,
    pub(crate) n_summed: usize,
    /// What was spent in all of them.
    total: String,
    budget: Vec<String>,
}

/// What one call used, and where it belongs.
#[derive(Clone, Debug, PartialEq)]
struct Spent {
    day: String,
    provider: String,
    phase: String,
    usage: Usage,
}

/// A sum of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    cost: f64,
    tokens: u64,
}

impl Sum {
    fn add(&mut self, usage: &Usage) {
        self.cost += usage.cost.map_or(0.0, Dollars::as_f64);
        // The counts come from a journal, which may be anybody's.
        let tokens =
            usage.input_tokens.unwrap_or_default().saturating_add(usage.output_tokens.unwrap_or_default());
        self.tokens = self.tokens.saturating_add(tokens);
    }

    fn words(&self) -> String {
        let tokens = (self.tokens > 0).then(|| format!("{} tokens", thousands(self.tokens)));
        let cost = (self.cost > 0.0 || tokens.is_none()).then(|| dollars(self.cost));
        cost.into_iter().chain(tokens).collect::<Vec<_>>().join(", ")
    }
}

pub(crate) fn spending(engine: &Engine) -> Result<Spending, Refusal> {
    let entries = engine.list_all()?;
    let (mut spent, mut n_summed) = (Vec::new(), 0);
    for entry in entries.iter().take(MAX_SUMMED) {
        let id = entry.id.as_str();
        let of_session = if entry.kind == LedgerKind::Run {
            engine.run_events(id).map(|lines| of_run(&lines)).ok()
        } else {
            engine.session_events(Some(id)).map(|lines| of_session(&lines)).ok()
        };
        let Some(of_session) = of_session else { continue };
        n_summed += 1;
        spent.extend(of_session);
    }
    let mut total = Sum::default();
    for call in &spent {
        total.add(&call.usage);
    }
    let chart = |title, key: fn(&Spent) -> &String| Chart { title, bars: bars(&spent, key) };
    Ok(Spending {
        charts: vec![
            chart("Spent by day", |call| &call.day),
            chart("Spent by provider", |call| &call.provider),
            chart("Spent by phase", |call| &call.phase),
        ],
        n_summed,
        total: total.words(),
        budget: budget(engine),
    })
}

/// The limits of each session, in words.
fn budget(engine: &Engine) -> Vec<String> {
    let Ok(limits) = engine.budget() else { return Vec::new() };
    let calls = limits.max_calls.map(|most| format!("{} calls", thousands(most)));
    let tokens = limits.max_tokens.map(|most| format!("{} tokens", thousands(most)));
    let cost = limits.max_cost.map(dollars);
    [cost, tokens, calls].into_iter().flatten().collect()
}

/// The calls of a session; its phase is that of the newest prompt.
#[expect(clippy::wildcard_enum_match_arm, reason = "few events are about calls")]
fn of_session(lines: &[JournalLine]) -> Vec<Spent> {
    let (mut phase, mut provider, mut judge) = (String::new(), String::new(), String::new());
    let mut spent = Vec::new();
    for line in lines {
        let call = match &line.event {
            Event::PromptWritten { phase: of, .. } => {
                phase = of.to_string();
                continue;
            }
            Event::PromptSent { provider: of, .. } => {
                provider.clone_from(of);
                continue;
            }
            Event::GateAsked { provider: of, .. } => {
                judge.clone_from(of);
                continue;
            }
            Event::AskedAgain { call, .. } => Some((&provider, call)),
            Event::ReplyReceived { call: Some(call), .. } | Event::AskFailed { call: Some(call), .. } => {
                Some((&provider, call))
            }
            Event::GateAnswered { call: Some(call), .. } => Some((&judge, call)),
            _ => None,
        };
        if let Some((provider, call)) = call
            && let Some(usage) = &call.usage
        {
            spent.push(Spent {
                day: day(&line.at),
                provider: provider.clone(),
                phase: phase.clone(),
                usage: *usage,
            });
        }
    }
    spent
}

/// The calls of a run; all of them are one phase.
#[expect(clippy::wildcard_enum_match_arm, reason = "few events are about calls")]
fn of_run(lines: &[RunLine]) -> Vec<Spent> {
    let mut asked = String::new();
    let mut spent = Vec::new();
    for line in lines {
        match &line.event {
            RunEvent::RunAsked { provider, .. } => asked.clone_from(provider),
            RunEvent::RunReplied { call, .. } | RunEvent::RunAskFailed { call, .. } => {
                spent.extend(call.usage.map(|usage| Spent {
                    day: day(&line.at),
                    provider: asked.clone(),
                    phase: "package".to_owned(),
                    usage,
                }));
            }
            _ => {}
        }
    }
    spent
}

fn day(at: &str) -> String {
    at.chars().take(10).collect()
}

/// A bar for each key, the newest last; by cost, or by tokens where no call says what it cost.
fn bars(spent: &[Spent], key: fn(&Spent) -> &String) -> Vec<Bar> {
    let mut sums: BTreeMap<&String, Sum> = BTreeMap::new();
    for call in spent {
        sums.entry(key(call)).or_default().add(&call.usage);
    }
    let has_cost = sums.values().any(|sum| sum.cost > 0.0);
    #[expect(clippy::cast_precision_loss, reason = "a length is rounded anyway")]
    let length = |sum: &Sum| if has_cost { sum.cost } else { sum.tokens as f64 };
    let most = sums.values().map(length).fold(0.0_f64, f64::max);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the longest bar is between 0 and its length"
    )]
    let width = |sum: &Sum| if most > 0.0 { (length(sum) / most * BAR).round() as u64 } else { 0 };
    let n_skipped = sums.len().saturating_sub(MAX_BARS);
    sums.into_iter()
        .skip(n_skipped)
        .map(|(label, sum)| Bar { label: label.clone(), amount: sum.words(), width: width(&sum).max(1) })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn line(at: &str, event: Value) -> JournalLine {
        let event = serde_json::from_value(event).unwrap();
        JournalLine { seq: 1, at: at.to_owned(), sha256: String::new(), event }
    }

    fn reply(cost: &Value) -> Value {
        let call =
            json!({ "usage": { "input_tokens": 100, "output_tokens": 20, "cost": cost }, "millis": 1 });
        json!({ "event": "reply-received", "response": { "path": "r.md", "sha256": "" }, "call": call })
    }

    fn session(cost: impl Fn(f64) -> Value) -> Vec<Spent> {
        let prompt = |phase: &str| json!({ "event": "prompt-written", "phase": phase, "iteration": 1, "prompt": { "path": "p.md", "sha256": "" } });
        let sent = |provider: &str| json!({ "event": "prompt-sent", "provider": provider, "payload_sha256": "", "n_earlier": 0, "is_free": false });
        of_session(&[
            line("2026-11-18T23:59:00Z", prompt("plan")),
            line("2026-11-18T23:59:01Z", sent("one")),
            line("2026-11-18T23:59:59Z", reply(&cost(0.5))),
            line("2026-11-19T00:00:10Z", prompt("implement")),
            line("2026-11-19T00:00:11Z", sent("two")),
            line("2026-11-19T00:01:00Z", reply(&cost(0.25))),
        ])
    }

    fn shown(bars: &[Bar]) -> Vec<(&str, &str, u64)> {
        bars.iter().map(|bar| (bar.label.as_str(), bar.amount.as_str(), bar.width)).collect()
    }

    #[test]
    fn a_call_counts_for_the_day_it_was_made_on() {
        let spent = session(|cost| json!(cost));
        assert_eq!(
            shown(&bars(&spent, |call| &call.day)),
            [("2026-11-18", "$0.50, 120 tokens", 300), ("2026-11-19", "$0.25, 120 tokens", 150)]
        );
        assert_eq!(
            shown(&bars(&spent, |call| &call.provider)),
            [("one", "$0.50, 120 tokens", 300), ("two", "$0.25, 120 tokens", 150)]
        );
        assert_eq!(bars(&spent, |call| &call.phase)[0].label, "implement");
    }

    #[test]
    fn tokens_are_charted_where_no_cost_is_known() {
        let spent = session(|_| Value::Null);
        assert_eq!(
            shown(&bars(&spent, |call| &call.day)),
            [("2026-11-18", "120 tokens", 300), ("2026-11-19", "120 tokens", 300)]
        );
    }

    #[test]
    fn a_chart_shows_the_newest_days() {
        let usage = session(|cost| json!(cost))[0].usage;
        let days = (1..=60).map(|day| Spent {
            day: format!("2026-{day:03}"),
            provider: String::new(),
            phase: String::new(),
            usage,
        });
        let bars = bars(&days.collect::<Vec<_>>(), |call| &call.day);
        assert_eq!((bars.len(), bars[30].label.as_str()), (MAX_BARS, "2026-060"));
    }
}
