//! The files of the project in a profile session: those that parameters name, and what the session made of them.
//!
//! The session keeps a copy of each named file from when it started. Prompts show the copies, and edits apply to them, so
//! a file that changes meanwhile is noticed when the result is applied.

use std::collections::BTreeMap;

use aiwf_profile::{MatchedFile, ParamProblem, Profile};
use aiwf_session::{FileHash, Gives, LeftOut, PhaseSpec};
use serde_json::{Map, Value};

use super::change_prompt::{CHECKS_FAILED, FIX_CODE, named_paths, output_form, request_of};
use super::edit_reply::CHANGES_HEADING;
use super::open_session::OpenSession;
use crate::Engine;
use crate::error::EngineError;
use crate::prompt::document::ProjectParts;
use crate::prompt::gather::{FileLimits, ProjectFiles, ReadArtifact, find_in_project};
use crate::prompt::left_out;
use crate::prompt::read::{Root, into_text, read_text_below};
use crate::session::session_error::SessionError;

/// How much the files of one parameter may be: what a prompt can usefully show.
const LIMITS: FileLimits = FileLimits { max_files: 200, max_bytes: 2 * 1024 * 1024 };

/// What the patterns of parameters found.
#[derive(Default)]
pub(super) struct MatchedFiles {
    /// By the key of the parameter.
    pub(super) matched: BTreeMap<String, Vec<MatchedFile>>,
    /// What no prompt can show.
    pub(super) left_out: Vec<LeftOut>,
    pub(super) problems: Vec<ParamProblem>,
}

impl Engine {
    /// Finds the files of the project that parameters name.
    pub(super) fn matched_files(&self, profile: &Profile, given: &Map<String, Value>) -> MatchedFiles {
        let root = &self.settings().project_root;
        let MatchedFiles { mut matched, mut left_out, mut problems } = MatchedFiles::default();
        for wanted in profile.wanted_patterns(given) {
            if wanted.patterns.is_empty() {
                continue;
            }
            match find_in_project(root, &wanted.patterns, LIMITS) {
                Ok(ProjectFiles::Found(files, skipped)) if files.is_empty() => {
                    let reasons: Vec<String> = skipped
                        .iter()
                        .map(|problem| format!("{}: {}", problem.source, problem.message))
                        .collect();
                    problems.push(ParamProblem {
                        message: format!(
                            "`--{}` names no file that can be shown: {}",
                            wanted.name,
                            reasons.join("; ")
                        ),
                        param: wanted.name,
                        hint: Some("name text files".to_owned()),
                    });
                }
                Ok(ProjectFiles::Found(files, skipped)) => {
                    left_out.extend(left_out::from_problems(&skipped));
                    let files = files.into_iter().map(|(path, text)| MatchedFile { path, text }).collect();
                    matched.insert(wanted.key, files);
                }
                Ok(ProjectFiles::TooMany(n_files)) => problems
                    .push(too_much(wanted.name, &format!("{n_files} files, more than {}", LIMITS.max_files))),
                Ok(ProjectFiles::TooLarge(n_bytes)) => problems.push(too_much(
                    wanted.name,
                    &format!("files with {n_bytes} bytes, more than {}", LIMITS.max_bytes),
                )),
                Err(error) => problems.push(unusable_pattern(wanted.name, &error)),
            }
        }
        MatchedFiles { matched, left_out: left_out::recorded(left_out), problems }
    }
}

fn too_much(param: String, what: &str) -> ParamProblem {
    let hint = Some("name only the files that the request is about".to_owned());
    ParamProblem { message: format!("`--{param}` matches {what}"), param, hint }
}

fn unusable_pattern(param: String, error: &EngineError) -> ParamProblem {
    let (reason, hint) = if let EngineError::NothingMatches { pattern, .. } = error {
        (
            format!("names `{pattern}`, which matches no file"),
            "check the path; hidden files and those that `.gitignore` excludes must be named exactly",
        )
    } else if let EngineError::OutsideProject { pattern } = error {
        (format!("names `{pattern}`, which is outside the project"), "name files of the project")
    } else {
        (format!("cannot be used: {error}"), "quote the pattern, such as `'src/**/*.py'`")
    };
    ParamProblem { message: format!("`--{param}` {reason}"), param, hint: Some(hint.to_owned()) }
}

