//! Reads the table `[trust]`, and lists it for `config show`.

use crate::config::Config;
use crate::entry::{Entry, entry};
use crate::layer_reader::{LayerReader, Setting};
use crate::origin::ConfigFile;
use crate::vocabulary::Adopt;

pub(crate) const TRUST_KEYS: &[&str] = &["adopt"];

impl LayerReader<'_> {
    pub(crate) fn trust(&mut self, setting: &Setting<'_, '_>) {
        match setting.key {
            // A checkout must not be able to adopt itself.
            "adopt" if self.toml.file() == ConfigFile::Project => self.counts_only_for_the_user(setting),
            "adopt" => {
                let legal = Adopt::ALL.map(Adopt::as_str);
                self.layer.adopt = self.choice(setting, Adopt::from_name, &legal);
            }
            _ => self.unknown(setting, TRUST_KEYS),
        }
    }
}

impl Config {
    pub(crate) fn trust_entries(&self) -> Vec<Entry> {
        vec![entry("trust.adopt", &self.trust.adopt, |adopt| adopt.as_str().to_owned())]
    }
}
