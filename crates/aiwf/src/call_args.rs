//! The flags of every command that may ask a provider, and what they make of the engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use aiwf_engine::provider::Stop;
use aiwf_engine::tool::ToolsError;
use aiwf_engine::{Engine, SessionError};
use clap::Args;

use crate::call_progress;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// The heading of these flags in the help.
const CALLS: &str = "Calls";

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CallArgs {
    /// Keep every request and its reply in this directory, for a provider of type replay.
    #[arg(long, value_name = "DIR", help_heading = CALLS)]
    pub(crate) record: Option<PathBuf>,
    /// Say on the standard error what happens during calls, one line of JSON each.
    #[arg(long, help_heading = CALLS)]
    pub(crate) events: bool,
}

impl CallArgs {
    /// The engine, its calls watched, recorded, and ended by Ctrl-C.
    pub(crate) fn engine(&self, engine: &Engine) -> Engine {
        let engine = engine.clone().stopped_by(stop_on_signals()).recording_to(self.record.clone());
        if self.events {
            output::say_as_events();
            engine.watched_by(call_progress::events())
        } else {
            engine.watched_by(call_progress::line())
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ServerArgs {
    /// Start tool servers that nobody agreed to yet, and remember that for exactly their commands.
    #[arg(long, help_heading = CALLS)]
    yes: bool,
}

impl ServerArgs {
    /// The engine, with this consent.
    pub(crate) fn engine(self, engine: Engine) -> Engine {
        agreeing(engine, self.yes)
    }
}

/// The engine; it starts servers that nobody agreed to yet when a person says yes.
pub(crate) fn agreeing(engine: Engine, is_yes: bool) -> Engine {
    if is_yes { engine.agreeing_to_servers(output::server_starts) } else { engine }
}

/// A failure of a command whose `--yes` opens gates: one can agree to a server without that.
pub(crate) fn keeping_gates(error: SessionError) -> Failure {
    let hint = if let SessionError::Tools(ToolsError::Untrusted { name, .. }) = &error {
        Some(format!("`aiwf tools list --server {name} --yes` starts it and remembers that"))
    } else {
        None
    };
    let mut failure = Failure::from(error);
    failure.hint = hint.or(failure.hint);
    failure
}

/// Ctrl-C ends the call under way; a second one ends the program.
fn stop_on_signals() -> Stop {
    let flag = Arc::new(AtomicBool::new(false));
    let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];
    for signal in signals {
        let exit = i32::from(Exit::Interrupted.code());
        // The order matters: the second signal finds the flag set. Without handlers, a signal ends the program.
        drop(signal_hook::flag::register_conditional_shutdown(signal, exit, Arc::clone(&flag)));
        drop(signal_hook::flag::register(signal, Arc::clone(&flag)));
    }
    Stop::on(flag)
}
