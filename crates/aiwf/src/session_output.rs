//! How sessions are printed.

use std::fmt::Write as _;

use aiwf_engine::machine::{Approver, Dollars, GateState, TaskStatus, Total, VersionOutcome};
use aiwf_engine::{
    ChangeReport, Decided, Overlap, ReopenedReport, SessionReport, SessionStatus, StaleArtifact, UsageReport,
    VersionReport, WaitsFor, left_out_lines, local_time,
};
use serde_json::json;

use serde::Serialize;

use crate::advice_words;
use crate::escape::{escaped, escaped_line};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::shell_word::as_typed;

/// Prints the status of a session after a decision; its steps were printed when they happened.
pub(crate) fn decided(decided: &Decided, output: &Output<'_>, exit: Exit) -> Result<Exit, Failure> {
    if let Some(diff) = &decided.accepted {
        output::note(diff);
    }
    if decided.report.status == SessionStatus::Rejected
        && let Some(verdict) =
            decided.report.change.iter().find_map(|change| change.verdicts.get(&decided.report.phase))
    {
        output::note(&format!("stopped: the {} ended with {}\n", decided.report.phase, verdict.as_str()));
    }
    report(&decided.report, output, exit)
}

/// Says what file access the provider is assumed to have, and how to change it.
pub(crate) fn ability(provider: &str, fs_ability: &str, lowered_from: Option<&str>) {
    output::note(&match lowered_from {
        Some(could) => format!(
            "file ability: none, because {provider} ({could}) may only read in this phase; its reply comes as text\n"
        ),
        None => format!("file ability: {fs_ability} ({provider}); change it with --fs-ability\n"),
    });
}

/// A report in JSON, with the next commands.
#[derive(Serialize)]
struct ReportJson<'a> {
    #[serde(flatten)]
    report: &'a SessionReport,
    next: String,
}

/// Prints the status of a session.
pub(crate) fn report(report: &SessionReport, output: &Output<'_>, exit: Exit) -> Result<Exit, Failure> {
    if output.is_json() {
        return output.json(ReportJson { report, next: advice_words::next(&report.next) }, exit);
    }
    for warning in &report.warnings {
        output::warn(warning);
    }
    output::print(|out| {
        use std::io::Write as _;
        out.write_all(shown(report).as_bytes())
    })?;
    Ok(exit)
}

/// A report as lines of a name and a value.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn add(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.text, "{name:9} {}", escaped(value));
    }
}

fn shown(report: &SessionReport) -> String {
    let mut lines = Lines::default();
    place_lines(report, &mut lines);
    if let Some(change) = &report.change {
        change_lines(change, report, &mut lines);
    }
    version_and_comment_lines(report, &mut lines);
    trouble_lines(report, &mut lines);
    lines.add("next", &advice_words::next(&report.next));
    lines.text
}

/// What the session is, where it stands, and the files of its stage.
fn place_lines(report: &SessionReport, lines: &mut Lines) {
    let stage = report.stage.map(|stage| format!(", {}", stage.as_str())).unwrap_or_default();
    if let Some(change) = &report.change {
        lines.add("session", &change.name);
        lines.add("flow", &report.flow);
        lines.add("request", &shortened(&escaped_line(&change.request)));
        let phase = format!("{}{stage} (round {} of {})", report.phase, change.round, change.max_rounds);
        lines.add("phase", &phase);
        if let Some(agent) = change.agents.get(&report.phase) {
            lines.add("agent", &agent.provider);
        }
    } else {
        lines.add("session", &report.session_id);
        let context: Vec<String> =
            report.context.iter().map(|(name, value)| format!("{name}={}", shown_value(value))).collect();
        lines.add("profile", &format!("{} {}", report.profile, context.join(" ")));
        lines.add("phase", &format!("{}{stage} (iteration {})", report.phase, report.iteration));
    }
    let gate = report
        .gate
        .as_ref()
        .filter(|gate| gate.approver != Approver::Manual || gate.state != GateState::Pending)
        .map(|gate| format!(", gate {} {}", gate.approver, gate.state.as_str()))
        .unwrap_or_default();
    let status = waiting_for_you(report).map_or_else(|| format!("{}{gate}", report.status), str::to_owned);
    lines.add("status", &status);
    if let Some(until) = report.limit_until {
        lines.add("limit", &format!("reached until {}", local_time(until)));
    }
    if report.stage.is_some() {
        let files = [
            ("prompt", &report.prompt_path),
            ("system", &report.system_prompt_path),
            ("reply", &report.response_path),
        ];
        for (name, path) in files.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?))) {
            lines.add(name, path);
        }
    }
    for path in &report.awaiting {
        lines.add("awaiting", path);
    }
}

