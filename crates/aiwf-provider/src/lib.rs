//! Who answers a prompt, what each of them can take, and how each is asked.
//!
//! The only crate that knows providers by name, starts agents and talks to model APIs; the others ask for a
//! capability, or for an answer.

mod built_in;
mod fs_ability;
mod prices;
mod provider_setting;

mod ask;
mod ask_error;
mod limit;
mod payload;
mod shared_text;
mod sink;

mod open;

mod address;
mod key;

mod agent;
mod http;
mod manual;
mod recorded_files;
mod replay;

mod touched;

pub use agent::InstalledProgram;
pub use agent::integration::{
    INTEGRATED_AGENTS, INTEGRATION_COMMAND, INTEGRATION_NAME, IntegrationContent, IntegrationFile,
    IntegrationPlaces, IntegrationScope, integration,
};
pub use ask::{Answer, Ask, Check, Permission, Reply, Request, Timings, ToolCall, Usage};
pub use ask_error::{AskError, Wait};
pub use built_in::{Confinement, Kind, Provider, built_in_providers, kind_names, of_family, provider};
pub use fs_ability::{FsAbilitySettings, resolve_fs_ability};
pub use open::open;
pub use payload::{AttachedFile, Payload, PayloadMessage, SectionHash, ToolSpec, Turn};
pub use prices::{ListPrice, list_price};
pub use provider_setting::{BaseUrl, KeySource, ProviderSetting, ReplySource, Secret, Timeouts};
pub use recorded_files::ChangedFiles;
pub use replay::{Answered, Cassette, RecordedCapability, RecordedReply};
pub use shared_text::SharedText;
pub use sink::{Progress, Sink, TextSink};

pub use aiwf_process::Stop;
pub use touched::{Change, Found, Touched, TouchedFile};
