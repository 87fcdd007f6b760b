//! Assertions on replies that need nothing but the reply.
//!
//! Those that apply edits, run programs or ask a judge are in `reply_effects.rs`.

use std::fmt::Write as _;

use aiwf_reply::{
    EditKind, JsonSchema, MetaVerdict, Parser, parse_edits, parse_fenced_files, parse_file_markers,
    parse_front_matter, parse_review_meta, parse_task_status, parse_tool_calls, parse_verdict_tag,
};
use globset::GlobBuilder;
use serde_json::Value;

use super::assertion::{ReplyCheck, SchemaFrom, TextFrom};
use super::finding::{Finding, listed, quoted};
use super::golden::diff;
use super::subject::ReplySubject;

/// Reads a file beside the test file.
pub(crate) type ReadBeside<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// The most violations of a schema that are named.
const MAX_VIOLATIONS: usize = 5;

/// Checks an assertion on a reply; `None` if it needs more than the reply.
pub(crate) fn check_reply(
    check: &ReplyCheck,
    reply: &ReplySubject,
    read: &ReadBeside<'_>,
) -> Result<Option<Finding>, String> {
    let text = reply.text.as_str();
    Ok(Some(match check {
        ReplyCheck::Contains(texts) => {
            let texts = resolved(texts, read)?;
            contains_all(&texts, |wanted| text.contains(wanted))
        }
        ReplyCheck::IContains(texts) => {
            let (texts, lower) = (resolved(texts, read)?, text.to_lowercase());
            contains_all(&texts, |wanted| lower.contains(&wanted.to_lowercase()))
        }
        ReplyCheck::IContainsAny(texts) => {
            let (texts, lower) = (resolved(texts, read)?, text.to_lowercase());
            contains_any(&texts, |wanted| lower.contains(&wanted.to_lowercase()))
        }
        ReplyCheck::ContainsAny(texts) => {
            let texts = resolved(texts, read)?;
            contains_any(&texts, |wanted| text.contains(wanted))
        }
        ReplyCheck::Matches(regex) => {
            let holds = regex.is_match(text);
            let how = if holds { "matches" } else { "does not match" };
            Finding::new(holds, format!("the reply {how} `{}`", regex.text))
        }
        ReplyCheck::Equals(expected) => {
            let expected = text_of(expected, read)?;
            // Editors and models differ in the last line end only.
            if expected.trim_end() == text.trim_end() {
                Finding::new(true, "the reply is the expected text")
            } else {
                Finding::new(false, "the reply is not the expected text").with_diff(diff(&expected, text))
            }
        }
        ReplyCheck::StartsWith(start) => {
            let start = not_empty(start, read)?;
            let holds = text.starts_with(start.as_str());
            let how = if holds { "starts" } else { "does not start" };
            Finding::new(holds, format!("the reply {how} with {}", quoted(&start)))
        }
        ReplyCheck::IsJson => match json_of(text) {
            Ok(_) => Finding::new(true, "the reply is JSON"),
            Err(error) => Finding::new(false, format!("the reply is not JSON: {error}")),
        },
        ReplyCheck::JsonSchema(schema) => {
            let schema: Value = match schema {
                SchemaFrom::Case(schema) => schema.clone(),
                SchemaFrom::File(file) => serde_json::from_str(&read(file)?)
                    .map_err(|error| format!("`{file}` is not JSON: {error}"))?,
            };
            let schema = JsonSchema::compile_untrusted(&schema)
                .map_err(|error| format!("the schema cannot be used: {error}"))?;
            match json_of(text) {
                Err(error) => Finding::void(format!("the reply is not JSON: {error}")),
                Ok(value) => violations(&schema, &value),
            }
        }
        ReplyCheck::ParsesAs { parser, max_problems } => parses_as(*parser, text, *max_problems),
        ReplyCheck::Verdict(wanted) => match verdict(text) {
            None => Finding::void("the reply gives no verdict"),
            Some(found) => {
                let holds = found.eq_ignore_ascii_case(wanted);
                Finding::new(holds, format!("the verdict is {found}"))
            }
        },
        ReplyCheck::Files(globs) => files(globs, text)?,
        ReplyCheck::Tokens(max) => match reply.output_tokens {
            None => return Err("the number of tokens of the reply is not known".to_owned()),
            Some(tokens) => {
                Finding::new(tokens <= *max, format!("the reply has {tokens} tokens; the limit is {max}"))
            }
        },
        ReplyCheck::Cost(max) => match reply.cost {
            None => return Err("the cost of the call is not known".to_owned()),
            Some(cost) => {
                Finding::new(cost <= *max, format!("the call cost ${cost:.4}; the limit is ${max}"))
            }
        },
        ReplyCheck::Latency(max) => match reply.latency {
            None => return Err("a recorded reply has no latency".to_owned()),
            Some(millis) => {
                let holds = u128::from(millis) <= max.as_millis();
                Finding::new(
                    holds,
                    format!("the reply took {millis} ms; the limit is {} ms", max.as_millis()),
                )
            }
        },
        ReplyCheck::Similar { to, threshold } => {
            let expected = text_of(to, read)?;
            let similarity = similarity(&expected, text).ok_or_else(|| {
                format!("the texts are too long to compare: {} and {} bytes", expected.len(), text.len())
            })?;
            let message = format!("the similarity is {similarity:.2}; at least {threshold:.2} is required");
            let finding = Finding::new(similarity >= *threshold, message);
            if similarity >= *threshold { finding } else { finding.with_diff(diff(&expected, text)) }
        }
        ReplyCheck::Applies | ReplyCheck::Checks(_) | ReplyCheck::Rubric { .. } | ReplyCheck::Run { .. } => {
            return Ok(None);
        }
    }))
}

