//! The flags of commands that may ask a provider, and the engine that they configure.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aiwf_engine::config::{Flags, GateFlagError, parse_gate_flag};
use aiwf_engine::prompt::FsAbility;
use aiwf_engine::provider::Stop;
use aiwf_engine::{Decided, Engine, SessionError, SessionRef, local_time};
use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::call_progress;
use crate::commands::prompt::name_parser;
use crate::exit::Exit;
use crate::live::{Screen, Streaming};
use crate::output::{self, Output};

/// The heading of these flags in the help.
const CALLS: &str = "Calls";

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CallArgs {
    /// Record every request and its reply in this directory, for a provider of type replay.
    #[arg(long, value_name = "DIR", help_heading = CALLS)]
    pub(crate) record: Option<PathBuf>,
    /// Print call events to stderr, one line of JSON each.
    #[arg(long, help_heading = CALLS)]
    pub(crate) events: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

// Doc comments on this and the structs below would replace the descriptions of commands that take their flags.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct TrustArgs {
    /// Trust a session that you did not create, and remember it.
    #[arg(long, help_heading = CALLS)]
    adopt: bool,
}

impl TrustArgs {
    /// The engine, with this consent.
    pub(crate) fn engine(self, engine: Engine) -> Engine {
        if self.adopt { engine.adopting(output::adopts) } else { engine }
    }
}

impl CallArgs {
    /// The engine, its calls watched, recorded, and ended by Ctrl-C.
    pub(crate) fn engine(&self, engine: &Engine) -> Engine {
        let engine = self.trust.engine(engine.clone());
        let engine = engine.stopped_by(stop_on_signals()).recording_to(self.record.clone());
        self.watched(engine)
    }

    /// Like [`Self::engine`], for a run: also shows tool calls, unless the output is JSON.
    pub(crate) fn engine_of_run(&self, engine: &Engine, output: &Output<'_>) -> Engine {
        let engine = self.trust.engine(engine.clone());
        let engine = engine.stopped_by(stop_on_signals()).recording_to(self.record.clone());
        if self.events || output.is_json() {
            return self.watched(engine);
        }
        engine.watched_by(Screen::new(Streaming::AtEnd).watcher())
    }

    /// Like [`Self::engine`], for an interactive conversation.
    pub(crate) fn engine_of_talk(&self, engine: &Engine, signals: &TalkSignals, screen: &Screen) -> Engine {
        let engine = self.trust.engine(engine.clone());
        let engine = engine.stopped_by(signals.stop()).recording_to(self.record.clone());
        engine.watched_by(screen.watcher())
    }

    fn watched(&self, engine: Engine) -> Engine {
        if self.events {
            output::report_progress_as_json();
            engine.watched_by(call_progress::events())
        } else {
            engine.watched_by(call_progress::line())
        }
    }
}

/// The engine of a command that asks no provider: it only reports its steps.
pub(crate) fn reporting(engine: &Engine) -> Engine {
    engine.clone().watched_by(call_progress::line())
}

#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ServerArgs {
    /// Start tool servers you have not agreed to yet, and remember your consent to their exact commands.
    #[arg(long, help_heading = CALLS)]
    trust_servers: bool,
}

impl ServerArgs {
    /// The engine, with this consent.
    pub(crate) fn engine(self, engine: Engine) -> Engine {
        agreeing(engine, self.trust_servers)
    }
}

// How the gates of a new session work.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct GateFlags {
    /// Set how gates work: `plan.prompt=skip`, `*.prompt=skip`, `review.*=ai:NAME`, `*=skip` (repeatable).
    #[arg(long = "gate", value_name = "PATTERN=KIND")]
    gates: Vec<String>,
    /// Skip all gates.
    #[arg(long)]
    yes: bool,
}

impl GateFlags {
    /// Whether all gates are skipped.
    pub(crate) fn is_yes(&self) -> bool {
        self.yes
    }

    /// The flags, read.
    pub(crate) fn flags(&self) -> Result<Flags, GateFlagError> {
        let gates = self.gates.iter().map(|gate| parse_gate_flag(gate)).collect::<Result<_, _>>()?;
        Ok(Flags { gates, is_yes: self.yes, ..Flags::default() })
    }
}

// Who works in a new session, and how its gates work.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct NewSessionArgs {
    /// Provider for every phase: claude, codex, gemini, or any provider [default: as configured].
    #[arg(long, visible_alias = "agent", value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    #[command(flatten)]
    pub(crate) gates: GateFlags,
}

// Who is asked from here on, and whether a limit is waited for.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SwitchArgs {
    /// Use this provider for the current phase, or after an approval for the following ones.
    #[arg(long, visible_alias = "agent", value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Model to ask, instead of the configured one.
    #[arg(long, value_name = "MODEL", help_heading = CALLS)]
    pub(crate) model: Option<String>,
    /// Wait for a usage limit to end instead of stopping.
    #[arg(long, help_heading = CALLS)]
    pub(crate) wait: bool,
}

