//! Errors of the configuration and of flags that override it.

use std::path::PathBuf;

use aiwf_engine::UserFileError;
use aiwf_engine::config::{ConfigError, ConfigFault, ConfigFile, ConfigProblem, GateFlagError, Origin};

use super::{Failure, Sample, denied, store_error, text, texts};

pub(super) fn config_errors() -> Vec<Sample> {
    every_variant!(ConfigError, Failure::from, {
        PathNotUtf8 => [ConfigError::PathNotUtf8 { path: PathBuf::from("/home/ann/caf\u{fffd}") }],
        NoProjectDir => [ConfigError::NoProjectDir { path: PathBuf::from("/home/me/ap") }],
        Unreadable => [ConfigError::Unreadable { file: ConfigFile::User, source: denied() }],
        NotAFile => [ConfigError::NotAFile { file: ConfigFile::Project }],
        LeavesProject => [ConfigError::LeavesProject],
        TooLarge => [ConfigError::TooLarge { file: ConfigFile::Project }],
        NotUtf8 => [ConfigError::NotUtf8 { file: ConfigFile::Project, line: 3 }],
        Consents => [ConfigError::Consents(UserFileError::Store(store_error()))],
        Invalid => [
            ConfigError::Invalid { problems: vec![config_problem(7, unknown_key())] },
            ConfigError::Invalid {
                problems: vec![config_problem(7, unknown_key()), config_problem(9, unknown_key())],
            },
        ],
    })
}

pub(super) fn config_faults() -> Vec<Sample> {
    let shown = |fault| Failure::from(ConfigError::Invalid { problems: vec![config_problem(7, fault)] });
    let path = || text("providers.mine.model");
    let types = || texts(["command", "openai"]);
    every_variant!(ConfigFault, shown, {
        NotToml => [ConfigFault::NotToml { reason: text("expected `=`") }],
        UnknownKey => [
            unknown_key(),
            ConfigFault::UnknownKey {
                key: text("zzz"),
                table: String::new(),
                near: None,
                home: None,
                known: texts(["roles", "gates"]),
            },
            ConfigFault::UnknownKey {
                key: text("max_iterations"),
                table: text("roles"),
                near: None,
                home: Some("[session]"),
                known: texts(["default", "planner"]),
            },
        ],
        UnquotedGate => [ConfigFault::UnquotedGate { path: text("gates.planning"), phase: text("planning") }],
        WrongValue => [
            ConfigFault::WrongValue {
                path: text("defaults.fs_ability"),
                found: text("\"local-wirte\""),
                expected: text("one of `local-write`, `none`"),
                near: Some(text("local-write")),
            },
            ConfigFault::WrongValue {
                path: path(),
                found: text("7"),
                expected: text("a string on one line"),
                near: None,
            },
        ],
        NotATable => [ConfigFault::NotATable { path: text("providers.mine"), found: text("7") }],
        ProviderName => [ConfigFault::ProviderName { name: text("a b") }],
        ServerName => [ConfigFault::ServerName { name: text("a__b") }],
        VariableName => [ConfigFault::VariableName { path: text("providers.mine.env.\"1A\"") }],
        HeaderName => [ConfigFault::HeaderName { path: text("mcp.servers.files.headers.\"a b\"") }],
        ToolName => [ConfigFault::ToolName { path: text("tools.grant.plan"), name: text("files") }],
        NoApprover => [ConfigFault::NoApprover { path: text("gates.default") }],
        HalfPrice => [ConfigFault::HalfPrice { path: text("prices.llama-9") }],
        CommandAndUrl => [ConfigFault::CommandAndUrl { path: text("mcp.servers.files") }],
        NoKey => [
            ConfigFault::NoKey { path: text("[[checks]]"), key: "name" },
            ConfigFault::NoKey { path: text("[[checks]]"), key: "run" },
        ],
        NameTaken => [ConfigFault::NameTaken { path: text("checks"), name: text("tests") }],
        UsersOnly => [ConfigFault::UsersOnly { path: text("mcp.allow_unknown") }],
        KeyInFile => [ConfigFault::KeyInFile { path: text("providers.mine.api_key") }],
        UnknownProvider => [
            ConfigFault::UnknownProvider { name: text("opnai"), near: Some(text("openai")) },
            ConfigFault::UnknownProvider { name: text("zzz"), near: None },
        ],
        UnknownType => [ConfigFault::UnknownType {
            provider: text("mine"),
            kind: text("opnai"),
            near: Some(text("openai")),
            known: types(),
        }],
        BuiltInProvider => [ConfigFault::BuiltInProvider { provider: text("codex"), kind: text("replay") }],
        NoType => [ConfigFault::NoType { provider: text("mine"), near: None, known: types() }],
    })
}

pub(super) fn gate_flag_errors() -> Vec<Sample> {
    every_variant!(GateFlagError, Failure::from, {
        NoKind => [GateFlagError::NoKind { text: text("planning.prompt") }],
        UnknownGate => [
            GateFlagError::UnknownGate { name: text("planing.prompt") },
            GateFlagError::UnknownGate { name: text("zzz") },
        ],
        UnknownKind => [GateFlagError::UnknownKind {
            name: aiwf_engine::machine::GatePattern::ALL,
            kind: text("never"),
        }],
    })
}

pub(super) fn config_problem(line: usize, fault: ConfigFault) -> ConfigProblem {
    ConfigProblem { origin: Origin::File { file: ConfigFile::Project, line }, column: Some(1), fault }
}

pub(super) fn unknown_key() -> ConfigFault {
    ConfigFault::UnknownKey {
        key: text("plannr"),
        table: text("roles"),
        near: Some(text("planner")),
        home: None,
        known: texts(["default", "planner"]),
    }
}
