//! What an engine reports while it works, and how it is stopped.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aiwf_provider::{Progress, Stop};
use aiwf_session::{LeftOut, Surface};

use crate::ask::providers::{OpenedProviders, SharedProvider};
use crate::checks::CheckState;
use crate::clock::{SystemClock, WaitClock};
use crate::session::{Performed, SeenGate};

#[derive(Clone, Copy, Debug)]
pub enum CallEvent<'a> {
    PromptBuilt {
        recipe: &'static str,
    },
    /// A configured provider was opened for the following calls.
    ProviderOpened {
        provider: &'a str,
    },
    /// A provider is being asked.
    Started {
        provider: &'a str,
        /// Name of the call, such as `planning-1`.
        name: &'a str,
    },
    /// More bytes arrived, or the call is being retried.
    Progress(Progress),
    /// More text of the reply, as it arrives.
    Text(&'a str),
    /// The text so far is discarded: the call is being retried.
    Restarted,
    /// A tool call starts.
    ToolStarted {
        /// The tool's own name.
        name: &'a str,
        /// The subject of the call: a path, a pattern, a node.
        about: &'a str,
    },
    /// The tool call ended, or was refused.
    ToolEnded {
        /// The tool's own name.
        name: &'a str,
        error: Option<&'a str>,
        elapsed: Duration,
    },
    /// A session performed a step that needed no decision; it is in the journal.
    Performed(&'a Performed),
    /// Parts that the next request leaves out.
    LeftOut(&'a [LeftOut]),
    /// A check of the project started or ended.
    Check {
        name: &'a str,
        state: CheckState<'a>,
    },
    /// The call ended, successfully or not.
    Ended {
        is_ok: bool,
        elapsed: Duration,
    },
}

type Watcher = dyn Fn(CallEvent<'_>) + Send + Sync;

/// Settings for every call of an engine.
#[derive(Clone)]
pub(crate) struct CallContext {
    pub(crate) watcher: Option<Arc<Watcher>>,
    pub(crate) stop: Stop,
    /// What waits for usage limits go by.
    pub(crate) wait_clock: Arc<dyn WaitClock>,
    pub(crate) record: Option<PathBuf>,
    /// Whether recordings have the text of each section.
    pub(crate) records_texts: bool,
    /// Providers of the embedding program, by name.
    pub(crate) providers: BTreeMap<String, SharedProvider>,
    /// Configured providers that were opened.
    pub(crate) opened: OpenedProviders,
    /// Replaces the model of the run's provider.
    pub(crate) model: Option<String>,
    /// File access of receivers of new prompts, set by a flag.
    pub(crate) fs_ability: Option<aiwf_prompt::FsAbility>,
    /// Called for each server that the user agrees to now; without it, only agreed servers are started.
    pub(crate) agreed: Option<Arc<Agreed>>,
    /// The gate that the person saw; `None` if the command looks for itself.
    pub(crate) seen: Option<SeenGate>,
    /// Prefix of the hash that the gate must have.
    pub(crate) expected: Option<String>,
    /// Whether the command skips the session's gates from now on.
    pub(crate) skips_gates: bool,
    pub(crate) surface: Option<Surface>,
    /// Called for each session, change or run that is adopted; `None` if nothing may be adopted.
    pub(crate) adopt: Option<Arc<Agreed>>,
}

/// Called when the user agrees to something: with the name and exact command of a server, or the kind and id of an
/// adopted ledger.
pub(crate) type Agreed = dyn Fn(&str, &str) + Send + Sync;

impl Default for CallContext {
    fn default() -> Self {
        Self {
            watcher: None,
            stop: Stop::default(),
            wait_clock: Arc::new(SystemClock),
            record: None,
            records_texts: false,
            providers: BTreeMap::new(),
            opened: OpenedProviders::default(),
            model: None,
            fs_ability: None,
            agreed: None,
            seen: None,
            expected: None,
            skips_gates: false,
            surface: None,
            adopt: None,
        }
    }
}

impl CallContext {
    pub(crate) fn notify(&self, event: CallEvent<'_>) {
        if let Some(watcher) = &self.watcher {
            watcher(event);
        }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallContext")
            .field("is_watched", &self.watcher.is_some())
            .field("stop", &self.stop)
            .field("record", &self.record)
            .field("providers", &self.providers.keys())
            .field("opened", &self.opened)
            .field("model", &self.model)
            .field("fs_ability", &self.fs_ability)
            .field("agrees_to_servers", &self.agreed.is_some())
            .field("seen", &self.seen)
            .field("expected", &self.expected)
            .field("skips_gates", &self.skips_gates)
            .field("surface", &self.surface)
            .field("adopts", &self.adopt.is_some())
            .finish_non_exhaustive()
    }
}
