//! The journal of a session as a timeline: rounds of phases with what happened in each, idle time squeezed.

use aiwf_engine::machine::{Actor, Event, Outcome, Usage};
use aiwf_engine::{JournalLine, seconds_of};
use serde::Serialize;

use crate::words::{dollars, duration, in_address, minute, plural, thousands};

/// A pause between two rounds that is worth saying.
const IDLE: u64 = 10 * 60;
/// Steps of one round that are shown; the journal's own page has all.
const MAX_STEPS: usize = 60;

/// One phase in one round.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Round {
    pub(crate) phase: String,
    pub(crate) iteration: u32,
    pub(crate) started: String,
    pub(crate) duration: String,
    /// The pause before it, if it was long.
    pub(crate) idle: Option<String>,
    pub(crate) verdict: Option<String>,
    pub(crate) is_good: bool,
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) tokens: Option<String>,
    pub(crate) cost: Option<String>,
    pub(crate) n_tools: u64,
    pub(crate) links: Vec<Link>,
    pub(crate) steps: Vec<Step>,
    pub(crate) n_hidden: usize,
    /// On the strip: the whole round, and the calls in it.
    pub(crate) bar: Bar,
    pub(crate) calls: Vec<Bar>,
    #[serde(skip)]
    asked: Vec<(u64, u64)>,
    #[serde(skip)]
    sent_at: Option<u64>,
    #[serde(skip)]
    first: u64,
    #[serde(skip)]
    last: u64,
    #[serde(skip)]
    usage: Usage,
}

/// A stretch of the strip, which is [`STRIP`] long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Bar {
    pub(crate) x: u64,
    pub(crate) width: u64,
}

/// Time as the strip shows it: idle time has the same small width however long it was.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Strip {
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) gaps: Vec<Gap>,
    /// Where each event is, by its time.
    #[serde(skip)]
    ticks: Vec<(u64, u64)>,
}

/// Idle time on the strip.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Gap {
    pub(crate) bar: Bar,
    pub(crate) words: String,
}

/// The length of the strip, in its own units.
pub(crate) const STRIP: u64 = 1_000;
/// Idle times that are marked; more would leave no room for anything else.
const MAX_GAPS: usize = 40;

impl Strip {
    fn of(lines: &[JournalLine]) -> Self {
        let mut times: Vec<u64> = lines.iter().filter_map(|line| seconds_of(&line.at)).collect();
        times.sort_unstable();
        times.dedup();
        let steps = || times.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
        let busy: u64 = steps().map(|(from, to)| to - from).filter(|step| *step < IDLE).sum();
        let n_gaps = steps().filter(|(from, to)| to - from >= IDLE).count() as u64;
        // All the idle times together take a third of the strip at most.
        let gap = (busy.max(1) / 12).max(1).min((busy.max(1) / 2 / n_gaps.max(1)).max(1));
        let total = (busy + n_gaps * gap).max(1);
        let (mut ticks, mut gaps, mut sum) = (Vec::with_capacity(times.len()), Vec::new(), 0);
        ticks.extend(times.first().map(|first| (*first, 0)));
        for (from, to) in steps() {
            let step = to - from;
            let start = sum * STRIP / total;
            sum += if step < IDLE { step } else { gap };
            let end = sum * STRIP / total;
            if step >= IDLE && gaps.len() < MAX_GAPS {
                gaps.push(Gap { bar: Bar { x: start, width: end - start }, words: duration(step) });
            }
            ticks.push((to, end));
        }
        let at = |line: Option<&JournalLine>| line.map(|line| minute(&line.at)).unwrap_or_default();
        Self { start: at(lines.first()), end: at(lines.last()), gaps, ticks }
    }

    fn at(&self, time: u64) -> u64 {
        let after = self.ticks.partition_point(|(known, _)| *known <= time);
        self.ticks.get(after.saturating_sub(1)).map_or(0, |(_, x)| *x)
    }

