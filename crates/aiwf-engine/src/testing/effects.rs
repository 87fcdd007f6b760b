//! Assertions on replies that do something: apply edits, run checks, run a program.
//!
//! Everything happens in a copy of the project. Checks of a project and programs of a test file start only after the
//! user agreed to exactly their commands.

use std::path::Path;
use std::time::Duration;

use aiwf_process::{Child, ChildError, Environment, Limits, Program, Stderr, Stop};
use aiwf_reply::{Edit, EditKind, FileBlock, parse_edits, parse_fenced_files};
use aiwf_store::{Consent, ConsentKind, sha256_hex};
use serde_json::Value;

use super::assertion::RunCommand;
use super::finding::Finding;
use super::scratch;
use crate::Engine;
use crate::prompt::read::{MAX_BYTES, resolve_below};
use crate::session::changes::ProjectChanges;

/// A file after the edits of a reply; `None` if it is deleted.
type Edited = Vec<(String, Option<Vec<u8>>)>;

/// The files that edits change in a directory; the error has a problem for each edit that does not fit.
pub(crate) fn apply_edits(edits: &[Edit], base: &Path) -> Result<Edited, Vec<String>> {
    let mut problems = Vec::new();
    let mut changes = ProjectChanges::default();
    let read = |path: &str| match resolve_below(base, &base.join(path)) {
        Ok(Some(path)) => Ok(aiwf_store::read_regular(&path, MAX_BYTES).ok()),
        Ok(None) | Err(_) => Ok(None),
    };
    if let Err(error) = changes.edit(edits, &ToOwned::to_owned, &read, &mut problems) {
        problems.push(error.to_string());
    }
    let plan = changes.plan(&mut problems);
    if !problems.is_empty() || plan.is_none() {
        return Err(problems);
    }
    Ok(changes.iter().map(|(path, file)| (path.to_owned(), file.content.clone())).collect())
}

/// The edits of a reply, in whatever form it has them.
fn edits_of(reply: &str) -> (Vec<Edit>, Vec<String>) {
    let parsed = parse_edits(reply);
    if !parsed.value.is_empty() {
        return (parsed.value, parsed.problems.iter().map(ToString::to_string).collect());
    }
    let fenced = parse_fenced_files(reply);
    let write = |block: FileBlock| Edit { line: 1, kind: EditKind::Write(block) };
    let problems = if fenced.value.is_empty() { parsed.problems } else { fenced.problems };
    (fenced.value.into_iter().map(write).collect(), problems.iter().map(ToString::to_string).collect())
}

/// Whether the edits of a reply apply to the files of a project.
pub(crate) fn applies(reply: &str, base: &Path) -> (Finding, Option<Edited>) {
    let (edits, problems) = edits_of(reply);
    if let Some(first) = problems.first() {
        return (Finding::new(false, format!("the edits cannot be read: {first}")), None);
    }
    if edits.is_empty() {
        return (Finding::new(false, "the reply changes no file"), None);
    }
    match apply_edits(&edits, base) {
        Ok(files) => {
            let noun = if files.len() == 1 { "file" } else { "files" };
            (Finding::new(true, format!("the edits apply to {} {noun}", files.len())), Some(files))
        }
        Err(problems) => (Finding::new(false, problems.join("; ")), None),
    }
}

/// What keeps an assertion from running.
pub(crate) enum Held {
    /// The user has not agreed to a command.
    Consent(String),
    Failed(String),
}

/// Runs the project's checks on a copy of `base` with the edits of a reply.
pub(crate) fn checks(
    engine: &Engine,
    reply: &str,
    base: &Path,
    names: &[String],
    copy: &Path,
) -> Result<Finding, Held> {
    let (finding, edited) = applies(reply, base);
    let Some(edited) = edited else { return Ok(Finding { is_void: true, ..finding }) };
    let failed = |error: &dyn std::fmt::Display| Held::Failed(error.to_string());
    let checks = engine.checks_named(names).map_err(|error| failed(&error))?;
    if let Some(check) = checks.iter().find(|check| !check.may_run()) {
        return Err(Held::Consent(format!("you have not agreed to the check `{}`", check.name)));
    }
    scratch::copy_tree(base, copy).map_err(Held::Failed)?;
    for (path, content) in edited {
        let target = copy.join(&path);
        match content {
            Some(bytes) => scratch::write(&target, &bytes).map_err(Held::Failed)?,
            None => aiwf_store::remove(&target).map_err(|error| failed(&error))?,
        }
    }
    let runs = engine.run_checks(&checks, copy).map_err(|error| failed(&error))?;
    let failing = runs.iter().find(|run| !run.result.passed);
    Ok(match failing {
        None => {
            let names: Vec<&str> = runs.iter().map(|run| run.result.name.as_str()).collect();
            Finding::new(true, format!("checks passed: {}", super::finding::listed(names)))
        }
        Some(run) => {
            let printed = crate::checks::head_and_tail(&run.printed, MAX_SHOWN);
            let message = format!("check `{}` {}", run.result.name, run.result.outcome());
            Finding::new(false, message).with_diff(printed)
        }
    })
}

