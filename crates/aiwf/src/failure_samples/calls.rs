//! Errors of calls: providers, tools, and clients of our own server.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_engine::provider::{AskError, Wait};
use aiwf_engine::tool::{Refusal as ToolRefusal, ToolsError};
use aiwf_engine::{LockError, PageTaken, SessionError};
use aiwf_mcp::{AddressError, LoopbackError, ServeError, TokenError};
use aiwf_web::PageError;

use super::{Exit, Failure, Sample, denied, no_key, store_error, text, texts};

pub(super) fn ask_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(SessionError::Ask(error));
    let provider = || text("openai");
    let status = |status| AskError::Status { provider: text("openai"), status, message: text("try later") };
    let limit_reached = |until| AskError::LimitReached {
        provider: text("codex"),
        until,
        message: text("you've hit your usage limit"),
        usage: None,
    };
    let timed_out =
        |wait| AskError::TimedOut { provider: text("openai"), wait, after: Duration::from_secs(30) };
    every_variant!(AskError, shown, {
        NotRecorded => [
            AskError::NotRecorded { nearest: None, differs: None, at_byte: None },
            AskError::NotRecorded { nearest: Some(text("1f2e.json")), differs: Some(text("task")), at_byte: None },
            AskError::NotRecorded { nearest: Some(text("1f2e.json")), differs: Some(text("task")), at_byte: Some(120) },
        ],
        FileDiffers => [AskError::FileDiffers { recording: text("implement-1"), path: text("src/list.py") }],
        Unreadable => [AskError::Unreadable {
            directory: text("recordings"),
            message: text("permission denied"),
        }],
        Setting => [AskError::Setting {
            provider: provider(),
            message: text("`model` is not set"),
            hint: text("set `model`, the model to ask, in `[providers.openai]`"),
        }],
        NoProgram => [AskError::NoProgram {
            program: text("codex"),
            message: text("no such file"),
            hint: text("install it, or set `program` in `[providers.codex]`"),
        }],
        NoKey => [no_key()],
        KeyWithheld => [AskError::KeyWithheld { provider: provider(), base_url: text("https://x.test") }],
        Unsendable => [AskError::Unsendable {
            provider: provider(),
            message: text("a NUL would be dropped"),
            line: 3,
            column: 9,
        }],
        PromptTooLong => [AskError::PromptTooLong {
            provider: provider(),
            found: 2_000_000,
            limit: 1_048_576,
            unit: "characters",
        }],
        Failed => [AskError::Failed {
            provider: provider(),
            message: text("it is overloaded"),
            advice: Box::new("wait, then ask again".into()),
            usage: None,
        }],
        LimitReached => [limit_reached(Some(1_791_396_300)), limit_reached(None)],
        Status => [status(302), status(400), status(401), status(404), status(429), status(500)],
        Cut => [AskError::Cut { provider: provider(), message: text("the connection was closed"), usage: None }],
        Empty => [AskError::Empty { provider: provider(), usage: None }],
        Malformed => [AskError::Malformed { provider: provider(), message: text("it is not JSON") }],
        TimedOut => [timed_out(Wait::Connect), timed_out(Wait::FirstByte), timed_out(Wait::Total)],
        Stopped => [AskError::Stopped { provider: provider() }],
        TooLarge => [AskError::TooLarge { provider: provider(), limit: 8_388_608 }],
        Sink => [AskError::Sink(io::Error::from_raw_os_error(28))],
    })
}

