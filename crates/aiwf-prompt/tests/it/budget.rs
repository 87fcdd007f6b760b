//! Budgets: what is cut, in which order, and how it is reported. Counts are estimates here; the property tests use
//! vocabularies.

use aiwf_prompt::{
    Capability, CountTokens, DataContext, Format, FsAbility, ItemKind, Mode, Options, Prompt,
    PromptAggregator, PromptError, ReplyMode, ReplyRequest, Request, SessionPhase, SessionRequest, Text,
    Tokenizer, Tokens, WorkflowRequest,
};

use crate::fixtures::{
    PLAIN, WITH_SYSTEM_PROMPT, artifact, change, code, item, options, reply, session, with_budget, workflow,
};

fn fit(request: &Request, tokens: u64, format: Format) -> Result<Prompt, PromptError> {
    PromptAggregator::new().aggregate(request, &with_budget(tokens, options(format, WITH_SYSTEM_PROMPT)))
}

/// The names of what was cut: parts of sections, and sections without parts.
fn cut(prompt: &Prompt) -> Vec<String> {
    let mut names = Vec::new();
    for section in prompt.sections() {
        if section.parts.is_empty() && !section.is_kept {
            names.push(section.id);
        } else {
            names.extend(section.parts.into_iter().filter(|part| !part.is_kept).map(|part| part.id));
        }
    }
    names
}

fn size(request: &Request, format: Format) -> u64 {
    let options = options(format, WITH_SYSTEM_PROMPT);
    let mut prompt = PromptAggregator::new().aggregate(request, &options).unwrap();
    prompt.metadata(&Tokenizer::Estimate).token_estimate.0
}

fn revising() -> Request {
    let long = |word: &str| word.repeat(40);
    Request::Session(SessionRequest {
        plan: artifact("plan.md", &long("plan ")),
        standards: artifact("standards-bundle.md", &long("rule ")),
        review: artifact("iteration-1/review-response.md", &long("fix ")),
        comments: None,
        notes: None,
        feedback: Some(Text::from(long("why "))),
        rejected_reply: None,
        project_files: Vec::new(),
        changes: None,
        checks: None,
        answer_format: None,
        code: vec![code("c.rs", &long("cc ")), code("a.rs", &long("aa ")), code("b.rs", &long("bb "))],
        ..session(SessionPhase::Revising)
    })
}

#[test]
fn session_cuts_code_files_from_the_last_path_and_nothing_else() {
    for format in Format::ALL {
        let request = revising();
        let full = size(&request, format);
        assert_eq!(cut(&fit(&request, full, format).unwrap()), [""; 0]);
        assert_eq!(cut(&fit(&request, full - 1, format).unwrap()), ["c.rs"]);
        assert_eq!(cut(&fit(&request, full - 50, format).unwrap()), ["b.rs", "c.rs"]);
        assert_eq!(cut(&fit(&request, full - 90, format).unwrap()), ["a.rs", "b.rs", "c.rs"]);
        assert!(fit(&request, full - 180, format).is_err());
    }
}

#[test]
fn a_section_whose_files_are_all_cut_leaves_no_heading() {
    let request = revising();
    let prompt = fit(&request, size(&request, Format::Text) - 90, Format::Text).unwrap();
    assert!(!prompt.full_prompt().contains("Previous Code"));
    let section = prompt.sections().into_iter().find(|section| section.id == "previous-code").unwrap();
    assert!(!section.is_kept);
    assert_eq!(section.tokens, Some(Tokens(0)));
    insta::assert_snapshot!(section.reason.unwrap(), @"every part of it was cut");
    insta::assert_snapshot!(section.parts[2].reason.as_deref().unwrap(), @"cut to fit 232 tokens: optional, priority 10");
}

#[test]
fn change_cuts_thoughts_before_files_and_never_artifacts() {
    let long = "word ".repeat(40);
    let mut request = change("Go");
    request.context = vec![
        item(ItemKind::Thought, "t1", &long),
        item(ItemKind::File, "f1", &long),
        item(ItemKind::Artifact, "a1", &long),
        item(ItemKind::Thought, "t2", &long),
        item(ItemKind::File, "f2", &long),
    ];
    let request = Request::Change(request);
    let full = size(&request, Format::Xml);
    assert_eq!(cut(&fit(&request, full - 1, Format::Xml).unwrap()), ["t2"]);
    assert_eq!(cut(&fit(&request, full - 100, Format::Xml).unwrap()), ["t1", "t2"]);
    assert_eq!(cut(&fit(&request, full - 150, Format::Xml).unwrap()), ["t1", "t2", "f2"]);
    assert_eq!(cut(&fit(&request, full - 200, Format::Xml).unwrap()), ["t1", "f1", "t2", "f2"]);
    assert!(fit(&request, full - 250, Format::Xml).is_err());
}

