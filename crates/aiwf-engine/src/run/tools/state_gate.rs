//! Guards the state file of a run: confirmation, checks, announcement, and only then the file.
//!
//! The confirmation comes before any other check of a change. It is used up by the first call with valid arguments that
//! would change the state file, even if that call is then refused: a person agreed to one attempt, not to as many as it
//! takes.

use aiwf_package::{
    Accepted, CompleteNode, Conditions, Graph, RejectCode, Rejected, State, StateWarning, complete_node,
    guard,
};
use aiwf_store::Durability;
use aiwf_tools::sandbox::{
    AliasPath, ErrorCode, FrontMatterUpdate, FsLimits, Mount, Mounts, ToolError, WriteGate,
};
use serde_json::{Value, json};

use super::super::event::{RunKind, StateWriter};
use super::super::state_access::StateAccess;
use super::ask_user::CONFIRM_WIDGET_ID;

/// The guarded file.
const STATE_FILE: &str = "workflow.md";
const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;
/// The key that lists new files.
const ARTIFACTS: &str = "artifacts";

/// The gate for writes under `@state`, where only the state file is guarded, and for new artifacts.
///
/// An artifact is announced as a change of the state file before it is written, so after a crash the journal knows
/// which call wrote the file.
pub(super) struct StateGate<'d> {
    mounts: &'d Mounts,
    store: &'d mut dyn StateAccess,
    call_id: &'d str,
    kind: RunKind,
    warnings: Vec<StateWarning>,
    /// The state file with a new artifact, once it is announced.
    with_artifact: Option<String>,
}

impl<'d> StateGate<'d> {
    pub(super) fn new(
        mounts: &'d Mounts,
        store: &'d mut dyn StateAccess,
        call_id: &'d str,
        kind: RunKind,
    ) -> Self {
        Self { mounts, store, call_id, kind, warnings: Vec::new(), with_artifact: None }
    }

    /// Warnings of the guard about the accepted write.
    pub(super) fn into_warnings(self) -> Vec<StateWarning> {
        self.warnings
    }

    /// Records a new artifact, or removes it if that fails. Returns whether there was one.
    pub(super) fn record_artifact(&mut self, artifact: &AliasPath) -> Result<bool, ToolError> {
        let Some(after) = self.with_artifact.take() else { return Ok(false) };
        let written =
            state_path().and_then(|path| self.mounts.write(&path, after.as_bytes(), Durability::PowerLoss));
        written.map(|()| true).map_err(|error| {
            let is_gone = self.mounts.remove_file(artifact).is_ok();
            unrecorded(artifact, error, if is_gone { "was not kept" } else { "could not be removed again" })
        })
    }

    fn announce_artifact(&mut self, artifact: &AliasPath) -> Result<(), ToolError> {
        let path = state_path()?;
        let bytes = self.mounts.current(&path, MAX_STATE_BYTES)?.ok_or_else(lost)?;
        let before = text_of(&bytes)?;
        let update: FrontMatterUpdate =
            serde_json::from_value(json!({ "artifacts": { "append": [artifact.relative()] } }))
                .map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))?;
        let after = update
            .apply(before)
            .map_err(|error| ToolError::new(ErrorCode::InvalidFrontMatter, format!("`{path}`: {error}")))?;
        if after != before {
            let conditions = self.store.conditions();
            let accepted = guarded(self.store.graph().ok_or_else(no_graph)?, before, &after, conditions)?;
            self.store.intend(StateWriter::Artifact(self.call_id.to_owned()), before, &after)?;
            self.warnings.extend(accepted.warnings);
        }
        self.with_artifact = Some(after);
        Ok(())
    }
}

fn unrecorded(artifact: &AliasPath, mut error: ToolError, outcome: &str) -> ToolError {
    error.message = format!("`{artifact}` {outcome}: it could not be recorded: {}", error.message);
    error
}