pub(super) fn tools_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(SessionError::Tools(error));
    let server = || text("files");
    let after = Duration::from_secs(30);
    every_variant!(ToolsError, shown, {
        BadFile => [ToolsError::BadFile { path: PathBuf::from(".mcp.json"), message: text("`mcpServers` is missing") }],
        BadServer => [ToolsError::BadServer { server: server(), message: text("`command` is empty") }],
        NoVariable => [ToolsError::NoVariable {
            server: server(),
            variable: text("FILES_TOKEN"),
            setting: text("env.TOKEN"),
        }],
        UnknownServer => [
            ToolsError::UnknownServer { server: text("fils"), known: texts(["files", "web"]) },
            ToolsError::UnknownServer { server: text("fils"), known: Vec::new() },
        ],
        UnknownTool => [
            ToolsError::UnknownTool { tool: text("files__raed"), near: Some(text("files__read")), known: texts(["files__read", "files__list"]) },
            ToolsError::UnknownTool { tool: text("files__raed"), near: None, known: Vec::new() },
        ],
        Untrusted => [ToolsError::Untrusted { name: server(), shown_command: text("npx files-server --root src") }],
        NotStarted => [
            ToolsError::NotStarted { server: server(), message: text("no such program"), stderr: String::new() },
            ToolsError::NotStarted {
                server: server(),
                message: text("it ended with exit code 1"),
                stderr: text("loading\nError: no root\n"),
            },
        ],
        StartTimedOut => [
            ToolsError::StartTimedOut { server: server(), after, stderr: String::new() },
            ToolsError::StartTimedOut { server: server(), after, stderr: text("waiting for a key\n") },
        ],
        Died => [
            ToolsError::Died { server: server(), message: text("it ended with exit code 1"), stderr: String::new() },
            ToolsError::Died { server: server(), message: text("it ended with exit code 1"), stderr: text("oh no\n") },
        ],
        GaveUp => [ToolsError::GaveUp { server: server(), starts: 3, message: text("it ended with exit code 1") }],
        TimedOut => [ToolsError::TimedOut { tool: text("files__read"), after }],
        Unanswered => [
            ToolsError::Unanswered {
                tool: text("files__write"),
                cause: Box::new(ToolsError::TimedOut { tool: text("files__write"), after }),
            },
            ToolsError::Unanswered {
                tool: text("files__write"),
                cause: Box::new(ToolsError::Died { server: server(), message: text("it ended with exit code 1"), stderr: String::new() }),
            },
        ],
        Stopped => [ToolsError::Stopped { tool: text("files__read") }],
        Refused => [ToolsError::Refused { server: server(), code: -32602, message: text("no such path") }],
        Protocol => [ToolsError::Protocol { server: server(), message: text("a tool has no name") }],
        BadArguments => [ToolsError::BadArguments {
            tool: text("files__read"),
            problems: texts(["`path` is missing", "`lines` is not a number"]),
        }],
        BadSchema => [ToolsError::BadSchema { tool: text("files__read"), message: text("`type` is not a string") }],
        Changed => [ToolsError::Changed { tool: text("files__read"), changed: text("description, schema") }],
        NoHome => [ToolsError::NoHome],
        Unreadable => [ToolsError::Unreadable { path: PathBuf::from("~/.aiwf/pins.json"), source: denied() }],
        Store => [ToolsError::Store(store_error())],
        Lock => [ToolsError::Lock(LockError::Unusable { path: PathBuf::from("~/.aiwf/lock"), source: denied() })],
        NoRuntime => [ToolsError::NoRuntime(io::Error::from_raw_os_error(12))],
    })
}

pub(super) fn tool_refusals() -> Vec<Sample> {
    let shown =
        |error: ToolRefusal| Failure::with_hint(&error, "TOOL_NOT_AVAILABLE", error.hint(), Exit::Refused);
    let name = || text("files__write");
    every_variant!(ToolRefusal, shown, {
        Disabled => [ToolRefusal::Disabled],
        Unknown => [ToolRefusal::Unknown { name: name() }],
        NotGranted => [ToolRefusal::NotGranted { name: name() }],
        ServerNotAllowed => [ToolRefusal::ServerNotAllowed { name: name(), server: text("files") }],
        NotReadOnly => [ToolRefusal::NotReadOnly { name: name() }],
        Changed => [ToolRefusal::Changed { name: name(), changed: text("schema") }],
    })
}

pub(super) fn address_errors() -> Vec<Sample> {
    every_variant!(AddressError, Failure::from, {
        NoAddress => [AddressError::NoAddress { given: text("here") }],
        NotLoopback => [AddressError::NotLoopback { given: text("0.0.0.0:8765") }],
    })
}

pub(super) fn serve_errors() -> Vec<Sample> {
    every_variant!(ServeError, Failure::from, {
        Loopback => [
            ServeError::Loopback(LoopbackError::CannotListen {
                address: ([127, 0, 0, 1], 8765).into(),
                source: io::Error::from(io::ErrorKind::AddrInUse),
            }),
            ServeError::Loopback(LoopbackError::NoRuntime(io::Error::from_raw_os_error(12))),
        ],
        NoHandshake => [ServeError::NoHandshake(text("expected `initialize`"))],
    })
}

pub(super) fn page_errors() -> Vec<Sample> {
    let directory = || PathBuf::from("/home/ann/.aiwf/state/pages/0123456789abcdef");
    every_variant!(PageError, Failure::from, {
        Taken => [
            PageError::Taken(PageTaken::Served { address: text("http://127.0.0.1:8765/") }),
            PageError::Taken(PageTaken::Store(store_error())),
            PageError::Taken(PageTaken::Lock(LockError::Unusable { path: directory(), source: denied() })),
        ],
        Loopback => [PageError::Loopback(LoopbackError::NoRuntime(io::Error::from_raw_os_error(12)))],
        Token => [PageError::Token(TokenError::NoRandomness(text("not supported")))],
    })
}

pub(super) fn token_errors() -> Vec<Sample> {
    every_variant!(TokenError, Failure::from, {
        TooShort => [TokenError::TooShort { found: 5 }],
        NotPrintable => [TokenError::NotPrintable],
        NoRandomness => [TokenError::NoRandomness(text("not supported"))],
    })
}
