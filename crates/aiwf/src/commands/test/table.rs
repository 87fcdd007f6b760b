//! Results for a person: failures first, each with what differs, then one line for each case.

use std::collections::BTreeMap;
use std::io::{self, Write};

use aiwf_engine::{Spread, TestOutcome, TestReport, TestResult};

use crate::columns::{cut, padded};
use crate::escape::escaped_line;

/// With more cases, each file has one line.
const MAX_LINES: usize = 40;
const OUTCOME_WIDTH: usize = 8;

pub(super) fn write(out: &mut impl Write, report: &TestReport, width: usize) -> io::Result<()> {
    for result in &report.results {
        if result.failures().next().is_some() {
            failure(out, result)?;
        }
    }
    lines(out, report, width)?;
    variants(out, report, width)?;
    for drop in &report.drops {
        let variant = drop.variant.as_ref().map(|variant| format!(", {variant}")).unwrap_or_default();
        let (case, now, before) = (escaped_line(&drop.case), percent(drop.now), percent(drop.before));
        writeln!(
            out,
            "dropped: {case} ({}{variant}) passes {now} of its runs, {before} before",
            drop.receiver
        )?;
    }
    for name in &report.not_compared {
        writeln!(out, "not compared: {} is in the baseline and did not run", escaped_line(name))?;
    }
    for name in &report.updated {
        writeln!(out, "wrote {}", escaped_line(name))?;
    }
    summary(out, report)
}

/// A case that failed, with its assertions.
fn failure(out: &mut impl Write, result: &TestResult) -> io::Result<()> {
    writeln!(out, "{}  {}{}", label(result.outcome), escaped_line(&result.case), details(result))?;
    for failure in result.failures() {
        let kind = if failure.kind.is_empty() { String::new() } else { format!("{}: ", failure.kind) };
        writeln!(
            out,
            "  {}:{}  {kind}{}",
            escaped_line(&result.file),
            failure.line,
            failure.message.replace('\n', "\n    ")
        )?;
        for line in failure.diff.iter().flat_map(|diff| diff.lines()) {
            writeln!(out, "    {line}")?;
        }
    }
    writeln!(out)
}

fn label(outcome: TestOutcome) -> &'static str {
    match outcome {
        TestOutcome::Passed => "ok",
        TestOutcome::Failed => "FAILED",
        TestOutcome::Error => "ERROR",
        TestOutcome::ProviderFailed => "PROVIDER",
        TestOutcome::Skipped => "skipped",
    }
}

/// For whom, in which format and variant, in parentheses.
fn details(result: &TestResult) -> String {
    let repeat = (result.repeat > 1).then(|| format!("run {}", result.repeat));
    let parts = [Some(result.receiver.clone()), Some(result.format.clone()), result.variant.clone(), repeat];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!("  ({})", escaped_line(&parts.join(", "))) }
}

/// One line for each case, or for each file.
fn lines(out: &mut impl Write, report: &TestReport, width: usize) -> io::Result<()> {
    let mut groups: Vec<((&str, &str), Vec<&TestResult>)> = Vec::new();
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for result in &report.results {
        let key = (result.file.as_str(), result.case.as_str());
        let index = *places.entry(key).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        if let Some((_, results)) = groups.get_mut(index) {
            results.push(result);
        }
    }
    if groups.len() > MAX_LINES {
        let mut files: Vec<(&str, Vec<&TestResult>)> = Vec::new();
        for ((file, _), results) in groups {
            match files.last_mut().filter(|(known, _)| *known == file) {
                Some((_, all)) => all.extend(results),
                None => files.push((file, results)),
            }
        }
        return files.iter().try_for_each(|(file, results)| line(out, file, results, width));
    }
    let has_several_files =
        groups.iter().any(|((file, _), _)| groups.first().is_some_and(|first| first.0.0 != *file));
    let mut last = "";
    for ((file, case), results) in &groups {
        if has_several_files && last != *file {
            writeln!(out, "{}", cut(&escaped_line(file), width))?;
            last = file;
        }
        line(out, case, results, width)?;
    }
    Ok(())
}

