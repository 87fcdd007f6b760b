//! Why nothing was imported, and why an agent was not integrated.

use aiwf_engine::{ImportError, ImportKind, IntegrateError, IntegrationScope, UserFileError};

use super::{Failure, Sample, denied, store_error, text, texts};

pub(super) fn import_errors() -> Vec<Sample> {
    every_variant!(ImportError, Failure::from, {
        NoPath => [ImportError::NoPath { path: "../shpo".into() }],
        Nothing => [ImportError::Nothing {
            kind: ImportKind::SpecKit,
            path: "../shop".into(),
            expected: "a directory `.specify` with `templates/` or `memory/`",
        }],
        Unreadable => [ImportError::Unreadable { path: "../shop".into(), source: denied() }],
        TooMany => [ImportError::TooMany { path: "../shop".into(), limit: 5_000 }],
        Name => [ImportError::Name { name: text("Our Flow") }],
        Exists => [
            ImportError::Exists { paths: texts([".aiwf/flows/spec-kit/flow.toml"]) },
            ImportError::Exists { paths: texts(["a", "b", "c", "d", "e", "f"]) },
        ],
        Changed => [ImportError::Changed { paths: texts([".aiwf/flows/spec-kit/plan.md"]) }],
        BrokenFlow => [ImportError::BrokenFlow { name: text("spec-kit"), problem: text("the flow has no phase") }],
        Unwritable => [ImportError::Unwritable { path: text(".aiwf/flows/spec-kit/flow.toml"), source: denied() }],
    })
}

pub(super) fn integrate_errors() -> Vec<Sample> {
    every_variant!(IntegrateError, Failure::from, {
        UnknownAgent => [
            IntegrateError::UnknownAgent { name: text("cluade"), known: texts(["claude", "codex", "gemini"]) },
            IntegrateError::UnknownAgent { name: text("x"), known: texts(["claude", "codex", "gemini"]) },
        ],
        NoScope => [IntegrateError::NoScope { agent: text("codex"), scope: IntegrationScope::Project }],
        NoHome => [IntegrateError::NoHome],
        Exists => [IntegrateError::Exists { path: text(".claude/commands/aiwf.md") }],
        EntryExists => [IntegrateError::EntryExists { path: text(".mcp.json"), found: text("docker run aiwf") }],
        Unparsable => [IntegrateError::Unparsable {
            path: text(".mcp.json"),
            message: text("expected colon after the string or word in object property on line 1 column 4"),
        }],
        NotText => [IntegrateError::NotText { path: text(".mcp.json"), offset: 7 }],
        Unwritable => [IntegrateError::Unwritable { path: text("~/.codex/config.toml"), source: denied() }],
        NotAgreed => [IntegrateError::NotAgreed],
        Store => [IntegrateError::Store(store_error())],
        UserFile => [IntegrateError::UserFile(UserFileError::Store(store_error()))],
    })
}
