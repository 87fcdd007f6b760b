//! The library to embed: gathers sources and calls the stages in order.
//!
//! The pure crates read no files. This crate reads them, passes texts in and returns a [`Built`] prompt. The binary
//! uses only this crate; what it needs of the crates below is re-exported here.

pub mod advice;
pub mod clipboard;
pub mod helper;
pub mod prompt;

mod ask;
mod catalog;
mod checks;
mod import;
mod integrate;
mod ledger;
mod notify;
mod page_place;
mod run;
mod session;
mod testing;
mod trust;

mod clock;
mod editor;
mod engine;
mod error;
mod error_code;

pub mod config {
    pub use aiwf_config::{
        CHECK_NAME_RULE, CheckCommand, CheckNetwork, Config, ConfigError, ConfigFault, ConfigFile,
        ConfigProblem, Environment, Flags, GateFlagError, Loosening, Origin, Settings, parse_gate_flag,
        setting_docs, variable,
    };
}
/// The state machine of sessions, and flows.
pub mod machine {
    pub use aiwf_session::{
        Access, Action, Actor, AppliedFile, Approver, Call, Commit, Delivery, Dollars, Event, FileHash, Flow,
        FlowProblem, GatePattern, GateState, LeftOut, LeftOutKind, LineRange, Outcome, Person, Phase,
        Refusal, Resolution, Role, Stage, Status, Surface, TaskStatus, Total, TouchedFile, Usage,
        VersionName, VersionOutcome, flow_mermaid, flow_text,
    };
}
pub mod package {
    pub use aiwf_package::{
        AgentDefinition, ArchiveError, Confidence, DiagramFormat, ExtractError, Finding, FindingCode,
        GlobalCommand, MAX_PREVIEW_BYTES, MenuCommand, MenuData, MenuError, NodeStatus, NodeType, PackError,
        Package, PackageError, RejectCode, Rejected, SelectError, Severity, SourceError, VisibleItem,
        Workflow, diagram, global_command, route, visible_menu,
    };
}
pub mod profile {
    pub use aiwf_profile::{
        Action, Check, ListOf, NoComponent, Param, ParamKind, ParamProblem, Pattern, Profile, ProfileError,
        ProfileProblem, ProfileProblemKind, RESERVED_PROFILE_NAMES, StandardsError, built_in_profile,
        built_in_profiles, component_preview, ddl, manifest_schema, scaffold,
    };
}
/// Providers, for programs with their own.
pub mod provider {
    pub use aiwf_provider::{
        Answer, Ask, AskError, Check, Payload, PayloadMessage, Progress, Reply, Request, SectionHash,
        SharedText, Sink, Stop, Wait, built_in_providers,
    };
}
pub mod reply {
    pub use aiwf_reply::{
        Edit, EditKind, FileBlock, FrontMatter, Hunk, MetaVerdict, Parsed, Parser, Problem, ReviewMeta,
        TaskOutcome, TaskStatus, ToolCalls, Verdict, parse_edits, parse_fenced_files, parse_file_markers,
        parse_front_matter, parse_review_meta, parse_task_status, parse_tool_calls, parse_verdict_tag,
    };
}
/// Tools and their servers.
pub mod tool {
    pub use aiwf_tools::{
        ExecuteOptions, Policy, Progress, Refusal, ResultsDir, Servers, ServersOptions, ToolResult,
        ToolsError, sandbox,
    };
}

pub use prompt::system_templates::{TemplateCheck, TemplateLayer, TemplateListing};

