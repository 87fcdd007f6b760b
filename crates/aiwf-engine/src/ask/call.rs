//! One call to a provider: streamed to disk as it arrives, observed, recorded, and priced.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use aiwf_config::Config;
use aiwf_provider::{
    Answer, Answered, Ask, AskError, Cassette, ChangedFiles, Payload, Permission, Progress,
    RecordedCapability, Reply, Request, Sink, ToolCall, Touched,
};
use aiwf_session::{Call, TouchedFile};
use aiwf_store::LedgerDir;

use crate::Engine;
use crate::ask::providers::{self, Ability};
use crate::ask::watch::{CallContext, CallEvent};
use crate::session::session_error::SessionError;

/// A request to send.
#[derive(Debug)]
pub(crate) struct Order {
    /// Name of the call, such as `planning-1`.
    pub(crate) name: String,
    pub(crate) payload: Rc<Payload>,
    pub(crate) ability: Ability,
    /// Replaces the permission that follows from the ability.
    pub(crate) permission: Permission,
    /// Working directory of an agent; the project if `None`.
    pub(crate) directory: Option<PathBuf>,
    /// The file an agent may write its reply to.
    pub(crate) response_path: Option<PathBuf>,
}

/// The files of a call, in the directory of a session or run. Links are not followed.
#[derive(Debug)]
pub(crate) struct CallFiles {
    pub(crate) ledger: Arc<LedgerDir>,
    /// Receives the text as it arrives; contains the whole reply after a successful call.
    pub(crate) text: String,
    /// Receives an agent's own output.
    pub(crate) output: String,
}

impl CallFiles {
    /// Numbered files that do not exist yet, so that none is overwritten: `….partial-1.md`.
    pub(crate) fn free(
        ledger: Arc<LedgerDir>,
        text: impl Fn(u32) -> String,
        output: impl Fn(u32) -> String,
    ) -> Self {
        let text = free_name(&ledger, text);
        let output = free_name(&ledger, output);
        Self { ledger, text, output }
    }

    /// For messages and comparisons; not for opening the file.
    pub(crate) fn text_path(&self) -> PathBuf {
        self.ledger.path().join(&self.text)
    }

    pub(crate) fn read_text(&self) -> io::Result<Vec<u8>> {
        Ok(self.ledger.read(&self.text)?.unwrap_or_default())
    }
}

pub(crate) enum CallOutcome {
    /// A person will provide the reply.
    AwaitsPerson,
    /// The reply is in the text file.
    Replied {
        call: Box<Call>,
        /// Calls made through the API's own tool protocol.
        tool_calls: Vec<ToolCall>,
        /// Whether the agent wrote to the response path.
        has_written: bool,
    },
}

/// A failed call, with what is known about it.
pub(crate) struct CallFailure {
    pub(crate) error: AskError,
    pub(crate) call: Box<Call>,
    /// Whether the agent wrote to the response path.
    pub(crate) has_written: bool,
}

impl Order {
    fn directory<'a>(&'a self, engine: &'a Engine) -> &'a Path {
        self.directory.as_deref().unwrap_or(&engine.settings().project_root)
    }

    fn request<'a>(&'a self, engine: &'a Engine) -> Request<'a> {
        Request {
            name: &self.name,
            payload: &self.payload,
            directory: self.directory(engine),
            response_path: self.response_path.as_deref(),
            permission: self.permission,
            stop: &engine.call_context().stop,
        }
    }

    /// Checks that the request can be sent as it is, before anything is recorded.
    pub(crate) fn refuse(&self, ask: &dyn Ask, engine: &Engine) -> Result<(), SessionError> {
        if let Some(directory) = &engine.call_context().record {
            let ours = engine.settings().project_dir();
            if ["sessions", "changes", "runs"].iter().any(|name| directory.starts_with(ours.join(name))) {
                return Err(SessionError::RecordingPlace { path: directory.display().to_string() });
            }
            aiwf_store::create_dir(directory)?;
        }
        Ok(ask.refuse(&self.request(engine))?)
    }

