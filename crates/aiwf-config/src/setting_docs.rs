//! All tables and settings, in the order of the reference page, which is generated from them.

use std::sync::LazyLock;

use crate::config::ConfigLayer;
use crate::setting::{Table as _, TableDoc};

static TABLES: LazyLock<Vec<TableDoc>> = LazyLock::new(|| {
    // The first table is the file itself, whose keys are the tables.
    ConfigLayer::docs("").split_off(1)
});

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