    /// A stretch of time; a moment is wide enough to be seen.
    fn bar(&self, from: u64, to: u64) -> Bar {
        const LEAST: u64 = 4;
        let (start, end) = (self.at(from), self.at(to));
        let width = end.saturating_sub(start).max(LEAST);
        Bar { x: start.min(STRIP - LEAST), width: width.min(STRIP) }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) href: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Step {
    pub(crate) seq: u64,
    pub(crate) at: String,
    pub(crate) text: String,
    /// `good`, `bad` or empty.
    pub(crate) tone: &'static str,
}

/// The rounds of a session, oldest first, and the strip that they share.
pub(crate) fn rounds(id: &str, lines: &[JournalLine]) -> (Vec<Round>, Strip) {
    let mut rounds: Vec<Round> = Vec::new();
    let mut last_at = None;
    for line in lines {
        let at = seconds_of(&line.at).unwrap_or_default();
        if let Event::PromptWritten { phase, iteration, .. } = &line.event {
            let is_again = rounds
                .last()
                .is_some_and(|round| round.phase == phase.as_str() && round.iteration == *iteration);
            if !is_again {
                let idle = last_at.map(|last| at.saturating_sub(last)).filter(|idle| *idle >= IDLE);
                rounds.push(Round {
                    phase: phase.to_string(),
                    iteration: *iteration,
                    started: minute(&line.at),
                    idle: idle.map(duration),
                    first: at,
                    last: at,
                    ..Round::default()
                });
            }
        }
        let first = matches!(line.event, Event::SessionCreated { .. });
        if rounds.is_empty() && !first {
            rounds.push(Round { started: minute(&line.at), first: at, last: at, ..Round::default() });
        }
        if let Some(round) = rounds.last_mut() {
            round.last = at;
            round.take(id, line, at);
        }
        last_at = Some(at);
    }
    let strip = Strip::of(lines);
    for round in &mut rounds {
        round.settle();
        round.bar = strip.bar(round.first, round.last);
        round.calls = round.asked.iter().map(|(from, to)| strip.bar(*from, *to)).collect();
    }
    (rounds, strip)
}

impl Round {
    #[expect(clippy::wildcard_enum_match_arm, reason = "few events say more than their line")]
    fn take(&mut self, id: &str, line: &JournalLine, at: u64) {
        let (text, tone) = words(&line.event);
        match &line.event {
            Event::PromptWritten { prompt, .. } => self.link(id, "Prompt", &prompt.path),
            Event::PromptSent { provider, is_free, .. } => {
                self.provider = Some(provider.clone());
                // A person's chat is no call.
                self.sent_at = (!is_free).then_some(at);
            }
            Event::ToolCalled(_) => self.n_tools += 1,
            Event::AskedAgain { call, .. } => self.spend(call.usage.as_ref(), call.model.as_ref()),
            Event::ReplyReceived { response, call, .. } => {
                self.answered(at);
                self.link(id, "Reply", &response.path);
                if let Some(call) = call {
                    self.spend(call.usage.as_ref(), call.model.as_ref());
                }
            }
            Event::AskFailed { call, .. } => {
                self.answered(at);
                if let Some(call) = call {
                    self.spend(call.usage.as_ref(), call.model.as_ref());
                }
            }
            Event::GateAnswered { call: Some(call), .. } => self.spend(call.usage.as_ref(), None),
            Event::ResponseApproved { outcome, .. } => self.settle_outcome(id, outcome),
            _ => {}
        }
        if self.steps.len() < MAX_STEPS {
            self.steps.push(Step { seq: line.seq, at: self.moment(&line.at), text, tone });
        } else {
            self.n_hidden += 1;
        }
    }

    fn answered(&mut self, at: u64) {
        if let Some(sent_at) = self.sent_at.take() {
            self.asked.push((sent_at, at));
        }
    }

    /// The time of a step: the day only where it is another one.
    fn moment(&self, at: &str) -> String {
        match (at.get(..10), at.get(11..19)) {
            (Some(day), Some(time)) if self.started.starts_with(day) => time.to_owned(),
            _ => minute(at),
        }
    }

