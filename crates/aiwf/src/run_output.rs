//! How runs and conversations are printed.

use std::fmt::Write as _;
use std::io::Write as _;

use aiwf_engine::machine::Usage;
use aiwf_engine::package::NodeStatus;
use aiwf_engine::{
    Fault, FaultKind, RunEntry, RunKind, RunPhase, RunPreview, RunReport, RunShown, RunStatus, RunVerified,
    left_out_lines,
};
use serde_json::{Value, json};

use crate::advice_words;
use crate::anatomy::cache_line;
use crate::command_error::CommandError;
use crate::escape::{escaped, escaped_line};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::question::Question;
use crate::shell_word::quoted;

/// The exit code of a command that continued a run.
pub(crate) fn exit_of(report: &RunReport) -> Exit {
    match report.phase {
        RunPhase::Completed | RunPhase::Cancelled => Exit::Done,
        // After an answer, a conversation always waits for the next message.
        RunPhase::WaitingUser if report.kind != RunKind::Run => Exit::Done,
        RunPhase::WaitingUser | RunPhase::Running => Exit::Waiting,
        RunPhase::Failed => match report.error.as_ref().map(Fault::kind) {
            Some(FaultKind::Stopped) => Exit::Interrupted,
            Some(FaultKind::Provider) => Exit::ProviderFailed,
            Some(FaultKind::Precondition | FaultKind::Other) | None => Exit::Refused,
        },
    }
}

/// Prints the result of a turn: the reply and the question to stdout, everything else to stderr.
pub(crate) fn turn(report: &RunReport, output: &Output<'_>) -> Result<Exit, Failure> {
    let exit = exit_of(report);
    if output.is_json() {
        return output.json(report, exit);
    }
    let question = question(report);
    let reply = report.reply.as_deref().filter(|reply| !reply.trim().is_empty());
    output::print(|out| {
        if let Some(reply) = reply {
            out.write_all(reply.as_bytes())?;
            if !reply.ends_with('\n') {
                out.write_all(b"\n")?;
            }
        }
        if let Some(question) = &question {
            let blank = if reply.is_some() { "\n" } else { "" };
            write!(out, "{blank}{}", question.words())?;
        }
        Ok(())
    })?;
    warnings(&report.warnings);
    outcome(report);
    if let Some(question) = &question {
        let answer = quoted(&question.example());
        output::note(&format!("answer with: aiwf workflow say {} {answer}\n", report.run_id));
    } else if report.phase == RunPhase::WaitingUser || report.kind != RunKind::Run {
        output::note(&format!("continue with: aiwf workflow say {} TEXT\n", report.run_id));
    }
    Ok(exit)
}

/// The model's question, if it asked one.
pub(crate) fn question(report: &RunReport) -> Option<Question> {
    report.question.as_ref().filter(|_| report.phase == RunPhase::WaitingUser).and_then(Question::read)
}

pub(crate) fn warnings(warnings: &[String]) {
    for warning in warnings {
        output::warn(&escaped_line(warning));
    }
}

/// Prints the status of a run, or its error.
pub(crate) fn outcome(report: &RunReport) {
    let node = report.node.as_deref().map(|node| format!(" at `{}`", escaped_line(node))).unwrap_or_default();
    let id = &report.run_id;
    if let Some(fault) = &report.error {
        let hint = format!("`aiwf workflow resume {id}` continues from there");
        output::note_failure(&failed(Some(fault), &hint).into());
    }
    match (report.kind, report.phase) {
        (RunKind::Run, RunPhase::WaitingUser) => {
            output::note(&format!("run {id} is waiting for you{node}\n"));
        }
        (RunKind::Run, RunPhase::Completed) => output::note(&format!("run {id} is complete\n")),
        (RunKind::Run, RunPhase::Cancelled) => output::note(&format!("run {id} is cancelled\n")),
        (RunKind::Run, RunPhase::Running) => output::note(&format!("run {id} is running{node}\n")),
        (RunKind::Run | RunKind::Agent | RunKind::Chat, RunPhase::Failed) => {}
        (RunKind::Agent | RunKind::Chat, RunPhase::Cancelled) => {
            output::note(&format!("conversation {id} is cancelled\n"));
        }
        (RunKind::Agent | RunKind::Chat, RunPhase::Running | RunPhase::WaitingUser | RunPhase::Completed) => {
            output::note(&format!("conversation {id}\n"));
        }
    }
}

