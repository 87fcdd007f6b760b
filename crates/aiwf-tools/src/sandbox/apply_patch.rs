//! `fs.apply_patch`: changes keys in the front matter of a file under `@state` and keeps its body.

use aiwf_reply::{EditError, edit_front_matter};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::FsLimits;
use super::alias_path::{AliasPath, Mount};

use super::mounts::Mounts;
use super::tool_error::{ErrorCode, ToolError};
use super::write::{WriteGate, Written, before, replace};

/// The arguments of `fs.apply_patch`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyPatchArgs {
    pub path: String,
    pub patch: FrontMatterPatch,
}

/// A change of front matter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FrontMatterPatch {
    /// The only operation is `updateFrontmatter`.
    pub operation: Operation,
    pub update: FrontMatterUpdate,
    /// The expected hash of the current file.
    #[serde(default)]
    pub if_match_sha256: Option<String>,
}

/// The operation of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Operation {
    /// Changes keys of the front matter.
    #[serde(rename = "updateFrontmatter")]
    UpdateFrontMatter,
}

/// The keys that can be changed; nothing can be removed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FrontMatterUpdate {
    /// Newly completed nodes; nodes that are already listed are not repeated.
    #[serde(default)]
    pub steps_completed: Option<Append<String>>,
    /// Variables to set; the others stay.
    #[serde(default)]
    pub variables: Option<Set<Map<String, Value>>>,
    /// Decisions that were made.
    #[serde(default)]
    pub decision_log: Option<Append<Value>>,
    /// Files that were created; files that are already listed are not repeated.
    #[serde(default)]
    pub artifacts: Option<Append<String>>,
    /// The next node of the run.
    #[serde(default)]
    pub current_node_id: Option<Set<String>>,
    #[serde(default)]
    pub updated_at: Option<Set<String>>,
}

/// Values to append to a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Append<T> {
    pub append: Vec<T>,
}

/// A new value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set<T> {
    pub set: T,
}

impl FrontMatterUpdate {
    /// The changed keys with their new values.
    ///
    /// If the current value has another type, the schema check reports it later.
    pub(crate) fn changes(&self, data: &Map<String, Value>) -> Map<String, Value> {
        let mut changes = Map::new();
        let unique = |key: &str, append: &Option<Append<String>>| {
            let append = append.as_ref()?;
            let mut list = data.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            for value in &append.append {
                if !list.iter().any(|known| known == value) {
                    list.push(value.clone().into());
                }
            }
            Some(Value::Array(list))
        };
        if let Some(list) = unique("stepsCompleted", &self.steps_completed) {
            changes.insert("stepsCompleted".to_owned(), list);
        }
        if let Some(set) = &self.current_node_id {
            changes.insert("currentNodeId".to_owned(), set.set.clone().into());
        }
        if let Some(set) = &self.variables {
            let mut variables = data.get("variables").and_then(Value::as_object).cloned().unwrap_or_default();
            variables.extend(set.set.clone());
            changes.insert("variables".to_owned(), variables.into());
        }
        if let Some(append) = &self.decision_log {
            let mut log = data.get("decisionLog").and_then(Value::as_array).cloned().unwrap_or_default();
            log.extend(append.append.iter().cloned());
            changes.insert("decisionLog".to_owned(), log.into());
        }
        if let Some(list) = unique("artifacts", &self.artifacts) {
            changes.insert("artifacts".to_owned(), list);
        }
        if let Some(set) = &self.updated_at {
            changes.insert("updatedAt".to_owned(), set.set.clone().into());
        }
        changes
    }

    /// Applies the changes to the text of a file.
    pub fn apply(&self, text: &str) -> Result<String, EditError> {
        edit_front_matter(text, |data| self.changes(data))
    }
}

/// Changes the front matter of a file under `@state`; after an error nothing has changed.
pub fn apply_patch(
    mounts: &Mounts,
    limits: FsLimits,
    args: &ApplyPatchArgs,
    gate: &mut dyn WriteGate,
) -> Result<Written, ToolError> {
    let path = AliasPath::parse(&args.path)?;
    if path.mount() != Mount::State {
        return Err(path
            .violation("is not under `@state`, and only files there can be patched: write the whole file"));
    }
    let before = before(mounts, &path, args.patch.if_match_sha256.as_deref())?;
    let Some(bytes) = before.as_ref().and_then(|before| before.bytes.as_deref()) else {
        return Err(path.missing());
    };
    let invalid = |message: String| ToolError::new(ErrorCode::InvalidFrontMatter, message);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(format!("`{path}` is not UTF-8 text ({error}): write the whole file")))?;
    let after = args.patch.update.apply(text).map_err(|error| invalid(format!("`{path}`: {error}")))?;
    replace(mounts, limits, &path, before.as_ref(), after.as_bytes(), gate)?;
    let sha256 = aiwf_store::sha256_hex(after.as_bytes());
    let result = json!({
        "ok": true,
        "path": path.to_string(),
        "sha256Before": aiwf_store::sha256_hex(bytes),
        "sha256After": sha256,
    });
    Ok(Written { path, is_new: false, sha256, result })
}
