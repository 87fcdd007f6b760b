//! Errors on the way from a request to its prompt, with advice.

use std::io;
use std::path::PathBuf;

use aiwf_advice::{Action, Advice};
use aiwf_prompt::{PromptError, nearest};
use aiwf_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("could not open the editor `{editor}`: {message}")]
    Editor { editor: String, message: String },
    #[error("could not read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` is not UTF-8 text (first bad byte at offset {offset})", path.display())]
    NotUtf8 {
        path: PathBuf,
        /// Offset of the first invalid byte.
        offset: usize,
    },
    #[error("`{}` is larger than {}", path.display(), shown_bytes(*limit))]
    TooLarge { path: PathBuf, limit: u64 },
    /// A link leads out of its directory.
    #[error("`{}` is a link that leads outside {root}", path.display())]
    LeavesDirectory {
        path: PathBuf,
        /// The directory, such as `the project`.
        root: &'static str,
    },
    /// A pattern that the user did not type leads out of the project.
    #[error("`{pattern}` is outside the project")]
    OutsideProject { pattern: String },
    #[error("`{}` is a broken link", path.display())]
    BrokenLink { path: PathBuf },
    #[error("{what} `{}` does not exist", path.display())]
    NoDirectory { what: &'static str, path: PathBuf },
    #[error("{what} `{}` is not a directory", path.display())]
    NotADirectory { what: &'static str, path: PathBuf },
    #[error("input is empty")]
    EmptyInput { recipe: &'static str },
    #[error("input is not JSON: {message} at line {line} column {column}")]
    NotJson {
        recipe: &'static str,
        message: String,
        /// Starting at 1.
        line: usize,
        /// Starting at 1.
        column: usize,
    },
    /// The input is JSON but does not match the recipe's schema.
    #[error("document does not match recipe `{recipe}`\n  {}{message}", before(place.as_deref()))]
    Document {
        recipe: &'static str,
        /// The path of the field; `None` for the whole document.
        place: Option<String>,
        message: String,
        /// More specific advice than the schema gives.
        hint: Option<String>,
    },
    #[error("unknown {what} `{name}`{}", at(place.as_deref()))]
    UnknownName {
        what: &'static str,
        name: String,
        /// The path in the document.
        place: Option<String>,
        known: Vec<&'static str>,
    },
    #[error("`{field}` is {found} but must be at least {least}")]
    TooSmall { field: &'static str, found: u64, least: u64 },
    /// A name that could lead out of a directory.
    #[error("{what} `{name}` is not a plain name")]
    NotAPlainName { what: &'static str, name: String },
    #[error("`{pattern}` is not a file pattern: {message}")]
    BadPattern { pattern: String, message: String },
    #[error("no file matches `{pattern}`\n  searched in: `{}`", searched.display())]
    NothingMatches { pattern: String, searched: PathBuf },
    #[error("the files exceed {} in total", shown_bytes(*limit))]
    FilesTooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The project context is larger than anything an agent should read first.
    #[error("project context is larger than {} or has more than {most} files, with `{}`", shown_bytes(*limit), path.display())]
    ContextTooLarge { path: PathBuf, limit: u64, most: usize },
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn before(place: Option<&str>) -> String {
    place.map_or_else(String::new, |place| format!("at `{place}`: "))
}

/// A size for display.
fn shown_bytes(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    if bytes >= MIB && bytes.is_multiple_of(MIB) {
        format!("{} MiB", bytes / MIB)
    } else {
        bytes_in_words(bytes)
    }
}

/// A number of bytes.
pub(crate) fn bytes_in_words(bytes: u64) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

/// Text of a request for a message: on one line, limited in length.
pub(crate) fn shortened(text: &str) -> String {
    const MAX_CHARACTERS: usize = 120;
    let mut shown = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == MAX_CHARACTERS {
            shown.push('…');
            break;
        }
        if character.is_control() {
            shown.extend(character.escape_debug());
        } else {
            shown.push(character);
        }
    }
    shown
}

fn unreadable_hint(path: &str, error: &io::Error) -> String {
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound {
        format!("check the spelling of `{path}`")
    } else if kind == io::ErrorKind::IsADirectory {
        format!("name a file: `{path}` is a directory")
    } else if kind == io::ErrorKind::PermissionDenied {
        format!("check the permissions of `{path}`")
    } else {
        format!("check that `{path}` can be read")
    }
}

fn at(place: Option<&str>) -> String {
    place.map_or_else(String::new, |place| format!("\n  at `{place}`"))
}

impl EngineError {
    /// The same error with another path for display.
    #[must_use]
    pub fn about(mut self, shown: impl Into<PathBuf>) -> Self {
        let shown = shown.into();
        if let Self::Unreadable { path, source } = &mut self
            && source.kind() == io::ErrorKind::NotFound
            && shown.is_relative()
            && let Some(directory) = path.parent().filter(|_| path.is_absolute())
        {
            let message = format!("no such file in `{}`", directory.display());
            *source = io::Error::new(io::ErrorKind::NotFound, message);
        }
        if let Self::Unreadable { path, .. }
        | Self::NotUtf8 { path, .. }
        | Self::TooLarge { path, .. }
        | Self::LeavesDirectory { path, .. }
        | Self::BrokenLink { path }
        | Self::Store(StoreError { path, .. }) = &mut self
        {
            *path = shown;
        }
        self
    }

    pub fn advice(&self) -> Option<Advice> {
        let advice = match self {
            Self::Unreadable { path, source } => unreadable_hint(&path.display().to_string(), source).into(),
            Self::Editor { .. } => {
                "set `EDITOR` to an editor that is installed, such as `EDITOR=nano`".into()
            }
            Self::NotUtf8 { .. } => "convert it to UTF-8, or exclude it".into(),
            Self::TooLarge { .. } => "shorten it, or exclude it".into(),
            Self::ContextTooLarge { .. } => {
                "name the files that every prompt needs in `[context] files` of `.aiwf/config.toml`".into()
            }
            Self::FilesTooLarge { .. } => "select fewer or smaller files".into(),
            Self::LeavesDirectory { .. } | Self::BrokenLink { .. } => {
                "replace the link with the file itself".into()
            }
            Self::OutsideProject { .. } => {
                "copy the file into the project: an adopted change reads only project files".into()
            }
            Self::NoDirectory { .. } | Self::NotADirectory { .. } => {
                "check its spelling; `.aiwf/sessions/` holds a project's sessions".into()
            }
            Self::Document { hint: Some(hint), .. } => hint.clone().into(),
            Self::EmptyInput { recipe }
            | Self::NotJson { recipe, .. }
            | Self::Document { recipe, hint: None, .. } => {
                Advice::from(Action::PromptSchema(recipe.to_string()))
                    .then(" prints the schema of its documents")
            }
            Self::UnknownName { name, known, .. } => {
                let list = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                match nearest(name, known.iter().copied()) {
                    Some(close) => format!("did you mean `{close}`? known: {list}").into(),
                    None => format!("known: {list}").into(),
                }
            }
            Self::TooSmall { least, field, .. } => format!("set `{field}` to {least} or more").into(),
            Self::NotAPlainName { .. } => "use letters, digits, `-` and `_` only".into(),
            Self::BadPattern { .. } => "write it like `src/**/*.rs`, and quote it in a shell".into(),
            Self::NothingMatches { .. } => {
                "check the pattern; hidden and git-ignored files must be named exactly".into()
            }
            Self::Prompt(error) => return error.hint().map(Advice::from),
            Self::Store(error) => error.hint().into(),
        };
        Some(advice)
    }
}
