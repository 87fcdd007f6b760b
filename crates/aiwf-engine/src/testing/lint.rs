//! Faults that a prompt can have whatever it is about: repeated sections, repeated schemas, contradicting instructions.
//!
//! In: a built prompt. Out: findings that name the sections. Quotes of files and artifacts are not instructions, so only
//! text of templates, of the engine and of the request can contradict.

use std::collections::BTreeMap;

use super::subject::{PromptSubject, TOOLS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LintRule {
    /// Two sections say the same.
    Duplicate,
    /// The same schema is shown twice.
    Schema,
    /// Two sections ask for different forms of the reply.
    OutputForm,
}

impl LintRule {
    pub(crate) const ALL: [Self; 3] = [Self::Duplicate, Self::Schema, Self::OutputForm];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Schema => "schema",
            Self::OutputForm => "output-form",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name)
    }
}

/// Sections with less text than this may repeat: a heading, a path.
const MIN_REPEATED_BYTES: usize = 80;

/// One fault of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LintFinding {
    pub(crate) section: String,
    pub(crate) message: String,
}

/// The faults of a prompt under these rules, in the order of its sections.
pub(crate) fn lint(prompt: &PromptSubject, rules: &[LintRule]) -> Vec<LintFinding> {
    let sections: Vec<(&str, String)> =
        prompt.order().into_iter().map(|id| (id, prompt.section(id).unwrap_or_default())).collect();
    let mut found = Vec::new();
    for rule in rules {
        match rule {
            LintRule::Duplicate => duplicates(prompt, &mut found),
            LintRule::Schema => schemas(prompt, &sections, &mut found),
            LintRule::OutputForm => output_forms(prompt, &sections, &mut found),
        }
    }
    found
}

fn duplicates(prompt: &PromptSubject, found: &mut Vec<LintFinding>) {
    let mut known: BTreeMap<_, &str> = BTreeMap::new();
    for section in prompt.sections.iter().filter(|section| section.is_kept) {
        if section.bytes < MIN_REPEATED_BYTES {
            continue;
        }
        if let Some(first) = known.insert(section.sha256, &section.id) {
            found.push(LintFinding {
                section: section.id.clone(),
                message: format!("section `{}` repeats section `{first}`", section.id),
            });
        }
    }
}

fn schemas(prompt: &PromptSubject, sections: &[(&str, String)], found: &mut Vec<LintFinding>) {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for (id, text) in sections {
        for schema in json_blocks(text) {
            if let Some(first) = known.insert(schema, id) {
                let place = if first == *id {
                    format!("section `{id}` shows the same schema twice")
                } else {
                    format!("section `{id}` shows a schema that section `{first}` shows already")
                };
                found.push(LintFinding { section: (*id).to_owned(), message: place });
            }
        }
    }
    for tool in &prompt.tools {
        if let Some(first) = known.get(&tool.parameters.to_string()) {
            found.push(LintFinding {
                section: (*first).to_owned(),
                message: format!(
                    "section `{first}` shows the schema of tool `{}`, which `{TOOLS}` has",
                    tool.name
                ),
            });
        }
    }
}

/// The JSON objects in the fenced blocks of a text, without differences in white space.
fn json_blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        match &mut open {
            None if trimmed.starts_with("```") => {
                let n_ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
                open = trimmed.get(..n_ticks).map(|fence| (fence, String::new()));
            }
            None => {}
            Some((fence, _)) if trimmed.trim_end() == *fence => {
                let text = open.take().map(|(_, text)| text).unwrap_or_default();
                let value = serde_json::from_str::<serde_json::Value>(&text).ok();
                blocks.extend(value.filter(serde_json::Value::is_object).map(|value| value.to_string()));
            }
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    blocks
}

/// A form in which a reply can be asked for, and the words that ask for it.
struct Form {
    name: &'static str,
    /// Forms of one group exclude each other.
    group: &'static str,
    marks: &'static [&'static str],
}

const FORMS: [Form; 7] = [
    Form { name: "file markers (`<<<FILE: …>>>`)", group: "files", marks: &["<<<FILE:"] },
    Form {
        name: "fenced files",
        group: "files",
        marks: &["fenced block whose first line names", "code block whose first line names"],
    },
    Form { name: "search and replace blocks", group: "files", marks: &["<<<<<<< SEARCH", "<<<EDIT:"] },
    Form { name: "a unified diff", group: "files", marks: &["unified diff in a fenced block"] },
    Form { name: "a `@@@REVIEW_META` block", group: "verdict", marks: &["@@@REVIEW_META"] },
    Form { name: "a `<review>` tag", group: "verdict", marks: &["<review>"] },
    Form {
        name: "JSON only",
        group: "files",
        marks: &["only JSON", "JSON only", "a single JSON object", "as JSON and nothing else"],
    },
];

fn output_forms(prompt: &PromptSubject, sections: &[(&str, String)], found: &mut Vec<LintFinding>) {
    let is_instruction = |id: &str| {
        let source = prompt.report(id).map(|report| report.source.as_str()).unwrap_or_default();
        ["template:", "engine:", "input:"].iter().any(|kind| source.starts_with(kind))
    };
    let instructions: Vec<&(&str, String)> = sections.iter().filter(|(id, _)| is_instruction(id)).collect();
    for group in ["files", "verdict"] {
        // A section may offer several forms; another one contradicts it if it offers none of them.
        let mut first: Option<(&str, Vec<&str>)> = None;
        for (id, text) in &instructions {
            let is_asked =
                |form: &&Form| form.group == group && form.marks.iter().any(|mark| text.contains(mark));
            let asked: Vec<&str> = FORMS.iter().filter(is_asked).map(|form| form.name).collect();
            if asked.is_empty() {
                continue;
            }
            match &first {
                None => first = Some((id, asked)),
                Some((other, forms)) if !asked.iter().any(|form| forms.contains(form)) => {
                    found.push(LintFinding {
                        section: (*id).to_owned(),
                        message: format!(
                            "section `{id}` asks for {}, but section `{other}` asks for {}",
                            asked.join(" or "),
                            forms.join(" or ")
                        ),
                    });
                }
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
#[path = "lint_tests.rs"]
mod tests;
