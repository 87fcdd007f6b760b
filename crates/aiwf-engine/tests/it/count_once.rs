//! Counts are made when they are needed, and kept.

use aiwf_engine::prompt::{Recipe, Tokenizer};
use aiwf_engine::{BuildOptions, ChangeFlags, Document};

use crate::build::engine;

#[test]
fn tokens_are_counted_only_on_demand() {
    let root = tempfile::tempdir().unwrap();
    let document = Document::from_json(Recipe::Change, r#"{"instructions": "hello world"}"#).unwrap();
    let options = BuildOptions { tokenizer: Some(Tokenizer::O200kBase), ..BuildOptions::default() };
    let mut built = engine(root.path()).build(document, &ChangeFlags::default(), &options, &|_| {}).unwrap();
    assert!(built.prompt.sections().iter().all(|section| section.tokens.is_none()));
    assert!(!root.path().join("cache").exists());
    let metadata = built.metadata();
    assert!(metadata.is_exact);
    assert!(built.prompt.sections().iter().all(|section| section.tokens.is_some()));
    assert!(root.path().join("cache/aiwf/counts/o200k_base.bin").exists());
}
