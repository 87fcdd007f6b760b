//! The commands that work on a session: step, run, approve, reject, retry, respond, cancel, restore, status, list,
//! show, events, verify.

mod verbs;

use std::path::PathBuf;

use aiwf_engine::{Engine, LedgerKind, Purpose, SessionRef, SessionStatus};
use clap::Args;
use serde_json::Value;

use super::apply::ApplyArgs;
use super::comment::CommentArgs;
use super::list::ListArgs;
use super::run_session;
use crate::call_args::{CallArgs, ContinueArgs, GateArgs, PromptArgs, ServerArgs, SwitchArgs, TrustArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::lean_twin::lean_twin;
use crate::output::Output;
use crate::usage_error::UsageError;
pub(super) use verbs::{waiting_exit, without_nulls};

/// Names a session.
#[derive(Debug, Args)]
pub(crate) struct SessionId {
    /// Session id, unique prefix or suffix, name, or `latest` [default: the only one that qualifies].
    #[arg(value_name = "ID")]
    id: Option<String>,
}

impl SessionId {
    fn given(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

lean_twin! {
    pub(crate) enum SessionCommand {
        /// Run the next step that needs no decision.
        #[command(after_help = "Example: aiwf step")]
        Step(AskingArgs),
        /// Continue until a decision is needed or the session ends.
        #[command(after_help = "Example: aiwf run latest --record tape/")]
        Run {
            #[command(flatten)]
            asking: AskingArgs,
            #[command(flatten)]
            continuing: ContinueArgs,
        },
        /// Approve the pending prompt or reply as it is on disk.
        #[command(after_help = "Examples:\n  aiwf approve\n  aiwf approve --max-iterations 8")]
        Approve(ApproveArgs),
        /// Reject the pending prompt or reply, with feedback.
        #[command(after_help = "Examples:\n  aiwf reject --feedback 'Use one class per file'\n  aiwf reject")]
        Reject {
            #[command(flatten)]
            session: SessionId,
            /// What should change; optional if there are open comments.
            #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
            feedback: Option<String>,
            #[command(flatten)]
            gate: GateArgs,
            #[command(flatten)]
            call: CallArgs,
            #[command(flatten)]
            servers: ServerArgs,
            #[command(flatten)]
            prompt: PromptArgs,
        },
        /// Comment on lines of an artifact or of a changed file.
        #[command(
            after_help = "Examples:\n  aiwf comment latest plan:12-14 'Why a new table?'\n  aiwf comment list --open\n  aiwf comment resolve latest 2"
        )]
        Comment(CommentArgs),
        /// Reopen an approved artifact with a reason.
        #[command(after_help = "Example: aiwf revise latest plan --reason 'Use the existing table'")]
        Revise {
            /// Session id, unique prefix or suffix, name, or `latest` [default: the only one that qualifies].
            #[arg(value_name = "ID")]
            id: Option<String>,
            /// Artifact, such as `plan`.
            #[arg(value_name = "ARTIFACT")]
            artifact: Option<String>,
            /// What should change.
            #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
            reason: String,
            #[command(flatten)]
            gate: GateArgs,
            #[command(flatten)]
            call: CallArgs,
            #[command(flatten)]
            servers: ServerArgs,
            #[command(flatten)]
            prompt: PromptArgs,
        },
        /// Send the same prompt again, or run failed checks again.
        #[command(after_help = "Examples:\n  aiwf retry\n  aiwf retry --provider codex --wait")]
        Retry {
            #[command(flatten)]
            asking: AskingArgs,
            #[command(flatten)]
            switching: SwitchArgs,
            #[command(flatten)]
            gate: GateArgs,
        },
        /// Assign phases to other providers from now on.
        #[command(after_help = "Example: aiwf assign latest review=codex")]
        Assign {
            /// Session id, unique prefix or suffix, name, or `latest`.
            #[arg(value_name = "ID")]
            id: String,
            /// Phase and its new provider.
            #[arg(value_name = "PHASE=PROVIDER", required = true, value_parser = assignment)]
            assignments: Vec<(String, String)>,
            #[command(flatten)]
            trust: TrustArgs,
        },
        /// Restore what the last apply changed.
        #[command(after_help = "Example: aiwf undo latest")]
        Undo {
            #[command(flatten)]
            session: SessionId,
            #[command(flatten)]
            trust: TrustArgs,
        },
        /// Provide the reply that a session is waiting for.
        #[command(after_help = "Examples:\n  aiwf respond --file reply.md\n  aiwf respond < reply.md")]
        Respond {
            #[command(flatten)]
            session: SessionId,
            /// File with the reply, or - for stdin.
            #[arg(long, value_name = "FILE|-", default_value = "-")]
            file: PathBuf,
            /// Take the reply from the clipboard.
            #[arg(long, conflicts_with = "file")]
            paste: bool,
            /// Record the request and the reply in this directory, for a provider of type replay.
            #[arg(long, value_name = "DIR")]
            record: Option<PathBuf>,
            #[command(flatten)]
            gate: GateArgs,
            #[command(flatten)]
            servers: ServerArgs,
            #[command(flatten)]
            trust: TrustArgs,
        },
        /// Cancel a session.
        #[command(after_help = "Example: aiwf cancel latest --reason 'not needed any more'")]
        Cancel {
            #[command(flatten)]
            session: SessionId,
            /// Reason, recorded in the journal.
            #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
            reason: Option<String>,
            #[command(flatten)]
            trust: TrustArgs,
        },
        /// Restore a file to its approved bytes.
        #[command(after_help = "Example: aiwf restore latest plan.md")]
        Restore {
            /// The session [default: the only one with a changed file].
            #[arg(value_name = "ID")]
            id: Option<String>,
            /// The file, as `aiwf status` names it [default: the only changed one].
            #[arg(value_name = "FILE")]
            file: Option<String>,
            #[command(flatten)]
            trust: TrustArgs,
        },
        /// Show what is waiting for you, or the status of one session.
        #[command(after_help = "Examples:\n  aiwf status\n  aiwf status latest --usage")]
        Status {
            #[command(flatten)]
            session: SessionId,
            /// Show what the calls cost, and the limits.
            #[arg(long)]
            usage: bool,
        },
        /// List sessions, most recent first.
        #[command(after_help = "Examples:\n  aiwf list --waiting\n  aiwf list --flow change --limit 5")]
        List(ListArgs),
        /// Print the plan, prompt, response, review or a file.
        #[command(
            after_help = "Examples:\n  aiwf show plan\n  aiwf show latest plan@1\n  aiwf show latest iteration-1/code/Customer.java"
        )]
        Show {
            /// Session id, unique prefix, or `latest`; not needed when there is only one.
            #[arg(value_name = "ID")]
            id: Option<String>,
            /// Artifact to print [default: the waiting prompt, or a list once the session has ended].
            #[arg(value_name = "ARTIFACT")]
            artifact: Option<String>,
            /// For a run or conversation: print only the last N entries.
            #[arg(long, value_name = "N")]
            entries: Option<usize>,
        },
        /// Print the next prompt exactly as it will be sent.
        #[command(after_help = "Examples:\n  aiwf preview\n  aiwf preview | wc -c")]
        Preview {
            #[command(flatten)]
            session: SessionId,
            /// For a run or conversation: preview the request with this message, or - for stdin.
            #[arg(long, value_name = "TEXT|-")]
            input: Option<String>,
            /// Copy the prompt to the clipboard instead of printing it.
            #[arg(long)]
            copy: bool,
            #[command(flatten)]
            servers: ServerArgs,
            #[command(flatten)]
            prompt: PromptArgs,
        },
        /// Print the events of a session.
        #[command(after_help = "Example: aiwf events latest --follow")]
        Events {
            #[command(flatten)]
            session: SessionId,
            /// Keep printing new events until the session ends.
            #[arg(long)]
            follow: bool,
        },
        /// Copy approved code into the project, all files or none.
        #[command(after_help = "Examples:\n  aiwf apply --dry-run\n  aiwf apply latest")]
        Apply(ApplyArgs),
        /// Show how an artifact or the code changed between two versions.
        #[command(after_help = "Examples:\n  aiwf diff latest plan@1..3\n  aiwf diff latest --iteration 1..2")]
        Diff {
            #[command(flatten)]
            session: SessionId,
            /// Versions to compare: plan@1..3, plan@2 (with the one before it), or plan (the last two).
            #[arg(value_name = "ARTIFACT", conflicts_with = "iteration")]
            versions: Option<String>,
            /// Iterations to compare, such as 1..2 [default: the last two].
            #[arg(long, value_name = "A..B", value_parser = iterations)]
            iteration: Option<(u32, u32)>,
        },
        /// Check the journal and every approved file.
        #[command(after_help = "Example: aiwf verify latest")]
        Verify(SessionId),
    }
}

