//! What a person sees at a gate before they decide: the prompt or reply, the diff, checks, sizes and cost.
//!
//! In: a report. Out: spans for the terminal. Decides and asks nothing.

use aiwf_engine::machine::Total;
use aiwf_engine::{Engine, SessionReport, WaitsFor, left_out_lines};
use anstyle::{AnsiColor, Color, Style};

use crate::coloured_diff::{self, ADDED, REMOVED, coloured};
use crate::escape::escaped_line;
use crate::failure::Failure;
use crate::markdown::rendered;
use crate::output::{self, Span};
use crate::pager;

const PLAIN: Style = Style::new();
const TITLE: Style = Style::new().bold();
const WARNING: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Yellow))).bold();

pub(crate) fn show(engine: &Engine, report: &SessionReport) -> Result<(), Failure> {
    if report.waits_for == Some(WaitsFor::ReplyApproval) {
        pager::show(engine, &reply(engine, report)?)?;
    }
    output::note_styled(&summary(engine, report));
    Ok(())
}

/// The reply at the gate: its changes, else its text.
fn reply(engine: &Engine, report: &SessionReport) -> Result<Vec<Span>, Failure> {
    let id = Some(report.session_id.as_str());
    let mut spans = vec![(PLAIN, "\n".to_owned())];
    let diff = engine.reply_diff(id)?;
    // What an agent says of its work; the text of another reply is its edits, which the diff shows.
    if diff.is_none() || report.is_made_in_worktree {
        spans.extend(rendered(&engine.session_file(id, "response")?.1, output::screen().columns));
    }
    if let Some(diff) = diff {
        spans.push((PLAIN, "\n".to_owned()));
        spans.extend(coloured_diff::coloured(&diff));
    }
    Ok(spans)
}

/// The changes of the reply at the gate.
pub(crate) fn show_diff(engine: &Engine, report: &SessionReport) -> Result<(), Failure> {
    if let Some(diff) = engine.pending_diff(Some(report.session_id.as_str()))? {
        return pager::show(engine, &coloured(&diff));
    }
    output::note("this reply changes no files\n");
    Ok(())
}

pub(crate) fn show_prompt(engine: &Engine, report: &SessionReport) -> Result<(), Failure> {
    let (path, text) = engine.session_file(Some(report.session_id.as_str()), "prompt")?;
    pager::show(
        engine,
        &[(TITLE, format!("{path}\n\n")), (PLAIN, format!("{}\n", text.trim_end_matches('\n')))],
    )
}

/// What is waiting, and the numbers for a decision.
fn summary(engine: &Engine, report: &SessionReport) -> Vec<Span> {
    let mut spans = vec![(TITLE, format!("\n{}: {}\n", report.phase, what_waits(report)))];
    let mut line = |style: Style, name: &str, value: &str| {
        spans.extend([(PLAIN, format!("{name:9} ")), (style, format!("{}\n", escaped_line(value)))]);
    };
    if matches!(report.waits_for, Some(WaitsFor::PromptApproval | WaitsFor::Reply)) {
        if let Some(path) = &report.prompt_path {
            line(PLAIN, "prompt", path);
        }
        for left_out in left_out_lines(&report.left_out) {
            line(WARNING, "left out", &left_out);
        }
    }
    if let Some(path) =
        report.response_path.as_ref().filter(|_| report.waits_for == Some(WaitsFor::ReplyApproval))
    {
        line(PLAIN, "reply", path);
    }
    for check in &report.checks {
        let style = if check.passed { ADDED } else { REMOVED };
        line(style, "check", &format!("{}: {}", check.name, check.outcome));
        line(PLAIN, "output", &check.output);
    }
    for file in &report.self_running {
        line(WARNING, "runs", &format!("{} (run automatically by {})", file.path, file.run_by));
    }
    for problem in &report.problems {
        line(WARNING, "problem", problem);
    }
    if let Some(remark) = &report.remark {
        line(PLAIN, "remark", remark);
    }
    if let Some(size) = prompt_size(engine, report) {
        line(PLAIN, "size", &size);
    }
    if let Some(cost) = cost(engine, report) {
        line(PLAIN, "cost", &cost);
    }
    spans
}

/// How large the prompt is.
fn prompt_size(engine: &Engine, report: &SessionReport) -> Option<String> {
    let size = engine.prompt_size(Some(report.session_id.as_str())).ok().flatten()?;
    let about = if size.is_exact { "" } else { "about " };
    Some(format!("the prompt has {about}{} tokens", thousands(size.tokens)))
}

/// The cost of the session so far; empty before the first call.
fn cost(engine: &Engine, report: &SessionReport) -> Option<String> {
    let total = engine.session_usage(Some(report.session_id.as_str())).ok()?.total;
    (total.calls > 0).then(|| cost_so_far(&total))
}

fn cost_so_far(total: &Total) -> String {
    let calls = if total.calls == 1 { "1 call".to_owned() } else { format!("{} calls", total.calls) };
    let tokens = match (total.input_tokens, total.output_tokens) {
        (Some(input), Some(output)) => {
            format!(", {} tokens in, {} out", thousands(input), thousands(output))
        }
        _ => String::new(),
    };
    // If some calls are unknown, the sum is a lower bound.
    let at_least = if total.calls_without_cost > 0 { "at least " } else { "" };
    let cost =
        total.cost.map_or("cost unknown".to_owned(), |cost| format!("{at_least}${:.4}", cost.as_f64()));
    format!("{calls}{tokens}, {cost}")
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// What is waiting, as a sentence.
fn what_waits(report: &SessionReport) -> String {
    let provider = escaped_line(report.provider.as_deref().unwrap_or("the provider"));
    match report.waits_for {
        Some(WaitsFor::PromptApproval) => format!("the prompt for {provider} is waiting for your approval"),
        Some(WaitsFor::Reply) => "paste the prompt into your chat, then bring back its reply".to_owned(),
        Some(WaitsFor::ReplyApproval) => format!("the reply from {provider} is waiting for your approval"),
        Some(WaitsFor::Retry) => format!("{provider} did not reply"),
        Some(WaitsFor::CheckConsent) => "checks are waiting for your consent to their commands".to_owned(),
        Some(WaitsFor::Decision) => {
            let change = report.change.as_ref();
            let verdict = change.and_then(|change| change.verdicts.get(&report.phase));
            let failed = report.checks.iter().filter(|check| !check.passed).count();
            match (verdict, failed) {
                (_, 1..) => format!("{failed} of {} checks failed; you decide", report.checks.len()),
                (Some(verdict), 0) => format!("the verdict is {}; you decide", verdict.as_str()),
                (None, 0) => "you decide what comes next".to_owned(),
            }
        }
        Some(WaitsFor::NextPhase) => "the next phase starts when you approve".to_owned(),
        Some(WaitsFor::Budget) => "the budget is used up".to_owned(),
        Some(WaitsFor::Answer) => "waiting for your answer".to_owned(),
        None => "nothing is waiting".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_says_what_is_unknown() {
        let unknown = Total { calls: 1, calls_without_cost: 1, ..Total::default() };
        assert_eq!(cost_so_far(&unknown), "1 call, cost unknown");
        let known =
            Total { calls: 2, input_tokens: Some(12_345), output_tokens: Some(67), ..Total::default() };
        assert_eq!(cost_so_far(&known), "2 calls, 12,345 tokens in, 67 out, cost unknown");
    }

    #[test]
    fn long_numbers_are_grouped() {
        for (number, grouped) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), grouped);
        }
    }
}
