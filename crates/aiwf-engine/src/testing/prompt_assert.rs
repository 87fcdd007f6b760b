//! Assertions on prompts: pure functions of a built prompt.

use globset::GlobBuilder;

use super::assertion::PromptCheck;
use super::finding::{Finding, listed, quoted};
use super::golden;
use super::lint::lint;
use super::subject::{PromptSubject, share};

/// Reads a golden file, for the whole prompt or a section.
pub(crate) type ReadGolden<'a> = dyn Fn(Option<&str>) -> Result<Option<String>, String> + 'a;

/// What an assertion on a prompt needs beside it.
pub(crate) struct PromptContext<'a> {
    /// The stored text of a golden file, for the whole prompt or a section; `None` if there is none.
    pub(crate) golden: &'a ReadGolden<'a>,
    /// What so many tokens cost with a model, in dollars; `None` if its price is not known.
    pub(crate) input_cost: &'a dyn Fn(&str, u64) -> Option<f64>,
}

/// Checks an assertion; the error says why it cannot be checked.
pub(crate) fn check_prompt(
    check: &PromptCheck,
    prompt: &PromptSubject,
    context: &PromptContext<'_>,
) -> Result<Finding, String> {
    let has = |id: &str| prompt.section(id).is_some();
    Ok(match check {
        PromptCheck::Golden { section } => golden_finding(section.as_deref(), prompt, context)?,
        PromptCheck::Present(sections) => match sections.iter().find(|id| !has(id)) {
            Some(missing) => Finding { is_void: false, ..missing_section(prompt, missing) },
            None => found(true, sections, "in the prompt"),
        },
        PromptCheck::Absent(sections) => match sections.iter().find(|id| has(id)) {
            Some(present) => {
                Finding::new(false, format!("section `{present}` is in the prompt")).about(present)
            }
            None => found(true, sections, "not in the prompt"),
        },
        PromptCheck::Order(wanted) => order(wanted, prompt),
        PromptCheck::Source { section, pattern } => {
            let Some(report) = prompt.report(section) else { return Ok(missing_section(prompt, section)) };
            // A section with several files has a source for each.
            let mut sources = vec![report.source.as_str()];
            sources.extend(report.parts.iter().map(|part| part.source.as_str()));
            let glob = GlobBuilder::new(pattern).literal_separator(false).build();
            let glob =
                glob.map_err(|error| format!("`{pattern}` is not a pattern: {error}"))?.compile_matcher();
            let holds = sources.iter().any(|source| *source == pattern || glob.is_match(source));
            Finding::new(holds, format!("section `{section}` comes from {}", listed(sources))).about(section)
        }
        PromptCheck::Contains { section, texts } => {
            let Some((place, text)) = stretch(section.as_deref(), prompt) else {
                return Ok(missing_section(prompt, section.as_deref().unwrap_or_default()));
            };
            let missing = texts.iter().find(|wanted| !text.contains(wanted.as_str()));
            let finding = match missing {
                Some(missing) => Finding::new(false, format!("{place} does not contain {}", quoted(missing))),
                None => Finding::new(
                    true,
                    format!(
                        "{place} contains {}",
                        texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
                    ),
                ),
            };
            about(finding, section.as_deref())
        }
        PromptCheck::ContainsAny { section, texts } => {
            let Some((place, text)) = stretch(section.as_deref(), prompt) else {
                return Ok(missing_section(prompt, section.as_deref().unwrap_or_default()));
            };
            let found = texts.iter().find(|wanted| text.contains(wanted.as_str()));
            let message = if let Some(found) = found {
                format!("{place} contains {}", quoted(found))
            } else {
                let texts = texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
                format!("{place} contains none of {texts}")
            };
            let finding = Finding::new(found.is_some(), message);
            about(finding, section.as_deref())
        }
        PromptCheck::Matches { section, regex } => {
            let Some((place, text)) = stretch(section.as_deref(), prompt) else {
                return Ok(missing_section(prompt, section.as_deref().unwrap_or_default()));
            };
            let holds = regex.is_match(&text);
            let how = if holds { "matches" } else { "does not match" };
            about(Finding::new(holds, format!("{place} {how} `{}`", regex.text)), section.as_deref())
        }
        PromptCheck::MaxTokens { section, max } => {
            let Some(tokens) = tokens_of(section, prompt) else {
                return Ok(missing_section(prompt, section));
            };
            let message =
                format!("section `{section}` has {tokens} tokens{}; the limit is {max}", counted_by(prompt));
            Finding::new(tokens <= *max, message).about(section)
        }
        PromptCheck::Share { section, max } => {
            let Some(tokens) = tokens_of(section, prompt) else {
                return Ok(missing_section(prompt, section));
            };
            let share = share(tokens, total(prompt));
            let message = format!(
                "section `{section}` is {} of the prompt ({tokens} tokens); the limit is {}",
                percent(share),
                percent(*max)
            );
            Finding::new(share <= *max, message).about(section)
        }
        PromptCheck::TokensMax(max) => {
            let (tokens, largest) = (total(prompt), largest(prompt));
            let holds = tokens <= *max;
            let more = largest
                .as_ref()
                .filter(|_| !holds)
                .map(|(id, tokens)| format!("; largest: `{id}` ({tokens})"));
            let message = format!(
                "the prompt has {tokens} tokens{}; the limit is {max}{}",
                counted_by(prompt),
                more.unwrap_or_default()
            );
            let finding = Finding::new(holds, message);
            about(finding, largest.as_ref().filter(|_| !holds).map(|(id, _)| id.as_str()))
        }
        PromptCheck::TokensExact(exact) => {
            let tokens = total(prompt);
            let message = format!("the prompt has {tokens} tokens{}; expected {exact}", counted_by(prompt));
            Finding::new(tokens == *exact, message)
        }
        PromptCheck::StablePrefix(min) => {
            let share = prompt.stable_share();
            let first = prompt.order().into_iter().find(|id| {
                prompt.report(id).is_none_or(|report| report.stability != aiwf_prompt::Stability::Stable)
            });
            let until = first.map(|id| format!(", up to section `{id}`")).unwrap_or_default();
            let message = format!(
                "{} of the tokens are the same from call to call{until}; at least {} is required",
                percent(share),
                percent(*min)
            );
            about(Finding::new(share >= *min, message), first)
        }
        PromptCheck::NoPaths => no_paths(prompt),
        PromptCheck::Cost { max, model } => {
            let tokens = total(prompt);
            let cost = (context.input_cost)(model, tokens)
                .ok_or_else(|| format!("the price of model `{model}` is not known; set it in `[prices]`"))?;
            let message = format!("{tokens} tokens cost ${cost:.4} with `{model}`; the limit is ${max}");
            Finding::new(cost <= *max, message)
        }
        PromptCheck::Lint(rules) => {
            let found = lint(prompt, rules);
            match found.first() {
                None => Finding::new(true, "the prompt has no such fault"),
                Some(first) => {
                    let all =
                        found.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; ");
                    Finding::new(false, all).about(&first.section)
                }
            }
        }
        PromptCheck::EqualsPreview => match &prompt.preview {
            None => return Err("there is no preview of this prompt".to_owned()),
            Some(preview) if *preview == prompt.text => Finding::new(true, "the preview is the prompt"),
            Some(preview) => {
                let difference = golden::compare(preview, prompt);
                let what = difference.as_ref().map(|one| one.changes.join("; ")).unwrap_or_default();
                let finding = Finding::new(false, format!("the preview is not the prompt: {what}"));
                let finding = about(finding, difference.as_ref().and_then(|one| one.section.as_deref()));
                finding.with_diff(difference.map(|one| one.diff).unwrap_or_default())
            }
        },
    })
}

