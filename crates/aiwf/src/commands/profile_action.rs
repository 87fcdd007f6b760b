//! The shared actions behind a profile's commands: reading a schema, showing a component.

use std::io::Write as _;

use aiwf_engine::profile::{Action, Profile, component_preview, ddl};
use aiwf_engine::{Durability, Engine, EngineError, write_atomic};
use clap::ArgMatches;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

pub(crate) fn run(
    profile: &Profile,
    action: &Action,
    matches: &ArgMatches,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let id = matches.get_one::<String>("id").map(String::as_str);
    let session = engine.session_values(id, profile.name())?;
    match action {
        Action::Ddl { schema, table, tenant_columns } => {
            let sql = session.inputs.get(&schema.replace('-', "_")).cloned().unwrap_or_default();
            let table =
                table.as_ref().and_then(|name| session.context.get(&name.replace('-', "_"))?.as_str());
            let report = ddl(&sql, table, tenant_columns);
            let exit = if report.problems.is_empty() { Exit::Done } else { Exit::Refused };
            if output.is_json() {
                return output.json(&report, exit);
            }
            output::print(|out| out.write_all(report.text().as_bytes()))?;
            for problem in &report.problems {
                output::note(&format!("line {}: {}\n", problem.line, problem.message));
            }
            Ok(exit)
        }
        Action::ComponentPreview { component } => {
            let component =
                component.as_ref().and_then(|name| session.context.get(&name.replace('-', "_"))?.as_str());
            let files: Vec<(&str, &str)> =
                session.code.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let preview = component_preview(&files, component)?;
            if let Some(path) = matches.get_one::<String>("html") {
                let path = engine.settings().current_dir.join(path);
                write_atomic(&path, Durability::Process, |out| out.write_all(preview.html().as_bytes()))
                    .map_err(EngineError::from)?;
            }
            if output.is_json() {
                return output.json(
                    json!({ "component": preview.component, "file": preview.file, "props": preview.props }),
                    Exit::Done,
                );
            }
            output::print(|out| out.write_all(preview.text().as_bytes()))?;
            Ok(Exit::Done)
        }
        Action::List(_) => Err(Failure::bug("a list is not about a session")),
    }
}
