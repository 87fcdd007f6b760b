//! Limits large results: the model gets the beginning, and where to find the rest.
//!
//! The complete result is stored in a file under `@state/logs/tool-results/`. If that fails, the call does not fail:
//! the model gets the beginning and is told so.

use std::path::{Path, PathBuf};

use aiwf_session::{LeftOut, LeftOutKind};
use aiwf_store::{Durability, create_dir, name_fault, sha256_hex, write_atomic};
use serde_json::{Value, json};

use super::summary::short;

/// The maximum length of a result file's stem.
const MAX_STEM: usize = 80;
/// The maximum length of an error message whose full text is in a file.
const MAX_ERROR_MESSAGE: usize = 500;

/// How the model can read a stored result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// With file tools.
    Fs,
    Nobody,
}

/// The limited result.
#[derive(Debug)]
pub(super) struct Shrunk {
    pub(super) content: String,
    pub(super) result_path: Option<String>,
    /// A warning for the user.
    pub(super) warning: Option<String>,
}

/// The size of a result before it was limited.
pub(super) struct OriginalSize {
    n_bytes: usize,
    returned: Returned,
}

/// How much of a result a tool returned.
enum Returned {
    All,
    /// A part, with the total size if the tool reports it.
    Part {
        n_bytes: Option<u64>,
    },
}

impl OriginalSize {
    pub(super) fn of(result: &Value) -> Self {
        let is_part = result.get("truncated") == Some(&Value::Bool(true));
        let returned = if is_part {
            Returned::Part { n_bytes: result.get("bytes").and_then(Value::as_u64) }
        } else {
            Returned::All
        };
        Self { n_bytes: result.to_string().len(), returned }
    }

    /// The part that the model does not see; `None` if it sees everything.
    pub(super) fn left_out(&self, content: &str, limit: usize) -> Option<LeftOut> {
        let is_shrunk = content.len() < self.n_bytes;
        let of_tool = match self.returned {
            Returned::Part { n_bytes } => n_bytes.unwrap_or(0),
            Returned::All => 0,
        };
        let n_missing = of_tool.max(self.n_bytes as u64).saturating_sub(content.len() as u64);
        let reason = match (is_shrunk, &self.returned) {
            (true, _) => format!("the model gets the first {limit} bytes of a result"),
            (false, Returned::Part { .. }) => "the tool returned only a part".to_owned(),
            (false, Returned::All) => return None,
        };
        let bytes = (n_missing > 0).then_some(n_missing);
        Some(LeftOut { id: String::new(), bytes, tokens: None, kind: LeftOutKind::SizeCap, reason })
    }
}

impl Shrunk {
    pub(super) fn whole(result: &Value) -> Self {
        Self { content: result.to_string(), result_path: None, warning: None }
    }
}

/// The directory of stored results, as a model sees it.
pub(super) const RESULTS_ALIAS: &str = "@state/logs/tool-results";

/// The directory of stored results, below the state directory.
pub(super) fn results_dir(state_dir: &Path) -> PathBuf {
    state_dir.join("logs").join("tool-results")
}

/// A file name for a call id; different ids have different names.
pub(super) fn file_stem(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let plain: String = id.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_STEM).collect();
    if !id.is_empty() && plain == id && !plain.starts_with('.') && name_fault(&plain).is_none() {
        return plain;
    }
    let hash: String = sha256_hex(id.as_bytes()).chars().take(8).collect();
    format!("call-{}-{hash}", plain.trim_matches('.'))
}

