//! Fences that their content cannot close.

/// A fence for `content`: backticks, one more than the longest run inside, and at least three.
pub(crate) fn fence_for(content: &str) -> String {
    "`".repeat(longest_backtick_run(content).saturating_add(1).max(3))
}

/// The length of the longest run of backticks.
fn longest_backtick_run(content: &str) -> usize {
    let bytes = content.as_bytes();
    let mut longest = 0;
    let mut run = 0;
    let mut previous = None;
    for position in memchr::memchr_iter(b'`', bytes) {
        run = if position > 0 && previous == Some(position - 1) { run + 1 } else { 1 };
        longest = longest.max(run);
        previous = Some(position);
    }
    longest
}

/// `content` inside a fence; a final newline is not doubled.
pub fn fenced(info: &str, content: &str) -> String {
    let fence = fence_for(content);
    let newline = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{info}\n{content}{newline}{fence}")
}

/// A name on one line: control characters are escaped.
pub(crate) fn one_line(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            line.extend(character.escape_unicode());
        } else {
            line.push(character);
        }
    }
    line
}

/// `text` with a newline for everything that a reader may take for a line end.
pub(crate) fn plain_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'], "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_run_inside() {
        assert_eq!(fence_for("no ticks"), "```");
        assert_eq!(fence_for("``` and ````"), "`````");
        assert_eq!(fence_for("`"), "```");
    }

    #[test]
    fn a_final_newline_is_not_doubled() {
        assert_eq!(fenced("rs", "fn a() {}\n"), "```rs\nfn a() {}\n```");
        assert_eq!(fenced("", "x"), "```\nx\n```");
        assert_eq!(fenced("", ""), "```\n```");
    }

    #[test]
    fn everything_that_looks_like_a_line_end_becomes_one() {
        assert_eq!(
            plain_line_ends("a\r\nb\rc\u{b}d\u{c}e\u{85}f\u{2028}g\u{2029}h\n\n"),
            "a\nb\nc\nd\ne\nf\ng\nh\n\n"
        );
    }

    #[test]
    fn a_name_with_a_line_end_cannot_start_a_line() {
        assert_eq!(one_line("a\n## Output"), "a\\u{a}## Output");
    }
}
