//! What is wrong with a package, with file, JSON pointer and key.

use std::fmt;

use crate::finding_code::FindingCode;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The package cannot be used.
    Error,
    /// It can, and something in it is odd.
    Warning,
}

impl Severity {
    /// As it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What kind it is.
    pub code: FindingCode,
    /// The file, relative to the package.
    pub file: String,
    /// Where in it, as a JSON pointer; for Markdown, in its front matter. Empty for the file as a whole.
    pub pointer: String,
    /// The key it is about.
    pub key: Option<String>,
    /// What is wrong: lower case, no final period, names in backticks.
    pub message: String,
    /// One thing to do about it.
    pub hint: String,
}

impl Finding {
    pub(crate) fn new(
        code: FindingCode,
        file: &str,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let pointer = pointer.into();
        let key = pointer.rsplit('/').next().map(unescaped).filter(|key| is_key(key));
        Self {
            severity: code.severity(),
            code,
            file: file.to_owned(),
            pointer,
            key,
            message: message.into(),
            hint: code.advice().to_owned(),
        }
    }

    pub(crate) fn with_key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if !self.pointer.is_empty() {
            write!(f, "#{}", self.pointer)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The place of a key in an object or list.
pub(crate) fn at(pointer: &str, key: impl fmt::Display) -> String {
    let key = key.to_string().replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{key}")
}

fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

/// Whether the last part of a pointer is the name of a key and not a place in a list.
fn is_key(key: &str) -> bool {
    !key.is_empty() && !key.bytes().all(|byte| byte.is_ascii_digit())
}
