//! The user's consents, bound to exact bytes, in one file of the user's state directory.
//!
//! A checkout cannot write there, so it cannot consent to itself. An entry is identified by its kind and the SHA-256 of
//! what the user agreed to; name, project and text are for display.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::user_file::{UserFileError, read_user_file, update_user_file};

/// What the user agreed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsentKind {
    /// A provider that a project's configuration defines or redirects.
    Provider,
    /// Project settings that are looser than the user's own.
    Project,
    /// An MCP server.
    Server,
    /// A project flow that skips gates.
    Flow,
    /// The command of a check.
    Check,
    /// A program that a test case runs.
    Test,
}

impl ConsentKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Project => "project",
            Self::Server => "server",
            Self::Flow => "flow",
            Self::Check => "check",
            Self::Test => "test",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Consent {
    pub kind: ConsentKind,
    pub name: String,
    /// SHA-256 of the exact bytes that the user agreed to.
    pub sha256: String,
    /// The text that the user saw.
    pub shown: String,
    #[serde(default)]
    pub project: String,
}

/// The file that stores consents.
#[derive(Clone, Debug)]
pub struct Consents {
    path: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Content {
    #[serde(default)]
    agreed: Vec<Consent>,
}

impl Consents {
    /// The consents in a file, which is created with the first one.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// All consents, sorted.
    pub fn all(&self) -> Result<Vec<Consent>, UserFileError> {
        Ok(read_user_file::<Content>(&self.path)?.agreed)
    }

    /// Whether the user agreed to exactly these bytes.
    pub fn contains(&self, kind: ConsentKind, sha256: &str) -> Result<bool, UserFileError> {
        Ok(self.all()?.iter().any(|consent| consent.kind == kind && consent.sha256 == sha256))
    }

    /// Stores a consent; storing it twice is not an error.
    pub fn add(&self, consent: Consent) -> Result<(), UserFileError> {
        self.update(|agreed| {
            agreed.retain(|known| (known.kind, &known.sha256) != (consent.kind, &consent.sha256));
            agreed.push(consent);
            agreed.sort();
        })
    }

    /// Removes the consents that match `is_match`, and returns them.
    pub fn remove(&self, is_match: impl Fn(&Consent) -> bool) -> Result<Vec<Consent>, UserFileError> {
        let mut removed = Vec::new();
        self.update(|agreed| {
            let (gone, kept) = std::mem::take(agreed).into_iter().partition(|consent| is_match(consent));
            removed = gone;
            *agreed = kept;
        })?;
        Ok(removed)
    }

    fn update(&self, change: impl FnOnce(&mut Vec<Consent>)) -> Result<(), UserFileError> {
        update_user_file(&self.path, |content: &mut Content| change(&mut content.agreed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Durability, write_atomic};

    fn consent(name: &str, sha256: &str) -> Consent {
        Consent {
            kind: ConsentKind::Provider,
            name: name.to_owned(),
            sha256: sha256.to_owned(),
            shown: format!("{name}: a program"),
            project: "/project".to_owned(),
        }
    }

    #[test]
    fn a_consent_holds_for_exactly_those_bytes_and_for_the_next_process() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state/consents.json");
        assert!(!Consents::at(&path).contains(ConsentKind::Provider, "aa").unwrap());
        Consents::at(&path).add(consent("tool", "aa")).unwrap();
        Consents::at(&path).add(consent("tool", "aa")).unwrap();
        assert!(Consents::at(&path).contains(ConsentKind::Provider, "aa").unwrap());
        assert!(!Consents::at(&path).contains(ConsentKind::Provider, "ab").unwrap());
        assert!(!Consents::at(&path).contains(ConsentKind::Server, "aa").unwrap());
        assert_eq!(Consents::at(&path).all().unwrap().len(), 1);
        assert_eq!(Consents::at(&path).remove(|consent| consent.name == "tool").unwrap().len(), 1);
        assert!(!Consents::at(&path).contains(ConsentKind::Provider, "aa").unwrap());
    }

    #[test]
    fn a_broken_file_is_an_error_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("consents.json");
        write_atomic(&path, Durability::Process, |out| out.write_all(b"{")).unwrap();
        let consents = Consents::at(&path);
        assert!(matches!(consents.all(), Err(UserFileError::Unreadable { .. })));
        assert!(consents.add(consent("tool", "aa")).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
    }
}
