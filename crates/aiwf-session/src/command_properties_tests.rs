//! Random walks: the promises hold for any sequence of commands.

use proptest::prelude::*;

use super::*;
use crate::flow::{Access, ReplyParser, Target};
use crate::phase::Role;
use crate::transitions::{outcomes, sample_check, sample_setup};
use crate::versions::VersionOutcome;

/// Picks a command that makes progress; once the session has ended, one that must not change it.
fn next_command(pick: u8, state: &State) -> Command {
    let by = person();
    let path = |path: Option<String>| file(&path.unwrap_or_else(|| "none.md".to_owned()), "x");
    let response = FileHash { sha256: format!("{}", pick % 3), ..path(state.response_path()) };
    match &state.step {
        Step::NotCreated | Step::PromptWanted { .. } => Command::RecordPrompt {
            prompt: path(state.prompt_path()),
            system_prompt: None,
            seen: Vec::new(),
            fs_ability: None,
            left_out: Vec::new(),
        },
        Step::PromptReady => Command::ApprovePrompt { by, files: state.written.clone(), is_checked: None },
        Step::AskWanted => sent(pick.is_multiple_of(2)),
        Step::Asked { .. } => Command::RecordReply { response, call: None, changes: None },
        Step::AskFailed { .. } => Command::Retry { by, kept: Vec::new() },
        Step::ReplyReady { .. } => {
            let has_checks = pick.is_multiple_of(3);
            Command::ApproveResponse {
                by,
                response,
                outcome: fitting_outcome(pick, state),
                has_checks,
                note: pick.is_multiple_of(5).then(|| "look at this".to_owned()),
            }
        }
        Step::ChecksWanted if pick.is_multiple_of(3) => {
            Command::RecordCheck(Box::new(sample_check(i32::from(pick.is_multiple_of(2)))))
        }
        Step::ChecksWanted => Command::FinishChecks,
        Step::Paused(Pause::CheckConsent) => Command::RecordCheck(Box::new(sample_check(0))),
        Step::Paused(Pause::Checks) if pick.is_multiple_of(3) => Command::Accept { by },
        Step::Paused(Pause::Checks) if pick.is_multiple_of(2) => Command::Retry { by, kept: Vec::new() },
        Step::Paused(Pause::Checks) => {
            Command::RejectResponse { by, feedback: "fix".to_owned(), kept: Vec::new() }
        }
        Step::Paused(Pause::Budget) => Command::RaiseBudget,
        // Whoever decides may also take what did not pass; for a plan that is refused.
        Step::Paused(Pause::IterationCap | Pause::Verdict | Pause::NoTarget) if pick.is_multiple_of(2) => {
            Command::Accept { by }
        }
        Step::Paused(Pause::IterationCap) => Command::RaiseCap { max_iterations: state.round + 1 },
        Step::Paused(Pause::Verdict | Pause::NoTarget) => {
            Command::BeginPhase { by, phase: state.flow.first(), choice: Box::default() }
        }
        Step::Ended => match pick % 4 {
            0 => Command::Cancel { by, reason: None },
            1 => Command::IntendApply { files: Vec::new() },
            2 => Command::RecordApplied,
            _ => Command::RecordApplyUndone,
        },
    }
}

/// The newest version of any artifact, or a file.
fn comment_subject(state: &State) -> CommentSubject {
    let newest = state.versions.iter().find_map(|(phase, versions)| Some((*phase, versions.last()?.number)));
    newest.map_or(CommentSubject::File { path: "src/a.rs".to_owned() }, |(phase, version)| {
        CommentSubject::Artifact { phase, version }
    })
}

/// What the phase can give; one verdict in four is not a pass.
fn fitting_outcome(pick: u8, state: &State) -> Outcome {
    let outcomes = outcomes(state);
    let idx = if pick.is_multiple_of(4) { usize::from(pick / 4) % outcomes.len() } else { 0 };
    outcomes[idx].clone()
}

