//! Properties that hold for every request, whatever its texts.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use aiwf_prompt::{
    CountTokens, Format, Mode, Need, NodeBrief, Options, PartBody, Prompt, PromptAggregator, PromptComposer,
    PromptError, Recipe, ReplyMode, Request, Role, Roots, Section, SectionKind, Sha256Hex, TemplateSource,
    Tokenizer, Tokens, WorkflowRequest, alias_roots, check_template, redact_paths, render_template,
    without_node,
};
use proptest::prelude::*;

use crate::fixtures::{Fixed, change, intake, reply, roots, workflow};
use crate::strategies::{
    capability, change_request, format, json, maybe, request, sections, surroundings, template_piece, text,
    workflow_request,
};

/// The prompt of only these sections, as a reply or a session.
fn prompt_of(recipe: Recipe, sections: Vec<Section>, options: &Options<'_>) -> Result<Prompt, PromptError> {
    let aggregator = PromptAggregator::new();
    for (id, _) in aggregator.components(recipe) {
        aggregator.unregister(&id);
    }
    aggregator.register(Arc::new(Fixed { id: "custom", order: 1, recipes: &Recipe::ALL, sections }));
    let request = match recipe {
        Recipe::Reply => Request::Reply(reply(ReplyMode::Api)),
        Recipe::Session | Recipe::Change | Recipe::Workflow => Request::Change(change("")),
    };
    aggregator.aggregate(&request, options)
}

/// The count of what is sent: the printed text, or for messages the sum of their contents.
fn count(prompt: &Prompt, tokenizer: Tokenizer) -> Tokens {
    let texts = match prompt.format() {
        Format::Text | Format::Xml => vec![prompt.full_prompt()],
        Format::Messages => prompt.messages().into_iter().map(|message| message.content).collect(),
    };
    let texts: Vec<Vec<&str>> = texts.iter().map(|text| vec![text.as_str()]).collect();
    tokenizer.count(&texts).into_iter().sum()
}

/// The sections and parts that no budget may cut.
fn required_only(sections: &[Section]) -> Vec<Section> {
    let mut required = sections.to_vec();
    required.retain_mut(|section| {
        let has_parts = !section.parts.is_empty();
        section.parts.retain(|part| part.need == Need::Required);
        if has_parts { !section.parts.is_empty() } else { section.need == Need::Required }
    });
    required
}

type Build<'b> = Box<dyn Fn(&Options<'_>) -> Result<Prompt, PromptError> + 'b>;

/// The text that XML contains for a text.
fn xml_text(text: &str) -> String {
    let is_allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|c| if is_allowed(c) { c } else { '\u{fffd}' }).collect()
}

fn element_text(node: roxmltree::Node<'_, '_>) -> String {
    node.children().filter_map(|child| child.text()).collect()
}