impl WriteGate for StateGate<'_> {
    fn check(&mut self, path: &AliasPath, before: Option<&[u8]>, after: &[u8]) -> Result<(), ToolError> {
        if !is_state_file(path) || before == Some(after) {
            return Ok(());
        }
        let conditions = self.store.conditions();
        let Some(graph) = self.store.graph() else {
            return match self.kind {
                RunKind::Run => Err(no_graph()),
                RunKind::Agent | RunKind::Chat => Ok(()),
            };
        };
        let (before, after) = (text_of(before.ok_or_else(lost)?)?, text_of(after)?);
        let accepted = guarded(graph, before, after, conditions)?;
        self.store.intend(StateWriter::Call(self.call_id.to_owned()), before, after)?;
        self.warnings.extend(accepted.warnings);
        Ok(())
    }

    fn check_new(&mut self, path: &AliasPath) -> Result<(), ToolError> {
        if self.kind != RunKind::Run || !is_artifact(path) {
            return Ok(());
        }
        self.announce_artifact(path).map_err(|error| unrecorded(path, error, "was not kept"))
    }
}

fn guarded(graph: &Graph, before: &str, after: &str, conditions: Conditions) -> Result<Accepted, ToolError> {
    // The caller's hash was compared before the gate.
    guard(graph, before, after, None, conditions).map_err(rejected)
}

/// After completion: uses up the user's confirmation for a change of the state file, or refuses the change.
///
/// `after` is the new content; `None` if it is not known yet.
pub(super) fn confirm(
    mounts: &Mounts,
    path: &AliasPath,
    after: Option<&[u8]>,
    store: &mut dyn StateAccess,
) -> Result<(), ToolError> {
    if !is_state_file(path) || !store.is_complete() {
        return Ok(());
    }
    if after.is_some() && mounts.current(path, MAX_STATE_BYTES)?.as_deref() == after {
        return Ok(());
    }
    confirmed(store)
}

fn confirmed(store: &mut dyn StateAccess) -> Result<(), ToolError> {
    if store.take_confirmation() {
        return Ok(());
    }
    let message = format!(
        "the workflow is complete, and `@state/workflow.md` changes only after the user agrees: call ui.ask_user with \
         widgetId `{CONFIRM_WIDGET_ID}` and type `confirmation`, say in its message what would change, then try again"
    );
    let details = json!({ "widgetId": CONFIRM_WIDGET_ID, "type": "confirmation" });
    Err(ToolError::new(ErrorCode::StateChangeRequiresConfirmation, message).with_details(details))
}

/// The content after a patch; `None` if the file cannot be patched.
pub(super) fn patched(mounts: &Mounts, path: &AliasPath, update: &FrontMatterUpdate) -> Option<String> {
    let bytes = mounts.current(path, MAX_STATE_BYTES).ok()??;
    update.apply(std::str::from_utf8(&bytes).ok()?).ok()
}

/// `workflow.complete_node`: completes the current node and moves on.
pub(super) fn complete(
    mounts: &Mounts,
    limits: FsLimits,
    mut call: CompleteNode,
    by: StateWriter,
    store: &mut dyn StateAccess,
) -> Result<(Value, Vec<StateWarning>), ToolError> {
    call.artifacts = checked_artifacts(mounts, &call.artifacts)?;
    let path = state_path()?;
    let bytes = mounts.current(&path, MAX_STATE_BYTES)?.ok_or_else(lost)?;
    let before = text_of(&bytes)?;
    if store.is_complete() {
        confirmed(store)?;
    }
    let (now, conditions) = (store.now(), store.conditions());
    let graph = store.graph().ok_or_else(no_graph)?;
    let exists = |output: &str| is_there(mounts, output);
    let moved = complete_node(graph, before, &call, &exists, &now, conditions).map_err(rejected)?;
    within(limits, moved.text.len())?;
    store.intend(by, before, &moved.text)?;
    mounts.write(&path, moved.text.as_bytes(), Durability::PowerLoss)?;
    let accepted = moved.accepted;
    let mut result = json!({
        "ok": true,
        "completedNodeId": accepted.from,
        "currentNodeId": accepted.to,
        "workflowComplete": accepted.is_complete,
        "sha256After": accepted.sha256_after,
    });
    let n_before = State::parse(before).map_or(0, |state| state.decision_log().len());
    if let (Some(decision), Some(result)) =
        (accepted.state.decision_log().get(n_before), result.as_object_mut())
    {
        result.insert("decision".to_owned(), decision.clone());
    }
    Ok((result, accepted.warnings))
}

