//! `aiwf cache`: what of each call a provider's cache can serve, and what the provider says it served.

use std::fmt::Write as _;
use std::io::Write as _;

use aiwf_engine::machine::Dollars;
use aiwf_engine::prompt::Tokens;
use aiwf_engine::{CacheCall, CachePair, CacheReport, Engine};
use clap::Args;

use super::prompt::{CountingArgs, dollars, percent};
use crate::columns::{cut, padded};
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    /// Session or run: id, unique part of an id, name, or `latest` [default: the only one].
    id: Option<String>,
    #[command(flatten)]
    counting: CountingArgs,
}

pub(crate) fn run(args: &CacheArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let report = engine.cache_report(args.id.as_deref(), &args.counting.options())?;
    if output.is_json() {
        return output.json(&report, Exit::Done);
    }
    output::print(|out| out.write_all(shown(&report).as_bytes()))?;
    Ok(Exit::Done)
}

fn shown(report: &CacheReport) -> String {
    let n_calls = report.calls.len();
    let calls = if n_calls == 1 { "1 call".to_owned() } else { format!("{n_calls} calls") };
    let counted = if report.exact { "" } else { ", not exact" };
    let mut text = format!(
        "session {}: {calls}, counted with {}{counted}\n",
        escaped_line(&report.session_id),
        report.tokenizer
    );
    if n_calls == 0 {
        return text;
    }
    let width = |of: fn(&CacheCall) -> &str| {
        report.calls.iter().map(|call| of(call).chars().count()).max().unwrap_or(0).clamp(8, 20)
    };
    let (rounds, providers) = (width(|call| &call.round), width(|call| &call.provider));
    let _ = writeln!(
        text,
        "\ncall  {}  {}      tokens     in prefix    reported  prefix ends in",
        padded("round", rounds),
        padded("provider", providers)
    );
    for call in &report.calls {
        let pair = report.pairs.iter().find(|pair| pair.to == call.number);
        let _ = writeln!(
            text,
            "{:>4}  {}  {}  {:>10}  {:>12}  {:>10}  {}",
            call.number,
            padded(&cut(&escaped_line(&call.round), rounds), rounds),
            padded(&cut(&escaped_line(&call.provider), providers), providers),
            call.tokens.map_or_else(|| "?".to_owned(), |tokens| Tokens(tokens).to_string()),
            pair.map_or_else(|| "-".to_owned(), |pair| Tokens(pair.prefix.tokens).to_string()),
            cached(call).map_or_else(|| "-".to_owned(), |tokens| Tokens(tokens).to_string()),
            pair.map(end).unwrap_or_default()
        );
    }
    text.push('\n');
    text.push_str(&summary(report));
    text
}

fn cached(call: &CacheCall) -> Option<u64> {
    call.usage.as_ref().and_then(|usage| usage.cached_tokens)
}

fn end(pair: &CachePair) -> String {
    let mut text = match &pair.prefix.ends_in {
        Some(end) => format!("{}, line {}", escaped_line(&end.section), end.line),
        None => "(new text only)".to_owned(),
    };
    if pair.other_provider {
        text.push_str(" (another provider)");
    }
    text
}

fn summary(report: &CacheReport) -> String {
    let mut text = String::new();
    if let Some(share) = report.unchanged_share {
        let _ = writeln!(
            text,
            "{} of the unchanged tokens are in the common prefix (calls of one phase)",
            percent(share)
        );
    }
    let missed: u64 = report.pairs.iter().map(|pair| pair.missed_tokens).sum();
    if !report.pairs.is_empty() {
        let cost: Option<f64> = report.pairs.iter().map(|pair| pair.missed_cost.map(Dollars::as_f64)).sum();
        let cost = cost.map(|cost| format!(", {}", dollars(cost))).unwrap_or_default();
        let _ =
            writeln!(text, "{} tokens after the first call are not in a common prefix{cost}", Tokens(missed));
    }
    let n_unknown = report.calls.iter().filter(|call| call.tokens.is_none()).count();
    if n_unknown > 0 {
        let calls = if n_unknown == 1 { "1 call".to_owned() } else { format!("{n_unknown} calls") };
        let _ = writeln!(text, "the journal does not say what {calls} sent");
    }
    text
}