/// A command that may ask a provider.
#[derive(Debug, Args)]
pub(crate) struct AskingArgs {
    #[command(flatten)]
    session: SessionId,
    #[command(flatten)]
    pub(super) call: CallArgs,
    #[command(flatten)]
    pub(super) servers: ServerArgs,
    #[command(flatten)]
    pub(super) prompt: PromptArgs,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    session: SessionId,
    /// Skip all gates from now on, this one included.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    gate: GateArgs,
    /// Accept edits to files that were already approved.
    #[arg(long, conflicts_with_all = ["accept", "max_iterations"])]
    rebind: bool,
    /// Pass this note to the phases that read the reply.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["rebind", "accept", "max_iterations"])]
    note: Option<String>,
    /// Accept the code although its last review failed.
    #[arg(long, conflicts_with = "max_iterations")]
    accept: bool,
    /// Allow up to N rounds of the loop that reached its limit.
    #[arg(long, visible_alias = "max-rounds", value_name = "N")]
    max_iterations: Option<u32>,
    /// Copy the next prompt to the clipboard when it is for a web chat.
    #[arg(long)]
    copy: bool,
    #[command(flatten)]
    switching: SwitchArgs,
    #[command(flatten)]
    hash_prompts: HashPromptsArgs,
    #[command(flatten)]
    call: CallArgs,
    #[command(flatten)]
    servers: ServerArgs,
    #[command(flatten)]
    prompt: PromptArgs,
}

