//! `fs.write`: a whole file, replaced at once.

use std::io::{BufRead as _, BufReader};

use aiwf_store::{Durability, hex};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::FsLimits;
use super::alias_path::{AliasPath, Mount};
use super::mounts::Mounts;
use super::tool_error::{ErrorCode, ToolError};

/// The file under `@state` that is guarded.
pub(super) const STATE_FILE: &str = "workflow.md";
/// The largest file under `@state` that is looked at before it is replaced.
const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;

/// What `fs.write` takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WriteArgs {
    /// The file.
    pub path: String,
    /// All of its new content.
    pub content: String,
    /// The hash the file must have now.
    #[serde(default)]
    pub if_match_sha256: Option<String>,
}

/// Who must agree before a file under `@state` is replaced: the guard of the state file, the journal's intent.
pub trait WriteGate {
    /// Looks at the bytes before and after; nothing has been touched yet, and after a refusal nothing will be.
    fn check(&mut self, path: &AliasPath, before: Option<&[u8]>, after: &[u8]) -> Result<(), ToolError>;

    /// Hears of a file outside `@state` that is about to be made; after a refusal it is not.
    fn check_new(&mut self, _path: &AliasPath) -> Result<(), ToolError> {
        Ok(())
    }
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The file.
    pub path: AliasPath,
    /// Whether it was not there before.
    pub is_new: bool,
    /// Its hash now.
    pub sha256: String,
    /// The result of the call.
    pub result: Value,
}

/// Writes a file and the directories above it; whatever refuses, nothing has changed.
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

/// What a file is before it is written; its bytes are kept only under `@state`.
pub(super) struct Before {
    pub(super) bytes: Option<Vec<u8>>,
}

/// Looks at the file as it is, and makes sure that it is the one the caller means.
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
            None => format!("`{path}` does not exist, so it cannot have that hash: leave ifMatchSha256 out"),
        };
        let details = json!({ "expected": expected, "actual": sha256 });
        return Err(ToolError::new(ErrorCode::PreconditionFailed, message).with_details(details));
    }
    Ok(before)
}

/// Asks the gate and writes.
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
            "the content has {} bytes, and one write may take {}: write less, or several files",
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
