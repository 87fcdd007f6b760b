//! `aiwf validate`: checks what sessions build on.

use std::io::Write as _;

use aiwf_engine::{Engine, Validation};
use serde_json::json;

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
                writeln!(out, "  {}", finding.message.replace('\n', "\n  "))?;
            }
        }
        writeln!(out, "{n_passed} of {} ok", results.len())
    })?;
    Ok(exit)
}
