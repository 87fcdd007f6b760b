//! What a provider's cache can serve of each call of a session or run, and what the provider says that it served.

use aiwf_config::{Config, Flags};
use aiwf_prompt::{Comparison, CountTokens as _, Tokenizer, compare};
use aiwf_session::{Dollars, Usage};
use serde::Serialize;

use super::diff_error::DiffError;
use super::named::sent_calls;
use super::{DiffOptions, PrefixReport, borrowed, miss, prefix_report};
use crate::Engine;
use crate::ask::providers;
use crate::ask::sent_parts::SentCall;
use crate::ledger::{Candidates, Scope, resolve};
use crate::prompt::count_cache::CountCache;

/// The calls of a session or run, and what each shares with the one before it.
#[derive(Clone, Debug, Serialize)]
pub struct CacheReport {
    pub session_id: String,
    pub tokenizer: String,
    /// Whether the counts are exact.
    pub exact: bool,
    pub calls: Vec<CacheCall>,
    /// Each call with the one before it.
    pub pairs: Vec<CachePair>,
    /// The share of unchanged tokens that lies in common prefixes, over all pairs of one round; missing without pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged_share: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CacheCall {
    /// From 1.
    pub number: usize,
    /// The phase with its iteration, or the node of a run.
    pub round: String,
    pub provider: String,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub payload_sha256: String,
    /// The size of the request; missing if the journal does not say what was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What the provider reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CachePair {
    /// The number of the first call; the second one is the next.
    pub from: usize,
    pub to: usize,
    /// Whether both are calls of one phase, or of one run.
    pub same_phase: bool,
    /// Whether another provider answered, which has a cache of its own.
    pub other_provider: bool,
    pub prefix: PrefixReport,
    /// Tokens of the second call that the first one has too.
    pub unchanged_tokens: u64,
    /// The share of them that lies in the common prefix.
    pub unchanged_share: f64,
    /// Tokens of the second call outside of the common prefix.
    pub missed_tokens: u64,
    /// Their price in dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_cost: Option<Dollars>,
    /// What the provider says came from its cache in the second call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_cached_tokens: Option<u64>,
}

impl Engine {
    /// Compares every call of a session or run with the one before it.
    pub fn cache_report(&self, given: Option<&str>, options: &DiffOptions) -> Result<CacheReport, DiffError> {
        let ledger = match given {
            Some(given) => self.ledger_named(given, given)?,
            None => resolve(self.settings(), None, Scope::Any, Candidates::All)?,
        };
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let calls = sent_calls(&ledger)?;
        let of_provider = calls.last().map(|call| providers::tokenizer(&call.provider, &config));
        let tokenizer = options.tokenizer.or(of_provider).unwrap_or(Tokenizer::Estimate);
        let counter = CountCache::open(tokenizer, self.settings().cache_dir.as_deref());
        let mut report = CacheReport {
            session_id: ledger.id.clone(),
            tokenizer: counter.name().to_owned(),
            exact: counter.is_exact(),
            calls: Vec::new(),
            pairs: Vec::new(),
            unchanged_share: None,
        };
        let (mut unchanged, mut in_prefix) = (0, 0);
        let mut previous: Option<&SentCall> = None;
        for (index, call) in calls.iter().enumerate() {
            let pieces = call.pieces.as_deref().map(borrowed);
            let before = previous.and_then(|call| call.pieces.as_deref()).map(borrowed);
            let compared =
                pieces.map(|pieces| compare(before.as_deref().unwrap_or_default(), &pieces, &counter));
            report.calls.push(cache_call(index, call, compared.as_ref()));
            if let (Some(earlier), Some(_), Some(compared)) = (previous, before, compared) {
                let pair = pair(index, earlier, call, &compared, options, &config);
                if pair.same_phase && !pair.other_provider {
                    unchanged += compared.unchanged.0;
                    in_prefix += compared.prefix.tokens.0;
                }
                report.pairs.push(pair);
            }
            previous = Some(call);
        }
        counter.save();
        if report.pairs.iter().any(|pair| pair.same_phase && !pair.other_provider) {
            report.unchanged_share = Some(share(in_prefix, unchanged));
        }
        Ok(report)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share is shown with a few digits")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

fn cache_call(index: usize, call: &SentCall, compared: Option<&Comparison>) -> CacheCall {
    CacheCall {
        number: index + 1,
        round: call.round.clone(),
        provider: call.provider.clone(),
        model: call.model.clone(),
        payload_sha256: call.payload_sha256.clone(),
        tokens: compared.map(|compared| compared.after.tokens.0),
        usage: call.usage,
    }
}

fn pair(
    index: usize,
    earlier: &SentCall,
    call: &SentCall,
    compared: &Comparison,
    options: &DiffOptions,
    config: &Config,
) -> CachePair {
    let model = options.model.clone().or_else(|| call.model.clone());
    let model = model.or_else(|| providers::setting(&call.provider, config).model);
    let missed = miss(compared, model, config);
    // `planning@1` and `planning@2` are rounds of one phase; the nodes of a run are one conversation.
    let phase = |round: &str| round.split_once('@').map(|(phase, _)| phase.to_owned());
    let call_pieces = call.pieces.as_deref().unwrap_or_default();
    CachePair {
        from: index,
        to: index + 1,
        same_phase: phase(&earlier.round) == phase(&call.round),
        other_provider: earlier.provider != call.provider,
        prefix: prefix_report(compared, call_pieces),
        unchanged_tokens: compared.unchanged.0,
        unchanged_share: compared.unchanged_share(),
        missed_tokens: missed.tokens,
        missed_cost: missed.cost,
        reported_cached_tokens: call.usage.and_then(|usage| usage.cached_tokens),
    }
}