fn text_of(text: &TextFrom, read: &ReadBeside<'_>) -> Result<String, String> {
    match text {
        TextFrom::Case(text) => Ok(text.clone()),
        TextFrom::File(file) => read(file),
    }
}

/// A text to look for: nothing at all is in every reply.
fn not_empty(text: &TextFrom, read: &ReadBeside<'_>) -> Result<String, String> {
    match (text_of(text, read)?, text) {
        (found, TextFrom::File(file)) if found.is_empty() => Err(format!("`{file}` is empty")),
        (found, _) => Ok(found),
    }
}

fn resolved(texts: &[TextFrom], read: &ReadBeside<'_>) -> Result<Vec<String>, String> {
    texts.iter().map(|text| not_empty(text, read)).collect()
}

fn contains_all(texts: &[String], contains: impl Fn(&str) -> bool) -> Finding {
    let missing = texts.iter().find(|wanted| !contains(wanted));
    let message = missing.map_or_else(
        || format!("the reply contains {}", all_quoted(texts)),
        |missing| format!("the reply does not contain {}", quoted(missing)),
    );
    Finding::new(missing.is_none(), message)
}

fn contains_any(texts: &[String], contains: impl Fn(&str) -> bool) -> Finding {
    let found = texts.iter().find(|wanted| contains(wanted));
    let message = found.map_or_else(
        || format!("the reply contains none of {}", all_quoted(texts)),
        |found| format!("the reply contains {}", quoted(found)),
    );
    Finding::new(found.is_some(), message)
}

fn all_quoted(texts: &[String]) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
}

/// The JSON of a reply: the whole of it, or the only fenced block.
fn json_of(text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    let fenced = trimmed.strip_prefix("```json").or(trimmed.strip_prefix("```"));
    let inner = fenced.and_then(|rest| rest.trim_end().strip_suffix("```")).unwrap_or(trimmed);
    serde_json::from_str(inner.trim()).map_err(|error| error.to_string())
}

