//! Finds the path that a code fence gives to its content: in its first line or in its info string.

/// Comment delimiters as (start, end); the longer of two with the same beginning comes first.
const COMMENTS: [(&str, &str); 13] = [
    ("<!--", "-->"),
    ("<%--", "--%>"),
    ("/**", "*/"),
    ("/*", "*/"),
    ("(*", "*)"),
    ("{-", "-}"),
    ("{#", "#}"),
    ("//", ""),
    ("--", ""),
    ("# ", ""),
    (";;", ""),
    (";", ""),
    ("%", ""),
];

/// Words that introduce a path.
const LABELS: [&str; 5] = ["file:", "filename:", "file name:", "filepath:", "path:"];

/// Attributes of an info string that contain a path.
const ATTRIBUTES: [&str; 4] = ["title=", "file=", "filename=", "path="];

/// Files with neither a directory nor an extension.
const BARE_NAMES: [&str; 12] = [
    "Containerfile",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "Procfile",
    "README",
    "Rakefile",
    "Vagrantfile",
    "justfile",
];

/// The path in a comment line like `// src/a.rs`; `None` for a comment that is prose.
pub(crate) fn path_in_comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let (start, end) = COMMENTS.into_iter().find(|(start, _)| line.starts_with(start))?;
    let inside = line.strip_prefix(start)?.strip_suffix(end)?.trim();
    let label = LABELS
        .into_iter()
        .filter_map(|label| {
            inside.split_at_checked(label.len()).filter(|(word, _)| word.eq_ignore_ascii_case(label))
        })
        .map(|(_, path)| path)
        .next();
    match label {
        // After a label, any single word is a path.
        Some(path) => {
            Some(unquoted(path.trim())).filter(|path| !path.is_empty() && !path.contains(char::is_whitespace))
        }
        None => {
            Some(unquoted(inside.strip_suffix(':').unwrap_or(inside))).filter(|path| looks_like_path(path))
        }
    }
}

/// Whether a line must stay first in its file, so that a path comment can only follow it.
pub(crate) fn must_stay_first(line: &str) -> bool {
    let line = line.trim_start();
    let is_doctype = line.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("<!doctype"));
    line.starts_with("#!") || line.starts_with("<?") || is_doctype
}

/// The path in the info string of a fence: ```` ```java src/A.java ````, `src/a.rs`, `java:src/A.java`,
/// `title="src/a.rs"`.
pub(crate) fn path_in_info(info: &str) -> Option<&str> {
    let words = || info.split([' ', '\t', ',']).map(|word| word.trim_matches(['{', '}']));
    let attribute = ATTRIBUTES.into_iter().find_map(|attribute| {
        let value = words().find_map(|word| word.strip_prefix(attribute))?;
        Some(unquoted(value)).filter(|path| looks_like_path(path))
    });
    let in_word = |(idx, word): (usize, &'_ str)| -> bool {
        // A first word without a slash or an extension is a language, and so is a class like `.java`.
        let is_language = idx == 0 && BARE_NAMES.contains(&word);
        looks_like_path(word) && !is_language && (!word.starts_with('.') || word.contains('/'))
    };
    let plain =
        || words().enumerate().find(|word| in_word(*word) && !word.1.contains('=')).map(|(_, word)| word);
    let after_colon = || {
        let (language, path) = words().next()?.split_once(':')?;
        // A single letter before a colon is a drive.
        let is_language = language.len() > 1
            && language.starts_with(|c: char| c.is_ascii_alphabetic())
            && language.chars().all(|c| c.is_ascii_alphanumeric() || "+#-_".contains(c));
        Some(path).filter(|path| is_language && looks_like_path(path))
    };
    attribute.or_else(after_colon).or_else(plain)
}

/// Whether a word is a path: it has a `/` or an extension, or is the name of a well-known file.
fn looks_like_path(word: &str) -> bool {
    let is_one_word = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c.is_control());
    let is_colon_fine = word.find(':').is_none_or(|at| at == 1);
    let is_other = !is_colon_fine || word.contains(['<', '>', '"', '\'', '`', '|', '*', '?', '!', ';']);
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| {
        extension.chars().any(|c| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    let has_directory = word.contains('/') && !name.is_empty();
    is_one_word && !is_other && (has_directory || has_extension || BARE_NAMES.contains(&word))
}

/// Removes one pair of quotes or backticks.
pub(crate) fn unquoted(text: &str) -> &str {
    ['`', '"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

#[cfg(test)]
#[path = "path_hint_tests.rs"]
mod tests;
