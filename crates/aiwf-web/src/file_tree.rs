//! Changed files as a tree: directories first seen, chains of single directories in one row.

use serde::Serialize;

/// A row of the tree: a directory, or a file by its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Branch {
    /// How far it is indented; deeper ones than the page can show are indented the same.
    pub(crate) depth: usize,
    /// The last part of its path, or several parts of a chain.
    pub(crate) name: String,
    pub(crate) file: Option<usize>,
}

const MAX_DEPTH: usize = 6;

/// The tree of `paths`, each with its number.
pub(crate) fn tree<'p>(paths: impl Iterator<Item = (usize, &'p str)>) -> Vec<Branch> {
    let mut sorted: Vec<(Vec<&str>, usize)> =
        paths.map(|(number, path)| (path.split('/').collect(), number)).collect();
    sorted.sort();
    let mut rows = Vec::new();
    rows_of(&sorted, 0, 0, &mut rows);
    rows
}

/// Adds the rows of files that share their first `skipped` parts.
fn rows_of(files: &[(Vec<&str>, usize)], skipped: usize, depth: usize, rows: &mut Vec<Branch>) {
    let mut rest = files;
    while let Some((parts, number)) = rest.first() {
        let shown_depth = depth.min(MAX_DEPTH);
        if parts.len() <= skipped + 1 {
            let name = parts.last().copied().unwrap_or_default().to_owned();
            rows.push(Branch { depth: shown_depth, name, file: Some(*number) });
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let same = |other: &(Vec<&str>, usize)| {
            other.0.len() > skipped + 1 && other.0.get(skipped) == parts.get(skipped)
        };
        let (inside, after) = rest.split_at(rest.iter().take_while(|other| same(other)).count().max(1));
        // Directories with nothing but one directory are one row.
        let mut end = skipped + 1;
        while inside.iter().all(|other| other.0.len() > end + 1 && other.0.get(end) == parts.get(end)) {
            end += 1;
        }
        let name = parts.get(skipped..end).unwrap_or_default().join("/");
        rows.push(Branch { depth: shown_depth, name: format!("{name}/"), file: None });
        rows_of(inside, end, depth + 1, rows);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paths: &[&str]) -> String {
        let rows = tree(paths.iter().copied().enumerate());
        rows.iter().fold(String::new(), |text, row| {
            let number = row.file.map(|number| format!(" {number}")).unwrap_or_default();
            text + &format!("{}{}{number}\n", "  ".repeat(row.depth), row.name)
        })
    }

    #[test]
    fn files_stand_below_their_directories() {
        let paths = ["src/util/deep/b.py", "src/list.py", "README.md", "src/util/deep/a.py", "docs/x/y.md"];
        assert_eq!(
            shown(&paths),
            "README.md 2\ndocs/x/\n  y.md 4\nsrc/\n  list.py 1\n  util/deep/\n    a.py 3\n    b.py 0\n"
        );
    }

    #[test]
    fn a_file_and_a_directory_of_the_same_name_are_two_rows() {
        assert_eq!(shown(&["a", "a/b", "a//c"]), "a 0\na/\n  /\n    c 2\n  b 1\n");
        assert_eq!(shown(&[]), "");
    }

    #[test]
    fn a_deep_path_does_not_leave_the_page() {
        let deep = format!("{}x", "d/e/".repeat(400));
        let other = format!("{}y", "d/".repeat(400));
        let rows = tree([(0, deep.as_str()), (1, other.as_str())].into_iter());
        assert!(rows.iter().all(|row| row.depth <= MAX_DEPTH) && rows.len() <= 8, "{}", rows.len());
    }
}
