//! Finds the prompts that a user names: a file, a session or run, one of its rounds or calls.

use std::path::Path;

use super::ComparedPrompt;
use super::diff_error::DiffError;
use super::prompt_file;
use crate::Engine;
use crate::ask::sent_parts::{SentCall, pieces_of};
use crate::ledger::{Candidates, Scope, SessionLedger, resolve};
use crate::prompt::read::{read_stdin, read_text};
use crate::session::open_session::OpenSession;
use crate::session::sent_calls::{round_name, text_of, whole_files};
use crate::session::session_error::SessionError;
use crate::trust::LedgerKind;

/// The part of a session's history that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which<'a> {
    /// The next request, or the last one if none follows.
    Next,
    /// A phase, in an iteration or in its last one.
    Round(&'a str, Option<u32>),
    /// A call, counted from 1.
    Call(usize),
}

/// `ID`, `ID:planning`, `ID:planning@1` or `ID@3`.
pub(super) fn split(given: &str) -> (&str, Which<'_>) {
    if let Some((id, round)) = given.rsplit_once(':') {
        let numbered = round.rsplit_once('@').and_then(|(phase, number)| Some((phase, number.parse().ok()?)));
        return match numbered {
            Some((phase, iteration)) => (id, Which::Round(phase, Some(iteration))),
            None => (id, Which::Round(round, None)),
        };
    }
    match given.rsplit_once('@').and_then(|(id, number)| Some((id, number.parse().ok()?))) {
        Some((id, number)) => (id, Which::Call(number)),
        None => (given, Which::Next),
    }
}

impl Engine {
    /// The prompt that a user names: a file made with `--json` or `-`, a session or run, `ID:PHASE@ITERATION`, `ID@CALL`.
    pub fn named_prompt(&self, given: &str) -> Result<ComparedPrompt, DiffError> {
        if given == "-" {
            return prompt_file::read("stdin", &read_stdin()?);
        }
        let path = self.settings().current_dir.join(given);
        if path.is_file() {
            let text = read_text(&path).map_err(|error| error.about(Path::new(given)))?;
            return prompt_file::read(given, &text);
        }
        let (id, which) = split(given);
        let ledger = self.ledger_named(given, id)?;
        let prompt = match which {
            Which::Next if ledger.kind() == LedgerKind::Run => self.next_of_run(&ledger)?,
            Which::Next => self.next_of_session(&ledger)?,
            Which::Round(phase, iteration) => self.round(&ledger, phase, iteration)?,
            Which::Call(number) => {
                let calls = sent_calls(&ledger)?;
                let call = number.checked_sub(1).and_then(|index| calls.get(index));
                let id = ledger.label().to_owned();
                let missing = DiffError::NoCall { id, number, n_calls: calls.len() };
                of_call(given, call.ok_or(missing)?)?
            }
        };
        Ok(ComparedPrompt { name: given.to_owned(), ..prompt })
    }

    pub(super) fn ledger_named(&self, given: &str, id: &str) -> Result<SessionLedger, DiffError> {
        resolve(self.settings(), Some(id), Scope::Any, Candidates::All).map_err(|error| {
            if let SessionError::NoSession { .. } = error {
                return DiffError::NothingNamed { given: given.to_owned() };
            }
            error.into()
        })
    }

    fn next_of_run(&self, ledger: &SessionLedger) -> Result<ComparedPrompt, DiffError> {
        let preview = match self.preview_run(&ledger.id, None) {
            Ok(preview) => preview,
            // A run that has ended has no next request.
            Err(error) => {
                let calls = sent_calls(ledger)?;
                return calls.last().map_or_else(|| Err(error.into()), |call| of_call(&ledger.id, call));
            }
        };
        Ok(ComparedPrompt {
            provider: Some(preview.provider.clone()),
            pieces: pieces_of(&preview.payload.0),
            ..ComparedPrompt::default()
        })
    }

