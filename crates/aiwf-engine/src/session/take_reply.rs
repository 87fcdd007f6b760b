//! Approves a reply: parses it, writes its results, and then records the approval.

use std::collections::{BTreeMap, BTreeSet};

use aiwf_profile::{PhaseValue, ReviewVerdict};
use aiwf_session::{Actor, Command, FileHash, Outcome};
use aiwf_store::{ConfinedError, StoreError, WritePlan};

use super::open_session::OpenSession;
use super::reply_files::path_below_code;
use crate::prompt::read::into_text;
use crate::session::session_error::SessionError;

/// Limits for the problems listed for one reply; the rest is counted.
const MAX_PROBLEMS: usize = 100;
const MAX_PROBLEM_CHARS: usize = 500;

/// Cuts a list of problems to a readable size and counts the rest.
pub(super) fn capped(problems: Vec<String>) -> Vec<String> {
    let n_more = problems.len().saturating_sub(MAX_PROBLEMS);
    let shorten = |problem: String| match problem.char_indices().nth(MAX_PROBLEM_CHARS) {
        Some((end, _)) => format!("{}…", problem.get(..end).unwrap_or_default()),
        None => problem,
    };
    let mut listed: Vec<String> = problems.into_iter().take(MAX_PROBLEMS).map(shorten).collect();
    if n_more > 0 {
        listed.push(format!("and {n_more} more"));
    }
    listed
}

