//! Valid names, and names in messages.

/// Whether a name is valid for a provider.
///
/// It must be valid as a bare TOML key, inside `ai:<provider>` and as the value of a flag.
pub(crate) fn is_provider_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

pub(crate) const PROVIDER_NAME_RULE: &str = "1 to 64 letters, digits, `-`, `_` or `.`";

/// Whether a name is valid for an MCP server.
///
/// `__` separates it from the names of its tools, so that a full name is unambiguous.
pub(crate) fn is_mcp_server_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 32
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_')
}

pub(crate) const MCP_SERVER_NAME_RULE: &str = "1 to 32 letters, digits, `-` or single `_` inside";

/// Whether a name is valid for a check: it is also used in file names.
pub fn is_check_name(name: &str) -> bool {
    is_provider_name(name) && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

/// The rule for check names.
pub const CHECK_NAME_RULE: &str = "1 to 64 letters, digits, `-`, `_` or `.`, starting with a letter or digit";

const MAX_NAME: usize = 64;

/// The known name closest to `name`, if one is close enough to be a typo.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let wanted = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// A name as a TOML key, quoted if necessary.
pub(crate) fn quoted_key(name: &str) -> String {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare && !name.is_empty() { name.to_owned() } else { format!("\"{name}\"") }
}

/// Names in backticks, separated by commas.
pub(crate) fn ticked<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The start of a text, for messages: one line, at most 60 characters, no control characters.
pub(crate) fn excerpt(text: &str) -> String {
    const LENGTH: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    let shown: String = line.chars().filter(|character| !character.is_control()).take(LENGTH).collect();
    let is_whole = text.lines().nth(1).is_none() && line.chars().nth(LENGTH).is_none();
    if is_whole { shown } else { format!("{shown}…") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_nonsense_finds_none() {
        let known = ["max_iterations", "hash_prompts", "budget_tokens"];
        assert_eq!(nearest("max_iteration", known), Some("max_iterations"));
        assert_eq!(nearest("Hash-Prompts", known), Some("hash_prompts"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(nearest(&"m".repeat(1000), known), None);
    }

    #[test]
    fn a_message_shows_one_short_line_without_control_characters() {
        assert_eq!(excerpt("a\u{1b}[2Jb"), "a[2Jb");
        assert_eq!(excerpt("one\ntwo"), "one…");
        assert_eq!(excerpt(&"x".repeat(61)), format!("{}…", "x".repeat(60)));
    }
}
