//! Errors of the command line, and of the commands themselves.

use std::io;
use std::path::PathBuf;

use aiwf_engine::clipboard::ClipboardError;
use rustyline::error::ReadlineError;

use super::{Failure, Sample, missing, text, texts};
use crate::command_error::CommandError;
use crate::usage_error::UsageError;

pub(super) fn usage_errors() -> Vec<Sample> {
    let command = || text("aiwf prompt build session");
    every_variant!(UsageError, Failure::from, {
        UnknownCommand => [
            UsageError::UnknownCommand {
                word: text("promt"),
                instead: Vec::new(),
                known: texts(["prompt", "tools"]),
            },
            UsageError::UnknownCommand {
                word: text("ask"),
                instead: texts(["aiwf chat", "aiwf prompt send"]),
                known: texts(["prompt", "tools"]),
            },
            UsageError::UnknownCommand {
                word: text("init"),
                instead: texts(["aiwf PROFILE init"]),
                known: texts(["prompt", "tools"]),
            },
            UsageError::UnknownCommand {
                word: text("zzz"),
                instead: Vec::new(),
                known: texts(["prompt", "tools"]),
            },
        ],
        UnknownSubCommand => [
            UsageError::UnknownSubCommand { takes: "recipe", word: text("sesion"), known: texts(["session", "change"]) },
            UsageError::UnknownSubCommand { takes: "command", word: text("zzz"), known: texts(["list", "show"]) },
        ],
        NoRequest => [UsageError::NoRequest],
        TextFile => [UsageError::TextFile { path: text("note.md"), reason: text("no such file") }],
        Moved => [
            UsageError::moved("change", &["approve".into(), "login".into()]),
            UsageError::moved("change", &["reject".into(), "login".into(), "--feedback".into(), "use one class".into()]),
        ],
        NoSubCommand => [UsageError::NoSubCommand {
            command: text("aiwf template"),
            takes: "command",
            known: texts(["list", "show"]),
        }],
        NoValue => [
            UsageError::NoValue { flag: text("--phase"), command: command(), known: texts(["planning", "reviewing"]) },
            UsageError::NoValue { flag: text("--out"), command: command(), known: Vec::new() },
        ],
        UnknownValue => [
            UsageError::UnknownValue { flag: text("--phase"), value: text("planing"), known: texts(["planning"]) },
            UsageError::UnknownValue { flag: text("--phase"), value: text("zzz"), known: texts(["planning"]) },
        ],
        UnfitValue => [UsageError::UnfitValue {
            flag: text("--iteration"),
            value: text("one"),
            reason: text("expected a whole number from 1"),
            command: command(),
        }],
        Unquoted => [UsageError::Unquoted { given: text("login"), command: text("aiwf do") }],
        UnknownArgument => [
            UsageError::UnknownArgument { given: text("--phse"), near: Some(text("--phase")), command: command() },
            UsageError::UnknownArgument { given: text("--zzz"), near: None, command: command() },
            UsageError::UnknownArgument { given: text("more"), near: None, command: command() },
        ],
        Missing => [
            UsageError::Missing { missing: texts(["<ID>", "<FILE>"]), command: text("aiwf restore"), takes_input: false, example: Some(text("aiwf restore latest plan.md")) },
            UsageError::Missing { missing: texts(["<PATH>"]), command: text("aiwf chat"), takes_input: false, example: None },
            UsageError::Missing { missing: texts(["--phase <PHASE>"]), command: command(), takes_input: true, example: None },
        ],
        Together => [UsageError::Together {
            one: text("--rebind"),
            other: text("--accept"),
            command: text("aiwf approve"),
        }],
        Twice => [UsageError::Twice { flag: text("--phase") }],
        NotUtf8 => [UsageError::NotUtf8],
        Other => [UsageError::Other { message: text("equal sign is needed"), command: command() }],
        StdinTwice => [UsageError::StdinTwice],
        ToolsForNobody => [UsageError::ToolsForNobody],
        NoProvider => [UsageError::NoProvider],
        ToolsElsewhere => [UsageError::ToolsElsewhere { recipe: "session" }],
        WithoutTools => [UsageError::WithoutTools { flag: "--max-rounds" }],
        ServerName => [UsageError::ServerName { given: text("files__read") }],
        ArgsNotJson => [UsageError::ArgsNotJson {
            place: text("`--args`"),
            reason: text("expected value at line 1 column 1"),
        }],
        ArgsNotAnObject => [UsageError::ArgsNotAnObject { place: text("`query.json`"), found: "a list" }],
        NoShell => [
            UsageError::NoShell { found: None },
            UsageError::NoShell { found: Some(text("tcsh")) },
        ],
        NotInstallable => [UsageError::NotInstallable { shell: text("elvish") }],
        NotForRuns => [
            UsageError::NotForRuns { given: text("--usage") },
            UsageError::NotForRuns { given: text("plan") },
        ],
        OnlyForRuns => [UsageError::OnlyForRuns { given: "--entries" }],
        NothingToSay => [UsageError::NothingToSay { usage: "aiwf chat --input TEXT" }],
    })
}

pub(super) fn command_errors() -> Vec<Sample> {
    let failed = |hint: &str| CommandError::TurnFailed {
        message: text("provider `openai` answered with status 429"),
        code: text("LLM_RATE_LIMITED"),
        hint: text(hint),
    };
    every_variant!(CommandError, Failure::from, {
        NoCurrentDir => [CommandError::NoCurrentDir(missing())],
        Unprintable => [CommandError::Unprintable(io::Error::from_raw_os_error(28))],
        NoTerminal => [CommandError::NoTerminal(ReadlineError::Io(io::Error::from_raw_os_error(5)))],
        DemoExists => [CommandError::DemoExists { directory: PathBuf::from("aiwf-demo") }],
        ForeignFile => [CommandError::ForeignFile { path: PathBuf::from("completions/aiwf") }],
        NoHome => [CommandError::NoHome],
        NoServer => [CommandError::NoServer],
        ToolFailed => [CommandError::ToolFailed { tool: text("files__read") }],
        UnknownProvider => [
            CommandError::UnknownProvider { name: text("opnai"), known: texts(["openai"]) },
            CommandError::UnknownProvider { name: text("zzz"), known: texts(["openai"]) },
        ],
        NoRunOfPackage => [CommandError::NoRunOfPackage],
        TurnFailed => [
            failed("wait a minute, then `aiwf workflow resume latest`"),
            failed("send a message, or type `/resume`, to try again"),
        ],
    })
}

pub(super) fn bugs() -> Vec<Sample> {
    vec![
        ("said by a command", Failure::bug("the demo did not finish as expected")),
        ("a panic", Failure::bug("internal error at crates/aiwf/src/main.rs:10:5: index out of bounds")),
    ]
}

pub(super) fn clipboard_errors() -> Vec<Sample> {
    every_variant!(ClipboardError, Failure::from, {
        NoProgram => [ClipboardError::NoProgram { tools: vec!["xclip", "xsel"] }],
        NoDesktop => [ClipboardError::NoDesktop],
        Failed => [ClipboardError::Failed { tool: "xclip", message: text("cannot open display") }],
        Empty => [ClipboardError::Empty],
        NotText => [ClipboardError::NotText],
    })
}
