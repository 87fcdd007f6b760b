//! What a user agreed to, bound to exact bytes, in one file of the user's own state directory.
//!
//! A checkout cannot write there, so it cannot agree to itself. An entry is found by its kind and the SHA-256 of what
//! was agreed to; its name, project and text are for people.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic::{Durability, StoreError, create_dir, write_atomic};
use crate::lock::{Lock, LockError};

/// The largest file that is taken for one of ours.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

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
}

impl ConsentKind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Project => "project",
            Self::Server => "server",
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

/// Why consents cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// The file cannot be read; it does not count as empty.
    #[error("could not read what you agreed to in `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be locked.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl ConsentError {
    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { path, .. } => {
                format!("fix or remove `{}`; without it you are asked again", path.display())
            }
            Self::Store(error) => error.hint(),
            Self::Lock(error) => error.hint(),
        }
    }
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
    pub fn all(&self) -> Result<Vec<Consent>, ConsentError> {
        Ok(read(&self.path)?.agreed)
    }

    /// Whether the user agreed to exactly this.
    pub fn contains(&self, kind: ConsentKind, sha256: &str) -> Result<bool, ConsentError> {
        Ok(self.all()?.iter().any(|consent| consent.kind == kind && consent.sha256 == sha256))
    }

    /// Remembers a consent; agreeing twice is fine.
    pub fn add(&self, consent: Consent) -> Result<(), ConsentError> {
        self.update(|agreed| {
            agreed.retain(|known| (known.kind, &known.sha256) != (consent.kind, &consent.sha256));
            agreed.push(consent);
            agreed.sort();
        })
    }

    /// Forgets the consents that `is_meant` names; gives back what was forgotten.
    pub fn remove(&self, is_meant: impl Fn(&Consent) -> bool) -> Result<Vec<Consent>, ConsentError> {
        let mut removed = Vec::new();
        self.update(|agreed| {
            let (gone, kept) = std::mem::take(agreed).into_iter().partition(|consent| is_meant(consent));
            removed = gone;
            *agreed = kept;
        })?;
        Ok(removed)
    }

    fn update(&self, change: impl FnOnce(&mut Vec<Consent>)) -> Result<(), ConsentError> {
        if let Some(directory) = self.path.parent() {
            create_dir(directory)?;
        }
        let _lock = Lock::wait(&self.path.with_extension("lock"))?;
        let mut content = read(&self.path)?;
        let before = content.clone();
        change(&mut content.agreed);
        if content == before {
            return Ok(());
        }
        Ok(write_atomic(&self.path, Durability::PowerLoss, |out| {
            serde_json::to_writer_pretty(&mut *out, &content)?;
            out.write_all(b"\n")
        })?)
    }
}

/// What the file says. One that cannot be read must not count as an empty one: the next write would lose it.
fn read(path: &Path) -> Result<Content, ConsentError> {
    let unreadable = |source| ConsentError::Unreadable { path: path.to_owned(), source };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 16 MiB")));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(matches!(consents.all(), Err(ConsentError::Unreadable { .. })));
        assert!(consents.add(consent("tool", "aa")).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
    }
}