/// A journal line with an event of a session.
pub type JournalLine = aiwf_store::Line<aiwf_session::Event>;
/// A journal line with an event of a run.
pub type RunLine = aiwf_store::Line<RunEvent>;
pub use aiwf_store::{
    Durability, JournalError, LockError, PlanProblem, StoreError, UserFileError, create_dir, write_atomic,
};
pub use aiwf_worktree::WorktreeError;
pub use ask::cli_calls::CliMcpResponseHandler;
pub use ask::provider_report::ProviderReport;
pub use ask::send::{Sent, ToolOptions, ToolReport};
pub use ask::toolbox::{Consent, ServerTools, ToolListing, Toolbox};
pub use ask::watch::CallEvent;
pub use ask::{CallStyle, ChosenAgent, CutShort, ToolLoop, ToolRound};
pub use catalog::flows::{FlowOrigin, FoundFlow};
pub use catalog::packages::{PackageToolError, Packed};
pub use catalog::profiles::{FoundProfile, ProfileFault, ProfileOrigin};
pub use catalog::validate::{Finding, Validation, ValidationKind};
pub use checks::check_error::CheckError;
pub use checks::{
    Check, CheckConsent, CheckEnd, CheckOrigin, CheckOutput, CheckResult, CheckRun, CheckState,
    checks_summary, head_and_tail,
};
pub use clock::{WaitClock, local_time, seconds_of};
pub use engine::Engine;
pub use error::EngineError;
pub use error_code::tools_code;
pub use import::{
    ImportError, ImportFile, ImportFlow, ImportKind, ImportOptions, ImportPlan, ImportState, NotCarried,
};
pub use integrate::{
    IntegrateError, IntegrationChange, IntegrationEffect, IntegrationPlan, IntegrationScope,
};
pub use ledger::{Overlap, Purpose, RemovalFilter, SessionEntry, SessionRef, SessionStatus, WaitsFor};
pub use notify::{Notification, NotifyEvent};
pub use page_place::{PagePlace, PageTaken};
pub use prompt::build::{BuildOptions, Built};
pub use prompt::diff::{
    CacheCall, CacheMiss, CachePair, CacheReport, ComparedPrompt, DiffError, DiffOptions, DiffSide,
    PrefixEndReport, PrefixReport, PromptDiff, SectionDiff, SectionPlace,
};
pub use prompt::document::{
    ChangeDocument, ContextDocument, Document, ProjectParts, ReplyDocument, SessionDocument,
    WorkflowDocument, schema,
};
pub use prompt::gather::{
    ChangeFlags, ContextFile, ContextReport, FlowTemplate, MissingFiles, Progress, ReadArtifact,
};
pub use prompt::left_out::left_out_lines;
pub use prompt::read::{read_stdin, read_text};
pub use prompt::request_record::RequestRecord;
pub use prompt::structured::{PreviewJson, PromptJson, SectionContent, preview_json, prompt_json};
pub use run::run_error::RunError;
pub use run::{
    Block, Fault, FaultKind, ForkedFrom, Layer, MenuChoice, MenuEntry, NewConversation, NewRun, NodeProgress,
    PreviewLayer, PreviewPayload, Run, RunEntry, RunEvent, RunKind, RunPackage, RunPhase, RunPreview,
    RunReport, RunSetup, RunShown, RunStatus, RunSummary, RunVerified, StateWriter, ToolExec,
};
pub use session::session_error::SessionError;
pub use session::{
    AbilityInForce, ApplyChange, ApplyFile, ApplyOptions, ApplyReport, ApproveOptions, ArtifactReport,
    BudgetReport, ChangeReport, CheckReport, CommentFilter, CommentPlace, CommentReport, CommentState,
    CommentTarget, Commented, Created, Decided, Difference, FileChange, FileChangeKind, LineChange, LiveText,
    NewChange, NewRequest, NewSession, NoteReport, Performed, PhaseOptions, PromptAnatomy, PromptApproval,
    PromptSize, Reach, ReopenedReport, SeenGate, SelfRunning, SessionArtifact, SessionGlance, SessionPlace,
    SessionPreview, SessionReport, SessionSummary, SessionValues, StaleArtifact, UndoReport, UsageReport,
    Verified, VersionReport, event_texts,
};
pub use testing::test_error::TestError;
pub use testing::{
    AssertionResult, JudgeExchange, ReplyFacts, Spread, TestCounts, TestDrop, TestOptions, TestOutcome,
    TestReport, TestResult, VariantSummary,
};
pub use trust::trust_error::TrustError;
pub use trust::{Adoption, AdoptionGate, Agreement, AgreementKind, LedgerKind};
