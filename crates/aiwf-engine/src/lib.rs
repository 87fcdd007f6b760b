//! Gathers sources, calls the stages in order, and is the library to embed.
//!
//! The pure crates know no files; this one reads them, hands texts in and gives a [`Built`] prompt back. The
//! binary calls nothing else: what it needs of the crates below is re-exported here.

pub mod helper;

mod every_core;
mod read;
mod read_many;

mod document;
mod flows;
mod gather;

mod advice;
mod ask;
mod build;
mod clock;
mod count_cache;
mod ledger;
mod left_out;
mod packages;
mod profile_store;
mod profiles;
mod run;
mod session;
mod structured;
mod system_templates;
mod template_process;
mod tools;
mod trust;
mod validate;

mod error;
mod error_code;
mod run_error;
mod session_error;
mod trust_error;

pub use aiwf_config as config;
pub use aiwf_package as package;
pub use aiwf_profile as profile;
pub use aiwf_prompt as prompt;
pub use aiwf_provider as provider;
pub use aiwf_reply as reply;
pub use aiwf_session as machine;
pub use aiwf_tools as tool;
pub use system_templates::{TemplateCheck, TemplateLayer, TemplateListing};

/// An event of a session with its place in the journal.
pub type JournalLine = aiwf_store::Line<aiwf_session::Event>;
/// An event of a run with its place in the journal.
pub type RunLine = aiwf_store::Line<RunEvent>;
pub use aiwf_store::{
    Durability, JournalError, LockError, PlanProblem, StoreError, UserFileError, create_dir, write_atomic,
};
pub use ask::cli_calls::CliMcpResponseHandler;
pub use ask::provider_report::ProviderReport;
pub use ask::send::{Sent, ToolOptions, ToolReport};
pub use ask::watch::CallEvent;
pub use ask::{CallStyle, CutShort, ToolLoop, ToolRound};
pub use build::{BuildOptions, Built, Engine};
pub use clock::seconds_of;
pub use document::{
    ChangeDocument, ContextDocument, Document, ReplyDocument, SessionDocument, WorkflowDocument, schema,
};
pub use error::EngineError;
pub use error_code::tools_code;
pub use flows::{FlowOrigin, FoundFlow};
pub use gather::{ChangeFlags, FlowTemplate, MissingFiles, Progress, ReadArtifact};
pub use ledger::{Purpose, RemovalFilter, SessionEntry, SessionRef, WaitsFor};
pub use left_out::left_out_lines;
pub use packages::{PackageToolError, Packed};
pub use profiles::{FoundProfile, ProfileFault, ProfileOrigin};
pub use read::{read_stdin, read_text};
pub use run::{
    Block, Fault, ForkedFrom, Layer, NewConversation, NewRun, NodeProgress, PreviewLayer, Run, RunEntry,
    RunEvent, RunKind, RunPackage, RunPhase, RunPreview, RunReport, RunSetup, RunShown, RunStatus,
    RunSummary, RunVerified, StateWriter, ToolExec,
};
pub use run_error::RunError;
pub use session::{
    AbilityInForce, ApplyChange, ApplyFile, ApplyOptions, ApplyReport, ApproveOptions, ArtifactReport,
    ChangeReport, Created, Decided, Difference, NewChange, NewRequest, NewSession, Performed, PhaseOptions,
    Reach, SeenGate, SelfRunning, SessionArtifact, SessionPreview, SessionReport, SessionSummary,
    SessionValues, UsageReport, Verified,
};
pub use session_error::SessionError;
pub use structured::{PreviewJson, PromptJson, SectionContent, preview_json, prompt_json};
pub use tools::{Consent, ServerTools, ToolListing, Toolbox};
pub use trust::{Adoption, AdoptionGate, Agreement, AgreementKind, LedgerKind};
pub use trust_error::TrustError;
pub use validate::{Finding, Validation};
