//! A provider that answers by phase, from files: for prompts that are being edited.
//!
//! The reply of a phase is `PHASE-ROUND.md`, else `PHASE.md`. Where an agent would edit files itself, the edits of the
//! reply are made in its directory.

use std::path::Path;

use aiwf_provider::{Answer, Ask, AskError, Check, Permission, Reply, Request, Sink};
use aiwf_reply::parse_edits;

use super::effects::apply_edits;
use super::scratch;

/// The largest reply of a scenario.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The replies of a session by phase.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    /// `None` if the case names none: then nobody answers.
    directory: Option<std::path::PathBuf>,
}

impl Scenario {
    pub(crate) fn new(directory: Option<&Path>) -> Self {
        Self { directory: directory.map(Path::to_owned) }
    }

    /// The reply of a phase in a round; `None` if there is no file for it.
    pub(crate) fn reply(&self, phase: &str, round: u32) -> Result<Option<String>, String> {
        let Some(directory) = &self.directory else { return Ok(None) };
        let is_name = !phase.is_empty() && !phase.contains(['/', '\\', '\0']) && !phase.starts_with('.');
        for name in [format!("{phase}-{round}.md"), format!("{phase}.md")] {
            let path = directory.join(&name);
            if !is_name || !path.is_file() {
                continue;
            }
            let bytes =
                aiwf_store::read_regular(&path, MAX_BYTES).map_err(|error| format!("`{name}`: {error}"))?;
            return String::from_utf8(bytes).map(Some).map_err(|_error| format!("`{name}` is not text"));
        }
        Ok(None)
    }

    /// The name of the missing file, for messages.
    pub(crate) fn missing(&self, phase: &str) -> String {
        match &self.directory {
            Some(directory) => {
                let name = directory.file_name().unwrap_or_default().to_string_lossy();
                format!("the scenario `{name}/` has no `{phase}.md`")
            }
            None => format!("phase `{phase}` needs a reply: name a `scenario` with `{phase}.md`"),
        }
    }
}

impl Ask for Scenario {
    fn is_free(&self) -> bool {
        true
    }

    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        let (phase, round) = request.name.rsplit_once('-').unwrap_or((request.name, "1"));
        let failed = |message: String| AskError::Failed {
            provider: "scenario".to_owned(),
            message,
            advice: Box::new("add the reply to the scenario".into()),
            usage: None,
        };
        let reply = self.reply(phase, round.parse().unwrap_or(1)).map_err(failed)?;
        let reply = reply.ok_or_else(|| failed(self.missing(phase)))?;
        if request.permission == Permission::WriteDirectory {
            let base = request.directory;
            let files = apply_edits(&parse_edits(&reply).value, base)
                .map_err(|problems| failed(problems.join("; ")))?;
            for (path, content) in files {
                let target = base.join(&path);
                match content {
                    Some(bytes) => scratch::write(&target, &bytes).map_err(failed)?,
                    None => aiwf_store::remove(&target).map_err(|error| failed(error.to_string()))?,
                }
            }
        }
        sink.text(&reply).map_err(AskError::Sink)?;
        Ok(Answer::Reply(Reply { n_attempts: 1, ..Reply::default() }))
    }

    fn check(&self) -> Vec<Check> {
        Vec::new()
    }
}
