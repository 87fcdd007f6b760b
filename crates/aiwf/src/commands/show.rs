//! `aiwf show`: prints an artifact of a session, or lists the artifacts.

use std::io::Write as _;

use aiwf_engine::{Engine, ReopenedReport, SessionError, SessionRef, StaleArtifact};
use serde_json::{Value, json};

use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::session_output;

/// Interprets the arguments of `show`: a single word that matches no session is an artifact of the only session.
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

/// What the words after `diff` mean: one word that names versions of an artifact is about the only session.
pub(super) fn named_artifact<'a>(
    id: Option<&'a str>,
    artifact: Option<&'a str>,
    engine: &Engine,
) -> (Option<&'a str>, Option<&'a str>) {
    let is_artifact = |word: &str| {
        let is_session = || !matches!(engine.session_report(Some(word)), Err(SessionError::NoSession { .. }));
        let artifact = word.split_once('@').map_or(word, |(artifact, _)| artifact);
        let versions = || engine.session_versions(None::<&str>).unwrap_or_default();
        word.contains('@') || (!is_session() && versions().iter().any(|version| version.artifact == artifact))
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
    warn_stale(which, artifact, engine);
    if output.is_json() {
        return output.json(json!({ "path": path, "content": text }), Exit::Done);
    }
    output::print(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

/// Says that what is shown is reopened, or was made from a version that is not valid any more.
fn warn_stale(which: SessionRef<'_>, artifact: &str, engine: &Engine) {
    let Ok(report) = engine.session_report(which) else { return };
    let is_reopened = |reopened: &&ReopenedReport| reopened.name == artifact || reopened.artifact == artifact;
    if let Some(reopened) = report.reopened.as_ref().filter(is_reopened) {
        output::warn(&format!("reopened: {}", session_output::reopened_artifact(reopened)));
    }
    let stale = report.stale_artifacts;
    let is_shown = |stale: &&StaleArtifact| {
        stale.name == artifact || stale.name.split_once('@').is_some_and(|(name, _)| name == artifact)
    };
    for stale in stale.iter().filter(is_shown) {
        output::warn(&session_output::stale_artifact(stale));
    }
}

/// Lists the artifacts of a session that has ended.
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
