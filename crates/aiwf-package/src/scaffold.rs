//! The files of a new package, which passes its checks and shows what a package can contain.

use crate::files::Files;

const FILES: [(&str, &str); 8] = [
    ("bmad.json", include_str!("scaffold/bmad.json")),
    ("agents.json", include_str!("scaffold/agents.json")),
    ("workflow.md", include_str!("scaffold/workflow.md")),
    ("workflow.graph.json", include_str!("scaffold/workflow.graph.json")),
    ("steps/gather.md", include_str!("scaffold/gather.md")),
    ("steps/choose.md", include_str!("scaffold/choose.md")),
    ("steps/write.md", include_str!("scaffold/write.md")),
    ("steps/finish.md", include_str!("scaffold/finish.md")),
];

/// The placeholder for the package's name in the files.
const NAME: &str = "PACKAGE_NAME";

/// The files of a new package; `None` if the name is invalid.
///
/// A name has the form of an id: letters, digits, `.`, `_`, `-`, starting with a letter or a digit.
pub fn scaffold(name: &str) -> Option<Files> {
    let is_name =
        crate::check::is_id(name) && !name.contains(':') && !name.ends_with('.') && name.len() <= 100;
    is_name.then(|| {
        FILES.iter().map(|(path, text)| ((*path).to_owned(), text.replace(NAME, name).into_bytes())).collect()
    })
}

#[cfg(test)]
#[path = "scaffold_tests.rs"]
mod tests;
