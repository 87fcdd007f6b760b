//! One failure for every variant of every error that a user can meet.
//!
//! In: nothing. Out: lists by error type. The `match` in [`every_variant`] names no `_`, so a variant that is missing
//! here does not compile; a type that is missing is found by the tests.

use std::io;
use std::path::PathBuf;

use super::{Exit, Failure};
use aiwf_engine::config::ConfigError;
use aiwf_engine::machine::{Action, FlowProblem, Phase, Refusal, Resolution};
use aiwf_engine::package::{ExtractError, PackageError, RejectCode, Rejected, SelectError, SourceError};
use aiwf_engine::profile::{
    NoComponent, ParamProblem, ProfileError, ProfileProblem, ProfileProblemKind, StandardsError,
};
use aiwf_engine::prompt::{PromptError, TemplateError, TemplateNotFound, TemplatePlace, Tokens};
use aiwf_engine::provider::AskError;
use aiwf_engine::tool::ToolsError;
use aiwf_engine::{
    ApplyChange, ApplyFile, ApplyReport, Difference, EngineError, Fault, JournalError, LedgerKind, LockError,
    PackageToolError, PlanProblem, ProfileFault, RunError, SessionError, StoreError, TrustError,
    WorktreeError,
};

/// The name of a variant, and its failure.
pub(super) type Sample = (&'static str, Failure);

/// The failures of one enum. Every variant has one line or several, and the compiler says when one has none.
macro_rules! every_variant {
    ($error:ident, $shown:expr, { $($variant:ident => [$($sample:expr),+ $(,)?]),+ $(,)? }) => {{
        let name = |error: &$error| match error {
            $($error::$variant { .. } => stringify!($variant),)+
        };
        let shown = $shown;
        let mut samples: Vec<Sample> = Vec::new();
        $($({
            let error: $error = $sample;
            assert_eq!(name(&error), stringify!($variant));
            samples.push((stringify!($variant), shown(error)));
        })+)+
        samples
    }};
}

#[path = "failure_samples/bring.rs"]
mod bring;
#[path = "failure_samples/calls.rs"]
mod calls;
#[path = "failure_samples/checks.rs"]
mod checks;
#[path = "failure_samples/commands.rs"]
mod commands;
#[path = "failure_samples/compare.rs"]
mod compare;
#[path = "failure_samples/config.rs"]
mod config;
#[path = "failure_samples/packages.rs"]
mod packages;
#[path = "failure_samples/store.rs"]
mod store;
#[path = "failure_samples/tests.rs"]
mod tests;
#[path = "failure_samples/trust.rs"]
mod trust;
#[path = "failure_samples/worktree.rs"]
mod worktree;

/// All lists, with the names of the types in the source.
pub(super) fn all() -> Vec<(&'static str, Vec<Sample>)> {
    vec![
        ("SessionError", session_errors()),
        ("Refusal", refusals()),
        ("RunError", run_errors()),
        ("Rejected", rejected()),
        ("EngineError", engine_errors()),
        ("PromptError", prompt_errors()),
        ("TemplateError", template_errors()),
        ("TemplateNotFound", templates_not_found()),
        ("ConfigError", config::config_errors()),
        ("ConfigFault", config::config_faults()),
        ("GateFlagError", config::gate_flag_errors()),
        ("ProfileError", profile_errors()),
        ("StandardsError", standards_errors()),
        ("NoComponent", no_components()),
        ("PackageToolError", packages::package_tool_errors()),
        ("PackageError", packages::package_errors()),
        ("SourceError", packages::source_errors()),
        ("ArchiveError", packages::archive_errors()),
        ("PackError", packages::pack_errors()),
        ("ExtractError", packages::extract_errors()),
        ("SelectError", packages::select_errors()),
        ("MenuError", packages::menu_errors()),
        ("AskError", calls::ask_errors()),
        ("ToolsError", calls::tools_errors()),
        ("ToolRefusal", calls::tool_refusals()),
        ("TrustError", trust::trust_errors()),
        ("CheckError", checks::check_errors()),
        ("TestError", tests::test_errors()),
        ("ImportError", bring::import_errors()),
        ("IntegrateError", bring::integrate_errors()),
        ("DiffError", compare::diff_errors()),
        ("WorktreeError", worktree::worktree_errors()),
        ("UserFileError", trust::user_file_errors()),
        ("StoreError", store::store_errors()),
        ("JournalError", store::journal_errors()),
        ("LockError", store::lock_errors()),
        ("AddressError", calls::address_errors()),
        ("ServeError", calls::serve_errors()),
        ("PageError", calls::page_errors()),
        ("TokenError", calls::token_errors()),
        ("UsageError", commands::usage_errors()),
        ("ClipboardError", commands::clipboard_errors()),
        ("CommandError", commands::command_errors()),
        ("Bug", commands::bugs()),
    ]
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

fn denied() -> io::Error {
    io::Error::from_raw_os_error(13)
}

fn missing() -> io::Error {
    io::Error::from_raw_os_error(2)
}

fn store_error() -> StoreError {
    StoreError { path: PathBuf::from("out/prompt.md"), source: denied() }
}

fn template_place() -> TemplatePlace {
    TemplatePlace {
        name: text("templates/review.md"),
        line: 14,
        column: 8,
        text: text("Ask {{ reviewer }} for help."),
        width: 8,
    }
}

fn profile_problems() -> Vec<ProfileProblem> {
    vec![ProfileProblem {
        file: text("profile.toml"),
        line: 3,
        message: text("unknown key `nmae`"),
        kind: ProfileProblemKind::UnknownKey,
        hint: text("did you mean `name`? known: `name`, `version`"),
    }]
}

fn plan_problems() -> Vec<PlanProblem> {
    vec![PlanProblem { path: text("../x.md"), problem: text("leaves the directory") }]
}

fn one_rejected() -> Rejected {
    Rejected {
        code: RejectCode::InvalidTransition,
        message: text("the run cannot go from `plan` to `done`: it can go to `review`"),
        details: None,
    }
}

fn no_key() -> AskError {
    AskError::NoKey {
        provider: text("openai"),
        message: text("the variable `OPENAI_API_KEY` is not set"),
        hint: text("set `OPENAI_API_KEY`, or name another variable as `api_key_env` in `[providers.openai]`"),
    }
}

fn self_running_report() -> ApplyReport {
    ApplyReport {
        session_id: text("2026-01-02-app"),
        files: vec![ApplyFile {
            name: text(".github/workflows/ci.yml"),
            target: text(".github/workflows/ci.yml"),
            change: ApplyChange::New,
            run_by: Some("GitHub Actions"),
            diff: String::new(),
        }],
        applied: false,
        branch: None,
        commit: None,
        outdated: Vec::new(),
        overlaps: Vec::new(),
    }
}

fn session_errors() -> Vec<Sample> {
    every_variant!(SessionError, Failure::from, {
        NoSession => [SessionError::NoSession { given: text("2026-01-x") }],
        AmbiguousSession => [SessionError::AmbiguousSession {
            given: text("2026"),
            matching: texts(["2026-01-02-app", "2026-01-03-app"]),
        }],
        OtherKind =>
            [SessionError::OtherKind { given: text("20"), id: text("2026-01-x"), kind: LedgerKind::Run }],
        NotEnded => [
            SessionError::NotEnded {
                id: text("2026"),
                kind: LedgerKind::Run,
                status: aiwf_engine::SessionStatus::Waiting,
            },
        ],
        NotAChange => [SessionError::NotAChange { id: text("2026-01-x"), flow: text("do") }],
        SeveralStaleFiles => [SessionError::SeveralStaleFiles {
            files: texts(["2026-01-02-app  plan.md", "2026-01-03-app  plan.md"]),
        }],
        NoStaleFile => [SessionError::NoStaleFile],
        NoOpenSession => [SessionError::NoOpenSession],
        SeveralEndedSessions => [SessionError::SeveralEndedSessions {
            ended: texts(["2026-01-02-app", "2026-01-03-app"]),
        }],
        SeveralOpenSessions => [SessionError::SeveralOpenSessions {
            open: texts(["2026-01-02-app", "2026-01-03-app"]),
        }],
        NoChange => [
            SessionError::NoChange { given: text("add-logn"), known: texts(["add-login"]) },
            SessionError::NoChange { given: text("add-login"), known: Vec::new() },
        ],
        ChangeExists => [SessionError::ChangeExists { name: text("add-login") }],
        ChangeName => [SessionError::ChangeName { name: text("a b"), why: "a space is in it" }],
        NoRequest => [SessionError::NoRequest],
        NothingToApply => [
            SessionError::NothingToApply { id: text("add-login"), is_edited: false },
            SessionError::NothingToApply { id: text("add-login"), is_edited: true },
        ],
        EmptySession => [SessionError::EmptySession { id: text("2026-01-02-app") }],
        OtherProfile => [SessionError::OtherProfile {
            id: text("2026-01-02-app"),
            found: text("react"),
            wanted: text("spring"),
        }],
        NoVersion => [SessionError::NoVersion {
            artifact: text("plan"),
            id: text("2026-01-02-app"),
            version: 7,
            known: vec![1, 2],
        }],
        NotLines => [
            SessionError::NotLines { given: text("14-12") },
            SessionError::NotLines { given: text("0") },
        ],
        NotReopenable => [
            SessionError::NotReopenable { id: text("2026-01-02-app"), artifact: text("code"), known: vec![] },
            SessionError::NotReopenable {
                id: text("2026-01-02-app"),
                artifact: text("code"),
                known: vec![text("plan"), text("implementation")],
            },
        ],
        NoSuchLines => [
            SessionError::NoSuchLines {
                id: text("2026-01-02-app"),
                on: text("plan"),
                lines: text("90-99"),
                n_lines: 12,
                shown: Some(text("plan@1")),
            },
            SessionError::NoSuchLines {
                id: text("2026-01-02-app"),
                on: text("src/app.py"),
                lines: text("99"),
                n_lines: 12,
                shown: None,
            },
            SessionError::NoSuchLines {
                id: text("2026-01-02-app"),
                on: text("plan"),
                lines: text("1"),
                n_lines: 0,
                shown: Some(text("plan@1")),
            },
        ],
        NoteWithoutReply => [SessionError::NoteWithoutReply],
        NoArtifact => [
            SessionError::NoArtifact { id: text("2026-01-02-app"), artifact: text("plan"), known: vec![] },
            SessionError::NoArtifact {
                id: text("2026-01-02-app"),
                artifact: text("code"),
                known: vec![text("plan"), text("standards"), text("prompt")],
            },
        ],
        NoIteration => [
            SessionError::NoIteration { id: text("2026-01-02-app"), iteration: 9, known: vec![1, 2] },
            SessionError::NoIteration { id: text("2026-01-02-app"), iteration: 2, known: vec![1] },
        ],
        EmptyReply => [SessionError::EmptyReply],
        Cancelled => [SessionError::Cancelled { id: text("2026-01-02-app") }],
        InPhase => [SessionError::InPhase {
            session_id: text("2026-01-02-app"),
            phase: phase("planning"),
            error: Box::new(SessionError::Ask(no_key())),
        }],
        OutsideSession => [SessionError::OutsideSession { path: text("../other/plan.md") }],
        Conflicts => [worktree::conflicts(false), worktree::conflicts(true)],
        NotCommitted => [
            worktree::refused_by_a_hook(true, None),
            worktree::refused_by_a_hook(false, Some("--branch")),
            SessionError::NotCommitted {
                error: WorktreeError::Uncommitted { paths: texts(["src/list.py"]) },
                is_written: false,
                flag: Some("--commit"),
            },
            SessionError::NotCommitted { error: WorktreeError::NoIdentity, is_written: false, flag: None },
        ],
        NoSuchPhase => [SessionError::NoSuchPhase {
            phase: text("reviw"),
            flow: text("do"),
            known: texts(["plan", "implement", "review"]),
        }],
        CheckStopped => [SessionError::CheckStopped { name: text("cargo test") }],
        NoCacheDirectory => [SessionError::NoCacheDirectory],
        Worktree => [SessionError::Worktree(WorktreeError::NoGit)],
        ChangedSinceApply => [SessionError::ChangedSinceApply { files: texts(["src/list.py"]) }],
        SelfRunningFiles => [SessionError::SelfRunningFiles { report: Box::new(self_running_report()) }],
        NoPlace => [SessionError::NoPlace { problems: texts(["`App.java` has no `package` line"]) }],
        LinkInTheWay => [SessionError::LinkInTheWay { path: text("src/link") }],
        ReservedTarget => [SessionError::ReservedTarget { path: text(".git/hooks/pre-commit") }],
        TargetChanged => [SessionError::TargetChanged { path: text("src/lib.rs") }],
        ApplyElsewhere => [SessionError::ApplyElsewhere {
            id: text("20260102-030405-0001"),
            path: text("/srv/out/a.rs"),
        }],
        UnsafeFile => [SessionError::UnsafeFile {
            path: text(".aiwf/sessions/x/code"),
            problem: text("it is a link, or reached through one"),
        }],
        RecordingPlace => [SessionError::RecordingPlace { path: text(".aiwf/sessions") }],
        SendFailed => [SessionError::SendFailed {
            error: AskError::Cut {
                provider: text("openai"),
                message: text("the connection was closed"),
                usage: None,
            },
            kept: text("reply.partial.md"),
        }],
        UnknownPhase => [SessionError::UnknownPhase { phase: text("implemnt") }],
        UnknownFlow => [
            SessionError::UnknownFlow { name: text("chnage"), known: vec![text("change"), text("do")] },
            SessionError::UnknownFlow { name: text("zzz"), known: vec![text("change")] },
        ],
        BrokenFlow => [SessionError::BrokenFlow {
            name: text("mine"),
            path: text(".aiwf/flows/mine/flow.toml"),
            problems: vec![FlowProblem {
                phase: Some(0),
                key: Some("next"),
                line: Some(9),
                message: text("there is no phase `implemnt`"),
                hint: text("phases of this flow: `specify`, `implement`"),
            }],
        }],
        FlowName => [SessionError::FlowName { name: text("change") }],
        FlowExists => [SessionError::FlowExists {
            name: text("mine"),
            path: PathBuf::from(".aiwf/flows/mine/flow.toml"),
        }],
        FlowNeedsProfile => [SessionError::FlowNeedsProfile { name: text("generate") }],
        NoSuchGate => [SessionError::NoSuchGate {
            pattern: text("planing.prompt"),
            flow: text("do"),
            phases: vec![text("plan"), text("implement"), text("review")],
        }],
        NoPrompt => [SessionError::NoPrompt { phase: Phase::INITIALIZED }],
        Stale => [SessionError::Stale {
            files: vec![Difference { path: text("plan.md"), approved: text("1f"), found: Some(text("2e")) }],
        }],
        UnknownFiles => [SessionError::UnknownFiles { files: texts([".aiwf/sessions/x/code/a.txt"]) }],
        ReplyProblems => [
            SessionError::ReplyProblems {
                path: text(".aiwf/sessions/x/planning-response.md"),
                problems: texts(["line 31: block `src/a.rs` is not closed"]),
                is_agents: false,
            },
            SessionError::ReplyProblems {
                path: text(".aiwf/sessions/x/planning-response.md"),
                problems: texts(["line 31: block `src/a.rs` is not closed", "block `tests` is missing"]),
                is_agents: false,
            },
            SessionError::ReplyProblems {
                path: text(".aiwf/sessions/x/iteration-1/implement-response.md"),
                problems: texts(["the agent changed no file"]),
                is_agents: true,
            },
        ],
        AnotherGate => [SessionError::AnotherGate {
            seen: text("planning prompt, iteration 1 (8a1b2c3d4e5f)"),
            found: text("planning response, iteration 1 (0f1e2d3c4b5a)"),
        }],
        NoHash => [SessionError::NoHash { given: text("latest") }],
        NoReplyYet => [SessionError::NoReplyYet { path: text(".aiwf/sessions/x/planning-response.md") }],
        OverBudget => [SessionError::OverBudget { needed: Tokens(142_300), budget: Tokens(128_000) }],
        RequiredTooLarge => [SessionError::RequiredTooLarge {
            needed: Tokens(142_300),
            limit: text("`budget_tokens` in `[session]` is 128,000"),
            largest: text("schema.sql"),
            largest_tokens: Tokens(61_900),
            hint: text("raise `budget_tokens` in `[session]` of `.aiwf/config.toml`"),
        }],
        EditedPrompt => [SessionError::EditedPrompt { path: text(".aiwf/sessions/x/planning-prompt.md") }],
        NotAwaited => [SessionError::NotAwaited { next: aiwf_engine::advice::Advice::from(Action::Approve).about_session("2026-01-02-app") }],
        Missing => [SessionError::Missing { path: text(".aiwf/sessions/x/plan.md") }],
        NothingApproved => [SessionError::NothingApproved { path: text("plan.md") }],
        Params => [SessionError::Params {
            profile: text("react"),
            problems: vec![ParamProblem {
                param: text("name"),
                message: text("`--name` is missing"),
                hint: None,
            }],
        }],
        BrokenProfile => [SessionError::BrokenProfile {
            name: text("mine"),
            fault: ProfileFault {
                message: text("`profile.toml` is missing"),
                hint: text("write a `profile.toml`; `aiwf profile new NAME` makes one"),
            },
        }],
        ProfileExists => [SessionError::ProfileExists { name: text("react"), origin: "built-in" }],
        NoModel => [SessionError::NoModel { name: text("jenerate"), known: texts(["generate", "react"]) }],
        NoHome => [SessionError::NoHome],
        UnknownProfile => [
            SessionError::UnknownProfile { name: text("raect"), known: texts(["react", "spring"]) },
            SessionError::UnknownProfile { name: text("cobol"), known: texts(["react", "spring"]) },
        ],
        UnknownProvider => [
            SessionError::UnknownProvider {
                name: text("opnai"),
                place: text("role `planner`"),
                known: texts(["openai"]),
            },
            SessionError::UnknownProvider {
                name: text("zzz"),
                place: text("role `planner`"),
                known: texts(["openai"]),
            },
        ],
        HeldToReading => [SessionError::HeldToReading { provider: text("claude"), asked: "write" }],
        OverLimit => [SessionError::OverLimit {
            message: text("$4.10 is spent, the next call may cost $1.20, and $5.00 is the limit"),
        }],
        PersonCannotReply => [SessionError::PersonCannotReply { provider: text("manual") }],
        NoPrice => [
            SessionError::NoPrice { provider: text("local"), model: None },
            SessionError::NoPrice { provider: text("local"), model: Some(text("llama-9")) },
        ],
        Ask => [SessionError::Ask(no_key())],
        NoTools => [
            SessionError::NoTools { phase: text("plan"), problems: Vec::new() },
            SessionError::NoTools {
                phase: text("plan"),
                problems: texts(["`files__read` is not granted here"]),
            },
        ],
        Tools => [SessionError::Tools(ToolsError::UnknownServer { server: text("fils"), known: texts(["files"]) })],
        Refused => [SessionError::Refused(Refusal::NoFeedback)],
        Journal => [SessionError::Journal(JournalError::Store(store_error()))],
        Lock => [SessionError::Lock(LockError::Taken)],
        Trust => [SessionError::Trust(TrustError::NoPlace)],
        UntrustedProvider => [SessionError::UntrustedProvider {
            name: text("our-agent"),
            shown: text("provider our-agent\n  type = \"command\"\n  argv = [\"agent\", \"--fast\"]"),
        }],
        Config => [SessionError::Config(ConfigError::LeavesProject)],
        Profile => [SessionError::Profile(ProfileError { name: None, problems: profile_problems() })],
        Standards => [SessionError::Standards(StandardsError { problems: profile_problems() })],
        Engine => [SessionError::Engine(EngineError::EmptyInput { recipe: "session" })],
    })
}

fn phase(name: &str) -> Phase {
    Phase::from_name(name).unwrap()
}

fn refusals() -> Vec<Sample> {
    let shown = |error| Failure::from(SessionError::from(error));
    every_variant!(Refusal, shown, {
        NotNow => [
            Refusal::NotNow {
                command: "approve",
                situation: text("the planning prompt has not been sent yet"),
                possible: vec![Action::Step, Action::Run, Action::Reject, Action::Cancel],
            },
            Refusal::NotNow {
                command: "cancel",
                situation: text("the session is complete"),
                possible: Vec::new(),
            },
        ],
        OtherPhase => [Refusal::OtherPhase {
            wanted: phase("implement"),
            situation: text("the plan prompt has not been written yet"),
            possible: vec![Action::Step, Action::Run, Action::Cancel],
        }],
        NoFeedback => [Refusal::NoFeedback],
        CapTooLow => [
            Refusal::CapTooLow { round: 3, given: 2 },
        ],
        WrongOutcome => [Refusal::WrongOutcome { phase: phase("planning"), found: "verdict" }],
        Markers => [Refusal::Markers { phase: phase("plan"), marker: "PLAN" }],
        Settled => [Refusal::Settled { phase: phase("plan") }],
        NotAtGate => [Refusal::NotAtGate { path: text("plan.md") }],
        NotBound => [Refusal::NotBound { path: text("plan.md") }],
        Applied => [Refusal::Applied],
        Verdict => [Refusal::Verdict { artifact: text("review") }],
        NotApproved => [Refusal::NotApproved {
            artifact: text("plan"),
            situation: text("the plan reply is waiting for approval"),
            possible: vec![Action::Approve, Action::Reject],
        }],
        EmptyRemark => [Refusal::EmptyRemark],
        LongRemark => [Refusal::LongRemark { n_bytes: 9_000, max: 8_192 }],
        TooManyComments => [Refusal::TooManyComments { max: 1_000 }],
        NoComment => [Refusal::NoComment { number: 7, known: vec![1, 2] }],
        CommentSettled => [Refusal::CommentSettled { number: 2, resolution: Resolution::Dismissed }],
    })
}

fn run_errors() -> Vec<Sample> {
    let run_id = || text("r-20260102-1a2b");
    every_variant!(RunError, Failure::from, {
        NoRun => [RunError::NoRun { given: text("r-9") }],
        AmbiguousRun => [RunError::AmbiguousRun { given: text("r-2"), matching: texts(["r-21", "r-22"]) }],
        NoWorkflow => [RunError::NoWorkflow { run_id: run_id() }],
        Busy => [RunError::Busy { run_id: run_id() }],
        Cancelled => [RunError::Cancelled { run_id: run_id() }],
        Complete => [RunError::Complete { run_id: run_id() }],
        NothingSaid => [RunError::NothingSaid],
        PackageChanged => [RunError::PackageChanged {
            run_id: run_id(),
            path: text("flows/app"),
            was: text("1f2e"),
            is: text("3d4c"),
        }],
        PackageOutside => [RunError::PackageOutside { run_id: run_id(), path: text("../flow") }],
        PackageGone => [RunError::PackageGone {
            run_id: run_id(),
            source: Box::new(PackageToolError::Package(PackageError::Source(SourceError::Unreadable {
                path: PathBuf::from("flows/app"),
                source: missing(),
            }))),
        }],
        StateChanged => [RunError::StateChanged {
            run_id: run_id(),
            path: text(".aiwf/sessions/r/state/workflow.md"),
            found: text("1f2e"),
            expected: texts(["3d4c", "5b6a"]),
        }],
        StateLost => [RunError::StateLost { run_id: run_id() }],
        Empty => [RunError::Empty { run_id: run_id() }],
        NeverThere => [RunError::NeverThere {
            run_id: run_id(),
            node: text("review"),
            reached: texts(["start", "plan"]),
        }],
        Unsendable => [RunError::Unsendable {
            fault: Fault {
                code: text("CONTEXT_STILL_TOO_LARGE"),
                message: text("the next request needs 9000 tokens but the window has 8000"),
                hint: Some(text("raise `context_tokens` under `[workflow]`")),
            },
        }],
        NoProvider => [RunError::NoProvider],
        PersonCannotAnswer => [RunError::PersonCannotAnswer { provider: text("manual") }],
        StateInit => [RunError::StateInit(Rejected {
            code: RejectCode::SchemaValidation,
            message: text("the state file does not match its schema: `currentNodeId` is missing"),
            details: None,
        })],
        Rejected => [RunError::Rejected(one_rejected())],
        Package => [
            RunError::Package(PackageToolError::Select(SelectError::AgentUnknown {
                id: text("dev"),
                known: texts(["analyst", "pm"]),
            })),
            RunError::Package(PackageToolError::Package(PackageError::Source(SourceError::Unreadable {
                path: PathBuf::from("flows/app"),
                source: missing(),
            }))),
        ],
        Extract => [RunError::Extract(ExtractError::Store(store_error()))],
        Prompt => [RunError::Prompt(PromptError::MissingField { mode: "run", field: "agent" })],
        Store => [RunError::Store(store_error())],
        Session => [
            RunError::Session(SessionError::Lock(LockError::Taken)),
            RunError::Session(SessionError::UnknownProvider {
                name: text("opnai"),
                place: text("`--provider`"),
                known: texts(["openai"]),
            }),
            RunError::Session(SessionError::Ask(no_key())),
            RunError::Session(SessionError::Journal(JournalError::Changed {
                path: PathBuf::from(".aiwf/sessions/r/journal.jsonl"),
                line: 7,
                problem: text("its hash does not follow from line 6"),
            })),
            RunError::Session(SessionError::Config(ConfigError::Invalid { problems: vec![config::config_problem(7, config::unknown_key())] })),
            RunError::Session(SessionError::Tools(ToolsError::Untrusted {
                name: text("files"),
                shown_command: text("npx files"),
            })),
        ],
    })
}

fn rejected() -> Vec<Sample> {
    let shown = |code: RejectCode| Failure::from(RunError::from(Rejected { code, ..one_rejected() }));
    every_variant!(RejectCode, shown, {
        PreconditionFailed => [RejectCode::PreconditionFailed],
        InvalidFrontMatter => [RejectCode::InvalidFrontMatter],
        SchemaValidation => [RejectCode::SchemaValidation],
        InvalidTransition => [RejectCode::InvalidTransition],
    })
}

fn engine_errors() -> Vec<Sample> {
    let path = || PathBuf::from("docs/spec.md");
    every_variant!(EngineError, Failure::from, {
        Unreadable => [
            EngineError::Unreadable { path: path(), source: missing() },
            EngineError::Unreadable { path: path(), source: denied() },
            EngineError::Unreadable { path: path(), source: io::Error::from_raw_os_error(21) },
            EngineError::Unreadable { path: path(), source: io::Error::from(io::ErrorKind::TimedOut) },
        ],
        Editor => [EngineError::Editor { editor: text("nano"), message: text("it is not installed") }],
        NotUtf8 => [EngineError::NotUtf8 { path: path(), offset: 17 }],
        TooLarge => [EngineError::TooLarge { path: path(), limit: 16 * 1024 * 1024 }],
        LeavesDirectory => [EngineError::LeavesDirectory { path: path(), root: "the project" }],
        OutsideProject => [EngineError::OutsideProject { pattern: text("../notes/*.md") }],
        BrokenLink => [EngineError::BrokenLink { path: path() }],
        NoDirectory => [EngineError::NoDirectory { what: "session directory", path: path() }],
        NotADirectory => [EngineError::NotADirectory { what: "session directory", path: path() }],
        EmptyInput => [EngineError::EmptyInput { recipe: "session" }],
        NotJson => [EngineError::NotJson {
            recipe: "session",
            message: text("expected `,` or `}`"),
            line: 3,
            column: 5,
        }],
        Document => [
            EngineError::Document {
                recipe: "session",
                place: Some(text("files[0].path")),
                message: text("expected a string, found a number"),
                hint: None,
            },
            EngineError::Document {
                recipe: "session",
                place: None,
                message: text("unknown field `phse`"),
                hint: Some(text("did you mean `phase`?")),
            },
        ],
        UnknownName => [
            EngineError::UnknownName {
                what: "phase",
                name: text("planing"),
                place: Some(text("phase")),
                known: vec!["planning", "reviewing"],
            },
            EngineError::UnknownName {
                what: "phase",
                name: text("zzz"),
                place: None,
                known: vec!["planning", "reviewing"],
            },
        ],
        TooSmall => [EngineError::TooSmall { field: "iteration", found: 0, least: 1 }],
        NotAPlainName => [EngineError::NotAPlainName { what: "agent", name: text("../x") }],
        BadPattern => [EngineError::BadPattern {
            pattern: text("src/[a"),
            message: text("a `[` is not closed"),
        }],
        NothingMatches => [EngineError::NothingMatches {
            pattern: text("src/**/*.rs"),
            searched: PathBuf::from("/home/me/app"),
        }],
        ContextTooLarge => [EngineError::ContextTooLarge { path: ".cursor/rules/all.mdc".into(), limit: 1024 * 1024, most: 200 }],
        FilesTooLarge => [EngineError::FilesTooLarge { limit: 64 * 1024 * 1024 }],
        Prompt => [EngineError::Prompt(PromptError::MissingField { mode: "run", field: "agent" })],
        Store => [EngineError::Store(store_error())],
    })
}

fn prompt_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(EngineError::Prompt(error));
    every_variant!(PromptError, shown, {
        RequiredSectionsTooLarge => [PromptError::RequiredSectionsTooLarge {
            needed: Tokens(142_300),
            budget: Tokens(128_000),
            largest: text("source:src/schema.sql"),
            largest_tokens: Tokens(61_900),
        }],
        TemplateNotFound => [PromptError::TemplateNotFound(TemplateNotFound {
            agent: text("codex"),
            phase: text("plann"),
            tried: texts([".aiwf/templates/system/CODEX-plann.md"]),
        })],
        Template => [PromptError::Template(TemplateError::TooManySteps {
            name: text("templates/review.md"),
            limit: 1_000_000,
        })],
        MissingField => [PromptError::MissingField { mode: "run", field: "agent" }],
        Contradiction => [PromptError::Contradiction {
            field: "mode",
            found: text("run"),
            other_field: "intent",
            other: text("chat"),
        }],
        UnknownComponent => [
            PromptError::UnknownComponent {
                id: text("persna"),
                nearest: Some(text("persona")),
                known: texts(["persona", "rules"]),
            },
            PromptError::UnknownComponent { id: text("zzz"), nearest: None, known: texts(["persona", "rules"]) },
        ],
        Component => [PromptError::Component { id: text("tickets"), message: text("the ticket is closed") }],
    })
}

fn template_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(EngineError::Prompt(PromptError::Template(error)));
    every_variant!(TemplateError, shown, {
        UndefinedVariable => [
            TemplateError::UndefinedVariable {
                variable: text("reviewer"),
                place: Box::new(template_place()),
                defined: texts(["files", "reviewers", "task"]),
            },
            TemplateError::UndefinedVariable {
                variable: text("reviewer"),
                place: Box::new(template_place()),
                defined: Vec::new(),
            },
        ],
        Invalid => [TemplateError::Invalid { message: text("unexpected end of block"), place: Box::new(template_place()) }],
        TooManySteps => [TemplateError::TooManySteps { name: text("templates/review.md"), limit: 1_000_000 }],
        TooLarge => [TemplateError::TooLarge { name: text("templates/review.md"), limit: 64 * 1024 * 1024 }],
        TooMuchMemory => [TemplateError::TooMuchMemory { name: text("templates/review.md"), limit: 64 * 1024 * 1024 }],
        TooSlow => [TemplateError::TooSlow { name: text("templates/review.md"), limit_s: 20 }],
        NoHost => [TemplateError::NoHost { name: text("templates/review.md"), message: text("resource temporarily unavailable") }],
    })
}

