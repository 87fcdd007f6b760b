//! Random walks: whatever is asked of a session in whatever order, its promises hold.

use proptest::prelude::*;

use super::*;

/// What leads on from where a session stands; at its end, what must no longer change it.
fn next_command(pick: u8, state: &State) -> Command {
    let by = person();
    let path = |path: Option<String>| file(&path.unwrap_or_else(|| "none.md".to_owned()), "x");
    let response = path(state.phase.response_path(state.iteration));
    match &state.step {
        Step::Unborn | Step::PromptWanted { .. } => Command::RecordPrompt {
            prompt: path(state.phase.prompt_path(state.iteration)),
            system_prompt: None,
            seen: Vec::new(),
            fs_ability: None,
            left_out: Vec::new(),
        },
        Step::PromptReady => Command::ApprovePrompt { by, files: state.written.clone(), is_checked: None },
        Step::AskWanted => sent(pick.is_multiple_of(2)),
        Step::Asked { .. } => Command::RecordReply { response, call: None },
        Step::AskFailed { .. } => Command::Retry { by, kept: Vec::new() },
        Step::ReplyReady { .. } => {
            Command::ApproveResponse { by, response, outcome: fitting_outcome(pick, state) }
        }
        Step::Paused(Pause::Budget) => Command::RaiseBudget,
        // Whoever decides may also take what did not pass; for a plan that is refused.
        Step::Paused(Pause::IterationCap | Pause::Verdict) if pick.is_multiple_of(2) => {
            Command::Accept { by }
        }
        Step::Paused(Pause::IterationCap) => Command::RaiseCap { max_iterations: state.round + 1 },
        Step::Paused(Pause::Verdict) => {
            Command::BeginPhase { by, phase: Phase::Plan, choice: Box::default() }
        }
        Step::Ended => match pick % 4 {
            0 => Command::Cancel { by },
            1 => Command::IntendApply { files: Vec::new() },
            2 => Command::RecordApplied,
            _ => Command::RecordApplyUndone,
        },
    }
}

/// What the phase can give; one verdict in four is not a pass.
fn fitting_outcome(pick: u8, state: &State) -> Outcome {
    let verdict = match pick % 8 {
        0 => Verdict::NeedsRevision,
        1 => Verdict::MajorIssues,
        _ => Verdict::Pass,
    };
    match state.phase {
        Phase::Planning => plan(),
        Phase::Generating | Phase::Revising => code(state.iteration),
        Phase::Reviewing if verdict == Verdict::Pass => Outcome::Pass,
        Phase::Reviewing => Outcome::Fail,
        Phase::Initialized
        | Phase::Plan
        | Phase::Challenge
        | Phase::Implement
        | Phase::Review
        | Phase::Archive
        | Phase::Complete
        | Phase::Cancelled => {
            let phase = state.phase;
            let verdict = phase.gives_verdict().then_some(verdict);
            Outcome::Artifact(Box::new(artifact(phase, state.iteration, verdict)))
        }
    }
}

/// One pick in two leads on: a walk of nothing but chance would hardly ever see the later phases.
fn random_command(pick: u8, state: &State) -> Command {
    if pick >= 128 {
        return next_command(pick, state);
    }
    let by = person();
    let judge = Actor::Provider("judge".to_owned());
    let phase_file = |path: Option<String>| file(&path.unwrap_or_else(|| "none.md".to_owned()), "x");
    let response = phase_file(state.phase.response_path(state.iteration));
    let artifact = |verdict| Outcome::Artifact(Box::new(artifact(state.phase, state.iteration, verdict)));
    let choice = |text: &str| {
        Box::new(PhaseChoice {
            instructions: Some(text.to_owned()),
            opens_gates: pick.is_multiple_of(2),
            ..PhaseChoice::default()
        })
    };
    match pick % 36 {
        0 => Command::Create(Box::new(setup(&[], 2))),
        1 | 2 => Command::RecordPrompt {
            prompt: phase_file(state.phase.prompt_path(state.iteration)),
            system_prompt: None,
            seen: Vec::new(),
            fs_ability: None,
            left_out: Vec::new(),
        },
        3 | 4 => Command::ApprovePrompt { by, files: state.written.clone(), is_checked: None },
        5 => Command::RejectPrompt { by, feedback: "no".to_owned(), kept: Vec::new() },
        6 => Command::RecordSent { provider: "p".to_owned(), payload_sha256: "h".to_owned(), is_free: true },
        7 => Command::RecordSent { provider: "p".to_owned(), payload_sha256: "h".to_owned(), is_free: false },
        8 | 9 => Command::RecordReply { response, call: None },
        10 => Command::RecordFailure { message: "m".to_owned(), call: None },
        11 => Command::RefuseReply { response, problems: vec!["p".to_owned()] },
        12 => Command::ApproveResponse { by, response, outcome: plan() },
        13 => Command::ApproveResponse { by, response, outcome: code(state.iteration) },
        14 => Command::ApproveResponse { by, response, outcome: Outcome::Pass },
        15 => Command::ApproveResponse { by, response, outcome: Outcome::Fail },
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
        23 | 24 => Command::ApproveResponse { by, response, outcome: artifact(None) },
        25 | 26 => Command::ApproveResponse { by, response, outcome: artifact(Some(Verdict::Pass)) },
        27 => Command::ApproveResponse { by, response, outcome: artifact(Some(Verdict::NeedsRevision)) },
        28 => Command::ApproveResponse { by, response, outcome: artifact(Some(Verdict::MajorIssues)) },
        29 => Command::BeginPhase { by, phase: state.phase, choice: choice("more") },
        30 => Command::BeginPhase { by, phase: Phase::Plan, choice: choice("anew") },
        31 => Command::BeginPhase { by, phase: Phase::Implement, choice: choice("now") },
        32 => Command::Accept { by },
        33 => Command::RecordToolCalls { calls: vec![tool_use()] },
        34 => Command::RecordAskedAgain {
            provider: "p".to_owned(),
            payload_sha256: "h".to_owned(),
            is_free: false,
            call: Box::default(),
        },
        _ => Command::Rebind { by, files: state.bound.keys().take(1).map(|path| file(path, "y")).collect() },
    }
}

proptest! {
    #[test]
    fn any_sequence_of_commands_keeps_the_promises(
        is_change in any::<bool>(),
        picks in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut session = Driven::new(if is_change { change_setup(2) } else { setup(&[], 2) });
        for pick in picks {
            let before = session.state.clone();
            let command = random_command(pick, &session.state);
            if let Err(refusal) = session.run(command) {
                prop_assert_eq!(&session.state, &before);
                prop_assert!(!refusal.hint().is_empty());
            }
            // What is done stays done.
            if before.phase.is_final() {
                prop_assert_eq!(session.state.phase, before.phase);
            }
            prop_assert!(session.state.iteration >= before.iteration);
            prop_assert!(session.state.is_applied >= before.is_applied);
            let cap = session.state.setup.as_ref().unwrap().max_iterations;
            prop_assert!(session.state.round <= cap);
            prop_assert!(is_change || session.state.iteration == session.state.round);
            // No phase of another flow, and no implementation of a plan that did not pass.
            let flow = session.state.flow();
            prop_assert!(session.state.phase.flow().is_none_or(|of_phase| of_phase == flow));
            if matches!(session.state.phase, Phase::Implement | Phase::Review | Phase::Archive) {
                prop_assert_eq!(
                    session.state.change.verdicts.get(&Phase::Challenge), Some(&Verdict::Pass)
                );
            }
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