impl ApproveArgs {
    /// Whether no flag selects another approval.
    fn decides_nothing(&self) -> bool {
        let has_flag = self.yes
            || self.rebind
            || self.accept
            || self.note.is_some()
            || self.copy
            || self.gate.is_given()
            || self.prompt.is_given();
        let has_flag = has_flag || self.switching.given().is_some();
        !has_flag && self.max_iterations.is_none() && self.hash_prompts.chosen().is_none()
    }
}

#[derive(Debug, Args)]
pub(crate) struct HashPromptsArgs {
    /// Bind the approval to the prompt's bytes.
    #[arg(long, conflicts_with = "no_hash_prompts")]
    hash_prompts: bool,
    /// Ignore later edits of this prompt.
    #[arg(long)]
    no_hash_prompts: bool,
}

impl HashPromptsArgs {
    /// The value of the flags, if any is set.
    pub(crate) fn chosen(&self) -> Option<bool> {
        match (self.hash_prompts, self.no_hash_prompts) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => None,
        }
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(phase, provider)| !phase.is_empty() && !provider.is_empty());
    let (phase, provider) = pair.ok_or("expected a phase and a provider, such as review=codex")?;
    Ok((phase.to_owned(), provider.to_owned()))
}

fn iterations(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parsed.ok_or_else(|| "expected two iterations, such as 1..2".to_owned())
}

impl SessionCommand {
    /// Whether it does something with a session, instead of looking at it.
    pub(crate) fn acts(&self) -> bool {
        match self {
            Self::Step(_)
            | Self::Run { .. }
            | Self::Approve(_)
            | Self::Reject { .. }
            | Self::Retry { .. }
            | Self::Respond { .. }
            | Self::Cancel { .. }
            | Self::Restore { .. }
            | Self::Assign { .. }
            | Self::Undo { .. }
            | Self::Revise { .. }
            | Self::Apply(_) => true,
            Self::Comment(args) => args.acts(),
            Self::Status { .. }
            | Self::List(_)
            | Self::Show { .. }
            | Self::Preview { .. }
            | Self::Events { .. }
            | Self::Diff { .. }
            | Self::Verify(_) => false,
        }
    }

    /// The session of the command and its kind, if they matter; `None` if there is none.
    fn subject(&self, engine: &Engine) -> Option<(String, LedgerKind)> {
        let typed = self.given()?;
        let is_for_all = matches!(
            self,
            Self::Show { .. }
                | Self::Preview { .. }
                | Self::Events { .. }
                | Self::Verify(_)
                | Self::Cancel { .. }
        );
        if typed.is_none() && !is_for_all {
            return None;
        }
        let purpose = if self.acts() { Purpose::Continue } else { Purpose::Look };
        engine.resolve_session(typed, purpose).ok()
    }

    /// Refuses flags that apply only to runs.
    fn refuse_flags_of_runs(&self) -> Result<(), UsageError> {
        let given = match self {
            Self::Show { entries: Some(_), .. } => "--entries",
            Self::Preview { input: Some(_), .. } => "--input",
            Self::Step(_)
            | Self::Run { .. }
            | Self::Approve(_)
            | Self::Reject { .. }
            | Self::Retry { .. }
            | Self::Respond { .. }
            | Self::Cancel { .. }
            | Self::Restore { .. }
            | Self::Assign { .. }
            | Self::Undo { .. }
            | Self::Comment(_)
            | Self::Revise { .. }
            | Self::Status { .. }
            | Self::List(_)
            | Self::Show { .. }
            | Self::Preview { .. }
            | Self::Events { .. }
            | Self::Apply(_)
            | Self::Diff { .. }
            | Self::Verify(_) => return Ok(()),
        };
        Err(UsageError::OnlyForRuns { given })
    }