/// The failure of a turn; `hint` is used if its fault has none.
pub(crate) fn failed(fault: Option<&Fault>, hint: &str) -> CommandError {
    CommandError::TurnFailed {
        message: fault.map_or("the run has failed".to_owned(), |fault| escaped(&fault.message)),
        code: fault.map_or("RUN_FAILED".to_owned(), |fault| escaped_line(&fault.code)),
        hint: fault.and_then(|fault| fault.hint.as_deref()).map_or_else(|| hint.to_owned(), escaped),
    }
}

/// Prints the status of a run after a decision that asked no model.
pub(crate) fn decided(report: &RunReport, next: &str, output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        return output.json(report, Exit::Done);
    }
    output::print(|out| writeln!(out, "{}", report.run_id))?;
    warnings(&report.warnings);
    outcome(report);
    if !next.is_empty() {
        output::note(&format!("continue with: {next}\n"));
    }
    Ok(Exit::Done)
}

/// Prints the full status of a run.
pub(crate) fn status(status: &RunStatus, output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        return output.json(status, Exit::Done);
    }
    output::print(|out| out.write_all(status_words(status).as_bytes()))?;
    Ok(Exit::Done)
}

/// The full status of a run, as text.
pub(crate) fn status_words(status: &RunStatus) -> String {
    let report = &status.report;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:9} {}", escaped(value));
    };
    line(if report.kind == RunKind::Run { "run" } else { "talk" }, &report.run_id);
    for (name, value) in
        [("package", &report.package), ("workflow", &report.workflow), ("agent", &report.agent)]
    {
        if let Some(value) = value {
            line(name, &escaped_line(value));
        }
    }
    line("provider", &escaped_line(&status.provider));
    let more = match (status.is_busy, status.interrupted) {
        (true, _) => ", another process is working on it",
        (false, true) => ", interrupted",
        (false, false) => "",
    };
    line("phase", &format!("{}{more}", report.phase.as_str()));
    if let Some(fault) = &report.error {
        line("error", &format!("{} ({})", escaped_line(&fault.message), escaped_line(&fault.code)));
    }
    for node in &status.nodes {
        let mark = match node.status {
            NodeStatus::Completed => 'x',
            NodeStatus::Current => '>',
            NodeStatus::Pending => ' ',
        };
        let title = if node.title == node.id { String::new() } else { format!(": {}", node.title) };
        line("node", &escaped_line(&format!("[{mark}] {}{title} ({})", node.id, node.node_type.as_str())));
    }
    for (name, value) in &status.variables {
        line("variable", &escaped_line(&format!("{name} = {value}")));
    }
    for decision in &status.decisions {
        line("decision", &escaped_line(&decision_words(decision)));
    }
    for path in &status.artifacts {
        line("artifact", &escaped_line(path));
    }
    line("calls", &format!("{}, {} to tools{}", status.n_calls, status.n_tool_calls, cost(&report.usage)));
    line("started", &status.created_at);
    line("changed", &status.updated_at);
    if let Some(origin) = &status.forked_from {
        line("fork of", origin);
    }
    line("files", &status.directory);
    if let Some(question) = question(report) {
        line("asks", question.words().trim_end());
    }
    for left_out in left_out_lines(&report.left_out) {
        line("left out", &escaped_line(left_out.strip_prefix("left out ").unwrap_or(&left_out)));
    }
    for warning in &report.warnings {
        line("warning", &escaped_line(warning));
    }
    if let Some(next) = &status.next {
        line("next", &advice_words::next(next));
    }
    text
}

fn decision_words(decision: &Value) -> String {
    let part = |name: &str| decision.get(name).and_then(Value::as_str);
    match (part("from"), part("to")) {
        (Some(from), Some(to)) => {
            let label = part("label").map(|label| format!(" ({label})")).unwrap_or_default();
            let reason = part("reason").map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{from} → {to}{label}{reason}")
        }
        _ => decision.to_string(),
    }
}

