//! Copies the files of a project into a worktree, on every core.
//!
//! In: a listing. Out: what each copy looked like right after it was made. Links are made again only where they cannot
//! lead out of the worktree.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use aiwf_process::Stop;
use aiwf_store::{ConfinedDir, ConfinedError, EntryKind, Hashing, sha256_hex};

use crate::error::WorktreeError;
use crate::listing::{Known, Listing};
use crate::manifest::Entry;
use crate::tree::{Tree, io_error};
use crate::worktree::LeftOutReason;

/// How many files of one directory are copied by one thread at a time.
const FILES_AT_ONCE: usize = 64;
const MAX_THREADS: usize = 8;
/// The largest file that is copied although git does not track it.
pub(crate) const MAX_UNTRACKED_BYTES: u64 = 64 * 1024 * 1024;

/// What became of one file.
enum Copied {
    Made(Entry),
    LeftOut(LeftOutReason),
    /// It is not on the disk.
    Missing,
}

/// Copies the files of a listing; what cannot be copied is added to what it leaves out.
pub(crate) fn copy_listing(
    from: &Path,
    to: &Path,
    listing: &mut Listing,
    stop: &Stop,
) -> Result<BTreeMap<String, Entry>, WorktreeError> {
    let files: Vec<(&String, &Known)> = listing.files.iter().collect();
    let pieces = in_pieces(&files);
    let copied = on_every_core(&pieces, |piece| copy_piece(from, to, piece, stop))?;
    let mut made = BTreeMap::new();
    let mut left_out = Vec::new();
    for (path, copied) in copied.into_iter().flatten() {
        match copied {
            Copied::Made(entry) => drop(made.insert(path, entry)),
            Copied::LeftOut(reason) => left_out.push((path, reason)),
            Copied::Missing => {}
        }
    }
    for (path, reason) in left_out {
        listing.leave_out(path, reason);
    }
    Ok(made)
}

/// Files of one directory, not too many.
fn in_pieces<'f>(files: &'f [(&'f String, &'f Known)]) -> Vec<&'f [(&'f String, &'f Known)]> {
    let directory = |path: &'f str| path.rsplit_once('/').map_or("", |(above, _)| above);
    let same = files.chunk_by(move |(a, _), (b, _)| directory(a) == directory(b));
    same.flat_map(|files| files.chunks(FILES_AT_ONCE)).collect()
}

fn copy_piece(
    from: &Path,
    to: &Path,
    piece: &[(&String, &Known)],
    stop: &Stop,
) -> Result<Vec<(String, Copied)>, WorktreeError> {
    if stop.is_raised() {
        return Err(WorktreeError::Stopped);
    }
    let (mut source, mut target) = (Tree::open(from)?, Tree::open(to)?);
    let copy = |(path, known): &(&String, &Known)| {
        let copied = copy_one(&mut source, &mut target, path, **known);
        Ok(((*path).clone(), copied.map_err(|error| io_error("copy", from, path, error))?))
    };
    piece.iter().map(copy).collect()
}