/// What a session without a profile has produced so far.
fn change_lines(change: &ChangeReport, report: &SessionReport, lines: &mut Lines) {
    for artifact in &change.artifacts {
        let verdict = change.verdicts.get(&artifact.phase).map(|verdict| format!(" ({})", verdict.as_str()));
        lines.add(artifact.phase.as_str(), &format!("{}{}", artifact.path, verdict.unwrap_or_default()));
    }
    for check in &report.checks {
        lines.add("check", &format!("{}: {}", escaped_line(&check.name), escaped_line(&check.outcome)));
    }
    for commit in &report.commits {
        let branch = commit.branch.as_ref().map(|branch| format!(" on {branch}")).unwrap_or_default();
        lines.add("commit", &format!("{}{branch}", commit.id.get(..12).unwrap_or(&commit.id)));
    }
    for task in change.tasks.iter().filter(|task| task.status == TaskStatus::Failed) {
        lines.add("failed", &format!("task {}", escaped_line(&task.id)));
    }
    for file in &change.files {
        lines.add("file", &file.path);
    }
    for file in &change.removed {
        match &file.renamed_to {
            Some(to) => lines.add("renamed", &format!("{} to {to}", file.path)),
            None => lines.add("deleted", &file.path),
        }
    }
    for file in &change.edited {
        lines.add("edited", &file.path);
    }
    for note in &change.notes {
        lines.add("note", note);
    }
}

/// Comments, versions and the parts that another version or session touches.
fn version_and_comment_lines(report: &SessionReport, lines: &mut Lines) {
    if report.open_comments > 0 {
        let sends = if report.waits_for == Some(WaitsFor::ReplyApproval) {
            let id = report.change.as_ref().map_or(&report.session_id, |change| &change.name);
            format!("; aiwf reject {} sends them", as_typed(id))
        } else {
            String::new()
        };
        lines.add("comments", &format!("{} open{sends}", report.open_comments));
    }
    if let Some(reopened) = &report.reopened {
        lines.add("reopened", &reopened_artifact(reopened));
    }
    let versions = version_lines(&report.versions);
    for versions in versions {
        lines.add("versions", &versions);
    }
    for stale in &report.stale_artifacts {
        lines.add("stale", &stale_artifact(stale));
    }
    for other in &report.overlaps {
        lines.add("overlap", &overlap(other));
    }
}

/// What somebody should look at: files that changed, parts that are left out, problems.
fn trouble_lines(report: &SessionReport, lines: &mut Lines) {
    for stale in &report.stale {
        let found = stale.found.as_deref().map_or("gone", |found| found.get(..12).unwrap_or(found));
        let approved = stale.approved.get(..12).unwrap_or_default();
        lines.add("changed", &format!("{} (approved {approved}, found {found})", stale.path));
    }
    for path in &report.outdated {
        lines.add("outdated", path);
    }
    for left_out in left_out_lines(&report.left_out) {
        lines.add("left out", left_out.strip_prefix("left out ").unwrap_or(&left_out));
    }
    for path in &report.unknown {
        lines.add("unknown", path);
    }
    for file in &report.self_running {
        lines.add("caution", &format!("{}: run automatically by {}", file.path, file.run_by));
    }
    for problem in &report.problems {
        lines.add("problem", problem);
    }
    if let Some(remark) = &report.remark {
        lines.add("remark", remark);
    }
    if let Some(problem) = &report.not_trusted {
        lines.add("trust", problem);
    }
}

/// The versions of each artifact, on a line of its own, unless there is one and nothing happened to it.
fn version_lines(versions: &[VersionReport]) -> Vec<String> {
    const MOST: usize = 8;
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for version in versions {
        let note = version.note.as_ref().map(|_| " with a note").unwrap_or_default();
        let shown = format!("{} {}{note}", version.name, version.outcome.as_str());
        match lines.last_mut().filter(|(artifact, _)| *artifact == version.artifact) {
            Some((_, versions)) => versions.push(shown),
            None => lines.push((&version.artifact, vec![shown])),
        }
    }
    lines.retain(|(artifact, shown)| {
        let is_plain = |version: &VersionReport| {
            version.note.is_none()
                && matches!(version.outcome, VersionOutcome::Pending | VersionOutcome::Approved)
        };
        let alone = versions.iter().find(|version| version.artifact == *artifact);
        shown.len() > 1 || !alone.is_some_and(is_plain)
    });
    let joined = |(_, versions): (&str, Vec<String>)| {
        let n_left = versions.len().saturating_sub(MOST);
        let earlier = if n_left > 0 { format!("{n_left} earlier, ") } else { String::new() };
        format!("{earlier}{}", versions.get(n_left..).unwrap_or_default().join(", "))
    };
    lines.into_iter().map(joined).collect()
}

/// An artifact that was made from a version that is not valid any more.
pub(crate) fn stale_artifact(stale: &StaleArtifact) -> String {
    format!("{} is stale: built on {}", stale.name, stale.built_on)
}

/// An approved version that is made again.
pub(crate) fn reopened_artifact(reopened: &ReopenedReport) -> String {
    let reason = shortened(&escaped_line(&reopened.reason));
    format!("{} by {}: {reason}", reopened.name, escaped_line(&reopened.by))
}

