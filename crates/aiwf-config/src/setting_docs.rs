//! Every table and setting, in the order a reader meets them: the source of the configuration's reference.

use std::sync::LazyLock;

use crate::config::ConfigLayer;
use crate::setting::{Table as _, TableDoc};

static TABLES: LazyLock<Vec<TableDoc>> = LazyLock::new(|| {
    // The first is the file itself, whose keys are the tables.
    ConfigLayer::docs("").split_off(1)
});

/// Every table there is.
pub fn setting_docs() -> &'static [TableDoc] {
    &TABLES
}

/// The table that a key belongs in.
pub(crate) fn table_of_key(key: &str) -> Option<&'static str> {
    let has_key = |table: &&TableDoc| table.settings.iter().any(|setting| setting.key == key);
    let tables = TABLES.iter().filter(|table| table.has_settings);
    tables.clone().find(has_key).map(|table| table.table.as_str())
}

#[cfg(test)]
#[path = "setting_docs_tests.rs"]
mod tests;