impl SwitchArgs {
    /// The first flag that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--provider", self.provider.is_some()),
            ("--model", self.model.is_some()),
            ("--wait", self.wait),
        ];
        flags.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// The engine, asking the model that was named.
    pub(crate) fn engine(&self, engine: Engine, given: Option<&str>) -> Result<Engine, SessionError> {
        let Some(model) = &self.model else { return Ok(engine) };
        let provider = match &self.provider {
            Some(provider) => provider.clone(),
            None => engine.session_report(given)?.provider.unwrap_or_default(),
        };
        Ok(engine.with_model_of(provider, model.clone()))
    }

    /// Performs a step, and repeats it after each usage limit if the user wants to wait.
    pub(crate) fn waiting(
        &self,
        engine: &Engine,
        given: Option<&str>,
        done: Result<Decided, SessionError>,
    ) -> Result<Decided, SessionError> {
        if self.wait { engine.wait_for_limits(given, done, &announce_limit) } else { done }
    }
}

/// Says that a usage limit is waited for.
pub(crate) fn announce_limit(until: u64) {
    output::note(&format!("limit reached: waiting until {}; Ctrl-C stops\n", local_time(until)));
}

// Who continues a session, and whether its gates still hold.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ContinueArgs {
    /// Use this provider for all remaining phases.
    #[arg(long, visible_alias = "agent", value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Model to ask, instead of the configured one.
    #[arg(long, value_name = "MODEL", help_heading = CALLS)]
    model: Option<String>,
    /// Wait for a usage limit to end instead of stopping.
    #[arg(long, help_heading = CALLS)]
    wait: bool,
    /// Skip all gates from now on.
    #[arg(long)]
    pub(crate) yes: bool,
}

impl ContinueArgs {
    /// The flags in the form of a retry.
    pub(crate) fn switching(&self) -> SwitchArgs {
        SwitchArgs { provider: self.provider.clone(), model: self.model.clone(), wait: self.wait }
    }
}

/// Identifies the gate that a decision is for.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct GateArgs {
    /// Decide only if the gate's `sha256`, as printed by `status --json`, starts with this [at least 8 digits].
    #[arg(long, value_name = "HASH")]
    expect: Option<String>,
}

impl GateArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.expect.is_some()
    }

    /// The engine, deciding on the gate as it is now; a later gate was not seen.
    pub(crate) fn engine<'a>(
        &self,
        engine: &Engine,
        which: impl Into<SessionRef<'a>>,
    ) -> Result<Engine, SessionError> {
        let seen = engine.seen_gate(which)?;
        Ok(engine.clone().deciding_on(seen).expecting(self.expect.clone()))
    }
}

// The flag of every command that writes, shows or sends prompts.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct PromptArgs {
    /// What the receiver can do with files, for prompts that this command writes; approved prompts keep theirs.
    #[arg(long, value_name = "ABILITY", help_heading = CALLS, value_parser = name_parser(FsAbility::ALL.map(FsAbility::as_str), FsAbility::from_name))]
    fs_ability: Option<FsAbility>,
}

impl PromptArgs {
    pub(crate) fn is_given(self) -> bool {
        self.fs_ability.is_some()
    }

    pub(crate) fn engine(self, engine: Engine) -> Engine {
        engine.with_fs_ability(self.fs_ability)
    }
}

/// Starts servers without consent only if the user agrees.
pub(crate) fn agreeing(engine: Engine, trusts_servers: bool) -> Engine {
    if trusts_servers { engine.agreeing_to_servers(output::server_starts) } else { engine }
}

/// Ctrl-C ends the call under way; a second one ends the program.
pub(crate) fn stop_on_signals() -> Stop {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the second signal finds the flag set. Without handlers, a signal ends the program.
        drop(signal_hook::flag::register_conditional_shutdown(signal, interrupted(), Arc::clone(&flag)));
        drop(signal_hook::flag::register(signal, Arc::clone(&flag)));
    }
    Stop::on(flag)
}

fn interrupted() -> i32 {
    i32::from(Exit::Interrupted.code())
}

/// Signals during a conversation: Ctrl-C ends a turn, the other two end the program.
#[derive(Debug)]
pub(crate) struct TalkSignals {
    stop: Stop,
    is_ending: Arc<AtomicBool>,
    is_idle: Arc<AtomicBool>,
}

impl TalkSignals {
    pub(crate) fn new() -> Self {
        let [raised, is_ending, is_idle] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
        for signal in [SIGTERM, SIGHUP] {
            // While a line is awaited no call is running, and nothing is lost: the run is in its journal.
            drop(signal_hook::flag::register_conditional_shutdown(
                signal,
                interrupted(),
                Arc::clone(&is_idle),
            ));
            drop(signal_hook::flag::register(signal, Arc::clone(&is_ending)));
        }
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            drop(signal_hook::flag::register_conditional_shutdown(
                signal,
                interrupted(),
                Arc::clone(&raised),
            ));
            drop(signal_hook::flag::register(signal, Arc::clone(&raised)));
        }
        Self { stop: Stop::on(raised), is_ending, is_idle }
    }

    /// Ends the turn under way when it is raised.
    pub(crate) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Runs a turn until the next Ctrl-C.
    pub(crate) fn during_turn<T>(&self, turn: impl FnOnce() -> T) -> T {
        self.stop.lower();
        let done = turn();
        self.stop.lower();
        done
    }

    /// Waits for the user; a signal then ends the program at once.
    pub(crate) fn while_idle<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.is_idle.store(true, Ordering::SeqCst);
        let done = wait();
        self.is_idle.store(false, Ordering::SeqCst);
        done
    }

    /// Whether a signal asked the program to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::SeqCst)
    }
}
