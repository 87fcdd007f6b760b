//! `aiwf show`: prints an artifact of a session, or lists what it has.

use std::io::Write as _;

use aiwf_engine::{Engine, SessionError, SessionRef};
use serde_json::{Value, json};

use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// What the words after `show` mean: one word that names no session is an artifact of the only session.
pub(super) fn shown<'a>(
    id: Option<&'a str>,
    artifact: Option<&'a str>,
    engine: &Engine,
) -> (Option<&'a str>, Option<&'a str>) {
    let is_artifact = |word: &str| {
        matches!(engine.session_report(Some(word)), Err(SessionError::NoSession { .. }))
            && !matches!(
                engine.session_file(None::<&str>, word),
                Err(SessionError::NoArtifact { .. }
                    | SessionError::NoOpenSession
                    | SessionError::SeveralOpenSessions { .. }
                    | SessionError::SeveralEndedSessions { .. })
            )
    };
    match (id, artifact) {
        (Some(word), None) if word != "latest" && is_artifact(word) => (None, Some(word)),
        given => given,
    }
}

pub(super) fn show(
    which: SessionRef<'_>,
    artifact: Option<&str>,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let artifact = match artifact {
        Some(artifact) => artifact,
        None if engine.session_report(which)?.stage.is_some() => "prompt",
        None => return list_artifacts(which, engine, output),
    };
    let (path, text) = engine.session_file(which, artifact)?;
    if output.is_json() {
        return output.json(json!({ "path": path, "content": text }), Exit::Done);
    }
    output::print(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

/// Lists what can be shown of a session that has ended.
fn list_artifacts(which: SessionRef<'_>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let report = engine.session_report(which)?;
    let artifacts = engine.session_artifacts(which)?;
    if output.is_json() {
        let artifacts: Vec<Value> = artifacts
            .iter()
            .map(|artifact| json!({ "path": artifact.path, "bytes": artifact.n_bytes }))
            .collect();
        return output.json(
            json!({ "session_id": report.session_id, "status": report.status, "artifacts": artifacts }),
            Exit::Done,
        );
    }
    output::print(|out| {
        writeln!(out, "session {} is {}; it has", report.session_id, report.status)?;
        artifacts.iter().try_for_each(|artifact| {
            writeln!(out, "{:>9}  {}", artifact.n_bytes, escaped_line(&artifact.path))
        })
    })?;
    output::note(&format!("`aiwf show {} PATH` prints one\n", report.session_id));
    Ok(Exit::Done)
}