/// Flows that somebody might write: a chain of phases, some of which judge and lead back.
fn flows() -> impl Strategy<Value = Flow> {
    let drawn_phase = (0..4_u8, any::<[u8; 4]>(), 1..4_u32);
    prop::collection::vec(drawn_phase, 1..7).prop_map(|drawn| {
        let n_phases = drawn.len();
        let name = |idx: usize| phase(&format!("phase-{idx}"));
        let follower =
            |idx: usize| if idx + 1 < n_phases { Target::Phase(name(idx + 1)) } else { Target::Complete };
        let mut has_files = false;
        let mut spec = |idx: usize, (kind, picks, cap): (u8, [u8; 4], u32)| {
            let gives = [Gives::Text, Gives::Files, Gives::Verdict, Gives::Edits][usize::from(kind)];
            let back = |pick: u8| match usize::from(pick) % (idx + 3) {
                earlier if earlier <= idx => Some(Target::Phase(name(earlier))),
                other if other == idx + 1 => Some(Target::Stop),
                _ => None,
            };
            let is_verdict = gives == Gives::Verdict;
            let words =
                [Verdict::NeedsChanges, Verdict::NeedsRevision, Verdict::MajorIssues, Verdict::Rejected];
            let no = words.into_iter().zip(picks).filter_map(|(word, pick)| Some((word, back(pick)?)));
            let on: BTreeMap<_, _> = no.chain([(Verdict::Pass, follower(idx))]).collect();
            let iterates = gives.changes_files() && std::mem::replace(&mut has_files, true);
            let checks = gives.changes_files() && picks[0] % 2 == 0;
            PhaseSpec {
                name: name(idx),
                role: Role::PLANNER,
                recipe: PhaseRecipe::Change,
                template: None,
                task: None,
                parser: [
                    ReplyParser::Plain,
                    ReplyParser::FileMarkers,
                    ReplyParser::VerdictTag,
                    ReplyParser::Edits,
                ][usize::from(kind)],
                file: name(idx).to_string(),
                artifact: name(idx).to_string(),
                reads: (0..idx).map(name).collect(),
                gives,
                access: if gives.changes_files() { Access::Write } else { Access::Read },
                checks,
                iterates,
                next: (!is_verdict).then(|| follower(idx)),
                on: if is_verdict { on } else { BTreeMap::new() },
                max_rounds: (is_verdict || checks).then_some(cap),
            }
        };
        let phases = drawn.into_iter().enumerate().map(|(idx, phase)| spec(idx, phase)).collect();
        Flow {
            name: "drawn".to_owned(),
            title: "drawn".to_owned(),
            gates: BTreeMap::new(),
            waits: false,
            phases,
        }
    })
}

/// A shipped flow, or one that somebody might write.
fn any_flow() -> impl Strategy<Value = Flow> {
    let shipped =
        prop::sample::select(Flow::built_in().iter().map(|flow| flow.as_ref().clone()).collect::<Vec<_>>());
    prop_oneof![shipped.prop_map(|flow| flow.capped(2)), flows()]
}

