//! Keeps real paths out of what tools give and what is logged of them.

use aiwf_prompt::{Roots, alias_roots};
use serde_json::{Map, Value};

/// A text with aliases in the place of roots.
pub(super) fn text(text: &str, roots: &Roots) -> String {
    alias_roots(text, roots).into_owned()
}

/// Puts aliases in the place of roots, in every text and key of a value.
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
