//! The invocation of an agent: built from a setting and a request without side effects.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use crate::ask::Request;
use crate::payload::{Payload, PayloadMessage};
use crate::provider_setting::{ProviderSetting, Secret};

/// The input of an invocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) setting: &'a ProviderSetting,
    pub(crate) request: &'a Request<'a>,
    /// The key to pass on, if there is one.
    pub(crate) key: Option<&'a Secret>,
    /// A directory that only the user can read; removed after the call.
    pub(crate) private_dir: &'a Path,
}

/// How to start an agent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    /// Additional variables; the last one of a name counts.
    pub(crate) env: Vec<(String, String)>,
    /// Variables that are removed from its environment.
    pub(crate) env_removed: Vec<&'static str>,
    /// Its first input.
    pub(crate) stdin: Vec<u8>,
    /// Whether more input may follow.
    pub(crate) is_dialogue: bool,
    /// Files for it in the private directory.
    pub(crate) files: Vec<PrivateFile>,
}

/// A file that only the user can read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PrivateFile {
    /// Relative to the private directory.
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

impl Invocation {
    pub(crate) fn arg(&mut self, arg: impl Into<OsString>) -> &mut Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args<const N: usize>(&mut self, args: [&str; N]) -> &mut Self {
        self.args.extend(args.map(OsString::from));
        self
    }

    pub(crate) fn env(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Adds the variables of the setting. They override variables added before, and are overridden by those added
    /// after.
    pub(crate) fn env_of(&mut self, setting: &ProviderSetting) -> &mut Self {
        self.env.extend(setting.env.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    /// Adds a private file and returns its path.
    pub(crate) fn file(&mut self, call: &Call<'_>, name: &'static str, text: impl Into<String>) -> OsString {
        self.files.push(PrivateFile { name, text: text.into() });
        call.private_dir.join(name).into_os_string()
    }

    pub(crate) fn write_files(&self, private_dir: &Path) -> std::io::Result<()> {
        for file in &self.files {
            let path = private_dir.join(file.name);
            let name = path.file_name().unwrap_or_default();
            let directory = path.parent().unwrap_or(private_dir);
            if directory != private_dir {
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            }
            let mut builder = tempfile::Builder::new();
            // Created with access for its owner only, and removed together with its directory.
            let mut written = builder.prefix(name).rand_bytes(0).tempfile_in(directory)?;
            written.write_all(file.text.as_bytes())?;
            written.keep()?;
        }
        Ok(())
    }
}

/// The prompt as one text; a single message is unchanged.
///
/// Several messages, and the turns after them, are joined by blank lines in their order, whatever their role; their
/// text is unchanged.
pub(crate) fn prompt_text(payload: &Payload) -> String {
    let messages = payload.messages.iter().map(PayloadMessage::text);
    let turns = payload.turns.iter().map(|turn| turn.content().to_owned());
    messages.chain(turns).collect::<Vec<String>>().join("\n\n")
}

/// The system prompt for an agent that trims it: a zero-width space protects white space at each end.
pub(crate) fn untrimmed(system: &str) -> Cow<'_, str> {
    const GUARD: &str = "\u{200b}";
    let is_trimmed = |letter: char| letter.is_whitespace() || letter == '\u{feff}';
    let before = if system.starts_with(is_trimmed) { GUARD } else { "" };
    let after = if system.ends_with(is_trimmed) { GUARD } else { "" };
    if before.is_empty() && after.is_empty() {
        return Cow::Borrowed(system);
    }
    Cow::Owned([before, system, after].concat())
}

/// The line and column of a byte, both starting at 1.
pub(crate) fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}
