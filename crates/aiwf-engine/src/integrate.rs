//! Lets other agents call aiwf: writes their files, shows every change first, and takes back exactly what it added.
//!
//! `aiwf-provider` knows which files an agent reads; `edit` merges an entry into a file and removes it, as text. What was
//! added is remembered in the user's state by hash and position, never as a copy of the file.

mod edit;
mod integrate_error;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aiwf_config::variable;
pub use aiwf_provider::IntegrationScope;
use aiwf_provider::{INTEGRATED_AGENTS, IntegrationContent, IntegrationFile, IntegrationPlaces, integration};
use aiwf_store::{ConfinedDir, ConfinedError, read_user_file, sha256_hex, update_user_file};
pub use integrate_error::IntegrateError;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::session::diff::unified;

/// The largest file of an agent that is edited.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Everything that integrating an agent, or taking it back, changes.
#[derive(Clone, Debug, Serialize)]
pub struct IntegrationPlan {
    pub agent: String,
    pub scope: IntegrationScope,
    pub removes: bool,
    pub files: Vec<IntegrationChange>,
}

/// What becomes of a file.
#[derive(Clone, Debug, Serialize)]
pub struct IntegrationChange {
    /// As people read it.
    pub path: String,
    pub effect: IntegrationEffect,
    /// Why a file is left as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub diff: String,
    #[serde(skip)]
    file: IntegrationFile,
    #[serde(skip)]
    before: Option<Vec<u8>>,
    #[serde(skip)]
    after: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegrationEffect {
    Created,
    Changed,
    Removed,
    /// Nothing is to do.
    Same,
    /// Something is there that is not ours.
    Kept,
}

/// What was added to a file: enough to take it out again, and nothing else of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
struct Added {
    /// SHA-256 before; none for a file that did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    after: String,
    /// Where the bytes differ.
    offset: usize,
    removed: String,
    inserted: String,
    /// Directories that were made for it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    directories: Vec<PathBuf>,
}

/// By absolute path.
type Record = BTreeMap<String, Added>;

impl IntegrationPlan {
    /// Whether anything would be written or removed.
    pub fn has_changes(&self) -> bool {
        self.files.iter().any(IntegrationChange::is_change)
    }
}

impl IntegrationChange {
    fn is_change(&self) -> bool {
        matches!(
            self.effect,
            IntegrationEffect::Created | IntegrationEffect::Changed | IntegrationEffect::Removed
        )
    }
}

impl Engine {
    /// Says what integrating an agent would change; writes nothing.
    pub fn plan_integration(
        &self,
        agent: &str,
        scope: Option<IntegrationScope>,
        removes: bool,
    ) -> Result<IntegrationPlan, IntegrateError> {
        let settings = self.settings();
        let home = settings.home.as_deref().ok_or(IntegrateError::NoHome)?;
        let known = INTEGRATED_AGENTS.iter().find(|(name, _)| *name == agent);
        let (_, scopes) = known.ok_or_else(|| IntegrateError::UnknownAgent {
            name: agent.to_owned(),
            known: INTEGRATED_AGENTS.map(|(name, _)| name.to_owned()).to_vec(),
        })?;
        let scope = scope.or(scopes.first().copied()).unwrap_or(IntegrationScope::User);
        let places = IntegrationPlaces { project_root: &settings.project_root, home, variable };
        let files = integration(agent, scope, &places)
            .ok_or_else(|| IntegrateError::NoScope { agent: agent.to_owned(), scope })?;
        let record = match self.integration_record() {
            Some(path) => read_user_file::<Record>(&path)?,
            None => Record::new(),
        };
        let changes: Result<Vec<IntegrationChange>, IntegrateError> = files
            .into_iter()
            .map(|file| change(file, removes, &record, &settings.project_root, home))
            .collect();
        Ok(IntegrationPlan { agent: agent.to_owned(), scope, removes, files: changes? })
    }

