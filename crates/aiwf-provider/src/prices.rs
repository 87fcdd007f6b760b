//! What well-known models cost, in dollars per million tokens, as their vendors listed it in November 2025.
//!
//! A price in the configuration wins over this list; a model in neither has no known price.

/// What a model costs per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListPrice {
    /// Tokens sent.
    pub input: f64,
    /// Tokens received.
    pub output: f64,
    /// Tokens sent that came from a cache.
    pub cached_input: f64,
}

const fn price(input: f64, output: f64, cached_input: f64) -> ListPrice {
    ListPrice { input, output, cached_input }
}

static PRICES: [(&str, ListPrice); 11] = [
    ("claude-opus-4-5", price(5.0, 25.0, 0.5)),
    ("claude-opus-4-1", price(15.0, 75.0, 1.5)),
    ("claude-sonnet-4-5", price(3.0, 15.0, 0.3)),
    ("claude-haiku-4-5", price(1.0, 5.0, 0.1)),
    ("gpt-5", price(1.25, 10.0, 0.125)),
    ("gpt-5-mini", price(0.25, 2.0, 0.025)),
    ("gpt-5-nano", price(0.05, 0.4, 0.005)),
    ("gpt-4.1", price(2.0, 8.0, 0.5)),
    ("gpt-4.1-mini", price(0.4, 1.6, 0.1)),
    ("gemini-2.5-flash", price(0.3, 2.5, 0.03)),
    ("gemini-2.5-flash-lite", price(0.1, 0.4, 0.01)),
];

/// The price of a model by its name, with or without a date at its end.
pub fn list_price(model: &str) -> Option<ListPrice> {
    let without_date = model.rsplit_once('-').and_then(|(name, date)| {
        (date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
    });
    let find = |wanted: &str| PRICES.iter().find(|(name, _)| *name == wanted).map(|(_, price)| *price);
    find(model).or_else(|| find(without_date?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_found_by_name_with_or_without_a_date() {
        assert_eq!(list_price("claude-sonnet-4-5").map(|price| price.output), Some(15.0));
        assert_eq!(list_price("claude-sonnet-4-5-20250929"), list_price("claude-sonnet-4-5"));
        assert_eq!(list_price("claude-sonnet-4-5-latest"), None);
        assert_eq!(list_price("some-model"), None);
    }
}