impl OpenSession<'_> {
    /// Approves the reply at the expected path and writes its results.
    pub(crate) fn take_reply(&mut self, by: Actor, note: Option<String>) -> Result<(), SessionError> {
        self.refuse_stale()?;
        let path = self.response_path()?;
        // Read once, so that the hashed bytes are the parsed ones.
        let bytes = self.read(&path)?;
        let sha256 = self.ledger.keep(&bytes)?;
        let response = FileHash { path: path.clone(), sha256 };
        let text = into_text(bytes, &self.ledger.file(&path));
        let gives_artifact = self.spec()?.gives_artifact();
        let mut artifact = None;
        let (value, mut problems) = match text {
            Err(error) => (None, vec![error.to_string()]),
            Ok(text) if gives_artifact => {
                let mut problems = Vec::new();
                artifact = self.take_artifact(&text, &mut problems)?;
                (None, problems)
            }
            Ok(text) => {
                let phase = self.profile_phase(self.state.phase)?;
                let reply = self.profile()?.read(phase, &text);
                (Some(reply.value), reply.problems.iter().map(ToString::to_string).collect())
            }
        };
        let outcome = match value {
            Some(value) if problems.is_empty() => self.outcome(value, &mut problems)?,
            _ => artifact,
        };
        if let Some(outcome) = outcome {
            let has_checks = self.has_checks()?;
            return self.commit(Command::ApproveResponse { by, response, outcome, has_checks, note });
        }
        let problems = capped(problems);
        self.commit(Command::RefuseReply { response, problems: problems.clone() })?;
        Err(SessionError::ReplyProblems {
            path: self.ledger.shown(&path),
            problems,
            is_agents: self.state.changes.is_some(),
        })
    }

    /// Writes the results of a reply. Returns `None` if it has problems, which are added to the list.
    fn outcome(
        &mut self,
        value: PhaseValue,
        problems: &mut Vec<String>,
    ) -> Result<Option<Outcome>, SessionError> {
        match value {
            PhaseValue::Plan(plan) => {
                let hash = aiwf_store::sha256_hex(plan.as_bytes());
                let intended = FileHash { path: "plan.md".to_owned(), sha256: hash };
                self.commit(Command::IntendOutputs { files: vec![intended] })?;
                self.ledger.keep(plan.as_bytes())?;
                Ok(Some(Outcome::Plan { plan: self.write("plan.md", plan.as_bytes())? }))
            }
            PhaseValue::Files(blocks) => {
                let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
                let (session, iteration) = (self.ledger.shown(""), self.state.iteration);
                let new = blocks.into_iter().map(|block| {
                    (path_below_code(&block.path, &session, iteration), block.content.into_bytes())
                });
                // The reply is checked first by itself, so that its problems are not confused with those of an old
                // file.
                let plan = match WritePlan::check(new) {
                    Ok(plan) => plan,
                    Err(faults) => {
                        problems.extend(faults.iter().map(ToString::to_string));
                        return Ok(None);
                    }
                };
                if self.spec()?.iterates {
                    files.extend(self.code(self.state.iteration.saturating_sub(1))?);
                }
                files.extend(plan.files().map(|(path, content)| (path.to_owned(), content.to_vec())));
                match WritePlan::check(files) {
                    Ok(plan) => self.write_code(&plan).map(Some),
                    Err(faults) => {
                        problems.extend(faults.iter().map(ToString::to_string));
                        Ok(None)
                    }
                }
            }
            PhaseValue::Review(review) => match review.verdict {
                Some(ReviewVerdict::Pass) => Ok(Some(Outcome::Pass)),
                Some(ReviewVerdict::Fail) => Ok(Some(Outcome::Fail)),
                None => {
                    problems.push("the review gives no verdict".to_owned());
                    Ok(None)
                }
            },
        }
    }

    /// The code of an iteration, by path relative to `code/`.
    pub(crate) fn code(&self, iteration: u32) -> Result<BTreeMap<String, Vec<u8>>, SessionError> {
        let prefix = format!("iteration-{iteration}/code/");
        self.state
            .bound
            .keys()
            .filter_map(|path| Some((path, path.strip_prefix(&prefix)?)))
            .map(|(path, name)| Ok((name.to_owned(), self.read(path)?)))
            .collect()
    }

    fn write_code(&mut self, plan: &WritePlan) -> Result<Outcome, SessionError> {
        let iteration = format!("iteration-{}", self.state.iteration);
        self.refuse_links(&format!("{iteration}/code"))?;
        self.refuse_unexpected_files(&iteration)?;
        let files: Vec<FileHash> = plan
            .hashes()
            .map(|(name, sha256)| FileHash { path: format!("{iteration}/code/{name}"), sha256 })
            .collect();
        self.commit(Command::IntendOutputs { files: files.clone() })?;
        self.ledger.keep_all(plan.files().map(|(_, content)| content))?;
        self.put_code(&iteration, plan)?;
        Ok(Outcome::Code { files })
    }

    /// Replaces the code of an iteration.
    pub(super) fn put_code(&self, iteration: &str, plan: &WritePlan) -> Result<(), SessionError> {
        let failed = |error: ConfinedError| StoreError {
            path: self.ledger.file(&format!("{iteration}/code")),
            source: error.into(),
        };
        let parent = self.ledger.files()?.create_directories(iteration).map_err(failed)?;
        let temporary = format!(".tmp-{}-code", self.state.n_events);
        Ok(plan.write_in(&parent, &temporary, "code").map_err(failed)?)
    }

    /// Refuses files in the code directory that the journal did not announce: they are a person's.
    pub(super) fn refuse_unexpected_files(&self, iteration: &str) -> Result<(), SessionError> {
        let root = self.ledger.file(&format!("{iteration}/code"));
        if !root.exists() {
            return Ok(());
        }
        let walk = ignore::WalkBuilder::new(&root).standard_filters(false).build();
        let intended: BTreeSet<&str> = self.state.intended.iter().map(|file| file.path.as_str()).collect();
        let mut strangers: Vec<String> = walk
            .filter_map(Result::ok)
            .filter(|entry| !entry.file_type().is_some_and(|kind| kind.is_dir()))
            .filter_map(|entry| {
                Some(entry.path().strip_prefix(&self.ledger.path).ok()?.display().to_string())
            })
            .filter(|path| !intended.contains(path.as_str()))
            .collect();
        strangers.sort();
        if strangers.is_empty() { Ok(()) } else { Err(SessionError::UnknownFiles { files: strangers }) }
    }
}