    /// Writes what the plan says; a file that changed since is refused.
    pub fn write_integration(&self, plan: &IntegrationPlan) -> Result<(), IntegrateError> {
        let mut made_before: Vec<(PathBuf, PathBuf)> = Vec::new();
        for change in plan.files.iter().filter(|change| change.is_change()) {
            let refused = |error: ConfinedError| refusal(&change.path, error);
            let (root, below, name) = parts(&change.file);
            let before = change.before.as_deref().map(sha256_hex);
            let key = root.join(&below).join(&name).display().to_string();
            if let Some(after) = &change.after {
                let made = missing_directories(&root, &below);
                if !root.is_dir() {
                    aiwf_store::create_dir(&root)?;
                }
                let directory = ConfinedDir::create_below(&root, &below).map_err(refused)?;
                directory.write_if_unchanged(&name, before.as_deref(), after).map_err(refused)?;
                self.remember(&key, (!plan.removes).then(|| added(change.before.as_deref(), after, made)))?;
            } else {
                let directory = ConfinedDir::open_below(&root, &below).map_err(refused)?;
                directory.remove_if_unchanged(&name, before.as_deref()).map_err(refused)?;
                let forgotten = self.remember(&key, None)?;
                let directories = forgotten.into_iter().flat_map(|added| added.directories);
                made_before.extend(directories.map(|made| (root.clone(), made)));
            }
        }
        // The deepest first, once all files are gone.
        made_before.sort_by_key(|(_, made)| std::cmp::Reverse(made.components().count()));
        for (root, made) in made_before {
            remove_if_empty(&root, &made);
        }
        Ok(())
    }

    fn integration_record(&self) -> Option<PathBuf> {
        self.settings().state_dir().map(|state| state.join("integrations.json"))
    }