    /// The session argument; `None` for a command about all sessions.
    #[expect(clippy::option_option, reason = "a command about no session differs from one that names none")]
    fn given(&self) -> Option<Option<&str>> {
        match self {
            Self::List(_) | Self::Comment(_) => None,
            Self::Revise { id, artifact, .. } => Some(id.as_deref().filter(|_| artifact.is_some())),
            Self::Step(args) | Self::Run { asking: args, .. } | Self::Retry { asking: args, .. } => {
                Some(args.session.given())
            }
            Self::Approve(args) => Some(args.session.given()),
            Self::Apply(args) => Some(args.session.given()),
            Self::Restore { id, .. } | Self::Show { id, .. } => Some(id.as_deref()),
            Self::Assign { id, .. } => Some(Some(id)),
            Self::Reject { session, .. }
            | Self::Respond { session, .. }
            | Self::Status { session, .. }
            | Self::Preview { session, .. }
            | Self::Events { session, .. }
            | Self::Diff { session, .. }
            | Self::Cancel { session, .. }
            | Self::Undo { session, .. }
            | Self::Verify(session) => Some(session.given()),
        }
    }

    /// The session of the command; `None` if none is named and none qualifies.
    fn which(&self, engine: &Engine) -> Option<SessionRef<'_>> {
        let given = self.given()?;
        if given.is_some() {
            return Some(given.into());
        }
        let report = engine.session_report(given).ok()?;
        let qualifies = if matches!(self, Self::Apply(_)) {
            report.status == SessionStatus::Complete
        } else {
            // A session that has ended can be read, but has no next prompt.
            let needs_a_stage = self.acts() || matches!(self, Self::Preview { .. });
            !needs_a_stage || report.stage.is_some()
        };
        qualifies.then_some(given.into())
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Step(_) => "step",
            Self::Run { .. } => "run",
            Self::Approve(_) => "approve",
            Self::Reject { .. } => "reject",
            Self::Retry { .. } => "retry",
            Self::Respond { .. } => "respond",
            Self::Cancel { .. } => "cancel",
            Self::Restore { .. } => "restore",
            Self::Assign { .. } => "assign",
            Self::Undo { .. } => "undo",
            Self::Comment(args) => args.name(),
            Self::Revise { .. } => "revise",
            Self::Status { .. } => "status",
            Self::List(_) => "list",
            Self::Show { .. } => "show",
            Self::Preview { .. } => "preview",
            Self::Events { .. } => "events",
            Self::Apply(_) => "apply",
            Self::Diff { .. } => "diff",
            Self::Verify(_) => "verify",
        }
    }
}

pub(crate) fn run(command: &SessionCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command.subject(engine) {
        Some((id, LedgerKind::Run)) => {
            if let Some(done) = run_session::run(command, &id, engine, output) {
                return done;
            }
        }
        Some((_, LedgerKind::Session | LedgerKind::Change)) => command.refuse_flags_of_runs()?,
        None => {}
    }
    verbs::run(command, engine, output).map_err(|failure| match command.which(engine) {
        Some(which) => about_session(failure, which, engine),
        None => failure,
    })
}

/// Names the session of a failed command: as a field for programs, and in the commands of the hint.
pub(super) fn about_session(failure: Failure, which: SessionRef<'_>, engine: &Engine) -> Failure {
    let mut failure = with_place(failure, which, engine);
    if let Some(Value::String(id)) = failure.fields.get("session_id") {
        let report = engine.session_report(Some(id.as_str())).ok();
        let name = report.and_then(|report| report.change.map(|change| change.name));
        let called = name.filter(|name| !name.is_empty()).unwrap_or_else(|| id.clone());
        failure.advice = failure.advice.map(|advice| Box::new(advice.about_session(called)));
    }
    failure
}

/// Adds the session and the phase that a failed command was about, unless the failure names them.
pub(super) fn with_place(mut failure: Failure, which: SessionRef<'_>, engine: &Engine) -> Failure {
    if !failure.fields.contains_key("session_id")
        && let Ok(report) = engine.session_report(which)
    {
        failure.fields.insert("session_id", Value::from(report.session_id));
        failure.fields.insert("phase", Value::from(report.phase.as_str()));
    }
    failure
}