    pub(crate) fn make(
        &self,
        provider: &str,
        ask: &dyn Ask,
        files: &CallFiles,
        engine: &Engine,
        config: &Config,
    ) -> Result<CallOutcome, CallFailure> {
        let call_context = engine.call_context();
        let root = &engine.settings().project_root;
        let ours = EngineFiles::of(self, files, &engine.settings().project_dir());
        let ignored: Vec<&Path> = ours.ignored.iter().map(PathBuf::as_path).collect();
        let writes = self.permission == Permission::WriteDirectory;
        // In a worktree, the diff shows what changed; in the project, nothing should change during the call.
        let touched = providers::can_write_files(provider, config).then(|| match &self.directory {
            None if writes => Touched::before_with_hashes(root, &ignored),
            None | Some(_) => Touched::before(root, &ignored),
        });
        let recorded = (writes && call_context.record.is_some())
            .then(|| Touched::before_with_hashes(self.directory(engine), &ignored));
        let response_before = self.response_path.as_deref().and_then(fingerprint);
        let max_bytes = providers::setting(provider, config).max_reply_bytes;
        let mut sink = DiskSink::new(files, call_context, max_bytes);
        let started_at = Instant::now();
        call_context.notify(CallEvent::Started { provider, name: &self.name });
        let asked = ask.ask(&self.request(engine), &mut sink);
        // A person's reply arrives another way, so there is nothing to write.
        let asked = asked.and_then(|answer| match answer {
            Answer::AwaitsPerson => Ok(answer),
            Answer::Reply(_) => sink.finish().map(|()| answer).map_err(AskError::Sink),
        });
        let elapsed = started_at.elapsed();
        call_context.notify(CallEvent::Ended { is_ok: asked.is_ok(), elapsed });
        let found = touched.as_ref().map(|touched| ours.changed(touched, root)).unwrap_or_default();
        let mut found = found;
        if self.directory.is_some() && !found.touched.is_empty() {
            // The user may edit the project and other worktrees while the agent works.
            let paths: Vec<String> = found.touched.drain(..).map(|file| file.path).collect();
            found.notes.push(format!("changed in the project during the call: {}", list(&paths)));
        }
        let mut call = Call {
            millis: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            touched: found.touched,
            notes: found.notes,
            ..Call::default()
        };
        if touched.is_some_and(|touched| !touched.is_complete()) {
            call.notes.push("the project has too many files to see which were added".to_owned());
        }
        let response_after = self.response_path.as_deref().and_then(fingerprint);
        let has_written = response_after.is_some() && response_after != response_before;
        match asked {
            Ok(Answer::AwaitsPerson) => Ok(CallOutcome::AwaitsPerson),
            Ok(Answer::Reply(reply)) => {
                let model = crate::ask::budget::model_of(&reply, provider, config);
                call.usage = crate::ask::budget::usage(reply.usage.as_ref(), model.as_deref(), config);
                call.notes.extend(reply.notes.iter().cloned());
                call.model = model;
                let written = self.response_path.as_deref().filter(|_| has_written);
                // A reply must not be lost because it could not be recorded.
                let arrived = Arrived { reply: &reply, files, written, changes: recorded.as_ref() };
                if let Err(error) = self.record(provider, arrived, engine) {
                    call.notes.push(format!("the call is not recorded: {error}"));
                }
                Ok(CallOutcome::Replied { call: Box::new(call), tool_calls: reply.tool_calls, has_written })
            }
            Err(error) => {
                let asked = providers::setting(provider, config).model;
                call.usage = crate::ask::budget::usage(error.usage(), asked.as_deref(), config);
                Err(CallFailure { error, call: Box::new(call), has_written })
            }
        }
    }

    /// Records the request and the reply if recording is on.
    ///
    /// The file that the agent wrote is the reply, else its text output.
    fn record(&self, provider: &str, arrived: Arrived<'_>, engine: &Engine) -> Result<(), AskError> {
        let Some(directory) = &engine.call_context().record else { return Ok(()) };
        let Arrived { reply, files, written, changes } = arrived;
        let bytes = match written.and_then(|path| path.strip_prefix(files.ledger.path()).ok()) {
            Some(written) => files.ledger.read(&written.to_string_lossy()).map_err(io::Error::from),
            None => files.read_text().map(Some),
        };
        let text = bytes.and_then(|bytes| {
            String::from_utf8(bytes.unwrap_or_default())
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        });
        let text = text.map_err(AskError::Sink)?;
        let changed = changes.map(changed_files).transpose()?;
        let answered = Answered {
            name: &self.name,
            provider,
            capability: Some(recorded(self.ability)),
            text: &text,
            reply,
            changes: changed
                .as_deref()
                .map(|files| ChangedFiles { directory: self.directory(engine), files }),
            keeps_texts: engine.call_context().records_texts,
        };
        let cassette = Cassette::in_directory(directory.clone());
        cassette.record(&self.payload, answered).map_err(|error| AskError::Sink(io::Error::other(error)))
    }
}

/// A reply to record.
#[derive(Clone, Copy)]
struct Arrived<'a> {
    reply: &'a Reply,
    files: &'a CallFiles,
    /// The file that the agent wrote its reply to.
    written: Option<&'a Path>,
    /// State of the working directory before the call, if the agent may change it.
    changes: Option<&'a Touched>,
}

fn changed_files(before: &Touched) -> Result<Vec<aiwf_provider::TouchedFile>, AskError> {
    if !before.is_complete() {
        return Err(AskError::Sink(io::Error::other("there are too many files to see which were changed")));
    }
    Ok(before.after().touched)
}

pub(crate) fn recorded(ability: Ability) -> RecordedCapability {
    let capability = ability.capability;
    RecordedCapability {
        fs_ability: capability.fs_ability.map_or("none", aiwf_prompt::FsAbility::as_str).to_owned(),
        supports_system_prompt: capability.supports_system_prompt,
        supports_file_attachments: capability.supports_file_attachments,
        sends_files: capability.sends_files,
        template_agent: ability.template_agent.map(str::to_owned),
        has_native_tools: ability.has_native_tools,
    }
}