fn copy_one(source: &mut Tree, target: &mut Tree, path: &str, known: Known) -> Result<Copied, ConfinedError> {
    let missing =
        if known == Known::Sparse { Copied::LeftOut(LeftOutReason::Sparse) } else { Copied::Missing };
    let Some((directory, name)) = source.place(path)? else { return Ok(missing) };
    let Some(look) = directory.look(name)? else { return Ok(missing) };
    match look.kind {
        // What is in it is listed by itself.
        EntryKind::Directory => Ok(missing),
        EntryKind::Special => Ok(Copied::LeftOut(LeftOutReason::Special)),
        EntryKind::Link => {
            let Ok(link) = directory.link_target(name)?.into_string() else {
                return Ok(Copied::LeftOut(LeftOutReason::LinkOutside));
            };
            if !stays_inside(path, &link) {
                return Ok(Copied::LeftOut(LeftOutReason::LinkOutside));
            }
            let (directory, name) = target.create_place(path)?;
            directory.create_link(name, OsStr::new(&link))?;
            let look = directory.look(name)?.ok_or(ConfinedError::Missing)?;
            Ok(Copied::Made(Entry::new(&look, sha256_hex(link.as_bytes()), Some(link))))
        }
        EntryKind::File if known == Known::Untracked && look.n_bytes > MAX_UNTRACKED_BYTES => {
            Ok(Copied::LeftOut(LeftOutReason::TooLarge))
        }
        EntryKind::File => {
            // Opened here so that a file that cannot be read is told from a disk that cannot be written.
            match directory.file(name) {
                Err(ConfinedError::System(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Ok(Copied::LeftOut(LeftOutReason::Unreadable));
                }
                Err(ConfinedError::Missing) => return Ok(missing),
                _ => {}
            }
            let (to, _) = target.create_place(path)?;
            let (look, sha256) = directory.copy_file(name, to, Hashing::Sha256)?;
            Ok(Copied::Made(Entry::new(&look, sha256.unwrap_or_default(), None)))
        }
    }
}

/// Whether a link leads nowhere outside, whatever the other links are.
///
/// `..` goes up from the link's own directory, which is a real one, and then only down: through directories, or through
/// links of which the same is true.
fn stays_inside(path: &str, link: &str) -> bool {
    if link.is_empty() || link.starts_with('/') {
        return false;
    }
    let depth = path.matches('/').count();
    let parts: Vec<&str> = link.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let n_up = parts.iter().take_while(|part| **part == "..").count();
    let goes_down = parts.iter().skip(n_up).all(|part| *part != "..");
    let is_reserved = parts.iter().any(|part| aiwf_store::is_reserved_dir(part));
    n_up <= depth && goes_down && !is_reserved
}

/// Copies an ignored directory of the project, such as `node_modules`, unless it is not there.
///
/// Its links stay as they are, but for those that lead to the project by an absolute path: they lead to the worktree.
pub(crate) fn bring_directory(
    from: &Path,
    to: &Path,
    final_top: &Path,
    path: &str,
    known: &BTreeMap<String, Entry>,
    stop: &Stop,
) -> Result<(), WorktreeError> {
    let failed = |error| io_error("copy", from, path, error);
    let (mut source, target) = (Tree::open(from)?, Tree::open(to)?);
    match source.look(path).map_err(failed)?.map(|look| look.kind) {
        Some(EntryKind::Directory) => {}
        None => return Ok(()),
        Some(EntryKind::File | EntryKind::Link | EntryKind::Special) => {
            return Err(WorktreeError::BadPath { path: path.to_owned(), problem: "it is not a directory" });
        }
    }
    let mut files = Vec::new();
    let mut directories = vec![path.to_owned()];
    while let Some(directory) = directories.pop() {
        if stop.is_raised() {
            return Err(WorktreeError::Stopped);
        }
        let Some(opened) = source.directory(&directory).map_err(failed)? else { continue };
        let made = target.create_directory(&directory).map_err(failed)?;
        for (name, kind) in opened.names().map_err(failed)? {
            // Tools that make these directories use no such names, and an agent could not be told about them.
            let Some(name) = name.to_str() else { continue };
            let path = format!("{directory}/{name}");
            match kind {
                EntryKind::Directory => directories.push(path),
                EntryKind::File if !known.contains_key(&path) => files.push(path),
                EntryKind::Link if !known.contains_key(&path) => {
                    let link = opened.link_target(name).map_err(failed)?;
                    let link = match Path::new(&link).strip_prefix(from) {
                        Ok(inside) => final_top.join(inside),
                        Err(_) => PathBuf::from(link),
                    };
                    made.create_link(name, link.as_os_str()).map_err(failed)?;
                }
                EntryKind::File | EntryKind::Link | EntryKind::Special => {}
            }
        }
    }
    let same_directory = |a: &String, b: &String| directory_of(a) == directory_of(b);
    let pieces: Vec<&[String]> =
        files.chunk_by(same_directory).flat_map(|files| files.chunks(FILES_AT_ONCE)).collect();
    on_every_core(&pieces, |piece| {
        if stop.is_raised() {
            return Err(WorktreeError::Stopped);
        }
        let directory = piece.first().map_or("", |path| directory_of(path));
        let open =
            |tree: &Tree| tree.directory(directory).and_then(|found| found.ok_or(ConfinedError::Missing));
        let (source, target) = (Tree::open(from)?, Tree::open(to)?);
        let (source, target) = (open(&source).map_err(failed)?, open(&target).map_err(failed)?);
        piece.iter().try_for_each(|path| {
            bring_file(&source, &target, path).map_err(|error| io_error("copy", from, path, error))
        })
    })?;
    Ok(())
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(above, _)| above)
}

