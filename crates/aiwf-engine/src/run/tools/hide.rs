//! Keeps real paths out of results and logs.

use aiwf_prompt::{Roots, alias_roots};
use serde_json::{Map, Value};

pub(super) fn text(text: &str, roots: &Roots) -> String {
    alias_roots(text, roots).into_owned()
}

/// Replaces roots by aliases in every string and key of a value.
pub(super) fn value(value: &mut Value, roots: &Roots) {
    match value {
        Value::String(string) => {
            if let std::borrow::Cow::Owned(aliased) = alias_roots(string, roots) {
                *string = aliased;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| self::value(item, roots)),
        Value::Object(map) => {
            let entries: Map<String, Value> = std::mem::take(map)
                .into_iter()
                .map(|(key, mut item)| {
                    self::value(&mut item, roots);
                    (text(&key, roots), item)
                })
                .collect();
            *map = entries;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
