//! Where generated files go in the project.
//!
//! In: the names and contents of generated files. Out: a path relative to the project for each, or every reason why
//! there is none. No path is absolute or leaves the project.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::java_package::java_package;
use crate::manifest_file::ApplyFile;
use crate::param::Param;
use crate::problem::{excerpt, known_hint};
use crate::relative_path::{file_name, path_fault};

/// How the path of a generated file in the project is determined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApplyTarget {
    /// By the package that a Java file declares.
    JavaPackage {
        root: String,
    },
    /// Below one directory, with paths as generated.
    Flat {
        /// The directory; empty means the project directory.
        root: String,
    },
    Pattern {
        pieces: Vec<Piece>,
    },
}

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Literal text.
    Text(String),
    /// The file name of the generated path.
    Name,
    /// The whole generated path.
    Path,
    /// The value of a parameter, by its key in the context.
    Param(String),
}

impl Default for ApplyTarget {
    fn default() -> Self {
        Self::Flat { root: String::new() }
    }
}

/// A generated file that has no place in the project.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApplyProblem {
    /// The path of the file as generated.
    pub file: String,
    /// What is wrong, with the file in backticks.
    pub message: String,
}

type ReadFault = (&'static str, String, Option<String>);

impl ApplyTarget {
    /// Reads `[apply]`; the error contains the key, the message and a hint.
    pub(crate) fn read(file: Option<&ApplyFile>, params: &[Param]) -> Result<Self, ReadFault> {
        let Some(file) = file else { return Ok(Self::default()) };
        let root = file.root.clone().unwrap_or_default();
        if let Some(fault) = path_fault(&root).filter(|_| file.root.is_some()) {
            let hint = "name a directory below the project, such as `src`".to_owned();
            return Err(("root", format!("path `{}` {fault}", excerpt(&root)), Some(hint)));
        }
        let is_reserved =
            |part: &str| part.eq_ignore_ascii_case(".git") || part.eq_ignore_ascii_case(".aiwf");
        if root.split('/').chain(file.target.split('/')).any(is_reserved) {
            let key = if root.split('/').any(is_reserved) { "root" } else { "target" };
            let hint = "choose another directory: only git and aiwf write to `.git` and `.aiwf`".to_owned();
            return Err((key, "code cannot be copied into `.git` or `.aiwf`".to_owned(), Some(hint)));
        }
        match file.target.as_str() {
            "java-package" => {
                let root = file.root.clone().unwrap_or_else(|| "src/main/java".to_owned());
                Ok(Self::JavaPackage { root })
            }
            "flat" => Ok(Self::Flat { root }),
            pattern if file.root.is_some() => {
                let hint = "remove `root`: the target is a complete path".to_owned();
                Err(("root", format!("target `{}` does not accept `root`", excerpt(pattern)), Some(hint)))
            }
            pattern => read_pattern(pattern, params),
        }
    }

    /// The path in the project of each file, in the given order.
    pub(crate) fn paths(
        &self,
        files: &[(&str, &str)],
        context: &Map<String, Value>,
    ) -> Result<Vec<String>, Vec<ApplyProblem>> {
        let mut problems = Vec::new();
        let mut paths = Vec::new();
        let mut owners: BTreeMap<String, &str> = BTreeMap::new();
        for (name, content) in files {
            let problem = |message: String| ApplyProblem { file: (*name).to_owned(), message };
            match self.path(name, content, context) {
                Ok(path) => {
                    // On a case-insensitive file system one file would overwrite the other.
                    if let Some(other) = owners.insert(path.to_lowercase(), name) {
                        let message = format!(
                            "`{}` and `{}` would both be written to `{path}`",
                            excerpt(other),
                            excerpt(name)
                        );
                        problems.push(problem(message));
                    }
                    paths.push(path);
                }
                Err(message) => problems.push(problem(format!("`{}` {message}", excerpt(name)))),
            }
        }
        if problems.is_empty() { Ok(paths) } else { Err(problems) }
    }

    fn path(&self, name: &str, source: &str, context: &Map<String, Value>) -> Result<String, String> {
        if let Some(fault) = path_fault(name) {
            return Err(fault.to_owned());
        }
        let path = match self {
            Self::JavaPackage { root } => {
                if !has_java_extension(name) {
                    return Err("is not a Java file, so no package determines its place".to_owned());
                }
                let Some(package) = java_package(source) else {
                    return Err(
                        "has no package declaration, so its place below the source directory is unknown"
                            .to_owned(),
                    );
                };
                joined(root, &format!("{}/{}", package.replace('.', "/"), file_name(name)))
            }
            Self::Flat { root } => joined(root, name),
            Self::Pattern { pieces } => {
                let mut path = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => path.push_str(text),
                        Piece::Name => path.push_str(file_name(name)),
                        Piece::Path => path.push_str(name),
                        Piece::Param(key) => path.push_str(&segment(key, context)?),
                    }
                }
                path
            }
        };
        match path_fault(&path) {
            Some(fault) => Err(format!("would be written to `{}`, which {fault}", excerpt(&path))),
            // Otherwise a reply could write to `.git/hooks` and similar places.
            None if path.split('/').any(is_reserved) => {
                Err("would be written to `.git` or `.aiwf`, where only git and aiwf may write".to_owned())
            }
            None => Ok(path),
        }
    }
}