/// One pick in two leads on: a walk of nothing but chance would hardly ever see the later phases.
fn random_command(pick: u8, state: &State) -> Command {
    if pick >= 128 {
        return next_command(pick, state);
    }
    let by = person();
    let judge = Actor::Provider("judge".to_owned());
    let phase_file = |path: Option<String>| file(&path.unwrap_or_else(|| "none.md".to_owned()), "x");
    let response = FileHash { sha256: format!("{}", pick % 3), ..phase_file(state.response_path()) };
    let artifact = |verdict| Outcome::Artifact(Box::new(artifact(state.phase, state.iteration, verdict)));
    let choice = |text: &str| {
        Box::new(PhaseChoice {
            instructions: Some(text.to_owned()),
            opens_gates: pick.is_multiple_of(2),
            ..PhaseChoice::default()
        })
    };
    match pick % 48 {
        0 => Command::Create(Box::new(setup(&[], 2))),
        1 | 2 => Command::RecordPrompt {
            prompt: phase_file(state.prompt_path()),
            system_prompt: None,
            seen: Vec::new(),
            fs_ability: None,
            left_out: Vec::new(),
        },
        3 | 4 => Command::ApprovePrompt { by, files: state.written.clone(), is_checked: None },
        5 => Command::RejectPrompt { by, feedback: "no".to_owned(), kept: Vec::new() },
        6 => Command::RecordSent {
            provider: "p".to_owned(),
            payload_sha256: "h".to_owned(),
            is_free: true,
            parts: None,
        },
        7 => Command::RecordSent {
            provider: "p".to_owned(),
            payload_sha256: "h".to_owned(),
            is_free: false,
            parts: None,
        },
        8 | 9 => Command::RecordReply { response, call: None, changes: None },
        10 => Command::RecordFailure { message: "m".to_owned(), call: None, limit_until: None },
        11 => Command::RefuseReply { response, problems: vec!["p".to_owned()] },
        12 => Command::ApproveResponse { by, response, outcome: plan(), has_checks: false, note: None },
        13 => Command::ApproveResponse {
            by,
            response,
            outcome: code(state.iteration),
            has_checks: false,
            note: None,
        },
        14 => {
            Command::ApproveResponse { by, response, outcome: Outcome::Pass, has_checks: false, note: None }
        }
        15 => {
            Command::ApproveResponse { by, response, outcome: Outcome::Fail, has_checks: false, note: None }
        }
        16 => Command::RejectResponse { by: judge, feedback: "no".to_owned(), kept: Vec::new() },
        17 => Command::Retry { by, kept: Vec::new() },
        18 => Command::RaiseCap { max_iterations: state.round + 1 },
        19 => Command::PauseForBudget { message: "m".to_owned() },
        20 => Command::RaiseBudget,
        21 => Command::RecordGateAsked {
            provider: "judge".to_owned(),
            payload_sha256: "h".to_owned(),
            is_free: false,
        },
        22 => Command::RecordGateAnswer { reply: Some(file("iteration-1/gate.md", "g")), call: None },
        23 | 24 => {
            Command::ApproveResponse { by, response, outcome: artifact(None), has_checks: false, note: None }
        }
        25 | 26 => Command::ApproveResponse {
            by,
            response,
            outcome: artifact(Some(Verdict::Pass)),
            has_checks: false,
            note: None,
        },
        27 => Command::ApproveResponse {
            by,
            response,
            outcome: artifact(Some(Verdict::NeedsRevision)),
            has_checks: false,
            note: None,
        },
        28 => Command::ApproveResponse {
            by,
            response,
            outcome: artifact(Some(Verdict::MajorIssues)),
            has_checks: false,
            note: None,
        },
        29 => Command::BeginPhase { by, phase: state.phase, choice: choice("more") },
        30 => Command::BeginPhase { by, phase: state.flow.first(), choice: choice("anew") },
        31 => Command::RejectResponse { by, feedback: "anew".to_owned(), kept: Vec::new() },
        32 if pick.is_multiple_of(2) => Command::ChooseAgents {
            agents: [(state.flow.first(), Agent { provider: "other".to_owned(), template: None })].into(),
        },
        32 => Command::Accept { by },
        36 => Command::RecordCheck(Box::new(sample_check(0))),
        37 => Command::RecordCheck(Box::new(sample_check(1))),
        38 => Command::FinishChecks,
        39 => Command::HoldChecks { names: vec!["tests".to_owned()] },
        40 | 41 => Command::HandOver {
            by,
            phase: state.phase,
            agent: Agent { provider: format!("p{}", pick % 3), template: None },
            rebuilds_prompt: pick.is_multiple_of(2),
            kept: Vec::new(),
        },
        42 | 43 => {
            let phases: Vec<Phase> = state.flow.names().collect();
            let phase = phases[usize::from(pick / 48) % phases.len()];
            Command::Revise { by, phase, reason: "more".to_owned() }
        }
        44 | 45 => Command::Comment {
            by,
            on: comment_subject(state),
            sha256: "0".repeat(64),
            lines: LineRange::parse("1-2"),
            quoted: "a\nb".to_owned(),
            text: "why?".to_owned(),
        },
        46 => Command::ResolveComment { by, number: u32::from(pick / 48) + 1, how: Resolution::Dismissed },
        47 => Command::RemoveComment { by, number: u32::from(pick / 48) + 1 },
        33 => Command::RecordToolCalls { calls: vec![tool_use()] },
        34 => Command::RecordAskedAgain {
            provider: "p".to_owned(),
            payload_sha256: "h".to_owned(),
            is_free: false,
            call: Box::default(),
            parts: None,
        },
        _ => Command::Rebind { by, files: state.bound.keys().take(1).map(|path| file(path, "y")).collect() },
    }
}

