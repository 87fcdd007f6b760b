//! `aiwf profiles`: the available profiles; broken ones with their problems.

use std::io::Write as _;

use aiwf_engine::{Engine, FoundProfile};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

pub(crate) fn run(name: Option<&str>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    if let Some(name) = name {
        // A profile that is not there or broken is an error; a good one is shown like in the list.
        engine.profile(name)?;
    }
    let mut profiles = engine.profiles();
    profiles.retain(|found| name.is_none_or(|name| found.name == name));
    if output.is_json() {
        let profiles: Vec<Value> = profiles.iter().map(as_json).collect();
        return output.json(json!({ "profiles": profiles }), Exit::Done);
    }
    output::print(|out| {
        for found in &profiles {
            match &found.profile {
                Ok(profile) => {
                    writeln!(out, "{:18} {:9} {}", found.name, found.origin.as_str(), profile.description())?;
                }
                Err(fault) => {
                    let message = fault.message.replace('\n', "\n  ");
                    writeln!(out, "{:18} {:9} broken: {message}", found.name, found.origin.as_str())?;
                    writeln!(out, "  hint: {}", fault.hint)?;
                }
            }
            for hidden in &found.hides {
                writeln!(out, "  overrides the {} profile of the same name", hidden.as_str())?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn as_json(found: &FoundProfile) -> Value {
    let hides: Vec<&str> = found.hides.iter().map(|origin| origin.as_str()).collect();
    match &found.profile {
        Ok(profile) => json!({
            "name": found.name,
            "origin": found.origin.as_str(),
            "version": profile.version(),
            "description": profile.description(),
            "scopes": profile.scopes().iter().map(|scope| scope.name.clone()).collect::<Vec<_>>(),
            "sha256": profile.hash().to_string(),
            "hides": hides,
        }),
        Err(fault) => json!({
            "name": found.name,
            "origin": found.origin.as_str(),
            "error": { "code": "PROFILE_INVALID", "message": fault.message, "hint": fault.hint },
            "hides": hides,
        }),
    }
}
