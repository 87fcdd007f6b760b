//! Writes the files of a commit to a directory, to look at them.
//!
//! git prints the bytes of its objects; nothing is checked out, so no hook, filter or attribute of the repository has a
//! part in it. A link to a file of the same commit becomes a copy of that file, and no other link is written.

use std::collections::BTreeMap;
use std::path::Path;

use aiwf_store::{Durability, create_dir};

use crate::error::WorktreeError;
use crate::git::pieces;
use crate::repository::{Repository, check_id};
use crate::scan::MAX_FILE_BYTES;
use crate::tree::{Tree, io_error};

/// How many bytes git prints at once.
const BATCH_BYTES: u64 = 32 * 1024 * 1024;
/// How many links are followed to a file.
const MAX_LINKS: usize = 8;

/// git knows no size of an object that a partial clone left behind. Without its files a commit would be another one.
fn not_here(path: &str) -> WorktreeError {
    WorktreeError::Git {
        action: "read the files of the commit",
        message: format!("this clone does not have the content of `{path}`; `git fetch --refetch` gets it"),
    }
}

/// A file of a commit.
struct Blob {
    path: String,
    id: String,
    bytes: u64,
    is_link: bool,
}

impl Repository {
    /// The commit that a revision names; `None` if it names none.
    pub fn commit_of(&self, revision: &str) -> Result<Option<String>, WorktreeError> {
        let name = format!("{revision}^{{commit}}");
        let args = ["rev-parse", "-q", "--verify", "--end-of-options", &name];
        let output = self.looking(&[]).run("read the revision", &args, Vec::new())?;
        // An ambiguous or malformed revision ends with 128 and means no commit either.
        let line = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        Ok(if output.code == Some(0) && check_id(&line).is_ok() { Some(line) } else { None })
    }

    /// Writes the files of the project as they were in a commit; `to` must be an empty directory.
    pub fn export(&self, commit: &str, to: &Path) -> Result<(), WorktreeError> {
        check_id(commit)?;
        create_dir(to)?;
        let blobs = self.blobs(commit)?;
        let (links, files): (Vec<&Blob>, Vec<&Blob>) = blobs.iter().partition(|blob| blob.is_link);
        let mut tree = Tree::open(to)?;
        self.write(&files, &mut tree, to)?;
        let targets = self.targets(&links)?;
        let by_path: BTreeMap<&str, &Blob> = blobs.iter().map(|blob| (blob.path.as_str(), blob)).collect();
        let copies: Vec<Blob> = links
            .iter()
            .filter_map(|link| {
                let file = resolved(&link.path, &targets, &by_path)?;
                Some(Blob { path: link.path.clone(), id: file.id.clone(), bytes: file.bytes, is_link: false })
            })
            .collect();
        self.write(&copies.iter().collect::<Vec<_>>(), &mut tree, to)
    }

    fn blobs(&self, commit: &str) -> Result<Vec<Blob>, WorktreeError> {
        let mut args = vec!["ls-tree", "-r", "-z", "-l", "--full-tree", commit];
        if !self.below.is_empty() {
            args.extend(["--", self.below.as_str()]);
        }
        let printed = self.looking(&[]).output("list the files of the commit", &args, Vec::new())?;
        let blob = |entry: &[u8]| {
            let entry = std::str::from_utf8(entry).ok()?;
            let (about, path) = entry.split_once('\t')?;
            let path = path.strip_prefix(&self.below)?;
            let mut words = about.split_ascii_whitespace();
            let (mode, kind, id, bytes) = (words.next()?, words.next()?, words.next()?, words.next()?);
            if kind != "blob" || !is_plain(path) {
                return None;
            }
            let Ok(bytes) = bytes.parse() else { return Some(Err(not_here(path))) };
            (bytes <= MAX_FILE_BYTES).then(|| {
                Ok(Blob { path: path.to_owned(), id: id.to_owned(), bytes, is_link: mode == "120000" })
            })
        };
        pieces(&printed).filter_map(blob).collect()
    }

    fn write(&self, files: &[&Blob], tree: &mut Tree, to: &Path) -> Result<(), WorktreeError> {
        self.read(files, |file, content| {
            let written = tree
                .create_place(&file.path)
                .and_then(|(directory, name)| directory.write(name, content, Durability::Process));
            written.map_err(|error| io_error("write", to, &file.path, error))
        })
    }

    /// Where links lead, as they say.
    fn targets(&self, links: &[&Blob]) -> Result<BTreeMap<String, String>, WorktreeError> {
        let mut targets = BTreeMap::new();
        self.read(links, |link, content| {
            if let Ok(target) = std::str::from_utf8(content) {
                targets.insert(link.path.clone(), target.to_owned());
            }
            Ok(())
        })?;
        Ok(targets)
    }

    /// Reads blobs, several megabytes at once.
    fn read(
        &self,
        blobs: &[&Blob],
        mut on_blob: impl FnMut(&Blob, &[u8]) -> Result<(), WorktreeError>,
    ) -> Result<(), WorktreeError> {
        let mut rest = blobs;
        while !rest.is_empty() {
            let mut sum = 0;
            let fits = rest.iter().take_while(|blob| {
                sum += blob.bytes;
                sum <= BATCH_BYTES
            });
            let (batch, after) = rest.split_at(fits.count().max(1));
            rest = after;
            let names = batch.iter().flat_map(|blob| [blob.id.as_str(), "\n"]).collect::<String>();
            let action = "read the files of the commit";
            let printed = self.looking(&[]).output(action, &["cat-file", "--batch"], names.into_bytes())?;
            let mut printed = printed.as_slice();
            for blob in batch {
                let odd = || WorktreeError::Git { action, message: format!("`{}` is not there", blob.path) };
                // A line with id, type and size, then the bytes and a line end.
                let line = line_end(printed).ok_or_else(odd)?;
                let size = usize::try_from(blob.bytes).unwrap_or(usize::MAX);
                let content = printed.get(line + 1..).and_then(|rest| rest.get(..size)).ok_or_else(odd)?;
                on_blob(blob, content)?;
                printed = printed.get(line + size + 2..).unwrap_or_default();
            }
        }
        Ok(())
    }
}

fn line_end(text: &[u8]) -> Option<usize> {
    text.iter().position(|byte| *byte == b'\n')
}

/// Whether a path stays below its directory and outside of git's own.
fn is_plain(path: &str) -> bool {
    !path.is_empty()
        && path.split('/').all(|part| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git"))
}

/// The file of the commit that a link leads to.
fn resolved<'b>(
    link: &str,
    targets: &BTreeMap<String, String>,
    by_path: &BTreeMap<&str, &'b Blob>,
) -> Option<&'b Blob> {
    let mut path = link.to_owned();
    for _ in 0..MAX_LINKS {
        let target = targets.get(&path)?;
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.pop();
        if target.starts_with('/') {
            return None;
        }
        for part in target.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        let next = parts.join("/");
        let blob = by_path.get(next.as_str())?;
        if !blob.is_link {
            return Some(blob);
        }
        path = next;
    }
    None
}

#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
