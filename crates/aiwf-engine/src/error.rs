//! What can go wrong between a request and its prompt, and what to do about it.

use std::io;
use std::path::PathBuf;

use aiwf_advice::{Action, Advice};
use aiwf_prompt::{PromptError, nearest};
use aiwf_store::StoreError;

/// Why the engine could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No editor could be opened.
    #[error("could not open the editor `{editor}`: {message}")]
    Editor {
        /// The command that was tried.
        editor: String,
        /// Why it did not work.
        message: String,
    },
    /// A file could not be read.
    #[error("could not read `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A text is not text.
    #[error("`{}` is not UTF-8 text (first bad byte at offset {offset})", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Where it stops being text.
        offset: usize,
    },
    /// A file is larger than anything a prompt can hold.
    #[error("`{}` is larger than {}", path.display(), shown_bytes(*limit))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it may be.
        limit: u64,
    },
    /// A link leads out of the directory it lies in.
    #[error("`{}` is a link that leaves {root}", path.display())]
    LeavesDirectory {
        /// The link.
        path: PathBuf,
        /// The directory, such as `the project`.
        root: &'static str,
    },
    /// A pattern that the user did not type leads out of the project.
    #[error("`{pattern}` leads out of the project")]
    OutsideProject {
        /// The pattern.
        pattern: String,
    },
    /// A link leads to nothing.
    #[error("`{}` is a link that leads nowhere", path.display())]
    BrokenLink {
        /// The link.
        path: PathBuf,
    },
    /// A directory is not there.
    #[error("{what} `{}` does not exist", path.display())]
    NoDirectory {
        /// What it was to be.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// Something else stands where a directory should.
    #[error("{what} `{}` is not a directory", path.display())]
    NotADirectory {
        /// What it was to be.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// There is no input.
    #[error("input is empty")]
    EmptyInput {
        /// The recipe it was to be for.
        recipe: &'static str,
    },
    /// The input is not JSON.
    #[error("input is not JSON: {message} at line {line} column {column}")]
    NotJson {
        /// The recipe it was to be for.
        recipe: &'static str,
        /// What is wrong.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// The input is JSON, but not of the recipe's schema.
    #[error("document does not fit recipe `{recipe}`\n  {}{message}", before(place.as_deref()))]
    Document {
        /// The recipe.
        recipe: &'static str,
        /// The path to the field; none for the document as a whole.
        place: Option<String>,
        /// What is wrong there.
        message: String,
        /// What to do about it, when more is known than the schema says.
        hint: Option<String>,
    },
    /// A name that nothing has.
    #[error("unknown {what} `{name}`{}", at(place.as_deref()))]
    UnknownName {
        /// What kind of name.
        what: &'static str,
        /// The name.
        name: String,
        /// Where it stands in a document.
        place: Option<String>,
        /// The names that exist.
        known: Vec<&'static str>,
    },
    /// A number outside its range.
    #[error("`{field}` is {found} but must be at least {least}")]
    TooSmall {
        /// The field.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The smallest one.
        least: u64,
    },
    /// A name that could lead out of a directory.
    #[error("{what} `{name}` is not a plain name")]
    NotAPlainName {
        /// What kind of name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A pattern that is none.
    #[error("`{pattern}` is not a file pattern: {message}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        message: String,
    },
    /// A pattern that nothing fits.
    #[error("no file matches `{pattern}`\n  looked below: `{}`", searched.display())]
    NothingMatches {
        /// The pattern.
        pattern: String,
        /// Where it was looked for.
        searched: PathBuf,
    },
    /// More files than a prompt can hold.
    #[error("the files have more than {} together", shown_bytes(*limit))]
    FilesTooLarge {
        /// How much they may have.
        limit: u64,
    },
    /// The prompt could not be built.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// A file could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn before(place: Option<&str>) -> String {
    place.map_or_else(String::new, |place| format!("at `{place}`: "))
}

/// A size as people say it.
fn shown_bytes(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    if bytes >= MIB && bytes.is_multiple_of(MIB) {
        format!("{} MiB", bytes / MIB)
    } else {
        format!("{bytes} bytes")
    }
}

/// Text of a request as it stands in a message: on one line, and no longer than a person reads.
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
    /// The same error with the path as its reader knows it.
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

    /// One thing to do about it.
    pub fn advice(&self) -> Option<Advice> {
        let advice = match self {
            Self::Unreadable { path, source } => unreadable_hint(&path.display().to_string(), source).into(),
            Self::Editor { .. } => {
                "set `EDITOR` to an editor that is installed, such as `EDITOR=nano`".into()
            }
            Self::NotUtf8 { .. } => "convert it to UTF-8, or exclude it".into(),
            Self::TooLarge { .. } => "shorten it, or exclude it".into(),
            Self::FilesTooLarge { .. } => "name fewer or smaller files".into(),
            Self::LeavesDirectory { .. } | Self::BrokenLink { .. } => {
                "put the file itself there instead of a link".into()
            }
            Self::OutsideProject { .. } => {
                "copy the file into the project; an adopted change reads no file elsewhere".into()
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
                "check the pattern; hidden files and what `.gitignore` names have to be spelled out".into()
            }
            Self::Prompt(error) => return error.hint().map(Advice::from),
            Self::Store(error) => error.hint().into(),
        };
        Some(advice)
    }
}
