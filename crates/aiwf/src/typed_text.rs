//! Long texts as they are typed on a command line: `@PATH` stands for what a file says, `@@` for an `@`.

use std::error::Error as _;

use aiwf_engine::config::Settings;
use aiwf_engine::read_text;

use crate::failure::Failure;
use crate::usage_error::UsageError;

/// The text that is meant; a path is relative to the current directory.
pub(crate) fn typed_text(typed: &str, settings: &Settings) -> Result<String, Failure> {
    let Some(path) = typed.strip_prefix('@') else { return Ok(typed.to_owned()) };
    if path.is_empty() || path.starts_with('@') {
        return Ok(if path.is_empty() { typed } else { path }.to_owned());
    }
    let text = read_text(&settings.current_dir.join(path)).map_err(|error| {
        // The message of the error repeats the path.
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        UsageError::TextFile { path: path.to_owned(), reason }
    })?;
    Ok(text.trim_end().to_owned())
}