fn cost(usage: &Usage) -> String {
    let parts = [
        usage.input_tokens.map(|tokens| format!("{tokens} tokens in")),
        usage.output_tokens.map(|tokens| format!("{tokens} out")),
        usage.cost.map(|cost| format!("${:.4}", cost.as_f64())),
    ];
    [String::new()].into_iter().chain(parts.into_iter().flatten()).collect::<Vec<_>>().join(", ")
}

/// Prints a run and its history; only the last `n_entries` if set.
pub(crate) fn shown(
    mut shown: RunShown,
    n_entries: Option<usize>,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let n_before = n_entries.map_or(0, |n_entries| shown.entries.len().saturating_sub(n_entries));
    shown.entries.drain(..n_before);
    if output.is_json() {
        return output.json(&shown, Exit::Done);
    }
    output::print(|out| {
        out.write_all(status_words(&shown.status).as_bytes())?;
        if n_before > 0 {
            writeln!(out, "\n… {n_before} before")?;
        }
        for entry in &shown.entries {
            writeln!(out)?;
            write_entry(out, entry)?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn write_entry(out: &mut impl std::io::Write, entry: &RunEntry) -> std::io::Result<()> {
    let who = entry.who.as_deref().map(|who| format!(" {}", escaped_line(who))).unwrap_or_default();
    writeln!(out, "#{} {} {}{who}", entry.seq, entry.at, entry.what)?;
    for line in escaped(&entry.text).lines() {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    Ok(())
}

/// Prints the result of a verification.
pub(crate) fn verified(verified: &RunVerified, output: &Output<'_>) -> Result<Exit, Failure> {
    let exit = if verified.problems.is_empty() { Exit::Done } else { Exit::Refused };
    if let Some(n_bytes) = verified.torn_bytes {
        output::warn(&format!(
            "the journal ends in the middle of event {} ({n_bytes} bytes); the next command drops this partial line",
            verified.events + 1
        ));
    }
    if output.is_json() {
        return output.json(json!(verified), exit);
    }
    output::print(|out| {
        for problem in &verified.problems {
            writeln!(out, "{}", escaped(problem))?;
        }
        writeln!(
            out,
            "{} events, {} states and {} calls: {}",
            verified.events,
            verified.states,
            verified.tool_calls,
            if verified.problems.is_empty() { "all match the journal" } else { "do not match the journal" }
        )
    })?;
    Ok(exit)
}

/// Prints the next request exactly as it will be sent, and its anatomy on the standard error.
pub(crate) fn preview(preview: &RunPreview, output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        return output.json(preview, Exit::Done);
    }
    output::note(&anatomy(preview));
    output::left_out(&preview.left_out);
    warnings(&preview.warnings);
    output::print(|out| write!(out, "{}", preview.canonical))?;
    if output::is_stdout_watched() {
        output::note("\n");
    }
    Ok(Exit::Done)
}

fn anatomy(preview: &RunPreview) -> String {
    let counted =
        if preview.is_exact { format!("exact, {}", preview.tokenizer) } else { preview.tokenizer.clone() };
    let window = preview.window.map(|window| format!(" of {window}")).unwrap_or_default();
    let mut text = format!(
        "next request of {} to {}: {}{window} tokens ({counted}), payload_sha256 {}\n",
        preview.run_id,
        escaped_line(&preview.provider),
        preview.tokens,
        preview.payload_sha256
    );
    let layers = preview.layers.iter().map(|layer| layer.layer.chars().count());
    let width = layers.max().unwrap_or(0).max("tools".len());
    for layer in &preview.layers {
        let sha256 = layer.sha256.get(..12).unwrap_or(&layer.sha256);
        let _ = writeln!(
            text,
            "  {:width$}  {:9}  {:>8}  {sha256}",
            escaped_line(&layer.layer),
            layer.role,
            layer.tokens
        );
    }
    if preview.n_tools > 0 {
        let n_tools = format!("{} in all", preview.n_tools);
        let _ = writeln!(text, "  {:width$}  {n_tools:9}  {:>8}", "tools", preview.tool_tokens);
    }
    if let Some(sections) = &preview.cache_breakpoints {
        text.push_str(&cache_line(sections));
    }
    text
}

#[cfg(test)]
#[path = "run_output_tests.rs"]
mod tests;