fn about(finding: Finding, section: Option<&str>) -> Finding {
    match section {
        Some(section) => finding.about(section),
        None => finding,
    }
}

fn golden_finding(
    section: Option<&str>,
    prompt: &PromptSubject,
    context: &PromptContext<'_>,
) -> Result<Finding, String> {
    let text = match section {
        None => None,
        Some(id) => match prompt.section(id) {
            Some(text) => Some((id, text)),
            None => return Ok(missing_section(prompt, id)),
        },
    };
    let Some(old) = (context.golden)(section)? else {
        let finding = Finding::void("there is no golden file yet; `--update` writes it");
        return Ok(about(finding, section));
    };
    if let Some((id, new)) = text {
        if old == new {
            return Ok(Finding::new(true, format!("section `{id}` is as stored")).about(id));
        }
        let finding = Finding::new(false, format!("section `{id}` changed")).about(id);
        return Ok(finding.with_diff(golden::diff(&old, &new)));
    }
    Ok(match golden::compare(&old, prompt) {
        None => Finding::new(true, "the prompt is as stored"),
        Some(difference) => {
            let finding = Finding::new(false, difference.changes.join("; "));
            about(finding, difference.section.as_deref()).with_diff(difference.diff)
        }
    })
}

fn found(holds: bool, sections: &[String], what: &str) -> Finding {
    let noun = if sections.len() == 1 { "section" } else { "sections" };
    let verb = if sections.len() == 1 { "is" } else { "are" };
    Finding::new(holds, format!("{noun} {} {verb} {what}", listed(sections.iter().map(String::as_str))))
}

