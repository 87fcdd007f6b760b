//! The table `[workflow]`: how it is read, and how `config show` lists it.

use crate::config::Config;
use crate::entry::{Entry, entry, optional};
use crate::layer_reader::{LayerReader, Setting};
use crate::vocabulary::Conditions;

pub(crate) const WORKFLOW_KEYS: &[&str] = &[
    "conditions",
    "max_turns",
    "context_tokens",
    "result_preview_bytes",
    "provider",
    "max_read_bytes",
    "max_write_bytes",
    "files",
];

impl LayerReader<'_> {
    pub(crate) fn workflow(&mut self, setting: &Setting<'_, '_>) {
        match setting.key {
            "conditions" => {
                let legal = Conditions::ALL.map(Conditions::as_str);
                self.layer.workflow.conditions = self.choice(setting, Conditions::from_name, &legal);
            }
            "max_turns" => self.layer.workflow.max_turns = self.count(setting),
            "context_tokens" => self.layer.workflow.context_tokens = self.count(setting),
            "result_preview_bytes" => self.layer.workflow.result_preview_bytes = self.large_count(setting),
            "provider" => self.layer.workflow.provider = self.provider_name(setting),
            "max_read_bytes" => self.layer.workflow.max_read_bytes = self.large_count(setting),
            "max_write_bytes" => self.layer.workflow.max_write_bytes = self.large_count(setting),
            "files" => self.layer.workflow.files = self.boolean(setting),
            _ => self.unknown(setting, WORKFLOW_KEYS),
        }
    }
}

impl Config {
    pub(crate) fn workflow_entries(&self) -> Vec<Entry> {
        let workflow = &self.workflow;
        let mut entries = vec![
            entry("workflow.conditions", &workflow.conditions, |conditions| conditions.as_str().to_owned()),
            entry("workflow.files", &workflow.files, ToString::to_string),
            entry("workflow.max_read_bytes", &workflow.max_read_bytes, ToString::to_string),
            entry("workflow.max_turns", &workflow.max_turns, ToString::to_string),
            entry("workflow.max_write_bytes", &workflow.max_write_bytes, ToString::to_string),
            entry("workflow.result_preview_bytes", &workflow.result_preview_bytes, ToString::to_string),
        ];
        let tokens = workflow.context_tokens.as_ref();
        entries.extend(optional("workflow.context_tokens", tokens, ToString::to_string));
        entries.extend(optional("workflow.provider", workflow.provider.as_ref(), String::clone));
        entries
    }
}

#[cfg(test)]
#[path = "workflow_table_tests.rs"]
mod tests;