/// An artifact without the heading of its diff: the section has the same one.
fn without_heading(artifact: &str) -> String {
    // No line of the diff itself begins like this, since each has a mark.
    match artifact.rfind(&format!("{CHANGES_HEADING}\n\n")) {
        Some(at) if at == 0 || artifact.get(..at).is_some_and(|before| before.ends_with('\n')) => {
            let (report, diff) = artifact.split_at_checked(at).unwrap_or((artifact, ""));
            format!("{report}{}", diff.trim_start_matches(CHANGES_HEADING).trim_start_matches('\n'))
        }
        _ => artifact.to_owned(),
    }
}

impl OpenSession<'_> {
    /// The session's copies of the project files that parameters name, by path relative to the project.
    pub(super) fn project_inputs(&self) -> Vec<FileHash> {
        let inputs = self.state.setup.iter().flat_map(|setup| &setup.inputs);
        inputs
            .filter_map(|file| {
                let (_, path) = file.path.strip_prefix("inputs/")?.split_once('/')?;
                Some(FileHash { path: path.to_owned(), sha256: file.sha256.clone() })
            })
            .collect()
    }

    /// What the prompt of a profile's phase holds of the project.
    pub(super) fn project_parts(&self, spec: &PhaseSpec) -> Result<ProjectParts, SessionError> {
        let judges = self.state.flow.judges_files(spec.name);
        let gives_edits = spec.gives == Gives::Edits;
        let is_agent = self.works_in_worktree(spec.name)?;
        let changes_project = self.state.flow.phases.iter().any(|spec| spec.gives == Gives::Edits);
        let mut checks = if gives_edits || judges { self.checks_artifact()? } else { None };
        if let Some(checks) = checks.as_mut().filter(|_| gives_edits)
            && self.state.checks.iter().any(|check| !check.is_passed())
        {
            checks.text = format!("{CHECKS_FAILED}. {FIX_CODE}\n\n{}", checks.text);
        }
        Ok(ProjectParts {
            files: self.shown_project_files(gives_edits && !is_agent)?,
            changes: if judges && changes_project { self.newest_changes()? } else { None },
            checks,
            answer_format: gives_edits.then(|| output_form(spec, self.edits_text(spec.name))),
        })
    }

    /// The named files as they were when the session started, without those that it has changed; on request also those
    /// that the request and the plan mention, since a model can edit only what it sees.
    fn shown_project_files(&self, with_mentioned: bool) -> Result<Vec<ReadArtifact>, SessionError> {
        let root = &self.engine.settings().project_root;
        let setup = self.setup()?;
        let mut files = BTreeMap::new();
        if with_mentioned {
            let mut text = request_of(setup);
            let texts = self.state.flow.phases.iter().filter(|other| other.gives == Gives::Text);
            for path in texts.map(PhaseSpec::artifact_file) {
                if self.state.bound.contains_key(&path) {
                    text.push('\n');
                    text.push_str(&into_text(self.read(&path)?, &self.ledger.file(&path))?);
                }
            }
            for path in named_paths(&text, root) {
                // A file that cannot be shown is one that the model cannot edit.
                if let Ok(Some(text)) = read_text_below(Root::project(root), &root.join(&path)) {
                    files.insert(path, text);
                }
            }
        }
        for file in &setup.inputs {
            let Some((_, path)) = file.path.strip_prefix("inputs/").and_then(|path| path.split_once('/'))
            else {
                continue;
            };
            files.insert(path.to_owned(), into_text(self.read(&file.path)?, &self.ledger.file(&file.path))?);
        }
        let changes = self.approved_changes()?;
        for (path, _) in changes.iter() {
            files.remove(path);
        }
        let shown = |(path, text): (String, String)| ReadArtifact { name: path.clone(), path, text };
        Ok(files.into_iter().map(shown).collect())
    }

    /// The text of the last approved edits: a report and one diff.
    fn newest_changes(&self) -> Result<Option<ReadArtifact>, SessionError> {
        let edits = self.state.flow.phases.iter().filter(|spec| spec.gives == Gives::Edits);
        let bound = edits.filter_map(|spec| {
            let path = spec.artifact_file();
            Some((self.state.bound.get(&path)?.rank, path))
        });
        let Some((_, path)) = bound.max() else { return Ok(None) };
        let text = into_text(self.read(&path)?, &self.ledger.file(&path))?;
        let text = without_heading(&text);
        Ok(Some(ReadArtifact { name: "changes".to_owned(), path: self.ledger.shown(&path), text }))
    }
}
