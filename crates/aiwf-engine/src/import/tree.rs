//! Reads the parts of a stranger's directory that an import needs: no links, bounded, text only.

use std::collections::BTreeMap;
use std::path::Path;

use aiwf_store::{ConfinedDir, ConfinedError, EntryKind};

use super::NotCarried;
use super::import_error::ImportError;

const MAX_FILE_BYTES: u64 = 256 * 1024;
const MAX_TOTAL_BYTES: usize = 16 * 1024 * 1024;
const MAX_ENTRIES: usize = 5_000;
const MAX_DEPTH: usize = 8;

/// The text files below some paths, by path relative to the root, with `/` between the parts.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: BTreeMap<String, String>,
    /// What is there and was not read.
    pub(super) skipped: Vec<NotCarried>,
    n_entries: usize,
    n_bytes: usize,
}

impl Tree {
    /// Reads the files below the wanted paths, each a directory or a file; missing ones are fine.
    pub(super) fn read(root: &Path, wanted: &[String]) -> Result<Self, ImportError> {
        let unreadable = |source| ImportError::Unreadable { path: root.to_owned(), source };
        let mut tree = Self::default();
        for path in wanted {
            let mut directory = ConfinedDir::open(root).map_err(unreadable)?;
            let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            let last = parts.pop();
            let mut is_missing = false;
            for part in parts {
                match directory.directory(part) {
                    Ok(next) => directory = next,
                    Err(error) => {
                        tree.skip_unless_missing(path, &error);
                        is_missing = true;
                        break;
                    }
                }
            }
            let Some(last) = last else {
                continue;
            };
            if is_missing {
                continue;
            }
            match directory.directory(last) {
                Ok(below) => tree.walk(&below, path, 0, root)?,
                Err(ConfinedError::Missing) => {}
                Err(ConfinedError::Link) => tree.skip_unless_missing(path, &ConfinedError::Link),
                Err(_) => tree.add(&directory, last, path),
            }
        }
        Ok(tree)
    }

    /// The text of a file, unless it is blank.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str).filter(|text| !text.trim().is_empty())
    }

    /// The files below a directory, by path below it.
    pub(super) fn below<'t>(&'t self, directory: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.files.iter().filter_map(move |(path, text)| {
            Some((path.strip_prefix(directory)?.strip_prefix('/')?, text.as_str()))
        })
    }

    fn walk(
        &mut self,
        directory: &ConfinedDir,
        path: &str,
        depth: usize,
        root: &Path,
    ) -> Result<(), ImportError> {
        let entries = match directory.entries() {
            Ok(entries) => entries,
            Err(error) => {
                self.skip_unless_missing(path, &error);
                return Ok(());
            }
        };
        for entry in entries {
            self.n_entries += 1;
            if self.n_entries > MAX_ENTRIES || self.n_bytes > MAX_TOTAL_BYTES {
                return Err(ImportError::TooMany { path: root.to_owned(), limit: MAX_ENTRIES });
            }
            let below = if path.is_empty() { entry.name.clone() } else { format!("{path}/{}", entry.name) };
            match entry.kind {
                EntryKind::Directory if entry.name == ".git" || entry.name == "node_modules" => {}
                EntryKind::Directory if depth >= MAX_DEPTH => {
                    self.skip(&below, "a directory more than 8 levels deep");
                }
                EntryKind::Directory => match directory.directory(&entry.name) {
                    Ok(next) => self.walk(&next, &below, depth + 1, root)?,
                    Err(error) => self.skip_unless_missing(&below, &error),
                },
                EntryKind::File => self.add(directory, &entry.name, &below),
                EntryKind::Link => self.skip(&below, "a link; links are not followed"),
                EntryKind::Special => self.skip(&below, "not a regular file"),
            }
        }
        Ok(())
    }

    fn add(&mut self, directory: &ConfinedDir, name: &str, path: &str) {
        let bytes = match directory.read(name, MAX_FILE_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(ConfinedError::TooLarge { .. }) => return self.skip(path, "larger than 256 KiB"),
            Err(error) => return self.skip_unless_missing(path, &error),
        };
        self.n_bytes += bytes.len();
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => {
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
                self.files.insert(path.to_owned(), text);
            }
            Ok(_) | Err(_) => self.skip(path, "not text"),
        }
    }

    fn skip_unless_missing(&mut self, path: &str, error: &ConfinedError) {
        if matches!(error, ConfinedError::Link) {
            self.skip(path, "a link; links are not followed");
        } else if !matches!(error, ConfinedError::Missing) {
            self.skip(path, "not readable");
        }
    }

    fn skip(&mut self, path: &str, why: &str) {
        self.skipped.push(NotCarried {
            file: path.to_owned(),
            line: None,
            what: "the file".to_owned(),
            why: format!("it is {why}"),
            instead: "put a readable text file there and import again, if it matters".to_owned(),
        });
    }
}
