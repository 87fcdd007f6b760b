//! The package that a Java file declares.

/// Reads `package a.b.c;`; only comments and annotations may come before it.
///
/// Only names that are safe as directories count: letters, digits and `_`, starting with a letter or `_`.
pub(crate) fn java_package(source: &str) -> Option<String> {
    let mut rest = source.strip_prefix('\u{feff}').unwrap_or(source);
    loop {
        rest = after_blanks_and_comments(rest);
        if let Some(declared) = rest.strip_prefix("package")
            && declared.starts_with(|c: char| c.is_whitespace() || c == '/')
        {
            return package_name(declared);
        }
        rest = after_annotation(rest)?;
    }
}

fn package_name(declared: &str) -> Option<String> {
    let (before, _) = declared.split_once(';')?;
    let mut name = String::new();
    let mut rest = after_blanks_and_comments(before);
    while let Some(character) = rest.chars().next() {
        name.push(character);
        let next = rest.get(character.len_utf8()..)?;
        let skipped = after_blanks_and_comments(next);
        // Spaces are allowed around dots, but not inside a name.
        if skipped.len() != next.len() && !skipped.is_empty() && character != '.' && !skipped.starts_with('.')
        {
            return None;
        }
        rest = skipped;
    }
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    name.split('.').all(is_name).then_some(name)
}

fn after_blanks_and_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let next = if let Some(comment) = rest.strip_prefix("//") {
            comment.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, after)| after)
        } else {
            return rest;
        };
        rest = next.trim_start();
    }
}

/// Skips `@Name` and `@Name(…)`; `None` if there is no annotation.
fn after_annotation(text: &str) -> Option<&str> {
    let name = text.strip_prefix('@')?;
    let rest = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
    let Some(arguments) = rest.trim_start().strip_prefix('(') else { return Some(rest) };
    let mut depth = 1_usize;
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, character) in arguments.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => {
                depth -= 1;
                if depth == 0 {
                    return arguments.get(at + 1..);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
#[path = "java_package_tests.rs"]
mod tests;
