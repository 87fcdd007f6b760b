//! How sessions are printed.

use std::fmt::Write as _;

use aiwf_engine::machine::{Dollars, TaskStatus, Total};
use aiwf_engine::{Decided, SessionReport, SessionStatus, UsageReport, WaitsFor, left_out_lines, local_time};
use serde_json::json;

use serde::Serialize;

use crate::advice_words;
use crate::escape::{escaped, escaped_line};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// Prints where a session stands after a decision; what was done on the way was said when it happened.
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

/// Says what the provider is taken to do with files, and how to change that, where a prompt is made or shown.
pub(crate) fn ability(provider: &str, fs_ability: &str, lowered_from: Option<&str>) {
    output::note(&match lowered_from {
        Some(could) => format!(
            "file ability: none, because {provider} ({could}) may only read in this phase; its reply is its text\n"
        ),
        None => format!("file ability: {fs_ability} ({provider}); change it with --fs-ability\n"),
    });
}

/// A report as programs read it, with what to type next.
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

fn shown(report: &SessionReport) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:9} {}", escaped(value));
    };
    let stage = report.stage.map(|stage| format!(", {}", stage.as_str())).unwrap_or_default();
    if let Some(change) = &report.change {
        line("session", &change.name);
        line("flow", &report.flow);
        line("request", &shortened(&escaped_line(&change.request)));
        line("phase", &format!("{}{stage} (round {} of {})", report.phase, change.round, change.max_rounds));
        if let Some(agent) = change.agents.get(&report.phase) {
            line("agent", &agent.provider);
        }
    } else {
        line("session", &report.session_id);
        let context: Vec<String> =
            report.context.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
        line("profile", &format!("{} {}", report.profile, context.join(" ")));
        line("phase", &format!("{}{stage} (iteration {})", report.phase, report.iteration));
    }
    let gate = report
        .gate
        .as_ref()
        .map(|gate| format!(", gate {} {}", gate.kind, gate.state.as_str()))
        .unwrap_or_default();
    line(
        "status",
        &waiting_for_you(report).map_or_else(|| format!("{}{gate}", report.status), str::to_owned),
    );
    if let Some(until) = report.limit_until {
        line("limit", &format!("reached until {}", local_time(until)));
    }
    if report.stage.is_some() {
        for (name, path) in [
            ("prompt", &report.prompt_path),
            ("system", &report.system_prompt_path),
            ("reply", &report.response_path),
        ] {
            if let Some(path) = path {
                line(name, path);
            }
        }
    }
    for path in &report.awaiting {
        line("awaiting", path);
    }
    if let Some(change) = &report.change {
        for artifact in &change.artifacts {
            let verdict =
                change.verdicts.get(&artifact.phase).map(|verdict| format!(" ({})", verdict.as_str()));
            line(artifact.phase.as_str(), &format!("{}{}", artifact.path, verdict.unwrap_or_default()));
        }
        for check in &report.checks {
            line("check", &format!("{}: {}", escaped_line(&check.name), escaped_line(&check.outcome)));
        }
        for commit in &report.commits {
            let branch = commit.branch.as_ref().map(|branch| format!(" on {branch}")).unwrap_or_default();
            line("commit", &format!("{}{branch}", commit.id.get(..12).unwrap_or(&commit.id)));
        }
        for task in change.tasks.iter().filter(|task| task.status == TaskStatus::Failed) {
            line("failed", &format!("task {}", escaped_line(&task.id)));
        }
        for file in &change.files {
            line("file", &file.path);
        }
        for file in &change.edited {
            line("edited", &file.path);
        }
        for note in &change.notes {
            line("note", note);
        }
    }
    for stale in &report.stale {
        let found = stale.found.as_deref().map_or("gone", |found| found.get(..12).unwrap_or(found));
        line(
            "changed",
            &format!(
                "{} (approved {}, found {found})",
                stale.path,
                stale.approved.get(..12).unwrap_or_default()
            ),
        );
    }
    for path in &report.outdated {
        line("outdated", path);
    }
    for left_out in left_out_lines(&report.left_out) {
        line("left out", left_out.strip_prefix("left out ").unwrap_or(&left_out));
    }
    for path in &report.unknown {
        line("unknown", path);
    }
    for file in &report.self_running {
        line("caution", &format!("{}: {} runs it by itself", file.path, file.run_by));
    }
    for problem in &report.problems {
        line("problem", problem);
    }
    if let Some(remark) = &report.remark {
        line("remark", remark);
    }
    if let Some(problem) = &report.not_trusted {
        line("trust", problem);
    }
    line("next", &advice_words::next(&report.next));
    text
}

/// What the session waits for, if it is for the person who looks.
fn waiting_for_you(report: &SessionReport) -> Option<&'static str> {
    let is_waiting = report.status == SessionStatus::Waiting;
    match report.waits_for? {
        WaitsFor::PromptApproval | WaitsFor::ReplyApproval if is_waiting => Some("waiting for your approval"),
        WaitsFor::Reply if is_waiting => Some("waiting for a reply"),
        WaitsFor::CheckConsent => Some("waiting for your consent to the checks"),
        WaitsFor::Retry if report.limit_until.is_some() => Some("waiting for a usage limit to end"),
        WaitsFor::PromptApproval
        | WaitsFor::ReplyApproval
        | WaitsFor::Reply
        | WaitsFor::Retry
        | WaitsFor::NextPhase
        | WaitsFor::Budget
        | WaitsFor::Decision
        | WaitsFor::Answer => None,
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

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Prints what a session or a change cost and what it may cost.
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
            "soft      aiwf cannot limit the replies of {}: the limits are looked at between calls",
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

/// A sum, with what it leaves out because nobody knows it.
fn total(total: &Total) -> String {
    let unknown = |n_calls: u64| match n_calls {
        0 => String::new(),
        1 => " (1 call unknown)".to_owned(),
        n_calls => format!(" ({n_calls} calls unknown)"),
    };
    // Where nobody was asked, nothing is unknown.
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