fn violations(schema: &JsonSchema, value: &Value) -> Finding {
    let found = schema.violations(value, MAX_VIOLATIONS);
    if found.is_empty() {
        return Finding::new(true, "the reply matches the schema");
    }
    let shown: Vec<String> = found
        .iter()
        .map(|one| {
            let place = if one.pointer.is_empty() { "/" } else { &one.pointer };
            format!("`{place}`: {}", one.message)
        })
        .collect();
    Finding::new(false, format!("the reply does not match the schema: {}", shown.join("; ")))
}

fn parses_as(parser: Parser, text: &str, max_problems: u64) -> Finding {
    let problems = match parser {
        Parser::FileMarkers => parse_file_markers(text).problems,
        Parser::FencedFiles => parse_fenced_files(text).problems,
        Parser::Edits => parse_edits(text).problems,
        Parser::ReviewMeta => parse_review_meta(text).problems,
        Parser::VerdictTag => parse_verdict_tag(text).problems,
        Parser::TaskStatus => parse_task_status(text).problems,
        Parser::ToolCalls => parse_tool_calls(text).problems,
        Parser::FrontMatter => parse_front_matter(text).problems,
    };
    let holds = problems.len() as u64 <= max_problems;
    let noun = if problems.len() == 1 { "problem" } else { "problems" };
    let mut message = format!("parsed as {parser}: {} {noun}", problems.len());
    if let Some(first) = problems.first() {
        // Writing to a string does not fail.
        let _ = write!(message, ", first: {first}");
    }
    Finding::new(holds, message)
}

/// The verdict of a review, from its block or its tag.
fn verdict(text: &str) -> Option<String> {
    let meta = parse_review_meta(text).value.verdict.map(MetaVerdict::as_str);
    let tag = || parse_verdict_tag(text).value.map(aiwf_reply::Verdict::as_str);
    meta.or_else(tag).map(str::to_owned)
}

/// The files that a reply writes, changes, deletes or renames.
pub(crate) fn files_of(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for edit in parse_edits(text).value {
        match edit.kind {
            EditKind::Write(block) => names.push(block.path),
            EditKind::Change { path, .. } | EditKind::Delete { path } => names.push(path),
            EditKind::Rename { from, to } => names.extend([from, to]),
        }
    }
    if names.is_empty() {
        names.extend(parse_fenced_files(text).value.into_iter().map(|block| block.path));
    }
    names.sort();
    names.dedup();
    names
}

fn files(globs: &[String], text: &str) -> Result<Finding, String> {
    let names = files_of(text);
    for glob in globs {
        let matcher = GlobBuilder::new(glob)
            .literal_separator(true)
            .build()
            .map_err(|error| format!("`{glob}` is not a pattern: {error}"))?
            .compile_matcher();
        if !names.iter().any(|name| matcher.is_match(name)) {
            let has = if names.is_empty() {
                "which writes no file".to_owned()
            } else {
                format!("which writes {}", listed(names.iter().map(String::as_str)))
            };
            return Ok(Finding::new(false, format!("`{glob}` matches no file of the reply, {has}")));
        }
    }
    Ok(Finding::new(true, format!("the reply writes {}", listed(names.iter().map(String::as_str)))))
}

/// The largest product of characters, or else of lines, for which the edit distance is counted.
const MAX_CELLS: usize = 16_000_000;

/// How similar two texts are, from 0 to 1: one minus the edit distance divided by the length of the longer one.
///
/// Long texts are compared line by line; `None` if they have too many lines for that.
fn similarity(expected: &str, text: &str) -> Option<f64> {
    let (expected, text) = (expected.trim(), text.trim());
    let cells = expected.chars().count().saturating_mul(text.chars().count());
    if cells <= MAX_CELLS {
        return Some(strsim::normalized_levenshtein(expected, text));
    }
    let n_lines = |text: &str| memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()).count() + 1;
    if n_lines(expected).saturating_mul(n_lines(text)) > MAX_CELLS {
        return None;
    }
    Some(f64::from(similar::TextDiff::from_lines(expected, text).ratio()))
}

#[cfg(test)]
#[path = "reply_assert_tests.rs"]
mod tests;
