//! Reads a `.bmad` archive, which may be hostile.
//!
//! In: the bytes of a zip. Out: its files in memory, or every reason for refusing it; nothing touches the disk. The
//! central directory is parsed here first, because libraries keep only one entry per name: names, kinds, sizes and
//! overlaps are checked on the actual entries, more than the library must then agree.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use zip::ZipArchive;

use crate::files::{Files, MAX_DEPTH, MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES, is_left_out, name_fault};

/// Size limit of an archive.
pub(crate) const MAX_ARCHIVE_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum compression ratio of files larger than [`RATIO_FROM`].
const MAX_RATIO: u64 = 200;
const RATIO_FROM: u64 = 1024 * 1024;

/// Why an archive is refused: all reasons.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", some_of(.reasons))]
pub struct ArchiveError {
    /// At least one reason, lower case, in the order of entries.
    pub reasons: Vec<String>,
}

/// The first reasons in one line, and the number of the rest.
pub(crate) fn some_of(reasons: &[String]) -> String {
    const MOST: usize = 5;
    let shown = reasons.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join("; ");
    match reasons.len().saturating_sub(MOST) {
        0 => shown,
        n_more => format!("{shown}; and {n_more} more"),
    }
}

impl ArchiveError {
    fn one(reason: impl Into<String>) -> Self {
        Self { reasons: vec![reason.into()] }
    }
}

/// An entry of the archive's central directory.
struct Entry {
    name: Vec<u8>,
    flags: u16,
    method: u16,
    packed: u64,
    size: u64,
    /// The file type bits, if the archive was made on a Unix system.
    mode: u32,
    offset: u64,
}

const DIRECTORY_END: [u8; 4] = *b"PK\x05\x06";
const DIRECTORY_ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCAL_ENTRY: [u8; 4] = *b"PK\x03\x04";

/// The files of an archive, without hidden ones.
pub fn read_archive(bytes: &[u8]) -> Result<Files, ArchiveError> {
    if bytes.len() as u64 > MAX_ARCHIVE_BYTES {
        return Err(ArchiveError::one(format!("it is larger than {MAX_ARCHIVE_BYTES} bytes")));
    }
    let entries = entries(bytes).map_err(ArchiveError::one)?;
    let reasons = faults(bytes, &entries);
    if !reasons.is_empty() {
        return Err(ArchiveError { reasons });
    }
    unpack(bytes, &entries)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

/// The entries of the central directory.
fn entries(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let end = (0..=bytes.len().saturating_sub(22))
        .rev()
        .take(usize::from(u16::MAX) + 1)
        .find(|at| {
            bytes.get(*at..at + 4) == Some(&DIRECTORY_END)
                && u16_at(bytes, at + 20)
                    .is_some_and(|n_comment| at + 22 + usize::from(n_comment) == bytes.len())
        })
        .ok_or("it is not a zip archive")?;
    let number = |at: usize| u16_at(bytes, end + at).map(usize::from).unwrap_or_default();
    let place = |at: usize| u32_at(bytes, end + at).unwrap_or_default();
    if number(4) != 0 || number(6) != 0 || number(8) != number(10) {
        return Err("it is part of a multi-volume archive".to_owned());
    }
    let n_entries = number(10);
    if n_entries == usize::from(u16::MAX) || place(12) == u32::MAX || place(16) == u32::MAX {
        return Err("it is a Zip64 archive, which is not supported".to_owned());
    }
    if n_entries > MAX_FILES {
        return Err(format!("it has {n_entries} entries, more than {MAX_FILES}"));
    }
    let start = place(16) as usize;
    if start + place(12) as usize != end {
        return Err("its central directory is misplaced".to_owned());
    }
    let broken = || "its central directory is damaged".to_owned();
    let mut entries = Vec::with_capacity(n_entries);
    let mut at = start;
    for _ in 0..n_entries {
        if bytes.get(at..at + 4) != Some(&DIRECTORY_ENTRY) {
            return Err(broken());
        }
        let short = |offset: usize| u16_at(bytes, at + offset).ok_or_else(broken);
        let long = |offset: usize| u32_at(bytes, at + offset).ok_or_else(broken);
        let n_name = usize::from(short(28)?);
        let name = bytes.get(at + 46..at + 46 + n_name).ok_or_else(broken)?.to_vec();
        let is_unix = matches!(short(4)? >> 8, 3 | 19);
        entries.push(Entry {
            name,
            flags: short(8)?,
            method: short(10)?,
            packed: u64::from(long(20)?),
            size: u64::from(long(24)?),
            mode: if is_unix { long(38)? >> 16 } else { 0 },
            offset: u64::from(long(42)?),
        });
        at += 46 + n_name + usize::from(short(30)?) + usize::from(short(32)?);
    }
    if at != end {
        return Err(broken());
    }
    Ok(entries)
}

/// All problems of the entries.
fn faults(bytes: &[u8], entries: &[Entry]) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut seen: BTreeMap<String, (String, bool)> = BTreeMap::new();
    let mut total: u64 = 0;
    for entry in entries {
        let shown = shown_name(&entry.name);
        let mut refuse = |reason: &str| reasons.push(format!("`{shown}` {reason}"));
        let Ok(name) = std::str::from_utf8(&entry.name) else {
            refuse("is not a UTF-8 name");
            continue;
        };
        let is_directory = name.ends_with('/');
        let path = name.strip_suffix('/').unwrap_or(name);
        if let Some(fault) = name_fault(path) {
            refuse(fault);
        }
        if path.split('/').count() > MAX_DEPTH {
            refuse("is nested too deeply");
        }
        // Encrypted, strongly encrypted, or with a masked header.
        if entry.flags & 0b10_0000_0100_0001 != 0 {
            refuse("is encrypted");
        }
        if !matches!(entry.method, 0 | 8) {
            refuse("uses an unsupported compression method");
        }
        match entry.mode & 0o170_000 {
            0 | 0o100_000 => {}
            0o040_000 if is_directory => {}
            0o120_000 => refuse("is a link"),
            _ => refuse("is neither a file nor a directory"),
        }
        if entry.size > MAX_FILE_BYTES {
            refuse("is too large");
        } else if entry.size > RATIO_FROM && entry.size / entry.packed.max(1) > MAX_RATIO {
            refuse("expands too much when it is unpacked");
        }
        if is_directory && entry.size > 0 {
            refuse("is a directory with content");
        }
        total = total.saturating_add(entry.size);
        let key: Vec<String> = path.split('/').map(aiwf_store::folded).collect();
        match seen.insert(key.join("/"), (name.to_owned(), is_directory)) {
            Some((earlier, _)) if earlier == name => refuse("occurs twice"),
            Some((earlier, _)) => {
                refuse(&format!("is the same file as `{}` on some systems", shown_name(earlier.as_bytes())));
            }
            None => {}
        }
        if local_name(bytes, entry) != Some(&entry.name) {
            refuse("has a different name in its local header");
        }
    }
    for (key, (name, _)) in &seen {
        let files_above = key.match_indices('/').filter_map(|(at, _)| seen.get(key.get(..at)?));
        for (above, _) in files_above.filter(|(_, is_directory)| !is_directory) {
            reasons.push(format!(
                "`{}` needs a directory, but `{}` is a file",
                shown_name(name.as_bytes()),
                shown_name(above.as_bytes())
            ));
        }
    }
    if total > MAX_TOTAL_BYTES {
        reasons.push(format!("its files have {total} bytes in total, more than {MAX_TOTAL_BYTES}"));
    }
    if overlaps(entries) {
        reasons.push("its entries overlap".to_owned());
    }
    reasons
}

