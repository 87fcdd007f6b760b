//! `aiwf validate`: validates what sessions depend on.

use std::io::Write as _;

use aiwf_engine::{Engine, Validation, ValidationKind};
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::advice_words;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// What to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValidateTarget {
    Profiles,
    Providers,
    Flows,
    Standards,
    Context,
    Config,
    All,
}

pub(crate) fn run(what: ValidateTarget, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut results: Vec<Validation> = Vec::new();
    let wants = |target: ValidateTarget| what == ValidateTarget::All || what == target;
    if wants(ValidateTarget::Config) {
        results.extend(engine.validate_config());
    }
    // Without a readable configuration its providers cannot be checked; the error was printed above.
    let is_config_broken = results.iter().any(|result| !result.passed);
    if wants(ValidateTarget::Providers) && !is_config_broken {
        results.extend(engine.validate_providers());
    }
    if wants(ValidateTarget::Profiles) {
        results.extend(engine.validate_profiles());
    }
    if wants(ValidateTarget::Flows) {
        results.extend(engine.validate_flows());
    }
    if wants(ValidateTarget::Standards) {
        // The configuration also names the project's own standards.
        let is_told =
            |result: &Validation| is_config_broken && result.what == ValidationKind::ProjectStandards;
        results.extend(engine.validate_standards().into_iter().filter(|result| !is_told(result)));
    }
    if wants(ValidateTarget::Context) && !is_config_broken {
        results.extend(engine.validate_context());
    }
    let n_passed = results.iter().filter(|result| result.passed).count();
    let exit = if n_passed == results.len() { Exit::Done } else { Exit::Refused };
    if output.is_json() {
        let results: Vec<Value> = results.iter().map(as_json).collect();
        return output.json(json!({ "results": results, "all_passed": n_passed == results.len() }), exit);
    }
    output::print(|out| {
        for result in &results {
            let verdict = if result.passed { "ok" } else { "FAILED" };
            writeln!(out, "{} {}: {verdict}", result.what.as_str(), result.name)?;
            for found in &result.found {
                writeln!(out, "  {found}")?;
            }
            for finding in &result.findings {
                writeln!(out, "  {}", advice_words::with_hint(finding).replace('\n', "\n  "))?;
            }
        }
        writeln!(out, "{n_passed} of {} ok", results.len())
    })?;
    Ok(exit)
}

fn as_json(result: &Validation) -> Value {
    let findings: Vec<Value> = result
        .findings
        .iter()
        .map(|finding| json!({ "message": advice_words::with_hint(finding) }))
        .collect();
    let mut value = json!({
        "what": result.what.as_str(), "name": result.name, "passed": result.passed, "findings": findings,
    });
    if let (Value::Object(fields), false) = (&mut value, result.found.is_empty()) {
        fields.insert("found".to_owned(), json!(result.found));
    }
    value
}
