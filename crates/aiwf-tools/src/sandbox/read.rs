//! `fs.read`: a text file, or a window of its lines.
//!
//! The file is read once, in chunks: size and hash cover the whole file, but only the returned text is kept in memory.

use std::io::{BufRead as _, BufReader};

use aiwf_store::hex;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::FsLimits;
use super::alias_path::AliasPath;
use super::mounts::Mounts;
use super::tool_error::{ErrorCode, ToolError};

/// The arguments of `fs.read`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ReadArgs {
    pub path: String,
    /// The first line, counted from 1.
    #[serde(default)]
    pub start_line: Option<u64>,
    /// The last line, inclusive.
    #[serde(default)]
    pub end_line: Option<u64>,
}

/// The text of a file. Without a window, text over the limit is truncated with a note; with one, it is an error.
pub fn read(mounts: &Mounts, limits: FsLimits, args: &ReadArgs) -> Result<Value, ToolError> {
    let path = AliasPath::parse(&args.path)?;
    let window = Window::of(args)?;
    let file = mounts.file(&path)?;
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut hasher = Sha256::new();
    let mut n_bytes: u64 = 0;
    let mut line: u64 = 1;
    let mut kept: Vec<u8> = Vec::new();
    let mut n_wanted: u64 = 0;
    let mut is_line_ended = false;
    loop {
        let piece = reader.fill_buf().map_err(|error| {
            ToolError::new(
                ErrorCode::Internal,
                format!("`{path}` could not be read ({}): tell the user", error.kind()),
            )
        })?;
        if piece.is_empty() {
            break;
        }
        hasher.update(piece);
        n_bytes += piece.len() as u64;
        let n_piece = piece.len();
        is_line_ended = piece.ends_with(b"\n");
        if window.is_whole() {
            keep(&mut kept, &mut n_wanted, piece, limits.max_read_bytes);
        } else {
            for text in piece.split_inclusive(|byte| *byte == b'\n') {
                if window.has(line) {
                    keep(&mut kept, &mut n_wanted, text, limits.max_read_bytes);
                }
                line += u64::from(text.ends_with(b"\n"));
            }
        }
        reader.consume(n_piece);
    }
    let is_cut = n_wanted > limits.max_read_bytes;
    if !window.is_whole() {
        if is_cut {
            let message = format!(
                "the requested lines have {n_wanted} bytes, but a read may return {}: request fewer lines",
                limits.max_read_bytes
            );
            let details = json!({ "bytes": n_wanted, "maxReadBytes": limits.max_read_bytes });
            return Err(ToolError::new(ErrorCode::ReadLimit, message).with_details(details));
        }
        if window.first > line {
            let n_lines = line - u64::from(is_line_ended || n_bytes == 0);
            let noun = if n_lines == 1 { "line" } else { "lines" };
            let message = format!("`{path}` has only {n_lines} {noun}: request lines up to there");
            return Err(ToolError::new(ErrorCode::InvalidArgs, message));
        }
    }
    let text = text_of(kept, is_cut).ok_or_else(|| {
        ToolError::new(
            ErrorCode::InvalidArgs,
            format!("`{path}` is not UTF-8 text ({n_bytes} bytes): read another file"),
        )
    })?;
    let sha256 = hex(&hasher.finalize());
    let path = path.to_string();
    if is_cut {
        let hint = "the file is larger than a read may return: find the place with fs.search, then read a window \
                    with startLine and endLine";
        return Ok(json!({ "ok": true, "path": path, "bytes": n_bytes, "sha256": sha256, "truncated": true,
            "contentPreview": text, "hint": hint }));
    }
    Ok(
        json!({ "ok": true, "path": path, "bytes": n_bytes, "sha256": sha256, "truncated": false, "content": text }),
    )
}

struct Window {
    first: u64,
    last: u64,
}

impl Window {
    fn of(args: &ReadArgs) -> Result<Self, ToolError> {
        let window = Self { first: args.start_line.unwrap_or(1), last: args.end_line.unwrap_or(u64::MAX) };
        if window.first == 0 || window.last == 0 {
            return Err(ToolError::new(
                ErrorCode::InvalidArgs,
                "lines are counted from 1: set startLine and endLine to 1 or more",
            ));
        }
        if window.last < window.first {
            let message = format!("endLine {} is before startLine {}: swap them", window.last, window.first);
            return Err(ToolError::new(ErrorCode::InvalidArgs, message));
        }
        Ok(window)
    }

    fn is_whole(&self) -> bool {
        self.first == 1 && self.last == u64::MAX
    }

    fn has(&self, line: u64) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

fn keep(kept: &mut Vec<u8>, n_wanted: &mut u64, piece: &[u8], limit: u64) {
    *n_wanted += piece.len() as u64;
    let room = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(kept.len());
    kept.extend(piece.iter().take(room));
}

/// The bytes as text, without an incomplete character at the end.
fn text_of(mut kept: Vec<u8>, is_cut: bool) -> Option<String> {
    if is_cut
        && let Err(error) = std::str::from_utf8(&kept)
        && error.error_len().is_none()
    {
        kept.truncate(error.valid_up_to());
    }
    String::from_utf8(kept).ok()
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