fn line(out: &mut impl Write, name: &str, results: &[&TestResult], width: usize) -> io::Result<()> {
    let outcome = results.iter().map(|result| result.outcome).filter(|one| *one != TestOutcome::Passed);
    // The worst outcome has the smallest place after `Passed`.
    let outcome = outcome.min().unwrap_or(TestOutcome::Passed);
    let n_passed = results.iter().filter(|result| result.outcome == TestOutcome::Passed).count();
    let about = match results {
        [only] => only.receiver.clone(),
        _ => format!("{n_passed} of {} passed", results.len()),
    };
    let room = width.saturating_sub(OUTCOME_WIDTH + 2 + 2 + ABOUT_WIDTH);
    let name = padded(&cut(&escaped_line(name), room), room);
    let line = format!(
        "{}  {name}  {}",
        padded(label(outcome), OUTCOME_WIDTH),
        cut(&escaped_line(&about), ABOUT_WIDTH)
    );
    writeln!(out, "{}", line.trim_end())
}

const ABOUT_WIDTH: usize = 22;
/// The width of a number in the table of variants.
const NUMBER: usize = 11;

/// The variants of a matrix next to each other.
fn variants(out: &mut impl Write, report: &TestReport, width: usize) -> io::Result<()> {
    if report.variants.is_empty() {
        return Ok(());
    }
    let room = width.saturating_sub(5 * (NUMBER + 1)).max(12);
    let row = |name: &str, cells: [String; 5]| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{:>NUMBER$}", cut(cell, NUMBER))).collect();
        format!("{} {}", padded(&cut(name, room), room), cells.join(" "))
    };
    let heads = ["passed", "prompt", "reply", "cost", "latency"].map(str::to_owned);
    writeln!(out, "\n{}", row("variant", heads).trim_end())?;
    for variant in &report.variants {
        let spread = |spread: &Option<Spread>, show: fn(f64) -> String| match spread {
            None => "-".to_owned(),
            Some(one) if (one.max - one.min).abs() < f64::EPSILON => show(one.median),
            Some(one) => format!("{} ±{}", show(one.median), show((one.max - one.min) / 2.0)),
        };
        let cells = [
            format!("{} of {}", variant.passed, variant.total),
            spread(&variant.prompt_tokens, whole),
            spread(&variant.reply_tokens, whole),
            spread(&variant.cost, dollars),
            spread(&variant.latency_ms, seconds),
        ];
        writeln!(out, "{}", row(&escaped_line(&variant.name), cells).trim_end())?;
    }
    Ok(())
}

fn whole(number: f64) -> String {
    format!("{number:.0}")
}

fn dollars(number: f64) -> String {
    format!("${number:.3}")
}

fn seconds(millis: f64) -> String {
    format!("{:.1}s", millis / 1000.0)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn summary(out: &mut impl Write, report: &TestReport) -> io::Result<()> {
    let counts = report.counts;
    let parts = [
        (counts.passed, "passed"),
        (counts.failed, "failed"),
        (counts.errors, "with errors"),
        (counts.provider_failed, "without an answer"),
        (counts.skipped, "skipped"),
    ];
    let parts = parts.into_iter().filter(|(number, what)| *number > 0 || *what == "passed");
    let parts: Vec<String> = parts.map(|(number, what)| format!("{number} {what}")).collect();
    write!(out, "\n{}", parts.join(", "))?;
    if report.min_pass < 1.0 {
        write!(out, "; {} passed, {} required", percent(report.pass_rate), percent(report.min_pass))?;
    }
    if report.n_calls > 0 {
        let noun = if report.n_calls == 1 { "call" } else { "calls" };
        let cost = report.spent.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
        write!(out, "; {} {noun}{cost}", report.n_calls)?;
    }
    let n_skipped: usize = report
        .results
        .iter()
        .flat_map(|result| &result.assertions)
        .filter(|one| one.outcome == TestOutcome::Skipped)
        .count();
    if n_skipped > 0 {
        let noun = if n_skipped == 1 { "assertion" } else { "assertions" };
        write!(out, "\n{n_skipped} {noun} not checked: there is no reply, and `--live` asks for one")?;
    }
    writeln!(out)
}
