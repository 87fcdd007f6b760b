//! Builds a request again: with the files of a git revision, or for another provider.
//!
//! The files of a revision are written to a private directory that is removed afterwards; nothing of the repository is
//! run. Providers, templates, standards and context come from there; sessions and what users have in their home stay
//! where they are.

use std::path::{Path, PathBuf};

use aiwf_worktree::Repository;

use super::ComparedPrompt;
use super::diff_error::DiffError;
use super::named::{Which, split};
use super::prompt_file;
use crate::Engine;
use crate::ask::payload::payload_of;
use crate::ask::providers;
use crate::ask::send::private_directory;
use crate::ask::sent_parts::{OwnedPiece, pieces_of};
use crate::error::EngineError;
use crate::prompt::document::Document;
use crate::prompt::read::{read_stdin, read_text};
use crate::prompt::request_record::RequestRecord;
use crate::session::open_session::OpenSession;
use crate::session::request::chosen_agent;
use crate::session::sent_calls::round_name;
use crate::session::session_error::SessionError;
use crate::trust::LedgerKind;

impl Engine {
    /// A user's prompt as it is built with the project's files of a git revision.
    pub fn prompt_at(&self, given: &str, revision: &str) -> Result<ComparedPrompt, DiffError> {
        let settings = self.settings();
        let stop = &self.call_context().stop;
        let missing = || aiwf_worktree::WorktreeError::NotARepository { path: settings.project_root.clone() };
        let repository = Repository::find(&settings.project_root, stop)?.ok_or_else(missing)?;
        let commit = repository.commit_of(revision)?;
        let commit = commit.ok_or_else(|| DiffError::NoRevision { revision: revision.to_owned() })?;
        let directory = private_directory().map_err(SessionError::from)?;
        // Prompts can show the name of the project's directory.
        let name = settings.project_root.file_name().unwrap_or_default();
        let root = directory.path().canonicalize().unwrap_or_else(|_| directory.path().to_owned()).join(name);
        repository.export(&commit, &root)?;
        let engine = self.in_project(&root);
        let mut prompt = self.rebuilt(given, &engine, None)?;
        for piece in &mut prompt.pieces {
            show_project(piece, &root, &settings.project_root);
        }
        Ok(ComparedPrompt { name: format!("{given} at {revision}"), ..prompt })
    }

    /// A user's prompt as it is built for a provider.
    pub fn prompt_for(&self, given: &str, provider: &str) -> Result<ComparedPrompt, DiffError> {
        let config = providers::load_config(self.settings(), &aiwf_config::Flags::default())?;
        providers::refuse_unknown(provider, &config, || "`--for`".to_owned())?;
        let prompt = self.rebuilt(given, self, Some(provider))?;
        Ok(ComparedPrompt { name: given.to_owned(), ..prompt })
    }

    /// The same engine for another directory of files.
    fn in_project(&self, root: &Path) -> Self {
        let mut engine = self.clone();
        let settings = engine.settings_mut();
        let below = settings.current_dir.strip_prefix(&settings.project_root).map(PathBuf::from);
        settings.current_dir = root.join(below.unwrap_or_default());
        settings.shell_dir = None;
        root.clone_into(&mut settings.project_root);
        engine
    }

    /// A session's directory for an engine that has other files: a copy at the same place among them, so that prompts show
    /// the same paths.
    fn bring(&self, directory: &Path, engine: &Self) -> Result<PathBuf, SessionError> {
        let (root, other) = (&self.settings().project_root, &engine.settings().project_root);
        match directory.strip_prefix(root) {
            Ok(below) if root != other => {
                let copy = other.join(below);
                copy_files(directory, &copy)?;
                Ok(copy)
            }
            Ok(_) | Err(_) => Ok(directory.to_owned()),
        }
    }

    /// Builds a request again with an engine, which may be one for other files.
    fn rebuilt(
        &self,
        given: &str,
        engine: &Self,
        provider: Option<&str>,
    ) -> Result<ComparedPrompt, DiffError> {
        let path = self.settings().current_dir.join(given);
        if given == "-" {
            return self.rebuilt_file(given, &read_stdin()?, engine, provider);
        }
        if path.is_file() {
            let text = read_text(&path).map_err(|error| error.about(Path::new(given)))?;
            return self.rebuilt_file(given, &text, engine, provider);
        }
        self.rebuilt_session(given, engine, provider)
    }

