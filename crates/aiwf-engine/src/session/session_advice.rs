//! What the user can do about an error of a session.

use aiwf_advice::{Action, Advice};
use aiwf_prompt::nearest;
use aiwf_session::Refusal;
use aiwf_worktree::WorktreeError;

use super::session_error::SessionError;

impl SessionError {
    /// What the user can do about it.
    pub fn advice(&self) -> Option<Advice> {
        let advice = match self {
            Self::NoSession { .. } | Self::NoOpenSession => Advice::from(Action::ListSessions)
                .then(" lists the sessions; ")
                .then(Action::Init(None))
                .then(" starts one"),
            Self::NoChange { given, known } => match nearest(given, known.iter().map(String::as_str)) {
                Some(close) => did_you_mean(close).then(Action::ListChanges).then(" lists all"),
                None => Advice::from(Action::ListChanges)
                    .then(" lists them; ")
                    .then(Action::NewChange)
                    .then(" starts one"),
            },
            Self::ChangeExists { name } => {
                Advice::from(Action::Status).then(" shows it; choose another name").about_session(name)
            }
            Self::ChangeName { .. } => "use up to 64 letters, digits, `-`, `_` and `.`".into(),
            Self::NothingToApply { id, is_edited: true } => {
                Advice::from("the agent edited the project itself: ")
                    .then(Action::Status)
                    .then(" lists the files")
                    .about_session(id)
            }
            Self::NothingToApply { id, is_edited: false } => {
                Advice::from(Action::Show(Some("implementation".to_owned())))
                    .then(" shows what it produced")
                    .about_session(id)
            }
            Self::NoRequest => {
                Advice::from("describe what to do, as in ").then(Action::StartFlow("do".to_owned()))
            }
            Self::AmbiguousSession { .. } => "give more of the id".into(),
            Self::OtherKind { id, .. } => Advice::from(Action::Status).then(" shows it").about_session(id),
            Self::NotAChange { id, .. } => Advice::from(Action::Run)
                .then(" continues it; ")
                .then(Action::Approve)
                .then(" decides at its gate")
                .about_session(id),
            Self::SeveralStaleFiles { .. } => "name the session and the file".into(),
            Self::NoStaleFile => Advice::from(Action::Status).then(" shows what is waiting for you"),
            Self::NotEnded { id, .. } => Advice::from(Action::Cancel).then(" ends it").about_session(id),
            Self::Cancelled { id } => Advice::from(Action::Show(None))
                .then(" lists what it produced; ")
                .then(Action::Init(None))
                .then(" starts a new session")
                .about_session(id),
            Self::InPhase { session_id, error, .. } => {
                return Some(error.advice()?.about_session(session_id));
            }
            Self::EmptyReply => "give the text of the reply with `--file FILE` or on stdin".into(),
            Self::NoIteration { id, known, .. } => match known.as_slice() {
                [only] => Advice::from(format!("only iteration {only} has code; "))
                    .then(Action::Show(Some("code".to_owned())))
                    .then(" prints it")
                    .about_session(id),
                several => {
                    let several: Vec<String> = several.iter().map(ToString::to_string).collect();
                    format!("iterations with code: {}", several.join(", ")).into()
                }
            },
            Self::SeveralEndedSessions { .. } | Self::SeveralOpenSessions { .. } => {
                "name one of them after the command, or `latest`".into()
            }
            Self::EmptySession { .. } => "remove its directory below `.aiwf`: nothing happened in it".into(),
            Self::OtherProfile { .. } => {
                Advice::from(Action::ListSessions).then(" shows the profile of each session")
            }
            Self::NoArtifact { known, .. } if known.is_empty() => {
                Advice::from(Action::Status).then(" shows how far the session is")
            }
            Self::NoArtifact { known, .. } => format!("it has: {}", known.join(", ")).into(),
            Self::NoVersion { artifact, known, .. } => {
                let known: Vec<String> = known.iter().map(|number| format!("{artifact}@{number}")).collect();
                format!("versions: {}", known.join(", ")).into()
            }
            Self::NotReopenable { id, known, .. } if known.is_empty() => {
                Advice::from(Action::Status).then(" shows how far the session is").about_session(id)
            }
            Self::NotReopenable { known, .. } => format!("can be reopened: {}", known.join(", ")).into(),
            Self::NotLines { given } if is_backwards(given) => {
                "the end is before the start: write the smaller number first, as in `plan:12-14`".into()
            }
            Self::NotLines { .. } => "lines start at 1: write `plan:12` or `plan:12-14`".into(),
            Self::NoSuchLines { on, n_lines: 0, .. } => {
                format!("`{on}` is empty: omit the lines to comment on the whole of it").into()
            }
            Self::NoSuchLines { id, shown: Some(shown), .. } => {
                Advice::from(Action::Show(Some(shown.clone())))
                    .then(" prints it; lines start at 1")
                    .about_session(id)
            }
            Self::NoSuchLines { n_lines, shown: None, .. } => {
                format!("name lines from 1 to {n_lines}").into()
            }
            Self::NoteWithoutReply => {
                Advice::from("edit the prompt file instead, or approve without a note: ")
                    .then(Action::Approve)
            }
            Self::OutsideSession { .. } => {
                Advice::from("name plan, standards, prompt, response, review or code, or a file that ")
                    .then(Action::Status)
                    .then(" lists")
            }
            Self::Conflicts { is_mergeable: true, .. } => Advice::from(Action::Apply)
                .then(" with `--merge` merges changes of other lines, with `--force` replaces the files and keeps each as FILE.orig"),
            Self::Conflicts { is_mergeable: false, .. } => {
                "`--force` replaces them and keeps each as FILE.orig; `--to DIR` puts the code elsewhere"
                    .into()
            }
            Self::NotCommitted { error, is_written, flag } => not_committed(error, *is_written, *flag),
            Self::NoPlace { .. } => "name a directory with `--to DIR`".into(),
            Self::LinkInTheWay { .. } => "remove the link, or name another directory with `--to DIR`".into(),
            Self::ReservedTarget { .. } => {
                "change the apply target in the profile, or name another directory with `--to DIR`".into()
            }
            Self::TargetChanged { .. } => {
                Advice::from("run ").then(Action::Apply).then(" again to see the new differences")
            }
            Self::ApplyElsewhere { id, .. } => Advice::from("name the same directory again: ")
                .then(Action::ApplyTo)
                .then(" finishes or undoes it")
                .about_session(id),
            Self::UnsafeFile { path, .. } => {
                format!("aiwf did not create `{path}` in this form: remove it, then run this again").into()
            }
            Self::RecordingPlace { .. } => "name another directory with `--record DIR`".into(),
            Self::SendFailed { .. } => "send it again, or use another provider".into(),
            Self::NoPrompt { .. } => Advice::from(Action::Status).then(" shows how far the session is"),
            Self::Stale { files } => {
                Advice::from(Action::Restore(files.first().map(|file| file.path.clone())))
                    .then(" restores the approved bytes; ")
                    .then(Action::Rebind)
                    .then(" accepts the edits")
            }
            Self::UnknownFiles { .. } => "move them away, then run this again".into(),
            Self::ReplyProblems { is_agents: true, .. } => {
                Advice::from(Action::Show(Some("response".to_owned())))
                    .then(" prints what the agent says; ")
                    .then(Action::Reject)
                    .then(" asks it again")
            }
            Self::ReplyProblems { path, .. } => {
                Advice::from(format!("edit `{path}` and approve again, or ask again with "))
                    .then(Action::Reject)
            }
            Self::AnotherGate { .. } => Advice::from("nothing was decided; look at it with ")
                .then(Action::Status)
                .then(", then decide again"),
            Self::NoHash { .. } => Advice::from("give at least 8 digits of the `sha256` that ")
                .then(Action::StatusJson)
                .then(" shows for the gate"),
            Self::NoReplyYet { .. } => {
                Advice::from("save the reply there, or deliver it with ").then(Action::Respond)
            }
            Self::OverBudget { .. } => {
                "shorten the prompt file, or raise `budget_tokens` in `[session]` of `.aiwf/config.toml`"
                    .into()
            }
            Self::RequiredTooLarge { hint, .. } => hint.clone().into(),
            Self::EditedPrompt { .. } => {
                Advice::from("edit the last section yourself, or get a new prompt with ").then(Action::Reject)
            }
            Self::NotAwaited { next } => Advice::from("next: ").join(next.clone()),
            Self::Missing { path } => {
                Advice::from(Action::Restore(Some(path.clone()))).then(" restores the approved bytes")
            }
            Self::NoSuchPhase { known, .. } => format!("phases of this flow: {}", known.join(", ")).into(),
            Self::CheckStopped { .. } => Advice::from(Action::Run).then(" runs it again"),
            Self::NoCacheDirectory => "set `HOME` or `XDG_CACHE_HOME`".into(),
            Self::Worktree(error) => error.advice(),
            Self::ChangedSinceApply { .. } => {
                "restore those files as they were applied, or change them by hand".into()
            }
            Self::SelfRunningFiles { .. } => {
                Advice::from("review them first; ").then(Action::Apply).then(" writes them")
            }
            Self::NothingApproved { .. } => {
                Advice::from(Action::Verify).then(" lists the approved files that differ")
            }
            Self::Params { profile, .. } => {
                Advice::from(Action::InitHelp(profile.clone())).then(" shows every flag")
            }
            Self::BrokenProfile { fault, .. } => fault.hint.clone().into(),
            Self::ProfileExists { .. } => "choose another name".into(),
            Self::NoHome => "set `HOME`, or use `--project`".into(),
            Self::UnknownProfile { name, known } => {
                suggestion(name, known).then(Action::ListProfiles).then(" lists all")
            }
            Self::NoModel { name, known } => {
                suggestion(name, known).then(Action::ListProfiles).then(" lists the profiles")
            }
            Self::HeldToReading { .. } => "omit `--fs-ability`: the reply comes as text".into(),
            Self::OverLimit { .. } => "raise the limit in `[budget]` of `.aiwf/config.toml`".into(),
            Self::PersonCannotReply { .. } => Advice::from(Action::BuildPrompt)
                .then(" prints the prompt; choose another provider to send it"),
            Self::NoPrice { provider, model: None } => {
                format!("set `model` in `[providers.{provider}]`, and its price in `[prices.\"MODEL\"]`")
                    .into()
            }
            Self::NoPrice { model: Some(model), .. } => {
                format!("set `input` and `output` in `[prices.\"{model}\"]`, in dollars per million tokens")
                    .into()
            }
            Self::UnknownProvider { name, known, .. } => suggestion(name, known)
                .then(Action::ListProviders)
                .then(" lists all; a table `[providers.NAME]` adds one"),
            Self::Ask(error) => error.advice(),
            Self::NoTools { phase, .. } => {
                Advice::from(format!("grant tools in `[tools.grant] {phase} = [\"SERVER__TOOL\"]`; "))
                    .then(Action::ListTools)
                    .then(" lists what exists")
            }
            Self::Tools(error) => error.hint().into(),
            Self::UnknownFlow { name, known } => match nearest(name, known.iter().map(String::as_str)) {
                Some(close) => did_you_mean(close).then(Action::ListFlows).then(" lists all"),
                None => Advice::from(Action::ListFlows)
                    .then(" lists all; ")
                    .then(Action::NewFlow)
                    .then(" writes one"),
            },
            Self::BrokenFlow { problems, .. } => problems.first()?.hint.clone().into(),
            Self::FlowName { .. } => {
                "use up to 31 lower-case letters, digits, `-` and `_`, and not the name of a built-in flow"
                    .into()
            }
            Self::FlowExists { .. } => "edit it, or choose another name".into(),
            Self::FlowNeedsProfile { .. } => Advice::from("start it with ")
                .then(Action::Init(None))
                .then("; ")
                .then(Action::ListProfiles)
                .then(" lists them"),
            Self::NoSuchGate { phases, .. } => {
                format!("write `PHASE.prompt`, `PHASE.response` or `PHASE.*`; phases: {}", phases.join(", "))
                    .into()
            }
            Self::UnknownPhase { .. } => {
                Advice::from(Action::ShowFlow(None)).then(" lists the phases of a flow")
            }
            Self::Refused(
                Refusal::WrongOutcome { .. } | Refusal::NotAtGate { .. } | Refusal::NotBound { .. },
            ) => Advice::from(Action::Status).then(" shows what the session is waiting for"),
            Self::Refused(Refusal::Verdict { .. }) => {
                "reopen the artifact it judges; a new verdict follows".into()
            }
            Self::Refused(Refusal::NotApproved { .. }) => {
                Advice::from("only an approved artifact can be reopened; ")
                    .then(Action::Status)
                    .then(" lists the versions")
            }
            Self::Refused(Refusal::Applied) => Advice::from("revert the changes first: ").then(Action::Undo),
            Self::Refused(Refusal::EmptyRemark) => "enter some text".into(),
            Self::Refused(Refusal::LongRemark { .. }) => "shorten it, or write several comments".into(),
            Self::Refused(
                Refusal::TooManyComments { .. } | Refusal::NoComment { .. } | Refusal::CommentSettled { .. },
            ) => Advice::from(Action::ListComments).then(" lists them"),
            Self::Refused(error) => crate::advice::possible_now(&error.advice()),
            Self::Journal(error) => error.hint().into(),
            Self::Lock(error) => error.hint().into(),
            Self::Trust(error) => error.advice(),
            Self::UntrustedProvider { name, .. } => {
                Advice::from(Action::Trust { kind: "provider", name: name.clone() })
                    .then(" agrees to exactly this")
            }
            Self::Config(error) => error.hint(),
            Self::Profile(error) => error.hint().into(),
            Self::Standards(error) => error.hint().into(),
            Self::Engine(error) => return error.advice(),
        };
        Some(advice)
    }
}