    fn next_of_session(&self, ledger: &SessionLedger) -> Result<ComparedPrompt, DiffError> {
        let mut session = OpenSession::open_read_only(self, ledger.clone())?;
        match session.upcoming() {
            Ok(upcoming) => Ok(ComparedPrompt {
                provider: Some(session.state.provider(session.state.phase).to_owned()),
                pieces: pieces_of(&upcoming.payload),
                ..ComparedPrompt::default()
            }),
            Err(SessionError::NoPrompt { phase }) => {
                let calls = sent_calls(ledger)?;
                let none = || SessionError::NoPrompt { phase }.into();
                calls.last().map_or_else(|| Err(none()), |call| of_call(&ledger.id, call))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The prompt of a round: what was sent, else what is written.
    fn round(
        &self,
        ledger: &SessionLedger,
        phase: &str,
        iteration: Option<u32>,
    ) -> Result<ComparedPrompt, DiffError> {
        let calls = sent_calls(ledger)?;
        let is_meant = |name: &str| match iteration {
            Some(iteration) => name == round_name(phase, iteration),
            None => name.split_once('@').map_or(name, |(of, _)| of) == phase,
        };
        if ledger.kind() != LedgerKind::Run {
            let mut session = OpenSession::open_read_only(self, ledger.clone())?;
            let state = &session.state;
            let current = round_name(state.phase.as_str(), state.iteration);
            let is_sent = calls.last().is_some_and(|call| call.round == current);
            if is_meant(&current) && !is_sent && !state.written.is_empty() {
                let provider = Some(state.provider(state.phase).to_owned());
                let pieces = pieces_of(session.payload()?.as_ref());
                return Ok(ComparedPrompt { provider, pieces, ..ComparedPrompt::default() });
            }
        }
        let round = iteration.map_or_else(|| phase.to_owned(), |iteration| round_name(phase, iteration));
        if let Some(call) = calls.iter().rev().find(|call| is_meant(&call.round)) {
            return of_call(&format!("{}:{round}", ledger.label()), call);
        }
        let written = if ledger.kind() == LedgerKind::Run { Vec::new() } else { written_rounds(ledger)? };
        if let Some((_, prompt)) = written.iter().rev().find(|(name, _)| is_meant(name)) {
            return Ok(prompt.clone());
        }
        let mut known: Vec<String> = calls.into_iter().map(|call| call.round).collect();
        known.extend(written.into_iter().map(|(name, _)| name));
        known.dedup();
        Err(DiffError::NoRound { id: ledger.label().to_owned(), round, known })
    }
}

/// What a session or run sent, call by call.
pub(super) fn sent_calls(ledger: &SessionLedger) -> Result<Vec<SentCall>, DiffError> {
    Ok(match ledger.kind() {
        LedgerKind::Run => crate::run::sent_calls::sent_calls(ledger)?,
        LedgerKind::Session | LedgerKind::Change => crate::session::sent_calls::sent_calls(ledger)?,
    })
}

/// Prompts that were written and perhaps never sent, as whole files.
fn written_rounds(ledger: &SessionLedger) -> Result<Vec<(String, ComparedPrompt)>, DiffError> {
    let mut rounds = Vec::new();
    for line in ledger.journal()?.lines() {
        let aiwf_session::Event::PromptWritten { phase, iteration, prompt, system_prompt, .. } = &line.event
        else {
            continue;
        };
        let text = |file: &aiwf_session::FileHash| {
            let bytes = text_of(ledger, &file.path, &file.sha256)?;
            String::from_utf8(bytes).ok()
        };
        let system = system_prompt.as_ref().map(text);
        if let (Some(user), None | Some(Some(_))) = (text(prompt), &system) {
            let pieces = whole_files(system.flatten().unwrap_or_default(), user);
            let prompt = ComparedPrompt { pieces, ..ComparedPrompt::default() };
            rounds.push((round_name(phase.as_str(), *iteration), prompt));
        }
    }
    Ok(rounds)
}

/// The prompt of a call.
pub(super) fn of_call(name: &str, call: &SentCall) -> Result<ComparedPrompt, DiffError> {
    let pieces = call.pieces.clone().ok_or_else(|| DiffError::NotRecorded { name: name.to_owned() })?;
    Ok(ComparedPrompt {
        name: name.to_owned(),
        provider: Some(call.provider.clone()),
        tokenizer: None,
        pieces,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_a_call_and_a_session_are_told_apart() {
        assert_eq!(split("login"), ("login", Which::Next));
        assert_eq!(split("login:plan"), ("login", Which::Round("plan", None)));
        assert_eq!(split("login:plan@2"), ("login", Which::Round("plan", Some(2))));
        assert_eq!(split("login@3"), ("login", Which::Call(3)));
        assert_eq!(split("login@x"), ("login@x", Which::Next));
        assert_eq!(split("login:plan@x"), ("login", Which::Round("plan@x", None)));
    }
}