    fn rebuilt_file(
        &self,
        given: &str,
        json: &str,
        engine: &Self,
        provider: Option<&str>,
    ) -> Result<ComparedPrompt, DiffError> {
        let not_rebuildable = |problem| DiffError::NotRebuildable { name: given.to_owned(), problem };
        let record: RequestRecord = prompt_file::request(given, json)?
            .ok_or_else(|| not_rebuildable("it does not say how it was built"))?;
        let read = record.read()?;
        let (mut document, flags, mut options) =
            read.ok_or_else(|| not_rebuildable("its recipe is not known"))?;
        if let Document::Session(document) = &mut document {
            let directory = self.settings().current_dir.join(&document.session_dir);
            document.session_dir = self.bring(&directory, engine)?.to_string_lossy().into_owned();
        }
        options.provider = provider.map(str::to_owned).or(options.provider);
        let provider = options.provider.clone();
        let built = engine.build(document, &flags, &options, &|_| ())?;
        let pieces = pieces_of(&payload_of(&built.prompt, None));
        Ok(ComparedPrompt { name: String::new(), provider, tokenizer: options.tokenizer, pieces })
    }

    fn rebuilt_session(
        &self,
        given: &str,
        engine: &Self,
        provider: Option<&str>,
    ) -> Result<ComparedPrompt, DiffError> {
        let (id, which) = split(given);
        let ledger = self.ledger_named(given, id)?;
        let not_rebuildable = |problem| DiffError::NotRebuildable { name: given.to_owned(), problem };
        if ledger.kind() == LedgerKind::Run {
            return Err(not_rebuildable("it is a run, whose requests follow from its conversation"));
        }
        let mut session = OpenSession::open_read_only(self, ledger)?;
        session.enter_next_prompt();
        let (phase, iteration) = (session.state.phase, session.state.iteration);
        let current = round_name(phase.as_str(), iteration);
        let is_current = match which {
            Which::Next => true,
            Which::Round(name, None) => name == phase.as_str(),
            Which::Round(name, Some(iteration)) => round_name(name, iteration) == current,
            Which::Call(_) => false,
        };
        if !is_current {
            return Err(not_rebuildable("its inputs may have changed since"));
        }
        if phase.is_final() {
            return Err(SessionError::NoPrompt { phase }.into());
        }
        if let Some(provider) = provider {
            let agent = chosen_agent(provider, phase, session.config())?;
            session.assign(phase, agent);
        }
        // Servers are started as for a preview, with what the user agreed to in the project itself.
        session.tools(phase, iteration)?;
        session.ledger.path = self.bring(&session.ledger.path, engine)?;
        session.build_with(engine)?;
        let flag = session.prompt_flag();
        let (payload, _) = session.payload_to_write(flag)?;
        let provider = Some(session.state.provider(phase).to_owned());
        Ok(ComparedPrompt { provider, pieces: pieces_of(&payload), ..ComparedPrompt::default() })
    }
}

/// Copies the files below a directory; links are left out.
fn copy_files(from: &Path, to: &Path) -> Result<(), SessionError> {
    aiwf_store::create_dir(to)?;
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| SessionError::from(EngineError::Unreadable { path, source })
    };
    for entry in std::fs::read_dir(from).map_err(unreadable(from))? {
        let entry = entry.map_err(unreadable(from))?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(unreadable(&path))?;
        if kind.is_dir() {
            copy_files(&path, &copy)?;
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).map_err(unreadable(&path))?;
            aiwf_store::write_atomic(&copy, aiwf_store::Durability::Process, |out| out.write_all(&bytes))?;
        }
    }
    Ok(())
}

/// Shows the project's own path, not that of the private directory.
fn show_project(piece: &mut OwnedPiece, root: &Path, project: &Path) {
    let root = root.to_string_lossy();
    if piece.text.contains(&*root) {
        piece.text = piece.text.replace(&*root, &project.to_string_lossy());
    }
}
