//! Errors of packages, archives and agents' menus.

use std::io;
use std::path::PathBuf;

use aiwf_engine::package::{
    ArchiveError, ExtractError, Finding, FindingCode, MenuError, PackError, PackageError, SelectError,
    Severity, SourceError,
};
use aiwf_engine::{LockError, PackageToolError, RunError};

use super::{Failure, Sample, denied, missing, plan_problems, store_error, text, texts};

pub(super) fn package_tool_errors() -> Vec<Sample> {
    let path = || PathBuf::from("flows/app");
    every_variant!(PackageToolError, Failure::from, {
        Package => [PackageToolError::Package(PackageError::Faulty { findings: vec![finding()] })],
        Select => [PackageToolError::Select(SelectError::WorkflowRequired { known: texts(["a", "b"]) })],
        NotADirectory => [PackageToolError::NotADirectory { path: path() }],
        Exists => [PackageToolError::Exists { path: path() }],
        Name => [PackageToolError::Name { name: text("a b") }],
        Pack => [PackageToolError::Pack(PackError::Differs)],
        Plan => [PackageToolError::Plan(plan_problems())],
        Store => [PackageToolError::Store(store_error())],
    })
}

fn finding() -> Finding {
    Finding {
        severity: Severity::Error,
        code: FindingCode::DanglingEdge,
        file: text("workflow.graph.json"),
        pointer: text("/edges/0/to"),
        key: Some(text("to")),
        message: text("there is no node `done`"),
        hint: text("correct the id, or add the node"),
    }
}

pub(super) fn package_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(PackageToolError::Package(error));
    every_variant!(PackageError, shown, {
        Source => [PackageError::Source(SourceError::Unreadable {
            path: PathBuf::from("flows/app"),
            source: missing(),
        })],
        Faulty => [
            PackageError::Faulty { findings: vec![finding()] },
            PackageError::Faulty { findings: vec![finding(), finding()] },
        ],
    })
}

pub(super) fn source_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(PackageToolError::Package(PackageError::Source(error)));
    let path = || PathBuf::from("flows/app.bmad");
    every_variant!(SourceError, shown, {
        Unreadable => [
            SourceError::Unreadable { path: path(), source: missing() },
            SourceError::Unreadable { path: path(), source: denied() },
        ],
        Archive => [SourceError::Archive {
            path: path(),
            source: ArchiveError { reasons: texts(["`../x.md` leaves the package", "`a` is encrypted"]) },
        }],
        Directory => [SourceError::Directory {
            path: path(),
            reasons: texts(["`steps/link.md` is a link", "`big.bin` is larger than 8388608 bytes"]),
        }],
    })
}

pub(super) fn archive_errors() -> Vec<Sample> {
    let shown = |reasons| {
        let source =
            SourceError::Archive { path: PathBuf::from("app.bmad"), source: ArchiveError { reasons } };
        Failure::from(PackageToolError::Package(PackageError::Source(source)))
    };
    vec![("one reason", shown(texts(["it is not a zip archive"])))]
}

pub(super) fn pack_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(PackageToolError::Pack(error));
    every_variant!(PackError, shown, {
        Zip => [PackError::Zip(io::Error::from_raw_os_error(28).into())],
        Write => [PackError::Write(io::Error::from_raw_os_error(28))],
        Refused => [PackError::Refused(ArchiveError {
            reasons: texts(["its files have 200000000 bytes in total, more than 134217728"]),
        })],
        Differs => [PackError::Differs],
    })
}

pub(super) fn extract_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(RunError::Extract(error));
    every_variant!(ExtractError, shown, {
        Names => [ExtractError::Names(plan_problems())],
        Store => [ExtractError::Store(store_error())],
        Lock => [ExtractError::Lock(LockError::Unusable { path: PathBuf::from("cache/lock"), source: denied() })],
    })
}

pub(super) fn select_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(PackageToolError::Select(error));
    every_variant!(SelectError, shown, {
        WorkflowRequired => [SelectError::WorkflowRequired { known: texts(["a", "b"]) }],
        WorkflowUnknown => [SelectError::WorkflowUnknown { id: text("c"), known: texts(["a", "b"]) }],
        WorkflowMismatch => [SelectError::WorkflowMismatch { id: text("c"), known: text("a") }],
        AgentUnknown => [SelectError::AgentUnknown { id: text("dev"), known: texts(["analyst", "pm"]) }],
        AgentInvalid => [SelectError::AgentInvalid { id: text("dev"), fault: text("`persona` is missing") }],
    })
}

pub(super) fn menu_errors() -> Vec<Sample> {
    every_variant!(MenuError, Failure::from, {
        UnknownWorkflow => [MenuError::UnknownWorkflow { name: text("gone"), known: texts(["a", "b"]) }],
        ClassicWorkflow => [MenuError::ClassicWorkflow { path: text("workflow.yaml") }],
        UnknownPrompt => [
            MenuError::UnknownPrompt { id: text("gone"), agent: text("pm"), known: texts(["greet"]) },
            MenuError::UnknownPrompt { id: text("gone"), agent: text("pm"), known: Vec::new() },
        ],
        NotLoaded => [MenuError::NotLoaded { path: text("@pkg/data.json"), reason: text("it is not JSON") }],
        Denied => [MenuError::Denied { path: text("/etc/passwd"), reason: "leaves the package" }],
        FilesMissing => [
            MenuError::FilesMissing { missing: texts(["@project/a.md"]) },
            MenuError::FilesMissing { missing: texts(["@project/a.md", "@project/b.md"]) },
        ],
        NotValid => [MenuError::NotValid { problems: texts(["`a.md` is missing", "`b.md` is empty"]) }],
    })
}
