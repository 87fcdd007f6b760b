//! The text of a reply without its thoughts, and separate from its files.

use crate::file_markers::first_file;
use crate::outline::Outline;
use crate::problem::Parsed;
use crate::prose::{Marks, without};

/// Splits a reply into the text before its first file, and the rest with its file markers.
///
/// Tags in the content of a file are not an answer, so verdicts and statuses are read from the first part only.
pub fn split_files(reply: &str) -> (&str, &str) {
    let at = first_file(reply).unwrap_or(reply.len());
    reply.split_at_checked(at).unwrap_or((reply, ""))
}

/// Splits the file part of a reply, as returned by [`split_files`], into the files and the text after them.
///
/// The text after the files follows a last line `<<<END>>>`. Without that line everything belongs to the last file. The
/// exception is lines at the very end that are nothing but task statuses: they count as text after the files if
/// `are_statuses_missing`, that is, if the report before the files has none.
pub fn split_report_after(files: &str, are_statuses_missing: bool) -> (&str, &str) {
    let lines: Vec<(usize, &str)> = files
        .split_inclusive('\n')
        .scan(0, |start, line| {
            let at = *start;
            *start += line.len();
            Some((at, line))
        })
        .collect();
    let is_end = |line: &str| matches!(line.trim(), "<<<END>>>" | "<<<END FILE>>>");
    let last_mark = lines.iter().rposition(|(_, line)| is_end(line) || line.trim_start().starts_with("<<<"));
    let after_end = last_mark.filter(|idx| lines.get(*idx).is_some_and(|(_, line)| is_end(line)));
    let at = match after_end {
        Some(idx) => lines.get(idx + 1).map_or(files.len(), |(at, _)| *at),
        None if are_statuses_missing => trailing_statuses(&lines).unwrap_or(files.len()),
        None => files.len(),
    };
    files.split_at_checked(at).unwrap_or((files, ""))
}

/// The position of the task statuses at the end of a text; `None` if it does not end with one.
fn trailing_statuses(lines: &[(usize, &str)]) -> Option<usize> {
    let is_status = |line: &str| line.starts_with("<task_status") && line.ends_with("</task_status>");
    let n_kept = lines
        .iter()
        .rposition(|(_, line)| !line.trim().is_empty() && !is_status(line.trim()))
        .map_or(0, |last| last + 1);
    lines.iter().skip(n_kept).find(|(_, line)| is_status(line.trim())).map(|(at, _)| *at)
}

/// Removes the thoughts from a reply; one that is not closed hides the rest and is a problem.
///
/// The lines of a thought are removed with it, so no gap is left. Text in a code fence is never a thought.
pub fn strip_thoughts(reply: &str) -> Parsed<String> {
    let outline = Outline::new(reply);
    let thoughts = Marks::new(&outline).thoughts(&outline);
    let mut findings = crate::findings::Findings::new(reply);
    findings.extend(thoughts.found);
    let mut text = String::with_capacity(reply.len());
    for part in without(std::iter::once(0..reply.len()), &thoughts.ranges) {
        let is_after_thought = part.start > 0;
        let part = reply.get(part).unwrap_or_default();
        let stands_alone = text.is_empty() || text.ends_with('\n');
        text.push_str(if is_after_thought && stands_alone {
            part.trim_start_matches(['\n', '\r'])
        } else {
            part
        });
    }
    findings.finish(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: &str, expected: &str) {
        let parsed = strip_thoughts(reply);
        assert_eq!((parsed.value.as_str(), parsed.problems.len()), (expected, 0));
    }

    #[test]
    fn thoughts_are_removed_with_their_lines_and_quoted_ones_stay() {
        check("<thought>hm</thought>\n\n# Plan\n", "# Plan\n");
        check("one\n\n<thought>\nhm\n</thought>\n\ntwo\n", "one\n\ntwo\n");
        check("one <think>hm</think>two\n", "one two\n");
        check("```\n<thought>kept</thought>\n```\n", "```\n<thought>kept</thought>\n```\n");
        check("no thought at all", "no thought at all");
    }

    #[test]
    fn a_thought_that_is_not_closed_hides_the_rest_and_is_a_problem() {
        let parsed = strip_thoughts("one\n<thought>two\nthree");
        assert_eq!((parsed.value.as_str(), parsed.problems.len()), ("one\n", 1));
    }

    #[test]
    fn files_are_separated_from_the_report_about_them() {
        let reply = "done\n<<<FILE: a.md>>>\n<review>PASS</review>\n";
        assert_eq!(split_files(reply), ("done\n", "<<<FILE: a.md>>>\n<review>PASS</review>\n"));
        assert_eq!(split_files("only words"), ("only words", ""));
        let wrapped = "done\n```\n<<<FILE: a.md>>>\nx\n```\n";
        assert_eq!(split_files(wrapped), ("done\n", "```\n<<<FILE: a.md>>>\nx\n```\n"));
        assert_eq!(split_report_after("<<<FILE: a>>>\nx\n<<<END>>>\nsaid\n", false).1, "said\n");
        let status = "<task_status id=\"1\">COMPLETED</task_status>\n";
        let file = format!("<<<FILE: a>>>\nx\n{status}");
        assert_eq!(split_report_after(&file, true), ("<<<FILE: a>>>\nx\n", status));
        assert_eq!(split_report_after(&file, false), (file.as_str(), ""));
        let inside = format!("<<<FILE: a>>>\n{status}x\n");
        assert_eq!(split_report_after(&inside, true), (inside.as_str(), ""));
        let quoted = "like\n> <<<FILE: a.md>>>\nsaid";
        assert_eq!(split_files(quoted), (quoted, ""));
    }
}