fn within(limits: FsLimits, n_bytes: usize) -> Result<(), ToolError> {
    if n_bytes as u64 <= limits.max_write_bytes {
        return Ok(());
    }
    let message = format!(
        "the state file would have {n_bytes} bytes, but a write may have {}: add less to it",
        limits.max_write_bytes
    );
    let details = json!({ "bytes": n_bytes, "maxWriteBytes": limits.max_write_bytes });
    Err(ToolError::new(ErrorCode::WriteLimit, message).with_details(details))
}

/// Paths relative to the project, without duplicates; all of them must exist.
fn checked_artifacts(mounts: &Mounts, artifacts: &[String]) -> Result<Vec<String>, ToolError> {
    let mut checked: Vec<String> = Vec::new();
    let mut missing = Vec::new();
    for artifact in artifacts {
        let path = project_path(artifact)?;
        if !mounts.has_file(&path) {
            missing.push(path.to_string());
        } else if !checked.contains(&path.relative()) {
            checked.push(path.relative());
        }
    }
    if missing.is_empty() {
        return Ok(checked);
    }
    let names: Vec<String> = missing.iter().map(|path| format!("`{path}`")).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    let message = format!("{} {are} missing: write the artifacts first, or omit them", names.join(", "));
    Err(ToolError::new(ErrorCode::NotFound, message).with_details(json!({ "missingArtifacts": missing })))
}

/// A project path, with or without its mount.
fn project_path(text: &str) -> Result<AliasPath, ToolError> {
    if !text.starts_with('@') {
        if text.starts_with(['/', '\\', '~']) {
            // The same message as for every other path outside a mount.
            return AliasPath::parse(text);
        }
        return AliasPath::below(Mount::Project, text);
    }
    let path = AliasPath::parse(text)?;
    if path.mount() == Mount::Project {
        return Ok(path);
    }
    let message = format!("`{path}` is not under `@project`: name a file of the project");
    Err(ToolError::new(ErrorCode::InvalidArgs, message))
}

/// Whether an output of a node exists; one that ends in a slash is a directory.
fn is_there(mounts: &Mounts, output: &str) -> bool {
    project_path(output).is_ok_and(|path| {
        if output.ends_with('/') { mounts.directory(&path).is_ok() } else { mounts.has_file(&path) }
    })
}

/// Whether a new file at this path is recorded.
fn is_artifact(path: &AliasPath) -> bool {
    path.mount() == Mount::Project
        && path.parts().len() > 1
        && path.parts().first().is_some_and(|first| first == ARTIFACTS)
}

fn is_state_file(path: &AliasPath) -> bool {
    path.is(Mount::State, STATE_FILE)
}

fn state_path() -> Result<AliasPath, ToolError> {
    AliasPath::below(Mount::State, STATE_FILE)
}

fn lost() -> ToolError {
    ToolError::new(
        ErrorCode::NotFound,
        "`@state/workflow.md` does not exist: the engine creates it, tools cannot",
    )
}

fn no_graph() -> ToolError {
    ToolError::new(ErrorCode::Internal, "there is no workflow here, so its state cannot change")
}

fn text_of(bytes: &[u8]) -> Result<&str, ToolError> {
    std::str::from_utf8(bytes).map_err(|error| {
        ToolError::new(ErrorCode::InvalidFrontMatter, format!("the state file is not UTF-8 text: {error}"))
    })
}

fn rejected(rejected: Rejected) -> ToolError {
    let code = match rejected.code {
        RejectCode::PreconditionFailed => ErrorCode::PreconditionFailed,
        RejectCode::InvalidFrontMatter => ErrorCode::InvalidFrontMatter,
        RejectCode::SchemaValidation => ErrorCode::SchemaValidation,
        RejectCode::InvalidTransition => ErrorCode::InvalidTransition,
    };
    ToolError { code, message: rejected.message, details: rejected.details }
}
