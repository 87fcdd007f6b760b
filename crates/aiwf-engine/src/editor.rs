//! Opens the user's editor or pager.
//!
//! Both take over the terminal. The editor is the one in `VISUAL` or `EDITOR`, else the first installed one of a few
//! common ones; the pager is `less`.

use std::path::Path;

use aiwf_process::run_in_terminal;

use crate::Engine;
use crate::error::EngineError;

/// Tried in this order if none is set.
const USUAL: [&str; 3] = ["nano", "vi", "vim"];

/// The pager's own prompt is the name of a temporary file.
const LESS_PROMPT: &str = "-PsSpace shows more, q goes back";

impl Engine {
    /// Opens the editor with an initial text and returns the result.
    pub fn edit_text(&self, name: &str, initial: &str) -> Result<String, EngineError> {
        let directory = tempfile::tempdir().map_err(|source| failed("a temporary directory", source))?;
        let path = directory.path().join(name);
        aiwf_store::write_atomic(&path, aiwf_store::Durability::Process, |out| {
            out.write_all(initial.as_bytes())
        })?;
        self.edit_file(&path)?;
        crate::prompt::read::read_text(&path)
    }

    /// Shows a text in `less`; returns whether it is installed and succeeded.
    ///
    /// Only colours in the text take effect, so the caller escapes all other control sequences.
    pub fn page_text(&self, text: &str) -> Result<bool, EngineError> {
        let directory = tempfile::tempdir().map_err(|source| failed("a temporary directory", source))?;
        let path = directory.path().join("text");
        aiwf_store::write_atomic(&path, aiwf_store::Durability::Process, |out| {
            out.write_all(text.as_bytes())
        })?;
        Ok(run_in_terminal("less".as_ref(), &["-RX".into(), LESS_PROMPT.into(), path.into()])
            .unwrap_or(false))
    }

    #[expect(clippy::unused_self, reason = "a part of the engine's face")]
    pub(crate) fn edit_file(&self, path: &Path) -> Result<(), EngineError> {
        let set = ["VISUAL", "EDITOR"].into_iter().find_map(aiwf_config::variable);
        let candidates: Vec<String> = match set.filter(|editor| !editor.trim().is_empty()) {
            Some(editor) => vec![editor],
            None => USUAL.map(str::to_owned).to_vec(),
        };
        for editor in &candidates {
            let mut words = editor.split_whitespace();
            let program = words.next().unwrap_or_default();
            let mut args: Vec<std::ffi::OsString> = words.map(Into::into).collect();
            args.push(path.into());
            match run_in_terminal(program.as_ref(), &args) {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    return Err(EngineError::Editor {
                        editor: editor.clone(),
                        message: "it reported an error".to_owned(),
                    });
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(EngineError::Editor { editor: editor.clone(), message: error.to_string() });
                }
            }
        }
        let editor = candidates.first().cloned().unwrap_or_default();
        Err(EngineError::Editor { editor, message: "it is not installed".to_owned() })
    }
}

fn failed(path: &str, source: std::io::Error) -> EngineError {
    EngineError::Unreadable { path: path.into(), source }
}