/// Shortens the text of an `fs.read` result, and says where to continue; returns any other result unchanged.
pub(super) fn shrink_read(mut result: Value, args: &Value, limit: usize) -> Result<Shrunk, Value> {
    let whole = result.to_string();
    if whole.len() <= limit {
        return Ok(Shrunk { content: whole, result_path: None, warning: None });
    }
    let Some(map) = result.as_object_mut() else { return Err(result) };
    let text = map.shift_remove("content").or_else(|| map.shift_remove("contentPreview"));
    let Some(Value::String(text)) = text else { return Err(result) };
    map.insert("truncated".to_owned(), true.into());
    let first = args.get("startLine").and_then(Value::as_u64).unwrap_or(1);
    let result = fitting(limit, &text, |start| {
        // Whole lines, if at least one fits.
        let shown = start.rfind('\n').and_then(|end| start.get(..=end)).unwrap_or(start);
        let n_lines = shown.matches('\n').count() as u64;
        let next = first.saturating_add(n_lines);
        let hint = if n_lines == 0 {
            format!("line {first} is longer than a result may be: find the place with fs.search")
        } else {
            format!("lines {first} to {} are shown: continue with startLine {next} and an endLine", next - 1)
        };
        let mut result = result.clone();
        if let Some(map) = result.as_object_mut() {
            map.insert("contentPreview".to_owned(), shown.into());
            map.insert("hint".to_owned(), hint.into());
        }
        result
    });
    Ok(Shrunk::whole(&result))
}

/// Stores any other result in a file; the model gets the beginning.
pub(super) fn shrink(
    result: &Value,
    id: &str,
    limit: usize,
    state_dir: Option<&Path>,
    reader: Reader,
) -> Shrunk {
    let content = result.to_string();
    if content.len() <= limit {
        return Shrunk { content, result_path: None, warning: None };
    }
    let pretty = format!("{result:#}\n");
    let kept = state_dir.map(|directory| keep(directory, id, &pretty));
    let (result_path, hint, warning) = match kept {
        Some(Ok(path)) if reader == Reader::Fs => {
            (Some(path), "read resultPath with startLine and endLine for the rest", None)
        }
        Some(Ok(path)) => (Some(path), "only the beginning is shown: ask for less at a time", None),
        Some(Err(error)) => {
            let warning = format!("the complete result of a tool could not be stored: {error}");
            (
                None,
                "only the beginning is shown, and the rest could not be stored: ask for less at a time",
                Some(warning),
            )
        }
        None => (None, "only the beginning is shown: ask for less at a time", None),
    };
    let is_ok = result.get("ok") == Some(&Value::Bool(true));
    let shrunk = fitting(limit, &pretty, |start| {
        let mut shrunk = json!({ "ok": is_ok, "truncated": true });
        let Some(map) = shrunk.as_object_mut() else { return shrunk };
        if let Some(error) = result.get("error") {
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
            let error = json!({ "code": error.get("code"), "message": short(message, MAX_ERROR_MESSAGE) });
            map.insert("error".to_owned(), error);
        }
        map.insert("preview".to_owned(), start.into());
        map.insert("bytes".to_owned(), pretty.len().into());
        if let Some(path) = &result_path {
            map.insert("resultPath".to_owned(), path.clone().into());
        }
        map.insert("hint".to_owned(), hint.into());
        shrunk
    });
    Shrunk { content: shrunk.to_string(), result_path, warning }
}

/// A result with as much of a text as fits, which depends on what must be escaped.
fn fitting(limit: usize, text: &str, result: impl Fn(&str) -> Value) -> Value {
    let mut room = limit;
    loop {
        let fitted = result(start_of(text, room));
        let n_bytes = fitted.to_string().len();
        if n_bytes <= limit || room == 0 {
            return fitted;
        }
        // A lower bound of the excess; repeated once if escapes made it larger.
        room = room.saturating_sub((n_bytes - limit).clamp(1, room / 2 + 1));
    }
}

fn start_of(text: &str, max_bytes: usize) -> &str {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Stores a complete result and returns the alias of its file. Does not overwrite an earlier result with the same id.
fn keep(state_dir: &Path, id: &str, text: &str) -> Result<String, std::io::ErrorKind> {
    let directory = results_dir(state_dir);
    create_dir(&directory).map_err(|error| error.source.kind())?;
    let mut name = format!("{}.json", file_stem(id));
    match std::fs::read(directory.join(&name)) {
        Ok(before) if before != text.as_bytes() => {
            let hash: String = sha256_hex(text.as_bytes()).chars().take(8).collect();
            name = format!("{}-{hash}.json", file_stem(id));
        }
        Ok(_) | Err(_) => {}
    }
    write_atomic(&directory.join(&name), Durability::Process, |out| out.write_all(text.as_bytes()))
        .map_err(|error| error.source.kind())?;
    Ok(format!("{RESULTS_ALIAS}/{name}"))
}