/// Nothing can be said about a section that is not there.
fn missing_section(prompt: &PromptSubject, id: &str) -> Finding {
    let cut = prompt.report(id).and_then(|report| report.reason.as_deref());
    let message = match cut {
        Some(reason) => format!("section `{id}` is not in the prompt: {reason}"),
        None => format!("section `{id}` is not in the prompt, which has {}", listed(prompt.order())),
    };
    Finding::void(message).about(id)
}

fn order(wanted: &[String], prompt: &PromptSubject) -> Finding {
    let order = prompt.order();
    if let Some(missing) = wanted.iter().find(|id| !order.contains(&id.as_str())) {
        return missing_section(prompt, missing);
    }
    let position = |id: &String| order.iter().position(|other| other == id);
    let wrong = wanted.windows(2).find(|pair| match pair {
        [first, second] => position(first) >= position(second),
        _ => false,
    });
    match wrong {
        Some([first, second]) => {
            let message =
                format!("section `{second}` stands before section `{first}`; the order is {}", listed(order));
            Finding::new(false, message).about(second)
        }
        _ => Finding::new(true, format!("the order is {}", listed(order))),
    }
}

/// The text of a section, or of the prompt, with its name in messages.
fn stretch(section: Option<&str>, prompt: &PromptSubject) -> Option<(String, String)> {
    match section {
        Some(id) => Some((format!("section `{id}`"), prompt.section(id)?)),
        None => Some(("the prompt".to_owned(), prompt.text.clone())),
    }
}

fn total(prompt: &PromptSubject) -> u64 {
    prompt.size.as_ref().map_or(0, |size| size.total)
}

/// The tokens of a section that is in the prompt.
fn tokens_of(section: &str, prompt: &PromptSubject) -> Option<u64> {
    prompt.section(section)?;
    Some(prompt.report(section)?.tokens.map_or(0, |tokens| tokens.0))
}

fn largest(prompt: &PromptSubject) -> Option<(String, u64)> {
    let tokens = prompt.sections.iter().filter_map(|section| Some((section.id.clone(), section.tokens?.0)));
    tokens.max_by_key(|(_, tokens)| *tokens)
}

/// Says that a number is an estimate, if it is one.
fn counted_by(prompt: &PromptSubject) -> String {
    match &prompt.size {
        Some(size) if !size.is_exact => " (estimated)".to_owned(),
        Some(size) => format!(" ({})", size.tokenizer),
        None => String::new(),
    }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn no_paths(prompt: &PromptSubject) -> Finding {
    for id in prompt.order() {
        let Some(text) = prompt.section(id) else { continue };
        let root = prompt.roots.iter().find(|root| text.contains(root.as_str()));
        if let Some(root) = root {
            return Finding::new(false, format!("section `{id}` contains the path `{root}`")).about(id);
        }
        if let Some(line) = text.lines().find(|line| names_home(line)) {
            let message = format!("section `{id}` contains a path of somebody's machine: {}", quoted(line));
            return Finding::new(false, message).about(id);
        }
    }
    Finding::new(true, "the prompt contains no absolute path")
}

/// Where people and systems keep files of their own; a route such as `/api/users` is no such place.
const HOMES: [&str; 6] = ["/home/", "/Users/", "/tmp/", "/private/var/", "/var/folders/", ":\\Users\\"];

fn names_home(line: &str) -> bool {
    HOMES.iter().any(|home| {
        line.match_indices(home).any(|(at, _)| {
            let before = line.get(..at).and_then(|before| before.chars().next_back());
            // After a name it is a part of another path or of a URL.
            home.starts_with(':') || !before.is_some_and(|c| c.is_alphanumeric() || "_-./~@".contains(c))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_machine_are_told_from_routes_and_urls() {
        for line in ["see /home/me/x", "(/Users/me)", "C:\\Users\\me", "`/tmp/a`"] {
            assert!(names_home(line), "{line}");
        }
        for line in ["GET /api/users", "https://x.example/home/me", "docs/home/page.md", "@project/tmp/x"] {
            assert!(!names_home(line), "{line}");
        }
    }
}
