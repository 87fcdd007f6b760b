//! The tables `[prices."MODEL"]`.

use crate::entry::Entry;
use crate::fault::ConfigFault;
use crate::layer_reader::{LayerReader, TomlEntry};
use crate::origin::Sourced;
use crate::setting::{Listing, Rule, Table as _, TableDoc, settings};
use crate::table_kinds::{Map, Name};
use crate::value::{Dollars, Value};

pub(crate) type Prices = Map<ModelName, PriceValue>;

/// The price of a model, in dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// If missing, cached tokens cost as much as `input`.
    pub cached_input: Option<f64>,
}

settings! {
    /// Prices of models, in dollars per million tokens. These add to the built-in list and override it. A project's
    /// price below yours needs consent if you have set `[budget] max_cost`.
    pub(crate) PriceTable from PriceLayer {
        /// Tokens sent.
        input: Option<Sourced<f64>> = Dollars;
        /// Tokens received.
        output: Option<Sourced<f64>> = Dollars;
        /// Tokens sent that came from a cache; the default is the price of `input`.
        cached_input: Option<Sourced<f64>> = Dollars;
    }
}

/// A price that is too low would bypass a limit in dollars.
pub(crate) fn lower_needs_consent() -> Rule<Price> {
    Rule::ConsentIf {
        is_looser: |found, instead| {
            instead.is_none_or(|instead| {
                found.input < instead.input
                    || found.output < instead.output
                    || found.cached_input.unwrap_or(found.input)
                        < instead.cached_input.unwrap_or(instead.input)
            })
        },
        doc: "lowering it needs consent",
    }
}

pub(crate) struct ModelName;

impl Name for ModelName {
    type Key = String;
    const LABEL: &'static str = "model";
    const PLACEHOLDER: &'static str = "\"MODEL\"";

    fn read(_: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<String> {
        Some(entry.key.to_owned())
    }

    fn show(key: &String) -> String {
        format!("\"{key}\"")
    }
}

/// A price is a single value: halves from two files would be a price that nobody set.
pub(crate) struct PriceValue;

impl Value for PriceValue {
    type Type = Price;

    fn describe() -> String {
        "price".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Price>> {
        let table = reader.expect_table(entry)?;
        let n_problems = reader.n_problems();
        let mut price = PriceLayer::default();
        reader.table(&entry.path(), table, &mut price);
        let (Some(input), Some(output)) = (&price.input, &price.output) else {
            if reader.n_problems() == n_problems {
                reader.report(entry.key_offset, ConfigFault::HalfPrice { path: entry.path() });
            }
            return None;
        };
        let cached_input = price.cached_input.as_ref().map(|price| price.value);
        let price = Price { input: input.value, output: output.value, cached_input };
        Some(Sourced::new(price, reader.toml.origin(entry.key_offset)))
    }

    fn show(price: &Price) -> String {
        let cached = price.cached_input.map(|cached| format!(", cached_input {cached}")).unwrap_or_default();
        format!("input {}, output {}{cached}", price.input, price.output)
    }

    fn unset() -> &'static str {
        "unknown"
    }

    fn list(sourced: &Sourced<Price>, path: &str, listing: Listing, entries: &mut Vec<Entry>) {
        let Price { input, output, cached_input } = sourced.value;
        let part = |value| Some(Sourced::new(value, sourced.origin));
        let table = PriceTable {
            input: part(input),
            output: part(output),
            cached_input: cached_input.and_then(part),
        };
        PriceLayer::list(&table, path, listing, entries);
    }

    fn docs(path: &str) -> Vec<TableDoc> {
        PriceLayer::docs(path).into_iter().map(|table| TableDoc { has_settings: false, ..table }).collect()
    }
}
