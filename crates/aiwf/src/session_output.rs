//! How sessions are printed.

use std::fmt::Write as _;

use aiwf_engine::{Decided, Performed, SessionReport};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// Prints where a session stands after a decision, and what was done on the way on the standard error.
pub(crate) fn decided(decided: &Decided, output: &Output<'_>, exit: Exit) -> Result<Exit, Failure> {
    performed(&decided.performed);
    if let Some(diff) = &decided.accepted {
        output::note(diff);
    }
    report(&decided.report, output, exit)
}

/// Says what was done.
pub(crate) fn performed(performed: &[Performed]) {
    for done in performed {
        let line = match done {
            Performed::PromptWritten { phase, path } => format!("{phase}: wrote the prompt {path}"),
            Performed::GatePassed { phase, stage } => format!("{phase}: the {stage} gate is open"),
            Performed::Asked { provider } => format!("handed the prompt to {provider}"),
            Performed::ProfileChanged { name } => {
                format!("warning: profile `{name}` changed since the session began")
            }
            Performed::Kept { path } => format!("kept what was edited as {path}"),
            Performed::ReplyReceived { path } => format!("took the reply {path}"),
        };
        output::note(&format!("{line}\n"));
    }
}

/// Prints where a session stands.
pub(crate) fn report(report: &SessionReport, output: &Output<'_>, exit: Exit) -> Result<Exit, Failure> {
    if output.is_json() {
        return output.json(report, exit);
    }
    output::print(|out| {
        use std::io::Write as _;
        out.write_all(shown(report).as_bytes())
    })?;
    Ok(exit)
}

fn shown(report: &SessionReport) -> String {
    let mut text = format!("session   {}\n", report.session_id);
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:9} {value}");
    };
    let context: Vec<String> =
        report.context.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    line("profile", &format!("{} {}", report.profile, context.join(" ")));
    let stage = report.stage.map(|stage| format!(", {stage}")).unwrap_or_default();
    line("phase", &format!("{}{stage} (iteration {})", report.phase, report.iteration));
    let gate =
        report.gate.as_ref().map(|gate| format!(", gate {} {}", gate.kind, gate.state)).unwrap_or_default();
    line("status", &format!("{}{gate}", report.status));
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
    for path in &report.unknown {
        line("unknown", path);
    }
    for problem in &report.problems {
        line("problem", problem);
    }
    line("next", &report.next);
    text
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