    fn settle_outcome(&mut self, id: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Plan { plan } => {
                self.link(id, "Plan", &plan.path);
                (self.verdict, self.is_good) = (Some("approved".to_owned()), true);
            }
            Outcome::Code { files } => {
                let code = plural(files.len() as u64, "file");
                self.links.push(Link {
                    name: format!("Code ({code})"),
                    href: format!("/s/{}/code", in_address(id)),
                });
                (self.verdict, self.is_good) = (Some("approved".to_owned()), true);
            }
            Outcome::Pass => (self.verdict, self.is_good) = (Some("PASS".to_owned()), true),
            Outcome::Fail => (self.verdict, self.is_good) = (Some("FAIL".to_owned()), false),
            Outcome::Artifact(artifact) => {
                self.link(id, "Result", &artifact.copy.path);
                if !(artifact.files.is_empty() && artifact.removed.is_empty()) {
                    self.links
                        .push(Link { name: "Code".to_owned(), href: format!("/s/{}/code", in_address(id)) });
                }
                let verdict = artifact.verdict.map(|verdict| verdict.as_str().to_owned());
                self.is_good = artifact.verdict.is_none_or(|verdict| verdict.as_str() == "PASS");
                self.verdict = Some(verdict.unwrap_or_else(|| "approved".to_owned()));
            }
        }
    }

    fn link(&mut self, id: &str, name: &str, path: &str) {
        let href = format!("/s/{}/a/{}", in_address(id), in_address(path));
        // A prompt that was written again has the same path.
        self.links.retain(|link| link.href != href);
        self.links.push(Link { name: name.to_owned(), href });
    }

    fn spend(&mut self, usage: Option<&Usage>, model: Option<&String>) {
        self.model = model.cloned().or(self.model.take());
        let Some(usage) = usage else { return };
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or_default().saturating_add(more));
            }
        };
        add(&mut self.usage.input_tokens, usage.input_tokens);
        add(&mut self.usage.output_tokens, usage.output_tokens);
        if let Some(cost) = usage.cost {
            self.usage.cost = Some(self.usage.cost.unwrap_or_default().plus(cost));
        }
    }

    fn settle(&mut self) {
        self.duration = duration(self.last.saturating_sub(self.first));
        self.cost = self.usage.cost.map(|cost| dollars(cost.as_f64()));
        let (sent, received) = (self.usage.input_tokens, self.usage.output_tokens);
        self.tokens = (sent.is_some() || received.is_some()).then(|| {
            format!(
                "{} → {} tokens",
                thousands(sent.unwrap_or_default()),
                thousands(received.unwrap_or_default())
            )
        });
    }
}

/// Who decided, in words.
fn by(actor: &Actor) -> String {
    match actor {
        Actor::Person(person) => person.name.clone(),
        Actor::OpenGate => "a skipped gate".to_owned(),
        Actor::Provider(provider) => provider.clone(),
    }
}

