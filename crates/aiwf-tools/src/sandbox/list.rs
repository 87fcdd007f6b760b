//! `fs.list`: the direct children of a directory.

use aiwf_store::EntryKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::alias_path::AliasPath;
use super::mounts::Mounts;
use super::tool_error::ToolError;

/// Maximum number of entries per call.
const MAX_ENTRIES: usize = 200;

/// The arguments of `fs.list`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListArgs {
    pub path: String,
}

/// The direct children, sorted, directories with a trailing slash; hidden files, links and devices are omitted.
pub fn list(mounts: &Mounts, args: &ListArgs) -> Result<Value, ToolError> {
    let path = AliasPath::parse(&args.path)?;
    let directory = mounts.directory(&path)?;
    let entries =
        directory.entries().or(Err(path.violation("could not be listed: list another directory")))?;
    let mut names: Vec<String> = entries
        .into_iter()
        .filter(|entry| !entry.name.starts_with('.'))
        .filter_map(|entry| match entry.kind {
            EntryKind::File => Some(entry.name),
            EntryKind::Directory => Some(entry.name + "/"),
            EntryKind::Link | EntryKind::Special => None,
        })
        .collect();
    let path = path.to_string();
    if names.len() <= MAX_ENTRIES {
        return Ok(json!({ "ok": true, "path": path, "entries": names }));
    }
    let n_left_out = names.len() - MAX_ENTRIES;
    names.truncate(MAX_ENTRIES);
    let hint = format!("{n_left_out} more entries; list a subdirectory, or use fs.search");
    Ok(json!({ "ok": true, "path": path, "entriesPreview": names, "truncated": true, "hint": hint }))
}