fn bring_file(source: &ConfinedDir, target: &ConfinedDir, path: &str) -> Result<(), ConfinedError> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    match source.copy_file(name, target, Hashing::Nothing) {
        // It went while we were copying.
        Err(ConfinedError::Missing) | Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes something of each piece, in their order; the first error ends the work.
fn on_every_core<I: Sync, T: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<T, WorktreeError> + Sync,
) -> Result<Vec<T>, WorktreeError> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut made = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return Ok(made) };
            match work(item) {
                Ok(item) => made.push((number, item)),
                Err(error) => {
                    next.store(items.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let n_threads = n_cores.min(MAX_THREADS).min(items.len());
    let mut made = std::thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads)
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, take).ok())
            .collect();
        let mut made = take();
        for other in others {
            let more = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            made = made.and_then(|mut made| {
                made.extend(more?);
                Ok(made)
            });
        }
        made
    })?;
    made.sort_unstable_by_key(|(number, _)| *number);
    Ok(made.into_iter().map(|(_, item)| item).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn links_that_go_up_too_far_or_up_again_lead_outside() {
        for (path, link) in [("a/l", "b"), ("a/l", "../b/c"), ("l", "./x"), ("a/b/l", "../../x/y")] {
            assert!(stays_inside(path, link), "{path} -> {link}");
        }
        for (path, link) in [
            ("a/l", "/etc"),
            ("a/l", "../../x"),
            ("l", ".."),
            ("a/l", "b/../../x"),
            ("l", ""),
            ("l", ".git/config"),
        ] {
            assert!(!stays_inside(path, link), "{path} -> {link}");
        }
    }

    mod properties {
        use super::*;

        proptest! {
            /// A tree of links, each of which may stay: following any path from the top never leaves it.
            #[test]
            fn no_path_through_links_that_stay_leaves_the_tree(
                links in prop::collection::btree_map("[ab](/[ab]){0,2}", "(\\.\\./){0,3}(\\./)?([ab](/(\\.\\.|[ab])){0,2})?", 1..6),
                walk in prop::collection::vec("[ab]", 1..6),
            ) {
                let kept: BTreeMap<String, String> =
                    links.into_iter().filter(|(path, link)| stays_inside(path, link)).collect();
                // Real directories and links cannot have one name: only links whose parents are no links are made.
                let is_real = |path: &str| {
                    path.match_indices('/').all(|(at, _)| !path.get(..at).is_some_and(|above| kept.contains_key(above)))
                };
                let mut place: Vec<String> = Vec::new();
                let mut left: Vec<String> = walk.into_iter().rev().collect();
                for _ in 0..200 {
                    let Some(part) = left.pop() else { break };
                    if part == ".." {
                        prop_assert!(place.pop().is_some(), "left the tree");
                        continue;
                    }
                    place.push(part);
                    let path = place.join("/");
                    if let Some(link) = kept.get(&path).filter(|_| is_real(&path)) {
                        place.pop();
                        let parts = link.split('/').filter(|part| !matches!(*part, "" | "."));
                        left.extend(parts.rev().map(str::to_owned));
                    }
                }
            }
        }
    }
}