fn templates_not_found() -> Vec<Sample> {
    let shown = |phase: &str| {
        let error = TemplateNotFound {
            agent: text("codex"),
            phase: text(phase),
            tried: texts([".aiwf/templates/system/CODEX-x.md", ".aiwf/templates/system/BASE-x.md"]),
        };
        Failure::from(EngineError::Prompt(PromptError::TemplateNotFound(error)))
    };
    vec![("a phase that is almost known", shown("implment")), ("a phase of one's own", shown("deploy"))]
}

fn profile_errors() -> Vec<Sample> {
    let shown = |name: Option<&str>, problems| {
        let name = name.map(text);
        Failure::from(SessionError::from(ProfileError { name, problems }))
    };
    vec![
        ("with a name", shown(Some("mine"), profile_problems())),
        ("without a name", shown(None, profile_problems())),
        ("with several problems", shown(Some("mine"), [profile_problems(), profile_problems()].concat())),
    ]
}

fn standards_errors() -> Vec<Sample> {
    vec![(
        "with problems",
        Failure::from(SessionError::from(StandardsError { problems: profile_problems() })),
    )]
}

fn no_components() -> Vec<Sample> {
    let shown = |component: Option<&str>, files: &[&str]| {
        let error = NoComponent {
            component: component.map(text),
            files: files.iter().map(|file| text(file)).collect(),
        };
        Failure::from(error)
    };
    vec![
        ("nothing generated", shown(None, &[])),
        ("no such component", shown(Some("Buton"), &["App.tsx"])),
        ("no component at all", shown(None, &["theme.css"])),
    ]
}
