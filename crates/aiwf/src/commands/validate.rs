//! `aiwf validate`: checks what sessions build on.

use std::io::Write as _;

use aiwf_engine::{Engine, Validation};
use serde_json::{Value, json};

use crate::advice_words;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

pub(crate) fn run(what: &str, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut results: Vec<Validation> = Vec::new();
    let wants = |kind: &str| what == "all" || what == kind;
    if wants("config") {
        results.extend(engine.validate_config());
    }
    // Without a configuration that can be read there is nothing to say about its providers; why was said above.
    let is_config_broken = results.iter().any(|result| !result.passed);
    if wants("providers") && !is_config_broken {
        results.extend(engine.validate_providers());
    }
    if wants("profiles") {
        results.extend(engine.validate_profiles());
    }
    if wants("flows") {
        results.extend(engine.validate_flows());
    }
    if wants("standards") {
        // The project's own standards are named by the configuration, too.
        let is_told = |result: &Validation| is_config_broken && result.name == "of the project";
        results.extend(engine.validate_standards().into_iter().filter(|result| !is_told(result)));
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
            writeln!(out, "{} {}: {verdict}", result.what, result.name)?;
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
        "what": result.what, "name": result.name, "passed": result.passed, "findings": findings,
    });
    if let (Value::Object(fields), false) = (&mut value, result.found.is_empty()) {
        fields.insert("found".to_owned(), json!(result.found));
    }
    value
}
