//! Problems of a package, with file, JSON pointer and key.

use std::fmt;

use crate::finding_code::FindingCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The package cannot be used.
    Error,
    /// The package can be used, but something is questionable.
    Warning,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One problem of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub code: FindingCode,
    /// The file, relative to the package.
    pub file: String,
    /// JSON pointer in the file, or in the front matter of a Markdown file. Empty for the file as a whole.
    pub pointer: String,
    pub key: Option<String>,
    /// What is wrong: lower case, no final period, names in backticks.
    pub message: String,
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

/// The pointer to a key in an object or list.
pub(crate) fn at(pointer: &str, key: impl fmt::Display) -> String {
    let key = key.to_string().replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{key}")
}

fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

/// Whether the last part of a pointer is a key rather than a list index.
fn is_key(key: &str) -> bool {
    !key.is_empty() && !key.bytes().all(|byte| byte.is_ascii_digit())
}