proptest! {
    #[test]
    fn any_sequence_of_commands_keeps_the_promises(
        flow in any_flow(),
        picks in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        prop_assert_eq!(flow.problems(), Vec::new());
        let mut session = Driven::new(sample_setup(&flow));
        for pick in picks {
            let before = session.state.clone();
            let command = random_command(pick, &session.state);
            if let Err(refusal) = session.run(command) {
                prop_assert_eq!(&session.state, &before);
                prop_assert!(!refusal.to_string().is_empty());
            }
            // What is done stays done, unless a person reopens it before it is applied.
            if before.phase.is_final() && session.state.phase != before.phase {
                let is_reopened = matches!(session.events.last(), Some(Event::Revised { .. }));
                prop_assert!(is_reopened && before.phase == Phase::COMPLETE && !before.is_applied);
            }
            // No version is lost, and at most the newest is undecided.
            for (phase, versions) in &before.versions {
                prop_assert!(session.state.versions_of(*phase).len() >= versions.len());
            }
            for versions in session.state.versions.values() {
                let older = &versions[..versions.len() - 1];
                prop_assert!(older.iter().all(|version| version.outcome != VersionOutcome::Pending));
            }
            prop_assert!(session.state.iteration >= before.iteration);
            prop_assert!(session.state.is_applied >= before.is_applied);
            // Every loop keeps to its cap.
            let state = &session.state;
            if let Some(cap) = state.flow.judge_of(state.phase).and_then(|judge| state.flow.spec(judge)?.max_rounds) {
                prop_assert!(state.round <= cap);
            }
            // Only phases of the flow, and no files without a phase that may write.
            prop_assert!(state.phase.is_final() || state.phase == Phase::INITIALIZED || state.flow.spec(state.phase).is_some());
            prop_assert!(!state.can_apply() || state.phase == Phase::COMPLETE || !state.flow.gives_files(state.phase));
            // At the end there is nothing to do but to finish what was begun to be applied.
            if session.state.step == Step::Ended {
                let has_effect = next_effect(&session.state).is_some();
                prop_assert_eq!(has_effect, session.state.applying.is_some());
            }
        }
        // The state is the fold of the events, and events survive the journal.
        let lines: Vec<String> =
            session.events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
        let read: Vec<Event> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(State::fold(&read), session.state.clone());
        // No phase of an iteration is finished twice, and nothing is approved that was not asked for.
        let mut n_sent = 0;
        let mut state = State::default();
        let mut finished = Vec::new();
        for event in &session.events {
            if let Event::PromptWritten { .. } = event {
                n_sent = 0;
            } else if let Event::PromptSent { .. } = event {
                n_sent += 1;
                prop_assert!(
                    matches!(state.step, Step::AskWanted | Step::Asked { is_free: true }),
                    "sent too early"
                );
            } else if let Event::ResponseApproved { .. } = event {
                prop_assert!(n_sent > 0);
                let done = (state.phase, state.iteration);
                prop_assert!(!finished.contains(&done));
                finished.push(done);
            }
            state = state.evolve(event);
        }
    }
}