fn local_name<'a>(bytes: &'a [u8], entry: &Entry) -> Option<&'a [u8]> {
    let at = usize::try_from(entry.offset).ok()?;
    if bytes.get(at..at.checked_add(4)?)? != LOCAL_ENTRY {
        return None;
    }
    let n_name = usize::from(u16_at(bytes, at + 26)?);
    bytes.get(at + 30..at + 30 + n_name)
}

/// Whether two entries unpack the same bytes, as in zip bombs.
fn overlaps(entries: &[Entry]) -> bool {
    let mut ranges: Vec<(u64, u64)> = entries
        .iter()
        .map(|entry| (entry.offset, entry.offset + 30 + entry.name.len() as u64 + entry.packed))
        .collect();
    ranges.sort_unstable();
    ranges.iter().zip(ranges.iter().skip(1)).any(|(one, next)| next.0 < one.1)
}

fn unpack(bytes: &[u8], entries: &[Entry]) -> Result<Files, ArchiveError> {
    let broken = |error: zip::result::ZipError| ArchiveError::one(format!("it cannot be unpacked: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if archive.len() != entries.len() {
        return Err(ArchiveError::one("its central directory is ambiguous"));
    }
    let mut files = Files::new();
    let mut reasons = Vec::new();
    for (idx, entry) in entries.iter().enumerate() {
        let mut file = archive.by_index(idx).map_err(broken)?;
        if file.name_raw() != entry.name {
            return Err(ArchiveError::one("its central directory is ambiguous"));
        }
        let name = String::from_utf8_lossy(&entry.name).into_owned();
        if name.ends_with('/') || is_left_out(&name) {
            continue;
        }
        let mut content = Vec::with_capacity(usize::try_from(entry.size).unwrap_or_default());
        // One byte more than announced proves that the size is wrong.
        let read = file.by_ref().take(entry.size + 1).read_to_end(&mut content);
        match read {
            Ok(n) if n as u64 == entry.size => {
                files.insert(name, content);
            }
            Ok(_) => reasons.push(format!("`{}` does not have the announced size", shown_name(&entry.name))),
            Err(error) => reasons.push(format!("`{}` cannot be unpacked: {error}", shown_name(&entry.name))),
        }
    }
    if reasons.is_empty() { Ok(files) } else { Err(ArchiveError { reasons }) }
}

/// A printable form of a name.
fn shown_name(name: &[u8]) -> String {
    crate::schema::short(&String::from_utf8_lossy(name).escape_debug().to_string())
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