/// Another session that plans to write the same files.
pub(crate) fn overlap(overlap: &Overlap) -> String {
    const MOST: usize = 3;
    let files: Vec<&str> = overlap.files.iter().map(String::as_str).take(MOST).collect();
    let more = overlap.n_files.saturating_sub(files.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let whose = if overlap.is_foreign { " (not yours)" } else { "" };
    let session = overlap.name.as_ref().unwrap_or(&overlap.session_id);
    format!("session {session}{whose} also plans to write {}{more}", files.join(", "))
}

/// What the session waits for, if it waits for the user.
fn waiting_for_you(report: &SessionReport) -> Option<&'static str> {
    let is_waiting = report.status == SessionStatus::Waiting;
    match report.waits_for? {
        WaitsFor::PromptApproval | WaitsFor::ReplyApproval if is_waiting => Some("waiting for your approval"),
        WaitsFor::Reply if is_waiting => Some("waiting for a reply"),
        WaitsFor::CheckConsent => Some("waiting for your consent to the checks"),
        WaitsFor::Retry if report.limit_until.is_some() => Some("waiting for a usage limit to end"),
        WaitsFor::Retry if is_waiting => Some("waiting for you to retry the call"),
        WaitsFor::NextPhase => Some("waiting for you to start the next phase"),
        WaitsFor::Budget => Some("paused: the budget is used up"),
        WaitsFor::Decision => Some("waiting for your decision"),
        WaitsFor::Answer => Some("waiting for your answer"),
        WaitsFor::PromptApproval | WaitsFor::ReplyApproval | WaitsFor::Reply | WaitsFor::Retry => None,
    }
}

/// A request can be a whole page; `aiwf show ID prompt` prints all of it.
fn shortened(text: &str) -> String {
    const LENGTH: usize = 200;
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The value of a parameter on one line: a line end in it cannot forge another line of the report.
fn shown_value(value: &serde_json::Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    shortened(&escaped_line(&text))
}

/// Prints the cost of a session and its limits.
pub(crate) fn usage(usage: &UsageReport, output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        return output.json(json!({ "session_id": usage.session_id, "usage": usage }), Exit::Done);
    }
    let mut text = format!("session   {}\n", usage.name.as_ref().unwrap_or(&usage.session_id));
    for call in &usage.calls {
        let used = call.usage.unwrap_or_default();
        let gate = if call.is_gate { " gate" } else { "" };
        let _ = writeln!(
            text,
            "call      {}-{}{gate}: {} {}, {} in, {} out{}, {}",
            call.phase.as_str(),
            call.iteration,
            call.provider,
            call.model.as_deref().unwrap_or("(model unknown)"),
            tokens(used.input_tokens),
            tokens(used.output_tokens),
            used.cached_tokens.map_or(String::new(), |cached| format!(", {cached} cached")),
            used.cost.map_or("cost unknown".to_owned(), |cost| format!("${:.4}", cost.as_f64())),
        );
    }
    for phase in &usage.phases {
        let _ = writeln!(text, "phase     {}: {}", phase.phase, total(&phase.total));
    }
    let _ = writeln!(text, "total     {}", total(&usage.total));
    let budget = &usage.budget;
    let limits = [
        budget.max_calls.map(n_calls),
        budget.max_tokens.map(|max| format!("{max} tokens")),
        budget.max_cost.map(|max| format!("${max:.2}")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let limits = if limits.is_empty() { "no limit".to_owned() } else { limits.join(", ") };
    let _ = writeln!(text, "budget    {limits}");
    if !budget.soft_for.is_empty() {
        let _ = writeln!(
            text,
            "soft      aiwf cannot limit the length of replies from {}; limits are checked between calls",
            budget.soft_for.join(", ")
        );
    }
    output::print(|out| {
        use std::io::Write as _;
        out.write_all(text.as_bytes())
    })?;
    Ok(Exit::Done)
}

fn tokens(tokens: Option<u64>) -> String {
    tokens.map_or("unknown".to_owned(), |tokens| tokens.to_string())
}

fn n_calls(n_calls: u64) -> String {
    if n_calls == 1 { "1 call".to_owned() } else { format!("{n_calls} calls") }
}

/// A sum, with the number of calls that did not report it.
fn total(total: &Total) -> String {
    let unknown = |n_calls: u64| match n_calls {
        0 => String::new(),
        1 => " (1 call unknown)".to_owned(),
        n_calls => format!(" ({n_calls} calls unknown)"),
    };
    // Without calls, nothing is unknown.
    let is_none = total.calls == 0;
    let tokens = |counted: Option<u64>| tokens(counted.or(is_none.then_some(0)));
    let cost = total
        .cost
        .or_else(|| is_none.then(Dollars::default))
        .map_or("cost unknown".to_owned(), |cost| format!("${:.4}", cost.as_f64()));
    let is_partly_known = |n_unknown: u64| n_unknown < total.calls;
    let tokens_left_out =
        if is_partly_known(total.calls_without_tokens) { total.calls_without_tokens } else { 0 };
    let cost_left_out = if is_partly_known(total.calls_without_cost) { total.calls_without_cost } else { 0 };
    format!(
        "{}, {} tokens in, {} out, {} cached{}, {cost}{}",
        n_calls(total.calls),
        tokens(total.input_tokens),
        tokens(total.output_tokens),
        tokens(total.cached_tokens),
        unknown(tokens_left_out),
        unknown(cost_left_out),
    )
}