/// An event as a line, and its tone.
fn words(event: &Event) -> (String, &'static str) {
    let text = match event {
        Event::SessionCreated { .. } => "session started".to_owned(),
        Event::PromptWritten { prompt, left_out, .. } if left_out.is_empty() => {
            format!("prompt ready: {}", prompt.path)
        }
        Event::PromptWritten { prompt, left_out, .. } => {
            let parts = plural(left_out.len() as u64, "part");
            return (format!("prompt ready without {parts}: {}", prompt.path), "bad");
        }
        Event::PromptApproved { by: actor, is_edited, .. } => {
            let edited = if *is_edited { " as edited" } else { "" };
            return (format!("prompt approved{edited} by {}", by(actor)), "good");
        }
        Event::PromptRejected { by: actor, feedback, .. } => {
            return (format!("prompt rejected by {}: {feedback}", by(actor)), "bad");
        }
        Event::PromptSent { provider, n_earlier: 0, .. } => format!("sent to {provider}"),
        Event::PromptSent { provider, .. } => format!("sent to {provider} again"),
        Event::ToolCalled(tool) => {
            let server = tool.server.as_ref().map(|server| format!("{server} ")).unwrap_or_default();
            let message = tool.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
            format!("tool {server}{} took {} ms{message}", tool.tool, thousands(tool.duration_ms))
        }
        Event::AskedAgain { provider, .. } => format!("sent tool results to {provider}"),
        Event::ReplyReceived { response, call, .. } => match call {
            Some(call) => format!("reply in {}: {}", duration(call.millis / 1000), response.path),
            None => format!("reply saved: {}", response.path),
        },
        Event::AskFailed { message, .. } => return (format!("the call failed: {message}"), "bad"),
        Event::BudgetReached { message } => return (format!("not sent: {message}"), "bad"),
        Event::BudgetRaised => "budget raised".to_owned(),
        Event::ReplyRefused { problems, .. } => {
            let problems = plural(problems.len() as u64, "problem");
            return (format!("the reply has {problems}"), "bad");
        }
        Event::OutputsIntended { files } => format!("writes {}", plural(files.len() as u64, "file")),
        Event::ResponseApproved { by: actor, note, .. } => {
            let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            return (format!("reply approved by {}{note}", by(actor)), "good");
        }
        Event::CheckRan(result) if result.is_passed() => {
            return (format!("check {} passed in {}", result.name, duration(result.millis / 1000)), "good");
        }
        Event::CheckRan(result) => return (format!("check {} failed", result.name), "bad"),
        Event::ChecksFinished => "checks done".to_owned(),
        Event::ChecksHeld { names } => {
            return (format!("checks are waiting for your consent: {}", names.join(", ")), "bad");
        }
        Event::SentBack { by: actor, feedback } => {
            return (format!("sent back by {}: {feedback}", by(actor)), "bad");
        }
        Event::PromptWithdrawn { .. } => {
            "prompt withdrawn: the new provider needs a different one".to_owned()
        }
        Event::ResponseRejected { by: actor, feedback, .. } => {
            return (format!("reply rejected by {}: {feedback}", by(actor)), "bad");
        }
        Event::GateAsked { provider, .. } => format!("{provider} judges"),
        Event::GateAnswered { .. } => "the judge answered".to_owned(),
        Event::GateUndecided { provider, message } => {
            return (format!("{provider} could not decide: {message}"), "bad");
        }
        Event::Retried { by: actor, .. } => format!("retried by {}", by(actor)),
        Event::CapRaised { max_iterations } => format!("{max_iterations} rounds allowed"),
        Event::Accepted { by: actor } => {
            return (format!("accepted despite the review by {}", by(actor)), "good");
        }
        Event::AgentChosen { phase, agent } => format!("{phase} assigned to {}", agent.provider),
        Event::InstructionsAdded { phase, .. } => format!("instructions for {phase} added"),
        Event::FilesAdded { phase, patterns } => format!("{phase} also sees {}", patterns.join(", ")),
        Event::WriteAllowed => "the agent may edit the project directly".to_owned(),
        Event::Revised { by: actor, phase, reason } => {
            return (format!("{phase} reopened by {}: {reason}", by(actor)), "bad");
        }
        Event::CommentAdded(comment) => {
            format!("comment {} by {}: {}", comment.number, by(&comment.by), comment.text)
        }
        Event::CommentResolved { by: actor, number, how } => {
            format!("comment {number} {} by {}", how.as_str(), by(actor))
        }
        Event::CommentRemoved { by: actor, number } => format!("comment {number} removed by {}", by(actor)),
        Event::GatesOpened { .. } => "gates skipped from now on".to_owned(),
        Event::Reopened { by: actor, .. } => format!("reopened by {}", by(actor)),
        Event::Rebound { by: actor, files } => {
            format!("edits of {} accepted by {}", plural(files.len() as u64, "file"), by(actor))
        }
        Event::Cancelled { by: actor, reason } => {
            let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            return (format!("cancelled by {}{reason}", by(actor)), "bad");
        }
        Event::ApplyIntended { files, is_undo: false } => {
            format!("applies {}", plural(files.len() as u64, "file"))
        }
        Event::ApplyIntended { files, .. } => format!("undoes {}", plural(files.len() as u64, "file")),
        Event::Applied => return ("applied to the project".to_owned(), "good"),
        Event::Committed(commit) => {
            let id: String = commit.id.chars().take(12).collect();
            return (format!("committed as {id}"), "good");
        }
        Event::ApplyUndone => "the project is unchanged".to_owned(),
    };
    (text, "")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(seq: u64, at: &str, event: serde_json::Value) -> JournalLine {
        let event = serde_json::from_value(event).unwrap();
        JournalLine { seq, at: format!("2026-11-19T{at}Z"), sha256: String::new(), event }
    }

    fn prompt(phase: &str, iteration: u32) -> serde_json::Value {
        let path = format!("iteration-{iteration}/{phase}-prompt.md");
        json!({ "event": "prompt-written", "phase": phase, "iteration": iteration, "prompt": { "path": path, "sha256": "" } })
    }

    #[test]
    fn rounds_have_durations_and_long_pauses_are_squeezed() {
        let call = json!({ "usage": { "input_tokens": 1200, "output_tokens": 30, "cost": 0.5 }, "model": "m", "millis": 4000 });
        let reply = json!({ "event": "reply-received", "response": { "path": "iteration-1/plan-response.md", "sha256": "" }, "call": call });
        let (rounds, strip) = rounds(
            "one",
            &[
                line(1, "08:00:00", prompt("plan", 1)),
                line(2, "08:00:30", reply.clone()),
                line(3, "08:01:00", reply),
                line(4, "11:00:00", prompt("plan", 2)),
            ],
        );
        assert_eq!(rounds.len(), 2);
        assert_eq!((rounds[0].duration.as_str(), rounds[0].idle.as_deref()), ("1 min", None));
        assert_eq!(rounds[1].idle.as_deref(), Some("2 h 59 min"));
        assert_eq!(rounds[0].tokens.as_deref(), Some("2,400 → 60 tokens"));
        assert_eq!(rounds[0].cost.as_deref(), Some("$1.00"));
        // Three hours of idle time are as wide on the strip as they must be to be seen, and no wider.
        assert_eq!((strip.gaps.len(), strip.gaps[0].words.as_str()), (1, "2 h 59 min"));
        assert!(strip.gaps[0].bar.width < STRIP / 4, "{:?}", strip.gaps);
        assert_eq!((rounds[0].bar.x, rounds[1].bar.x), (0, STRIP - 4));
        let links: Vec<_> = rounds[0].links.iter().map(|link| link.href.as_str()).collect();
        assert_eq!(links, ["/s/one/a/iteration-1/plan-prompt.md", "/s/one/a/iteration-1/plan-response.md"]);
    }

    #[test]
    fn a_round_with_many_events_shows_the_first_ones() {
        let mut lines = vec![line(1, "08:00:00", prompt("plan", 1))];
        lines.extend((2..1_000).map(|seq| line(seq, "08:00:01", json!({ "event": "budget-raised" }))));
        let (rounds, _) = rounds("one", &lines);
        assert_eq!((rounds[0].steps.len(), rounds[0].n_hidden), (MAX_STEPS, 999 - MAX_STEPS));
    }

    #[test]
    fn the_strip_has_room_for_work_however_often_a_session_was_idle() {
        let mut lines = vec![line(1, "00:00:00", prompt("plan", 1))];
        lines.extend((1..60).map(|n| {
            let at = format!("{:02}:{:02}:30", n / 4, n % 4 * 15);
            line(n + 1, &at, json!({ "event": "budget-raised" }))
        }));
        let (rounds, strip) = rounds("one", &lines);
        assert!(strip.gaps.len() <= MAX_GAPS && strip.gaps.iter().all(|gap| gap.bar.x <= STRIP));
        assert_eq!(rounds[0].bar, Bar { x: 0, width: STRIP });
    }

    #[test]
    fn calls_are_marked_on_the_strip() {
        let sent = json!({ "event": "prompt-sent", "provider": "p", "payload_sha256": "", "n_earlier": 0, "is_free": false });
        let reply = json!({ "event": "reply-received", "response": { "path": "r.md", "sha256": "" } });
        let lines = [
            line(1, "08:00:00", prompt("plan", 1)),
            line(2, "08:01:00", sent),
            line(3, "08:03:00", reply),
            line(4, "08:04:00", json!({ "event": "budget-raised" })),
        ];
        let (rounds, _) = rounds("one", &lines);
        assert_eq!(rounds[0].calls, [Bar { x: 250, width: 500 }]);
    }
}
