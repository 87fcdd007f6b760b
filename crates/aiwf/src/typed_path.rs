//! Paths as typed on a command line, relative to the working directory, converted for an engine that takes them
//! relative to the project.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use aiwf_engine::config::Settings;

/// A path or pattern that is relative to the current directory, relative to the project.
///
/// One that is outside the project becomes absolute; one that is absolute stays as it is. Only the words change: a
/// pattern stays a pattern, and no file is looked at.
pub(crate) fn from_project(typed: &str, settings: &Settings) -> String {
    let (mark, typed) = match typed.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => ("", typed),
    };
    let (root, current) = (&settings.project_root, &settings.current_dir);
    if Path::new(typed).is_absolute() || root == current || typed.is_empty() {
        return format!("{mark}{typed}");
    }
    let whole = without_dots(&current.join(typed));
    let path = whole.strip_prefix(root).unwrap_or(&whole);
    format!("{mark}{}", path.display())
}

/// The name of a file of a session: typed from here when that leads to one, else as `status` shows it.
pub(crate) fn from_session<'a>(typed: &'a str, settings: &Settings) -> Cow<'a, str> {
    let path = from_project(typed, settings);
    if path.starts_with(".aiwf/") { Cow::Owned(path) } else { Cow::Borrowed(typed) }
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_typed_in_a_subdirectory_is_relative_to_the_project() {
        let settings = Settings {
            project_root: PathBuf::from("/home/me/shop"),
            current_dir: PathBuf::from("/home/me/shop/src/main"),
            shell_dir: None,
            embedded_providers: std::collections::BTreeSet::new(),
            max_cost_micros: None,
            models: std::collections::BTreeMap::new(),
            home: None,
            user: None,
            cache_dir: None,
        };
        let check =
            |typed: &str, expected: &str| assert_eq!(from_project(typed, &settings), expected, "{typed}");
        check("a.sql", "src/main/a.sql");
        check("./a.sql", "src/main/a.sql");
        check("../../schema.sql", "schema.sql");
        check("**/*.rs", "src/main/**/*.rs");
        check("!*.md", "!src/main/*.md");
        check("/etc/hosts", "/etc/hosts");
        check("../../../other/a.sql", "/home/me/other/a.sql");
        let settings = Settings { current_dir: PathBuf::from("/home/me/shop"), ..settings };
        assert_eq!(from_project("./a.sql", &settings), "./a.sql");
    }
}