/// The most output of a program that is shown.
const MAX_SHOWN: usize = 2 * 1024;
const MAX_OUTPUT: u64 = 1024 * 1024;

/// The consent that a program of a test file needs: exactly this command, in this directory.
pub(crate) fn consent_for(command: &RunCommand, directory: &Path) -> Consent {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let project = directory.to_string_lossy().into_owned();
    let (form, name, shown, words) = match command {
        RunCommand::Shell(line) => {
            ("shell", line.clone(), format!("shell: {line}"), std::slice::from_ref(line))
        }
        RunCommand::Argv(words) => {
            ("program", words.join(" "), format!("program: {words:?}"), words.as_slice())
        }
    };
    // Each field with its length, so that no command reads like another one.
    let mut agreed = b"test 2\n".to_vec();
    for field in [form, &project].into_iter().chain(words.iter().map(String::as_str)) {
        agreed.extend_from_slice(format!("{}:", field.len()).as_bytes());
        agreed.extend_from_slice(field.as_bytes());
    }
    Consent { kind: ConsentKind::Test, name, sha256: sha256_hex(&agreed), shown, project }
}

/// Runs a program with the facts of a case as JSON on its stdin.
///
/// It passes with exit code 0. JSON on its stdout can say more: `{"pass": false, "reason": "…"}`.
pub(crate) fn run(
    command: &RunCommand,
    timeout: Duration,
    directory: &Path,
    input: &Value,
    stop: &Stop,
) -> Result<Finding, Held> {
    let words: Vec<std::ffi::OsString> = match command {
        RunCommand::Shell(line) => ["sh", "-c", line].map(Into::into).to_vec(),
        RunCommand::Argv(words) => words.iter().map(Into::into).collect(),
    };
    let Some((program, args)) = words.split_first() else {
        return Err(Held::Failed("it does not name a program".to_owned()));
    };
    let program = Program {
        environment: Environment::Cleared,
        env: &aiwf_config::check_environment(&[]),
        directory: Some(directory),
        stderr: Stderr::Merged,
        ..Program::new(program, args)
    };
    let limits = Limits { first_byte: timeout, total: timeout, max_bytes: MAX_OUTPUT };
    let held = |error: ChildError| match error {
        ChildError::TimedOut { .. } => Held::Failed(format!("it did not end within {} s", timeout.as_secs())),
        ChildError::NotStarted(error) => {
            Held::Failed(format!("it could not start: {}", crate::notify::plain(&error)))
        }
        ChildError::Stopped => Held::Failed("it was stopped".to_owned()),
        ChildError::TooLarge { .. } => Held::Failed(format!("it printed more than {MAX_OUTPUT} bytes")),
        ChildError::Pipe(error) => Held::Failed(error.to_string()),
    };
    let mut child = Child::start(&program, limits, stop).map_err(held)?;
    child.send(input.to_string().into_bytes());
    child.close_stdin();
    let mut printed = Vec::new();
    let mut buffer = vec![0; aiwf_process::CHUNK];
    loop {
        match child.read(&mut buffer).map_err(held)? {
            0 => break,
            n_read => printed.extend_from_slice(buffer.get(..n_read).unwrap_or_default()),
        }
    }
    let ended = child.end(Duration::ZERO);
    let said = serde_json::from_slice::<Value>(&printed).ok().filter(Value::is_object);
    let says_no = said.as_ref().and_then(|said| said.get("pass")).and_then(Value::as_bool) == Some(false);
    let reason = said.as_ref().and_then(|said| said.get("reason")).and_then(Value::as_str);
    let holds = ended.code == Some(0) && !says_no;
    let how = match (ended.code, reason) {
        (_, Some(reason)) => reason.to_owned(),
        (Some(0), None) if says_no => "the program says no".to_owned(),
        (Some(0), None) => "the program passed".to_owned(),
        (Some(code), None) => format!("the program failed with exit code {code}"),
        (None, None) => "the program was killed".to_owned(),
    };
    let finding = Finding::new(holds, how);
    if holds || said.is_some() {
        return Ok(finding);
    }
    Ok(finding.with_diff(crate::checks::head_and_tail(&printed, MAX_SHOWN)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_share_a_consent() {
        let argv = |words: &[&str]| RunCommand::Argv(words.iter().map(|word| (*word).to_owned()).collect());
        let shell = |line: &str| RunCommand::Shell(line.to_owned());
        let commands = [
            argv(&["true", "x"]),
            shell("[\"true\", \"x\"]"),
            argv(&["true x"]),
            shell("true x"),
            argv(&["true", "x", ""]),
            argv(&["tru", "ex"]),
            argv(&["true", "1:x"]),
            argv(&["true1:x"]),
        ];
        let directory = Path::new("/");
        let mut hashes: Vec<String> =
            commands.iter().map(|command| consent_for(command, directory).sha256).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), commands.len());
        let shown: Vec<String> = commands[..2].iter().map(|one| consent_for(one, directory).shown).collect();
        assert_eq!(shown, ["program: [\"true\", \"x\"]", "shell: [\"true\", \"x\"]"]);
    }
}