/// The elements below the root: name, attribute, text; those of `<context>` in its place.
fn read_xml(xml: &str) -> Vec<(String, Option<String>, String)> {
    let document = roxmltree::Document::parse(xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
    assert_eq!(document.root_element().tag_name().name(), "prompt");
    let mut elements = Vec::new();
    for child in document.root_element().children().filter(roxmltree::Node::is_element) {
        let items: Vec<_> = match child.tag_name().name() {
            "context" => child.children().filter(roxmltree::Node::is_element).collect(),
            _ => vec![child],
        };
        elements.extend(items.into_iter().map(|node| {
            let attribute = node.attributes().next().map(|attribute| attribute.value().to_owned());
            (node.tag_name().name().to_owned(), attribute, element_text(node))
        }));
    }
    elements
}

fn body_text(body: &PartBody) -> String {
    match body {
        PartBody::Inline(text) => text.as_str().to_owned(),
        PartBody::Reference(path) => format!("@{path}"),
        PartBody::Note(note) => note.clone(),
    }
}

/// A writer that accepts a few bytes at a time, like a pipe.
struct Stingy {
    written: Vec<u8>,
    most: usize,
}

impl io::Write for Stingy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_bytes = bytes.len().min(self.most);
        self.written.extend_from_slice(&bytes[..n_bytes]);
        Ok(n_bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

proptest! {
    #[test]
    fn preview_equals_aggregate(
        request in request(),
        format in format(),
        capability in capability(),
        budget in maybe(0u64..600),
    ) {
        let aggregator = PromptAggregator::new();
        let options =
            Options { format, capability, budget: budget.map(Tokens), counter: &Tokenizer::Estimate };
        let preview = aggregator.preview(&request, &options);
        match aggregator.aggregate(&request, &options) {
            Err(error) => {
                prop_assert!(!preview.is_success);
                prop_assert_eq!(preview.error, Some(error.to_string()));
            }
            Ok(mut prompt) => {
                prop_assert!(preview.is_success);
                prop_assert_eq!(&preview.prompt, &prompt.full_prompt());
                prop_assert_eq!(preview.metadata, Some(prompt.metadata(&Tokenizer::Estimate)));
                prop_assert_eq!(preview.sections, prompt.sections());
                prop_assert_eq!(prompt.sha256(), Sha256Hex::of([preview.prompt.as_str()]));
                let printed: String = prompt.printed().into_iter().map(|owned| owned.text).collect();
                // An array without messages has no section that could own it.
                prop_assert!(printed == preview.prompt || preview.prompt == "[]");
                for most in [1, 7, usize::MAX] {
                    let mut writer = Stingy { written: Vec::new(), most };
                    prompt.write_to(&mut writer).unwrap();
                    prop_assert_eq!(&writer.written, preview.prompt.as_bytes());
                }
            }
        }
    }

    #[test]
    fn printed_messages_are_the_messages(request in request(), capability in capability()) {
        let options =
            Options { format: Format::Messages, capability, budget: None, counter: &Tokenizer::Estimate };
        let prompt = PromptAggregator::new().aggregate(&request, &options).unwrap();
        let printed: Vec<BTreeMap<String, String>> = serde_json::from_str(&prompt.full_prompt()).unwrap();
        let messages = prompt.messages();
        prop_assert_eq!(printed.len(), messages.len());
        for (printed, message) in printed.iter().zip(&messages) {
            prop_assert_eq!(&printed["role"], message.role.as_str());
            prop_assert_eq!(&printed["content"], &message.content);
            prop_assert!(!message.content.is_empty());
        }
    }

    /// The only test of this file that loads vocabularies.
    #[test]
    fn a_budget_holds_in_exact_tokens_of_the_printed_text(
        request in request(),
        sections in sections(),
        is_cl100k in any::<bool>(),
        format in format(),
        capability in capability(),
        share in 0u64..=110,
    ) {
        let tokenizer = if is_cl100k { Tokenizer::Cl100kBase } else { Tokenizer::O200kBase };
        let unbounded = Options { format, capability, budget: None, counter: &tokenizer };
        let recipe = if is_cl100k { Recipe::Reply } else { Recipe::Change };
        let of_request: Build<'_> =
            Box::new(|options| PromptAggregator::new().aggregate(&request, options));
        let of_sections: Build<'_> = Box::new(|options| prompt_of(recipe, sections.clone(), options));
        for build in [of_request, of_sections] {
            let mut full = build(&unbounded).unwrap();
            let total = full.metadata(&tokenizer).token_estimate;
            prop_assert_eq!(total, count(&full, tokenizer), "without a budget");
            let budget = Tokens(total.0 * share / 100);
            let Ok(mut prompt) = build(&Options { budget: Some(budget), ..unbounded }) else {
                prop_assert!(total > budget);
                continue;
            };
            let measured = prompt.metadata(&tokenizer).token_estimate;
            prop_assert_eq!(measured, count(&prompt, tokenizer), "with a budget");
            prop_assert!(measured <= budget);
            let of_sections: Tokens = prompt.sections().iter().filter_map(|section| section.tokens).sum();
            prop_assert!(of_sections == measured || prompt.sections().iter().all(|section| !section.is_kept));
        }
        let required = prompt_of(recipe, required_only(&sections), &unbounded).unwrap();
        let needed = count(&required, tokenizer);
        let just_enough = Options { budget: Some(needed), ..unbounded };
        prop_assert!(prompt_of(recipe, sections.clone(), &just_enough).is_ok());
        if let Some(budget) = needed.0.checked_sub(1) {
            let too_little = Options { budget: Some(Tokens(budget)), ..unbounded };
            prop_assert!(prompt_of(recipe, sections.clone(), &too_little).is_err());
        }
    }

    #[test]
    fn a_budget_cuts_optional_sections_only_and_fails_only_when_the_rest_is_too_large(
        sections in sections(),
        format in format(),
        capability in capability(),
        share in 0u64..=100,
    ) {
        let unbounded = Options { format, capability, budget: None, counter: &Tokenizer::Estimate };
        let required = required_only(&sections);
        let size = |sections: &[Section]| {
            let mut prompt = prompt_of(Recipe::Reply, sections.to_vec(), &unbounded).unwrap();
            prompt.metadata(&Tokenizer::Estimate).token_estimate
        };
        let budget = Tokens(size(&sections).0 * share / 100);
        match prompt_of(Recipe::Reply, sections.clone(), &Options { budget: Some(budget), ..unbounded }) {
            Err(error) => {
                let PromptError::RequiredSectionsTooLarge { needed, budget: allowed, .. } = error else {
                    return Err(TestCaseError::fail(error.to_string()));
                };
                prop_assert_eq!(allowed, budget);
                prop_assert_eq!(needed, size(&required));
                prop_assert!(needed > budget);
            }
            Ok(prompt) => {
                prop_assert!(size(&required) <= budget);
                let reports = prompt.sections();
                prop_assert_eq!(reports.len(), sections.len());
                let mut kept = Vec::new();
                for (section, report) in sections.iter().zip(&reports) {
                    let mut section = section.clone();
                    if section.parts.is_empty() {
                        prop_assert!(report.is_kept || section.need != Need::Required);
                        prop_assert_eq!(report.is_kept, report.reason.is_none());
                    }
                    for (part, report) in section.parts.iter_mut().zip(&report.parts) {
                        prop_assert!(report.is_kept || part.need != Need::Required);
                        prop_assert_eq!(report.is_kept, report.reason.is_none());
                        part.cut.clone_from(&report.reason);
                    }
                    section.parts.retain(|part| part.cut.is_none());
                    if report.is_kept {
                        kept.push(section);
                    }
                }
                // The kept sections read as if the others had never been there: same order, nothing split.
                let alone = prompt_of(Recipe::Reply, kept, &unbounded).unwrap();
                prop_assert_eq!(prompt.full_prompt(), alone.full_prompt());
            }
        }
    }

    #[test]
    fn xml_of_a_change_round_trips(request in change_request(), capability in capability()) {
        let options = Options { format: Format::Xml, capability, budget: None, counter: &Tokenizer::Estimate };
        let prompt = PromptAggregator::new().aggregate(&Request::Change(request.clone()), &options).unwrap();
        let mut expected = Vec::new();
        let mut raw = String::new();
        if let Some((text, _)) = request.system_prompt.filter(|(text, _)| !text.is_empty()) {
            raw.push_str(&text);
            expected.push(("system_prompt".to_owned(), None, xml_text(&text)));
        }
        for item in &request.context {
            raw.push_str(&item.name);
            raw.push_str(&body_text(&item.body));
            expected.push((
                item.kind.as_str().to_owned(),
                Some(xml_text(&item.name)),
                xml_text(&body_text(&item.body)),
            ));
        }
        raw.push_str(&request.instructions);
        expected.push(("instructions".to_owned(), None, xml_text(&request.instructions)));
        prop_assert_eq!(read_xml(&prompt.full_prompt()), expected);
        prop_assert_eq!(prompt.problems().is_empty(), xml_text(&raw) == raw);
    }

    #[test]
    fn xml_of_any_sections_round_trips(sections in sections(), capability in capability()) {
        let options = Options { format: Format::Xml, capability, budget: None, counter: &Tokenizer::Estimate };
        let prompt = prompt_of(Recipe::Change, sections.clone(), &options).unwrap();
        let prose = |wanted: &dyn Fn(&Section) -> bool| -> Option<String> {
            let mut chosen: Vec<&Section> =
                sections.iter().filter(|section| section.parts.is_empty() && wanted(section)).collect();
            // Next to others, a section without heading and text is omitted; alone, its element is empty.
            let speaks = |section: &&Section| section.heading.is_some() || !section.body.is_empty();
            if chosen.iter().any(speaks) {
                chosen.retain(speaks);
            } else {
                chosen.truncate(1);
            }
            let is_alone = chosen.len() == 1;
            let one = |section: &&Section| match section.heading.as_ref().filter(|_| !is_alone) {
                Some(heading) if section.body.is_empty() => heading.clone(),
                Some(heading) => format!("{heading}\n\n{}", section.body.as_str()),
                None => section.body.as_str().to_owned(),
            };
            let texts: Vec<String> = chosen.iter().map(one).collect();
            (!texts.is_empty()).then(|| xml_text(&texts.join("\n\n---\n\n")))
        };
        let system = prose(&|section| section.role == Role::System);
        let instructions =
            prose(&|section| section.role == Role::User && section.kind == SectionKind::Instructions);
        let elements = read_xml(&prompt.full_prompt());
        let of_name = |name: &str| -> Vec<String> {
            elements.iter().filter(|(element, ..)| element == name).map(|(.., text)| text.clone()).collect()
        };
        prop_assert_eq!(of_name("system_prompt"), Vec::from_iter(system));
        prop_assert_eq!(of_name("instructions"), Vec::from_iter(instructions));
        let mut context = Vec::new();
        for section in &sections {
            if !section.parts.is_empty() {
                context.extend(section.parts.iter().map(|part| xml_text(&body_text(&part.body))));
            } else if section.role == Role::User && section.kind != SectionKind::Instructions {
                context.push(xml_text(&section.body));
            }
        }
        let read: Vec<String> = elements
            .iter()
            .filter(|(name, ..)| name != "system_prompt" && name != "instructions")
            .map(|(.., text)| text.clone())
            .collect();
        prop_assert_eq!(read, context);
    }

    #[test]
    fn xml_of_any_request_is_well_formed(request in request(), capability in capability()) {
        let options = Options { format: Format::Xml, capability, budget: None, counter: &Tokenizer::Estimate };
        let prompt = PromptAggregator::new().aggregate(&request, &options).unwrap();
        read_xml(&prompt.full_prompt());
        prop_assert_eq!(prompt.messages().len(), 1);
    }

    #[test]
    fn no_message_of_a_workflow_shows_a_known_root(
        request in workflow_request(),
        (before, after) in surroundings(),
        root in prop::sample::select(vec!["/home/me/shop", "/home/me", "/home/me/.aiwf/runs/r1"]),
    ) {
        let planted = format!("{before}{root}{after}");
        let request = WorkflowRequest { user_input: Some(planted.clone()), ..request };
        let mut brief = request.node_brief.clone().unwrap();
        brief.title = Some(planted.clone());
        brief.outputs.push(planted.clone());
        brief.step_file = format!("steps{planted}");
        let request = Request::Workflow(Box::new(WorkflowRequest { node_brief: Some(brief), ..request }));
        let options = Options {
            format: Format::Messages,
            capability: crate::fixtures::WITH_SYSTEM_PROMPT,
            budget: None,
            counter: &Tokenizer::Estimate,
        };
        let prompt = PromptAggregator::new().aggregate(&request, &options).unwrap();
        for message in prompt.messages() {
            prop_assert_eq!(find_alone(&message.content, "/home/me"), None, "{}", message.content);
        }
    }

    #[test]
    fn a_block_without_its_node_is_the_block_of_a_completed_run(input in text(), node in text(), looks_alike in any::<bool>()) {
        let input = if looks_alike { format!("x\n- forNodeId: a\n\n```\n{input}") } else { input };
        let node_id = format!("n{node}");
        let brief = NodeBrief { node_id: node_id.clone(), ..intake() };
        let request = WorkflowRequest {
            roots: roots(),
            current_node_id: None,
            node_brief: Some(brief),
            user_input: Some(input),
            ..workflow(Mode::Run)
        };
        let block = |request: &WorkflowRequest| PromptComposer::compose(request).unwrap().pop().unwrap().content;
        let active = block(&request);
        let completed = block(&WorkflowRequest { is_completed: true, ..request.clone() });
        if active.starts_with("USER_INPUT") {
            prop_assert!(active.starts_with("USER_INPUT\n- forNodeId: n"));
            prop_assert_eq!(&*without_node(&active), &completed);
            prop_assert_eq!(&*without_node(&completed), &completed);
        }
    }

    #[test]
    fn aliasing_leaves_no_known_root(
        pieces in prop::collection::vec((surroundings(), 0usize..4, 0usize..4), 1..5),
    ) {
        let roots = Roots {
            project: Some("C:\\Users\\me\\My Shop".to_owned()),
            package: Some("/opt/packages/hello/".to_owned()),
            state: Some("/home/me/.aiwf/runs/r1".to_owned()),
            home: Some("/home/me".to_owned()),
            others: Vec::new(),
        };
        let spellings = [
            ["C:\\Users\\me\\My Shop", "C:/Users/me/My Shop", "C:\\\\Users\\\\me\\\\My Shop", "C:/Users/me/My%20Shop"],
            ["/opt/packages/hello", "/opt/packages/hello", "/opt/packages/hello", "/opt/packages/hello"],
            ["/home/me/.aiwf/runs/r1", "/home/me/.aiwf/runs/r1", "/home/me/.aiwf/runs/r1", "/home/me/.aiwf/runs/r1"],
            ["/home/me", "/home/me", "/home/me", "/home/me"],
        ];
        let mut text = String::new();
        for ((before, after), root, spelling) in &pieces {
            text.push_str(before);
            text.push_str(spellings[*root][*spelling]);
            text.push_str(after);
            text.push(' ');
        }
        let aliased = alias_roots(&text, &roots);
        for secret in ["Users", "/opt/packages", "/home/me", "runs"] {
            prop_assert!(!aliased.contains(secret), "{secret} in {aliased} of {text}");
        }
        prop_assert_eq!(alias_roots(&aliased, &roots), aliased.as_ref(), "twice is once");
    }

    #[test]
    fn text_without_a_root_is_not_touched(text in text()) {
        let roots = Roots { project: Some("/srv/unheard/of".to_owned()), ..Roots::default() };
        prop_assert_eq!(alias_roots(&text, &roots), text.as_str());
    }

    #[test]
    fn redacting_hides_planted_paths_and_is_idempotent(
        head in text(),
        (before, after) in surroundings(),
        path in prop::sample::select(vec!["/secret/x", "/x/secret", "D:\\secret\\x", "\\\\host\\secret", "file:///secret/a"]),
        tail in text(),
    ) {
        // After a script without spaces, only a path from a well-known directory counts as absolute.
        let top = if before == "见" && path.starts_with('/') { "/home" } else { "" };
        let text = format!("{head} {before}{top}{path}{after} {tail}");
        let redacted = redact_paths(&text);
        prop_assert!(!redacted.contains("secret"), "{redacted} of {text}");
        prop_assert_eq!(redact_paths(&redacted), redacted.as_ref());
    }

    #[test]
    fn rendering_never_panics(
        pieces in prop::collection::vec(template_piece(), 0..14),
        variables in prop::collection::btree_map("[a-c]", json(), 0..3),
    ) {
        let template = TemplateSource { name: "t".to_owned(), text: pieces.concat() };
        let checked = check_template(&template, &["a", "b", "c"]);
        match render_template(&template, &variables) {
            Ok(_) => {}
            Err(error) => {
                prop_assert!(!error.to_string().is_empty());
                prop_assert!(error.hint().is_some());
            }
        }
        if let Err(errors) = checked {
            prop_assert!(errors.iter().all(|error| !error.to_string().is_empty()));
        }
    }

    #[test]
    fn a_template_without_tags_is_its_own_result(text in "[^{]{0,80}") {
        let template = TemplateSource { name: "t".to_owned(), text: text.clone() };
        prop_assert_eq!(render_template(&template, &BTreeMap::new()), Ok(text));
    }
}

/// The position of `root` in `text` where it is not part of a longer name.
fn find_alone(text: &str, root: &str) -> Option<usize> {
    let is_ascii_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    // In scripts without spaces, text may touch a path without being part of it.
    let is_unspaced = |c: char| matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..);
    let is_name = |c: char| is_ascii_name(c) || (c.is_alphanumeric() && !is_unspaced(c));
    text.match_indices(root).map(|(start, _)| start).find(|start| {
        let before = text[..*start].chars().next_back();
        let mut after = text[start + root.len()..].chars();
        let goes_on = match after.next() {
            Some('.') => after.next().is_some_and(is_name),
            other => other.is_some_and(is_name),
        };
        !before.is_some_and(|c| c == '~' || is_ascii_name(c)) && !goes_on
    })
}
