//! `fs.write`: replaces a whole file at once.

use std::io::{BufRead as _, BufReader};

use aiwf_store::{Durability, hex};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::FsLimits;
use super::alias_path::{AliasPath, Mount};
use super::mounts::Mounts;
use super::tool_error::{ErrorCode, ToolError};

/// The guarded file under `@state`.
pub(super) const STATE_FILE: &str = "workflow.md";
/// The largest file under `@state` that is read before it is replaced.
const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;

/// The arguments of `fs.write`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WriteArgs {
    pub path: String,
    /// The whole new content.
    pub content: String,
    /// The expected hash of the current file.
    #[serde(default)]
    pub if_match_sha256: Option<String>,
}

/// Checks writes under `@state` before they happen: the guard of the state file, and the journal's intent.
pub trait WriteGate {
    /// Checks the bytes before and after; an error prevents the write.
    fn check(&mut self, path: &AliasPath, before: Option<&[u8]>, after: &[u8]) -> Result<(), ToolError>;

    /// Called before a new file outside `@state` is created; an error prevents it.
    fn check_new(&mut self, _path: &AliasPath) -> Result<(), ToolError> {
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    pub path: AliasPath,
    pub is_new: bool,
    pub sha256: String,
    pub result: Value,
}

/// Writes a file and creates missing directories; after an error nothing has changed.
pub fn write(
    mounts: &Mounts,
    limits: FsLimits,
    args: &WriteArgs,
    gate: &mut dyn WriteGate,
) -> Result<Written, ToolError> {
    let path = AliasPath::parse(&args.path)?;
    let content = args.content.as_bytes();
    let before = before(mounts, &path, args.if_match_sha256.as_deref())?;
    replace(mounts, limits, &path, before.as_ref(), content, gate)?;
    let sha256 = aiwf_store::sha256_hex(content);
    let result = json!({
        "ok": true,
        "path": path.to_string(),
        "bytesWritten": content.len(),
        "sha256After": sha256,
    });
    Ok(Written { path, is_new: before.is_none(), sha256, result })
}

/// The file before it is written; its bytes are kept only under `@state`.
pub(super) struct Before {
    pub(super) bytes: Option<Vec<u8>>,
}

/// Reads the current file and checks the hash that the caller expects.
pub(super) fn before(
    mounts: &Mounts,
    path: &AliasPath,
    if_match: Option<&str>,
) -> Result<Option<Before>, ToolError> {
    if path.could_be(Mount::State, STATE_FILE) && !path.is(Mount::State, STATE_FILE) {
        return Err(path.violation("is another spelling of the state file: write `@state/workflow.md`"));
    }
    mounts.may_write(path)?;
    let is_state = path.mount() == Mount::State;
    let (before, sha256) = if is_state {
        let bytes = mounts.current(path, MAX_STATE_BYTES)?;
        let sha256 = bytes.as_deref().map(aiwf_store::sha256_hex);
        (bytes.map(|bytes| Before { bytes: Some(bytes) }), sha256)
    } else {
        match mounts.file(path) {
            Ok(file) => {
                let sha256 = if_match.map(|_| hash_of(file, path)).transpose()?;
                (Some(Before { bytes: None }), sha256)
            }
            Err(error) if error.code == ErrorCode::NotFound => (None, None),
            Err(error) => return Err(error),
        }
    };
    if let Some(expected) = if_match
        && !sha256.as_deref().is_some_and(|found| found.eq_ignore_ascii_case(expected.trim()))
    {
        let message = match &sha256 {
            Some(_) => format!("`{path}` has changed since it was read: read it again"),
            None => format!("`{path}` does not exist, so it cannot have this hash: omit ifMatchSha256"),
        };
        let details = json!({ "expected": expected, "actual": sha256 });
        return Err(ToolError::new(ErrorCode::PreconditionFailed, message).with_details(details));
    }
    Ok(before)
}

/// Asks the gate, then writes.
pub(super) fn replace(
    mounts: &Mounts,
    limits: FsLimits,
    path: &AliasPath,
    before: Option<&Before>,
    content: &[u8],
    gate: &mut dyn WriteGate,
) -> Result<(), ToolError> {
    if content.len() as u64 > limits.max_write_bytes {
        let message = format!(
            "the content has {} bytes, but a write may have {}: write less, or several files",
            content.len(),
            limits.max_write_bytes
        );
        let details = json!({ "bytes": content.len(), "maxWriteBytes": limits.max_write_bytes });
        return Err(ToolError::new(ErrorCode::WriteLimit, message).with_details(details));
    }
    if path.mount() == Mount::State {
        gate.check(path, before.and_then(|before| before.bytes.as_deref()), content)?;
    } else if before.is_none() {
        gate.check_new(path)?;
    }
    mounts.write(path, content, Durability::PowerLoss)
}

fn hash_of(file: std::fs::File, path: &AliasPath) -> Result<String, ToolError> {
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut hasher = Sha256::new();
    loop {
        let bytes = reader.fill_buf().map_err(|error| {
            ToolError::new(
                ErrorCode::Internal,
                format!("`{path}` could not be read ({}): tell the user", error.kind()),
            )
        })?;
        if bytes.is_empty() {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(bytes);
        let n_read = bytes.len();
        reader.consume(n_read);
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