/// Files that the engine writes during a call, and those of other sessions and changes, which other processes may
/// write at the same time.
struct EngineFiles {
    /// The directories of sessions, changes and runs.
    parents: [PathBuf; 3],
    /// The session or change that makes the call.
    own: Option<PathBuf>,
    ignored: Vec<PathBuf>,
}

impl EngineFiles {
    fn of(order: &Order, files: &CallFiles, project_dir: &Path) -> Self {
        let parents = ["sessions", "changes", "runs"].map(|name| project_dir.join(name));
        let own = parents.iter().find_map(|parent| {
            let inside = files.ledger.path().strip_prefix(parent).ok()?;
            Some(parent.join(inside.components().next()?))
        });
        let ledger = files.ledger.path();
        let mut ignored = vec![ledger.join(&files.text), ledger.join(&files.output)];
        ignored.extend(order.response_path.clone());
        for parent in &parents {
            let entries = std::fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
            ignored.extend(entries.map(|entry| entry.path()).filter(|path| Some(path) != own.as_ref()));
        }
        Self { parents, own, ignored }
    }

    /// The changed files, without those of other sessions that changed in the meantime.
    fn changed(&self, touched: &Touched, root: &Path) -> Changed {
        let is_elsewhere = |path: &Path| {
            let path = root.join(path);
            let is_own = self.own.as_ref().is_some_and(|own| path.starts_with(own));
            !is_own && self.parents.iter().any(|parent| path.starts_with(parent))
        };
        let found = touched.after();
        let files = found.touched.into_iter().filter(|file| !is_elsewhere(&file.path));
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let touched = files
            .map(|file| TouchedFile { path: shown(&file.path), before: file.before, after: file.after })
            .collect();
        let mut notes = Vec::new();
        if !found.ignored.is_empty() {
            notes.push(format!("the agent changed files that git ignores: {}", list(&found.ignored)));
        }
        if !found.unreadable.is_empty() {
            let places: Vec<String> = found.unreadable.iter().map(|path| shown(path)).collect();
            notes.push(format!("could not check for changes in {}", list(&places)));
        }
        Changed { touched, notes }
    }
}

/// Files that an agent changed, and notes for the user.
#[derive(Debug, Default)]
struct Changed {
    touched: Vec<TouchedFile>,
    notes: Vec<String>,
}

/// The first few names on one line, and the number of the others.
fn list(names: &[String]) -> String {
    const MOST: usize = 50;
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        n_more => format!("{shown} and {n_more} more"),
    }
}

/// Identifies the state of a file; `None` if it does not exist.
fn fingerprint(path: &Path) -> Option<String> {
    aiwf_store::sha256_file(path).ok()
}

/// Streams to disk, so that nothing is held in memory.
struct DiskSink<'a> {
    files: &'a CallFiles,
    call_context: &'a CallContext,
    text: Option<File>,
    output: Option<File>,
    n_bytes: u64,
    max_bytes: u64,
}

impl<'a> DiskSink<'a> {
    fn new(files: &'a CallFiles, call_context: &'a CallContext, max_bytes: u64) -> Self {
        Self { files, call_context, text: None, output: None, n_bytes: 0, max_bytes }
    }

    /// Syncs everything to disk.
    fn finish(&mut self) -> io::Result<()> {
        if self.text.is_none() {
            self.text = Some(self.files.ledger.create_file(&self.files.text)?);
        }
        for file in [&self.text, &self.output].into_iter().flatten() {
            file.sync_all()?;
        }
        Ok(())
    }
}

impl Sink for DiskSink<'_> {
    fn text(&mut self, text: &str) -> io::Result<()> {
        let file = match &mut self.text {
            Some(file) => file,
            None => self.text.insert(self.files.ledger.create_file(&self.files.text)?),
        };
        self.n_bytes += text.len() as u64;
        if self.n_bytes > self.max_bytes {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the reply exceeds its size limit"));
        }
        file.write_all(text.as_bytes())?;
        self.call_context.notify(CallEvent::Text(text));
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.n_bytes = 0;
        self.call_context.notify(CallEvent::Restarted);
        match &mut self.text {
            Some(file) => file.set_len(0).and_then(|()| file.rewind()),
            None => Ok(()),
        }
    }

    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.output {
            Some(file) => file,
            None => self.output.insert(self.files.ledger.create_file(&self.files.output)?),
        };
        file.write_all(bytes)
    }

    fn progress(&mut self, progress: Progress) {
        self.call_context.notify(CallEvent::Progress(progress));
    }
}

/// The first numbered name that is free in a directory.
pub(crate) fn free_name(ledger: &LedgerDir, numbered: impl Fn(u32) -> String) -> String {
    const MAX_CALLS: u32 = 100_000;
    numbered((1..MAX_CALLS).find(|number| !ledger.exists(&numbered(*number))).unwrap_or(MAX_CALLS))
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