    /// Remembers what was added to a file, or forgets it; returns what was known before.
    fn remember(&self, key: &str, added: Option<Added>) -> Result<Option<Added>, IntegrateError> {
        let Some(path) = self.integration_record() else { return Ok(None) };
        Ok(update_user_file(&path, |record: &mut Record| match added {
            Some(added) => record.insert(key.to_owned(), added),
            None => record.remove(key),
        })?)
    }
}

fn refusal(path: &str, error: ConfinedError) -> IntegrateError {
    IntegrateError::Unwritable { path: path.to_owned(), source: error.into() }
}

/// The directory that a file stays in, the way below it, and its name.
fn parts(file: &IntegrationFile) -> (PathBuf, PathBuf, String) {
    let path = Path::new(&file.path);
    let below = path.parent().unwrap_or(Path::new("")).to_owned();
    (file.root.clone(), below, path.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

fn missing_directories(root: &Path, below: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = below
        .ancestors()
        .filter(|path| !path.as_os_str().is_empty() && root.join(path).symlink_metadata().is_err())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    missing
}

fn remove_if_empty(root: &Path, below: &Path) {
    let parent = below.parent().unwrap_or(Path::new(""));
    let Some(name) = below.file_name().and_then(|name| name.to_str()) else { return };
    let Ok(directory) = ConfinedDir::open_below(root, parent) else { return };
    let is_empty =
        directory.directory(name).and_then(|made| made.entries()).is_ok_and(|entries| entries.is_empty());
    if is_empty {
        // One that cannot be removed does no harm.
        directory.remove(name).unwrap_or_default();
    }
}

/// What becomes of a file.
fn change(
    file: IntegrationFile,
    removes: bool,
    record: &Record,
    project_root: &Path,
    home: &Path,
) -> Result<IntegrationChange, IntegrateError> {
    let absolute = file.root.join(&file.path);
    let shown = match (absolute.strip_prefix(project_root), absolute.strip_prefix(home)) {
        (Ok(below), _) if file.root == project_root => below.display().to_string(),
        (_, Ok(below)) => format!("~/{}", below.display()),
        _ => absolute.display().to_string(),
    };
    let (root, below, name) = parts(&file);
    let refused = |error: ConfinedError| refusal(&shown, error);
    let before = match ConfinedDir::open_below(&root, &below) {
        Ok(directory) => directory.read(&name, MAX_BYTES).map_err(refused)?,
        Err(ConfinedError::Missing) => None,
        Err(error) => return Err(refused(error)),
    };
    let added = record.get(&absolute.display().to_string());
    let text = before
        .as_deref()
        .map(|bytes| {
            std::str::from_utf8(bytes)
                .map_err(|error| IntegrateError::NotText { path: shown.clone(), offset: error.valid_up_to() })
        })
        .transpose()?;
    let unreadable = |message: String| IntegrateError::Unparsable { path: shown.clone(), message };
    let mut note = None;
    let after: Option<String> = if removes {
        match (text, added) {
            (None, _) => None,
            (Some(text), Some(added)) if sha256_hex(text.as_bytes()) == added.after => {
                taken_back(text, added)
            }
            (Some(text), added) => match file.content {
                IntegrationContent::Own(own) if text == own => None,
                IntegrationContent::Own(_) => {
                    note = Some("it was changed since, or not written by aiwf".to_owned());
                    Some(text.to_owned())
                }
                content @ (IntegrationContent::JsonServer { .. } | IntegrationContent::TomlServer { .. }) => {
                    // What this command made around its entry goes with it when it is empty.
                    let made_servers = added.is_some_and(|added| made_servers(added, content));
                    let edited = edit::remove(text, content, made_servers).map_err(unreadable)?;
                    if let edit::Edited::Foreign(found) = &edited {
                        note = Some(format!("its entry runs something else: {found}"));
                    }
                    Some(edited.text_or(text))
                }
            },
        }
    } else {
        match file.content {
            IntegrationContent::Own(own) => match text {
                Some(text) if text != own => return Err(IntegrateError::Exists { path: shown }),
                _ => Some(own.to_owned()),
            },
            content @ (IntegrationContent::JsonServer { .. } | IntegrationContent::TomlServer { .. }) => {
                match edit::add(text.unwrap_or_default(), content).map_err(unreadable)? {
                    edit::Edited::Foreign(found) => {
                        return Err(IntegrateError::EntryExists { path: shown, found });
                    }
                    edited @ (edit::Edited::Text(_) | edit::Edited::Same) => {
                        Some(edited.text_or(text.unwrap_or_default()))
                    }
                }
            }
        }
    };
    let after = after.map(String::into_bytes);
    let effect = match (&before, &after) {
        _ if note.is_some() => IntegrationEffect::Kept,
        (before, after) if before == after => IntegrationEffect::Same,
        (None, _) => IntegrationEffect::Created,
        (Some(_), Some(_)) => IntegrationEffect::Changed,
        (Some(_), None) => IntegrationEffect::Removed,
    };
    let diff = unified(&shown, before.as_deref(), after.as_deref());
    Ok(IntegrationChange { path: shown, effect, note, diff, file, before, after })
}

/// Where the texts differ, as one replaced stretch.
fn added(before: Option<&[u8]>, after: &[u8], directories: Vec<PathBuf>) -> Added {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (old, new) = (text(before.unwrap_or_default()), text(after));
    let mut offset = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
    while !old.is_char_boundary(offset) || !new.is_char_boundary(offset) {
        offset -= 1;
    }
    let (old_rest, new_rest) = (old.get(offset..).unwrap_or_default(), new.get(offset..).unwrap_or_default());
    let is_same = |(one, other): &(u8, u8)| one == other;
    let mut n_shared = old_rest.bytes().rev().zip(new_rest.bytes().rev()).take_while(is_same).count();
    let end = |rest: &str, n_shared: usize| rest.len() - n_shared;
    while !old_rest.is_char_boundary(end(old_rest, n_shared))
        || !new_rest.is_char_boundary(end(new_rest, n_shared))
    {
        n_shared -= 1;
    }
    let stretch = |rest: &str| rest.get(..end(rest, n_shared)).unwrap_or_default().to_owned();
    Added {
        before: before.map(sha256_hex),
        after: sha256_hex(after),
        offset,
        removed: stretch(old_rest),
        inserted: stretch(new_rest),
        directories,
    }
}

/// The text before it was changed: `None` for a file that did not exist.
fn taken_back(text: &str, added: &Added) -> Option<String> {
    let before = added.before.as_ref()?;
    let old = text.get(..added.offset).and_then(|head| {
        let tail = text.get(added.offset..)?.strip_prefix(added.inserted.as_str())?;
        Some(format!("{head}{}{tail}", added.removed))
    });
    // A record that does not fit the file changes nothing.
    Some(old.filter(|old| sha256_hex(old.as_bytes()) == *before).unwrap_or_else(|| text.to_owned()))
}

/// Whether the object or table of servers was added together with the entry.
fn made_servers(added: &Added, content: IntegrationContent) -> bool {
    match content {
        IntegrationContent::JsonServer { servers, .. } => added.inserted.contains(servers),
        IntegrationContent::TomlServer { .. } | IntegrationContent::Own(_) => false,
    }
}

#[cfg(test)]
#[path = "integrate_tests.rs"]
mod tests;
