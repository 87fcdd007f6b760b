//! Paths as written by a model: a mount and the names below it.
//!
//! In: text. Out: a mount and plain names, or why the path is refused. Nothing is accessed; [`Mounts`](super::Mounts)
//! does that. A name that some file system could take for another one — by case, Unicode composition, ignored
//! characters or device names — is refused or treated as that other one.

use std::fmt;

use aiwf_store::{folded, is_invisible, name_fault};

use super::tool_error::{ErrorCode, ToolError};

/// Longest path, in bytes.
const MAX_PATH_BYTES: usize = 4096;

/// The root of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mount {
    /// The user's project, read and write.
    Project,
    /// The package, read-only.
    Package,
    /// The run's own directory, read and write, hidden from the user.
    State,
}

impl Mount {
    pub const ALL: [Self; 3] = [Self::Project, Self::Package, Self::State];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Project => "@project",
            Self::Package => "@pkg",
            Self::State => "@state",
        }
    }
}

/// A mount and the names below it; no name is empty, `.`, `..` or otherwise unsafe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AliasPath {
    mount: Mount,
    parts: Vec<String>,
}

impl AliasPath {
    /// Reads a path: backslashes count as slashes, `.` and empty parts are dropped, any `..` is refused.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        let refuse =
            |reason: &str| Err(violation(None, text, reason, format!("path `{}` {reason}", shown(text))));
        if text.len() > MAX_PATH_BYTES {
            return refuse("is too long: shorten it");
        }
        if text.contains('\0') {
            return refuse("contains a NUL: remove it");
        }
        let normal = text.replace('\\', "/");
        let (head, rest) = normal.split_once('/').unwrap_or((&normal, ""));
        let Some(mount) = Mount::ALL.into_iter().find(|mount| mount.as_str() == head) else {
            return refuse(match head.chars().next() {
                Some('@') => "names an unknown mount: use `@project`, `@pkg` or `@state`",
                None if !text.is_empty() => "is absolute: start it with `@project`, `@pkg` or `@state`",
                Some('~') => "names a home directory: start it with `@project`, `@pkg` or `@state`",
                _ if is_drive(head) => "names a drive: start it with `@project`, `@pkg` or `@state`",
                _ => "has no mount: start it with `@project`, `@pkg` or `@state`",
            });
        };
        Self::below(mount, rest)
    }

    /// Reads a path relative to a mount, by the same rules.
    pub fn below(mount: Mount, relative: &str) -> Result<Self, ToolError> {
        let normal = relative.replace('\\', "/");
        let mut parts: Vec<String> = Vec::new();
        for part in normal.split('/').filter(|part| !matches!(*part, "" | ".")) {
            let fault = if part == "~" && parts.is_empty() {
                Some("names a home directory: use a file of the mount")
            } else {
                name_fault(part)
            };
            if let Some(reason) = fault {
                let text = format!("{}/{normal}", mount.as_str());
                let advice = if reason.contains(": ") { "" } else { ": use another name" };
                let message = format!("path `{}` {reason}{advice}", shown(&text));
                return Err(violation(Some(mount), &text, reason, message));
            }
            parts.push(part.to_owned());
        }
        Ok(Self { mount, parts })
    }

    pub fn mount(&self) -> Mount {
        self.mount
    }

    /// The names below the mount; empty for the mount itself.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The path below the mount.
    pub fn relative(&self) -> String {
        self.parts.join("/")
    }

    /// The path of a name in this directory.
    #[must_use]
    pub(crate) fn join(&self, name: &str) -> Self {
        let mut parts = self.parts.clone();
        parts.push(name.to_owned());
        Self { mount: self.mount, parts }
    }

    /// Whether this is exactly that path.
    pub fn is(&self, mount: Mount, relative: &str) -> bool {
        self.mount == mount && self.relative() == relative
    }

    /// Whether some file system could take this path for that one.
    pub(crate) fn could_be(&self, mount: Mount, relative: &str) -> bool {
        self.mount == mount
            && self.parts.len() == relative.split('/').count()
            && self.parts.iter().zip(relative.split('/')).all(|(a, b)| folded(a) == folded(b))
    }

    /// An error that refuses this path.
    pub(super) fn violation(&self, reason: &str) -> ToolError {
        let text = self.to_string();
        violation(Some(self.mount), &text, reason, format!("`{text}` {reason}"))
    }

    /// An error for a path that does not exist.
    pub(super) fn missing(&self) -> ToolError {
        ToolError::new(
            ErrorCode::NotFound,
            format!("`{self}` does not exist: list the directory above it, or search"),
        )
    }
}

impl fmt::Display for AliasPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mount.as_str())?;
        self.parts.iter().try_for_each(|part| write!(f, "/{part}"))
    }
}

fn violation(mount: Option<Mount>, path: &str, reason: &str, message: String) -> ToolError {
    let details = serde_json::json!({
        "mount": mount.map(Mount::as_str),
        "path": shown(path),
        "reason": reason,
    });
    ToolError::new(ErrorCode::SandboxViolation, message).with_details(details)
}

/// The path as shown in messages; a path outside the mounts may be real and is hidden.
fn shown(text: &str) -> String {
    let is_alias = Mount::ALL.iter().any(|mount| {
        text.strip_prefix(mount.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
    });
    if !is_alias {
        return "[path]".to_owned();
    }
    let printable = |c: char| if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c };
    text.chars().take(200).map(printable).collect()
}

fn is_drive(head: &str) -> bool {
    let mut characters = head.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic()) && characters.next() == Some(':')
}

#[cfg(test)]
#[path = "alias_path_tests.rs"]
mod tests;
