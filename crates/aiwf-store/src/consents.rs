//! What a user agreed to, bound to exact bytes, in one file of the user's own state directory.
//!
//! A checkout cannot write there, so it cannot agree to itself. An entry is found by its kind and the SHA-256 of what
//! was agreed to; its name, project and text are for people.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::user_file::{UserFileError, read_user_file, update_user_file};

/// What kind of thing was agreed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsentKind {
    /// A provider that a project's configuration defines or redirects.
    Provider,
    /// Settings of a project that are looser than the user's own.
    Project,
    /// An MCP server.
    Server,
    /// A flow of a project that skips gates.
    Flow,
    /// A command that checks what a session wrote.
    Check,
}

impl ConsentKind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Project => "project",
            Self::Server => "server",
            Self::Flow => "flow",
            Self::Check => "check",
        }
    }
}

/// One thing that the user agreed to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Consent {
    /// What kind of thing it is.
    pub kind: ConsentKind,
    /// Its name.
    pub name: String,
    /// SHA-256 of exactly what was agreed to.
    pub sha256: String,
    /// The same in words.
    pub shown: String,
    /// The project it belongs to.
    #[serde(default)]
    pub project: String,
}

/// The file that holds consents.
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
    /// The consents in a file; it is created with the first one.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Everything that was agreed to, sorted.
    pub fn all(&self) -> Result<Vec<Consent>, UserFileError> {
        Ok(read_user_file::<Content>(&self.path)?.agreed)
    }

    /// Whether the user agreed to exactly this.
    pub fn contains(&self, kind: ConsentKind, sha256: &str) -> Result<bool, UserFileError> {
        Ok(self.all()?.iter().any(|consent| consent.kind == kind && consent.sha256 == sha256))
    }

    /// Remembers a consent; agreeing twice is fine.
    pub fn add(&self, consent: Consent) -> Result<(), UserFileError> {
        self.update(|agreed| {
            agreed.retain(|known| (known.kind, &known.sha256) != (consent.kind, &consent.sha256));
            agreed.push(consent);
            agreed.sort();
        })
    }

    /// Forgets the consents that `is_meant` names; gives back what was forgotten.
    pub fn remove(&self, is_meant: impl Fn(&Consent) -> bool) -> Result<Vec<Consent>, UserFileError> {
        let mut removed = Vec::new();
        self.update(|agreed| {
            let (gone, kept) = std::mem::take(agreed).into_iter().partition(|consent| is_meant(consent));
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
    fn a_yes_holds_for_exactly_those_bytes_and_for_the_next_process() {
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
