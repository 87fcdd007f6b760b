//! Which servers a person agreed to start.
//!
//! Kept in the user's own directory, where no checkout can write its own approval, by the hash of all that decides what
//! runs: a changed argument, variable or directory is another server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::ToolsError;
use crate::server_spec::ServerSpec;
use crate::user_file;

/// The servers that may be started.
#[derive(Clone, Debug)]
pub struct TrustStore {
    path: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Trusted {
    /// What a person agreed to, by its key; the text is only for people who read the file.
    #[serde(default)]
    servers: BTreeMap<String, String>,
}

impl TrustStore {
    /// The store in a file; it is created when the first server is trusted.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Whether a person agreed to exactly this server.
    pub fn is_trusted(&self, spec: &ServerSpec) -> Result<bool, ToolsError> {
        let trusted: Trusted = user_file::read(&self.path)?;
        Ok(trusted.servers.contains_key(&spec.key()))
    }

    /// Remembers that a person agreed to exactly this server.
    pub fn trust(&self, spec: &ServerSpec) -> Result<(), ToolsError> {
        user_file::update(&self.path, |trusted: &mut Trusted| {
            trusted.servers.insert(spec.key(), spec.shown_command());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server_spec::tests::stdio;

    #[test]
    fn a_yes_holds_for_exactly_that_command_and_for_the_next_process() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tools").join("trusted.json");
        let spec = stdio("a", "npx", &["server"]);
        assert!(!TrustStore::at(&path).is_trusted(&spec).unwrap());
        TrustStore::at(&path).trust(&spec).unwrap();
        assert!(TrustStore::at(&path).is_trusted(&spec).unwrap());
        assert!(!TrustStore::at(&path).is_trusted(&stdio("a", "npx", &["server", "/"])).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("npx server (in /work)"), "{text}");
    }

    #[test]
    fn a_damaged_file_is_an_error_and_not_an_empty_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trusted.json");
        aiwf_store::write_atomic(&path, aiwf_store::Durability::Process, |out| out.write_all(b"{")).unwrap();
        let store = TrustStore::at(&path);
        let spec = stdio("a", "x", &[]);
        assert!(matches!(store.is_trusted(&spec), Err(ToolsError::Unreadable { .. })));
        assert!(store.trust(&spec).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
    }
}