/// Whether a segment is the directory of git or aiwf, in any case; other disguises were checked with the names of the
/// reply.
fn is_reserved(segment: &str) -> bool {
    let name = segment.trim_end_matches(['.', ' ']).to_lowercase();
    [".git", ".aiwf"].contains(&name.as_str())
}

/// A parameter's value as one segment of a path.
fn segment(key: &str, context: &Map<String, Value>) -> Result<String, String> {
    let value = match context.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
        _ => return Err(format!("has no place, because `{key}` has no value")),
    };
    if value.is_empty() || value.contains(['/', '\\']) || value.starts_with('.') {
        return Err(format!("has no place, because `{key}` is `{}`, not a plain name", excerpt(&value)));
    }
    Ok(value)
}

fn read_pattern(pattern: &str, params: &[Param]) -> Result<ApplyTarget, ReadFault> {
    let fault = |message: String, hint: Option<String>| Err(("target", message, hint));
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some((text, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            let message = format!("pattern `{}` has a `{{` that is not closed", excerpt(pattern));
            return fault(message, Some("close it, such as in `src/{name}`".to_owned()));
        };
        if !text.is_empty() {
            pieces.push(Piece::Text(text.to_owned()));
        }
        pieces.push(match name {
            "name" => Piece::Name,
            "path" => Piece::Path,
            other => {
                let Some(param) = params.iter().find(|param| param.name == other) else {
                    let known = params.iter().map(|param| param.name.as_str()).chain(["name", "path"]);
                    let message = format!("pattern has unknown `{{{}}}`", excerpt(other));
                    return fault(message, Some(known_hint(other, known)));
                };
                Piece::Param(param.key())
            }
        });
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    if !pieces.iter().any(|piece| matches!(piece, Piece::Name | Piece::Path)) {
        let message =
            format!("target `{}` is unknown and has neither `{{name}}` nor `{{path}}`", excerpt(pattern));
        return fault(message, Some(known_hint(pattern, ["java-package", "flat"])));
    }
    let sample: String = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Name | Piece::Path | Piece::Param(_) => "x",
        })
        .collect();
    match path_fault(&sample) {
        Some(reason) => {
            let hint = "name a path below the project, such as `src/{name}`".to_owned();
            fault(format!("pattern `{}` {reason}", excerpt(pattern)), Some(hint))
        }
        None => Ok(ApplyTarget::Pattern { pieces }),
    }
}

fn has_java_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension == "java")
}

fn joined(root: &str, path: &str) -> String {
    if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") }
}

#[cfg(test)]
#[path = "apply_target_tests.rs"]
mod tests;
