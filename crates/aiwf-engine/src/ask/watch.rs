//! What an engine tells whoever watches it, and how it is stopped.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aiwf_provider::{Progress, Stop};
use aiwf_session::{LeftOut, Surface};

use crate::ask::providers::{OpenedProviders, SharedProvider};
use crate::checks::CheckState;
use crate::session::{Performed, SeenGate};

/// Something that happens while an engine works.
#[derive(Clone, Copy, Debug)]
pub enum CallEvent<'a> {
    /// A prompt was built from its sources.
    PromptBuilt {
        /// The recipe.
        recipe: &'static str,
    },
    /// A provider of the configuration was opened; the calls that follow use it.
    ProviderOpened {
        /// The provider.
        provider: &'a str,
    },
    /// A provider is being asked.
    Started {
        /// The provider.
        provider: &'a str,
        /// What the call is: `planning-1`.
        name: &'a str,
    },
    /// More has arrived, or the call is made again.
    Progress(Progress),
    /// More of the reply's text, as it arrives.
    Text(&'a str),
    /// What arrived so far is not the reply: the call is made again.
    Restarted,
    /// A tool that the model called is run.
    ToolStarted {
        /// The tool, by its own name.
        name: &'a str,
        /// What it is about: a path, a pattern, a node.
        about: &'a str,
    },
    /// It is done, or was refused.
    ToolEnded {
        /// The tool, by its own name.
        name: &'a str,
        /// Why it failed, when it did.
        error: Option<&'a str>,
        /// How long it took.
        elapsed: Duration,
    },
    /// A session did something that needed no decision, and it is in the journal.
    Performed(&'a Performed),
    /// What the request that is about to be sent was to hold and does not.
    LeftOut(&'a [LeftOut]),
    /// A check of the project starts or ended.
    Check {
        /// The check.
        name: &'a str,
        /// What happens to it.
        state: CheckState<'a>,
    },
    /// The call ended, well or not.
    Ended {
        /// Whether there is a reply.
        is_ok: bool,
        /// How long it took.
        elapsed: Duration,
    },
}

/// Someone who watches calls.
type Watcher = dyn Fn(CallEvent<'_>) + Send + Sync;

/// What holds for every call of an engine.
#[derive(Clone, Default)]
pub(crate) struct CallContext {
    pub(crate) watcher: Option<Arc<Watcher>>,
    pub(crate) stop: Stop,
    pub(crate) record: Option<PathBuf>,
    /// Providers of the program around the engine, by name.
    pub(crate) providers: BTreeMap<String, SharedProvider>,
    /// Providers of the configuration that were opened.
    pub(crate) opened: OpenedProviders,
    /// The model that a run asks in place of its provider's.
    pub(crate) model: Option<String>,
    /// What a flag says that receivers of new prompts can do with files.
    pub(crate) fs_ability: Option<aiwf_prompt::FsAbility>,
    /// Hears of servers that are agreed to only now; only those of before are started when there is none.
    pub(crate) agreed: Option<Arc<Agreed>>,
    /// The gate that a person decides on; noted by the command itself when it is not given.
    pub(crate) seen: Option<SeenGate>,
    /// The beginning of the hash that the gate must have.
    pub(crate) expected: Option<String>,
    /// Whether a command about a session skips its gates from now on.
    pub(crate) skips_gates: bool,
    /// Where a person decides.
    pub(crate) surface: Option<Surface>,
    /// Hears of sessions, changes and runs that are adopted on the way; none is when there is nobody to hear it.
    pub(crate) adopt: Option<Arc<Agreed>>,
}

/// Someone who agreed to something, and hears what it is: the name and the exact command of a server, or the kind and
/// the id of what is adopted.
pub(crate) type Agreed = dyn Fn(&str, &str) + Send + Sync;

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
            .finish()
    }
}