#[test]
fn reply_cuts_the_users_context_before_tool_results() {
    let long = "word ".repeat(40);
    let request = Request::Reply(ReplyRequest {
        user_context: Some(Text::from(long.as_str())),
        tool_results: Some(Text::from(long.as_str())),
        ..reply(ReplyMode::Api)
    });
    let full = size(&request, Format::Text);
    assert_eq!(cut(&fit(&request, full - 1, Format::Text).unwrap()), ["user-context"]);
    assert_eq!(cut(&fit(&request, full - 70, Format::Text).unwrap()), ["user-context", "tool-results"]);
}

#[test]
fn workflow_cuts_only_the_data_of_a_menu_item() {
    let data = DataContext {
        label: "x".to_owned(),
        path: "@pkg/x".to_owned(),
        preview: "word ".repeat(40),
        n_cut_bytes: 0,
    };
    let request = Request::Workflow(Box::new(WorkflowRequest {
        data_context: Some(data),
        user_input: Some("Hi".to_owned()),
        ..workflow(Mode::Run)
    }));
    for format in Format::ALL {
        let full = size(&request, format);
        assert_eq!(cut(&fit(&request, full - 1, format).unwrap()), ["data-context"]);
        assert!(fit(&request, full - 200, format).is_err());
    }
}

/// One token for each byte, so that every counted byte shows.
struct Bytes;

impl CountTokens for Bytes {
    fn name(&self) -> &'static str {
        "bytes"
    }
    fn is_exact(&self) -> bool {
        true
    }
    fn count(&self, texts: &[Vec<&str>]) -> Vec<Tokens> {
        texts.iter().map(|pieces| Tokens(pieces.iter().map(|piece| piece.len() as u64).sum())).collect()
    }
}

#[test]
fn a_rule_that_is_no_longer_printed_is_no_longer_counted() {
    let data = DataContext {
        label: "x".to_owned(),
        path: "@pkg/x".to_owned(),
        preview: "word ".repeat(40),
        n_cut_bytes: 0,
    };
    let with_data =
        Request::Workflow(Box::new(WorkflowRequest { data_context: Some(data), ..workflow(Mode::Agent) }));
    let without = Request::Workflow(Box::new(workflow(Mode::Agent)));
    let unbounded = Options { counter: &Bytes, ..options(Format::Text, WITH_SYSTEM_PROMPT) };
    let alone = PromptAggregator::new().aggregate(&without, &unbounded).unwrap().full_prompt();
    let budget = alone.len() as u64;
    let mut prompt = PromptAggregator::new().aggregate(&with_data, &with_budget(budget, unbounded)).unwrap();
    assert_eq!(prompt.full_prompt(), alone);
    assert_eq!(prompt.metadata(&Bytes).token_estimate, Tokens(budget));
}

#[test]
fn every_byte_of_a_prompt_is_counted_for_a_section() {
    for format in [Format::Text, Format::Xml] {
        for capability in [PLAIN, WITH_SYSTEM_PROMPT] {
            let options = Options { counter: &Bytes, ..options(format, capability) };
            let mut prompt = PromptAggregator::new().aggregate(&revising(), &options).unwrap();
            prompt.measure(&Bytes);
            let counted: Tokens = prompt.sections().iter().filter_map(|section| section.tokens).sum();
            assert_eq!(counted, Tokens(prompt.full_prompt().len() as u64));
        }
    }
}

#[test]
fn a_prompt_measured_by_one_counter_can_be_measured_by_another() {
    let options = options(Format::Text, PLAIN);
    let mut prompt = PromptAggregator::new().aggregate(&revising(), &options).unwrap();
    assert_eq!(prompt.metadata(&Tokenizer::Estimate).tokenizer, "estimate");
    let metadata = prompt.metadata(&Bytes);
    assert_eq!((metadata.tokenizer.as_str(), metadata.is_exact), ("bytes", true));
    assert_eq!(metadata.token_estimate, Tokens(prompt.full_prompt().len() as u64));
}

#[test]
fn an_exact_budget_is_enough() {
    let request = Request::Change(change("Go"));
    let full = size(&request, Format::Xml);
    assert!(fit(&request, full, Format::Xml).is_ok());
    assert!(fit(&request, full - 1, Format::Xml).is_err());
}

#[test]
fn references_cost_their_text_and_not_the_file() {
    let capability = Capability {
        supports_file_attachments: true,
        fs_ability: Some(FsAbility::LocalWrite),
        ..WITH_SYSTEM_PROMPT
    };
    let options = with_budget(200, options(Format::Text, capability));
    let prompt = PromptAggregator::new().aggregate(&revising(), &options).unwrap();
    assert_eq!(cut(&prompt), [""; 0]);
}
