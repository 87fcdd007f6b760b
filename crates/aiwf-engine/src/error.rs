//! What can go wrong between a request and its prompt, and what to do about it.

use std::io;
use std::path::PathBuf;

use aiwf_prompt::{PromptError, nearest};
use aiwf_store::StoreError;

/// Why the engine could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
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
    #[error("`{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it may be.
        limit: u64,
    },
    /// A link leads out of the directory it lies in.
    #[error("`{}` is a link that leaves `{}`", path.display(), root.display())]
    LeavesDirectory {
        /// The link.
        path: PathBuf,
        /// The directory.
        root: PathBuf,
    },
    /// A directory is not there.
    #[error("{what} `{}` is not a directory", path.display())]
    NotADirectory {
        /// What it was to be.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The input is not JSON.
    #[error("input is not JSON: {message} at line {line} column {column}")]
    NotJson {
        /// What is wrong.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// The input is JSON, but not of the recipe's schema.
    #[error("document does not fit recipe `{recipe}`\n  at `{place}`: {message}")]
    Document {
        /// The recipe.
        recipe: &'static str,
        /// The path to the field.
        place: String,
        /// What is wrong there.
        message: String,
        /// What was probably meant.
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
    #[error("no file matches `{pattern}`")]
    NothingMatches {
        /// The pattern.
        pattern: String,
        /// Where it was looked for.
        searched: PathBuf,
    },
    /// More files than a prompt can hold.
    #[error("the files match more than {limit} bytes together")]
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

fn at(place: Option<&str>) -> String {
    place.map_or_else(String::new, |place| format!("\n  at `{place}`"))
}

impl EngineError {
    /// One thing to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { path, source } => Some(match source.kind() {
                io::ErrorKind::NotFound => format!("check the spelling of `{}`", path.display()),
                io::ErrorKind::IsADirectory => {
                    format!("`{}` is a directory: name a file inside it", path.display())
                }
                io::ErrorKind::PermissionDenied => format!("check the rights of `{}`", path.display()),
                _ => format!("check that `{}` can be read", path.display()),
            }),
            Self::NotUtf8 { .. } => Some("convert it to UTF-8, or leave it out".to_owned()),
            Self::TooLarge { .. } | Self::FilesTooLarge { .. } => {
                Some("name fewer or smaller files".to_owned())
            }
            Self::LeavesDirectory { .. } => Some("put the file itself there instead of a link".to_owned()),
            Self::NotADirectory { .. } => {
                Some("check its spelling; `.aiwf/sessions/` holds a project's sessions".to_owned())
            }
            Self::NotJson { .. } => {
                Some("`aiwf prompt schema RECIPE` prints what a document looks like".to_owned())
            }
            Self::Document { hint: Some(hint), .. } => Some(hint.clone()),
            Self::Document { recipe, hint: None, .. } => {
                Some(format!("`aiwf prompt schema {recipe}` prints what a document looks like"))
            }
            Self::UnknownName { name, known, .. } => {
                let list = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                Some(match nearest(name, known.iter().copied()) {
                    Some(close) => format!("did you mean `{close}`? known: {list}"),
                    None => format!("known: {list}"),
                })
            }
            Self::TooSmall { least, field, .. } => Some(format!("set `{field}` to {least} or more")),
            Self::NotAPlainName { .. } => Some("use letters, digits, `-` and `_` only".to_owned()),
            Self::BadPattern { .. } => {
                Some("patterns look like `src/**/*.rs`; quote them in a shell".to_owned())
            }
            Self::NothingMatches { searched, .. } => Some(format!(
                "looked below `{}`; files that `.gitignore` names and hidden files are left out",
                searched.display()
            )),
            Self::Prompt(error) => error.hint(),
            Self::Store(error) => Some(error.hint()),
        }
    }
}