/// How a complete result is committed after all.
fn not_committed(error: &WorktreeError, is_written: bool, flag: Option<&'static str>) -> Advice {
    let first = if let WorktreeError::Uncommitted { .. } = error {
        "commit or stash these changes, then ".into()
    } else if let WorktreeError::CommitRefused { .. } = error {
        let done = if is_written { "the files are in your working tree; " } else { "" };
        let then = if is_written { "commit them yourself or with " } else { "" };
        format!("{done}fix what it reports, then {then}").into()
    } else {
        error.advice().then(", then ")
    };
    let advice = first.then(Action::Apply);
    match flag {
        Some(flag) => advice.then(format!(" with `{flag}`")),
        None => advice,
    }
}

/// Whether a range of lines ends before it starts.
fn is_backwards(lines: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let ends = lines.split_once('-').and_then(|(first, last)| Some((number(first)?, number(last)?)));
    ends.is_some_and(|(first, last)| last < first)
}

fn did_you_mean(close: &str) -> Advice {
    Advice::from(format!("did you mean `{close}`? "))
}

/// Suggests the nearest known name, before the advice that lists all of them.
fn suggestion(given: &str, known: &[String]) -> Advice {
    nearest(given, known.iter().map(String::as_str)).map_or_else(Advice::default, did_you_mean)
}
