//! The cost of calls, and whether the budget allows the next one.

use aiwf_config::Config;
use aiwf_prompt::Tokens;
use aiwf_provider::{Payload, Reply, list_price};
use aiwf_session::{Dollars, Total, Usage};

use crate::ask::payload::tokens_of;
use crate::ask::providers;
use crate::prompt::count_cache::CountCache;
use crate::session::session_error::SessionError;

/// A price per million tokens.
#[derive(Clone, Copy, Debug)]
struct Price {
    input: Dollars,
    output: Dollars,
    cached_input: Dollars,
}

/// The price from the configuration, else from the built-in list.
fn price(model: &str, config: &Config) -> Option<Price> {
    if let Some(price) = config.prices.get(model) {
        let price = price.value;
        return Some(Price {
            input: Dollars::new(price.input),
            output: Dollars::new(price.output),
            cached_input: Dollars::new(price.cached_input.unwrap_or(price.input)),
        });
    }
    list_price(model).map(|price| Price {
        input: Dollars::new(price.input),
        output: Dollars::new(price.output),
        cached_input: Dollars::new(price.cached_input),
    })
}

/// The price of input per million tokens, and of input from a cache; `None` if it is not known.
pub(crate) fn input_price(model: &str, config: &Config) -> Option<(Dollars, Dollars)> {
    price(model, config).map(|price| (price.input, price.cached_input))
}

/// What sending so many tokens costs with a model, in dollars; `None` if its price is not known.
pub(crate) fn input_cost(model: &str, tokens: u64, config: &Config) -> Option<f64> {
    let price = price(model, config)?;
    Some(Dollars::of_tokens(tokens, price.input).as_f64())
}

/// The usage that the provider reports, with a computed cost if the price is known.
pub(crate) fn usage(
    reported: Option<&aiwf_provider::Usage>,
    model: Option<&str>,
    config: &Config,
) -> Option<Usage> {
    let reported = reported?;
    let cost = reported.cost.map(Dollars::new).or_else(|| {
        let price = price(model?, config)?;
        let (input, output) = (reported.input_tokens?, reported.output_tokens?);
        let cached = reported.cached_tokens.unwrap_or(0).min(input);
        let of_input = Dollars::of_tokens(input - cached, price.input);
        let of_cached = Dollars::of_tokens(cached, price.cached_input);
        Some(of_input.plus(of_cached).plus(Dollars::of_tokens(output, price.output)))
    });
    Some(Usage {
        input_tokens: reported.input_tokens,
        output_tokens: reported.output_tokens,
        cached_tokens: reported.cached_tokens,
        cost,
    })
}

/// The model that sets the price: the one that answered, else the one that was requested.
pub(crate) fn model_of(reply: &Reply, name: &str, config: &Config) -> Option<String> {
    let asked = providers::setting(name, config).model;
    let is_priced = |model: &String| price(model, config).is_some();
    // The model in the reply may have a longer name than the one in the price list.
    match (&reply.model, &asked) {
        (Some(answered), Some(asked)) if !is_priced(answered) && is_priced(asked) => Some(asked.clone()),
        (answered, _) => answered.clone().or(asked),
    }
}

/// Returns why the next call exceeds the budget; `None` if it does not.
///
/// Assumes the worst case: everything spent so far, the tokens of the prompt, and the maximum reply. For providers
/// whose reply aiwf cannot limit, only the spent tokens and the prompt count.
pub(crate) fn refuse(
    name: &str,
    payload: &Payload,
    spent: &Total,
    config: &Config,
    settings: &aiwf_config::Settings,
) -> Result<Option<String>, SessionError> {
    let budget = &config.budget;
    let max_calls = budget.max_calls.as_ref().map(|max| max.value.get());
    if let Some(max) = max_calls.filter(|max| spent.calls >= *max) {
        return Ok(Some(format!("{} of {max} calls are used", spent.calls)));
    }
    if budget.max_tokens.is_none() && budget.max_cost.is_none() {
        return Ok(None);
    }
    let setting = providers::setting(name, config);
    let input = count(name, payload, config, settings).0;
    let output = setting.max_output_tokens.unwrap_or(0);
    if let Some(max) = budget.max_tokens.as_ref().map(|max| max.value.get()) {
        // A call without a token count is assumed to have used as much as this one may.
        let unknown = spent.calls_without_tokens.saturating_mul(input.saturating_add(output));
        let used = spent.known_tokens().saturating_add(unknown);
        let worst = used.saturating_add(input).saturating_add(output);
        if worst > max {
            return Ok(Some(format!(
                "{used} tokens are used, the next call may need {}, and {max} is the limit",
                input.saturating_add(output)
            )));
        }
    }
    if let Some(max) = budget.max_cost.as_ref().map(|max| max.value) {
        let unknown = || SessionError::NoPrice { provider: name.to_owned(), model: setting.model.clone() };
        let price = setting.model.as_deref().and_then(|model| price(model, config)).ok_or_else(unknown)?;
        let next = Dollars::of_tokens(input, price.input).plus(Dollars::of_tokens(output, price.output));
        let known = spent.cost.unwrap_or_default();
        let so_far = (0..spent.calls_without_cost).fold(known, |sum, _| sum.plus(next));
        if so_far.plus(next) > Dollars::new(max) {
            return Ok(Some(format!(
                "${:.4} is spent, the next call may cost ${:.4}, and ${max:.2} is the limit",
                so_far.as_f64(),
                next.as_f64()
            )));
        }
    }
    Ok(None)
}

pub(crate) fn count(
    name: &str,
    payload: &Payload,
    config: &Config,
    settings: &aiwf_config::Settings,
) -> Tokens {
    let counter = CountCache::open(providers::tokenizer(name, config), settings.cache_dir.as_deref());
    let tokens = tokens_of(payload, &counter);
    counter.save();
    tokens
}

/// Whether the budget can only be checked between calls, because aiwf cannot limit this provider's reply.
pub(crate) fn is_soft(name: &str, config: &Config) -> bool {
    let has_limit = config.budget.max_tokens.is_some() || config.budget.max_cost.is_some();
    has_limit && providers::setting(name, config).max_output_tokens.is_none()
}
