use std::sync::Arc;

use aiwf_prompt::{
    Capability, ChangeRequest, Component, Format, Options, PromptAggregator, PromptError, Recipe, Request,
    Role, Section, Source, Text, Tokenizer,
};

use super::*;
use crate::testing::subject::Piece;

struct Given(Vec<(&'static str, Source, String)>);

impl Component for Given {
    fn id(&self) -> &'static str {
        "given"
    }
    fn order(&self) -> i32 {
        1
    }
    fn takes_part_in(&self, recipe: Recipe) -> bool {
        recipe == Recipe::Change
    }
    fn sections(&self, _: &Request, _: &Capability) -> Result<Vec<Section>, PromptError> {
        let section = |(id, source, text): &(&str, Source, String)| Section {
            role: Role::User,
            ..Section::new(id, id, source.clone(), text.clone())
        };
        Ok(self.0.iter().map(section).collect())
    }
}

fn prompt(sections: Vec<(&'static str, Source, String)>) -> PromptSubject {
    let aggregator = PromptAggregator::new();
    aggregator.register(Arc::new(Given(sections)));
    let request = Request::Change(ChangeRequest {
        phase: None,
        system_prompt: None,
        context: Vec::new(),
        instructions: Text::from("Do it."),
        instructions_source: Source::Input("instructions".to_owned()),
    });
    let options = Options {
        format: Format::Text,
        capability: Capability::default(),
        budget: None,
        counter: &Tokenizer::Estimate,
    };
    let prompt = aggregator.aggregate(&request, &options).unwrap();
    let mut text = String::new();
    let mut pieces = Vec::new();
    for owned in prompt.printed() {
        let start = text.len();
        text.push_str(&owned.text);
        pieces.push(Piece { section: owned.section, range: start..text.len() });
    }
    PromptSubject {
        format: Format::Text,
        text,
        pieces,
        sections: prompt.sections(),
        tools: Vec::new(),
        size: None,
        preview: None,
        roots: Vec::new(),
    }
}

#[track_caller]
fn check(sections: Vec<(&'static str, Source, String)>, expected: &[&str]) {
    let found = lint(&prompt(sections), &LintRule::ALL);
    let found: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(found, expected);
}

fn template() -> Source {
    Source::Template("plan.md".to_owned())
}

#[test]
fn a_repeated_section_is_found() {
    let text = "Write small functions, and name them for what they return.\n".repeat(3);
    check(
        vec![("rules", template(), text.clone()), ("standards", Source::File("a.md".to_owned()), text)],
        &["section `standards` repeats section `rules`"],
    );
    check(vec![("a", template(), "Short.".to_owned()), ("b", template(), "Short.".to_owned())], &[]);
}

#[test]
fn a_schema_that_is_shown_twice_is_found_whatever_its_white_space() {
    let first = "```json\n{\"type\": \"object\", \"required\": [\"a\"]}\n```\n";
    let second = "Answer so:\n\n````json\n{\n  \"type\": \"object\",\n  \"required\": [\"a\"]\n}\n````\n";
    check(
        vec![("tools", template(), first.to_owned()), ("output", template(), second.to_owned())],
        &["section `output` shows a schema that section `tools` shows already"],
    );
}

#[test]
fn instructions_that_contradict_each_other_are_found() {
    let markers = "Write each file after `<<<FILE: path>>>`.".to_owned();
    let diff = "Write all changes as one unified diff in a fenced block.".to_owned();
    check(
        vec![
            ("profile-prompt", template(), markers.clone()),
            ("answer", Source::Engine("edits".to_owned()), diff.clone()),
        ],
        &[
            "section `answer` asks for a unified diff, but section `profile-prompt` asks for file markers (`<<<FILE: …>>>`)",
        ],
    );
    // What a file quotes asks for nothing.
    check(
        vec![("profile-prompt", template(), markers), ("file", Source::File("a.md".to_owned()), diff)],
        &[],
    );
}
