#![no_main]

use aiwf_reply::edit_front_matter;
use aiwf_package::{Conditions, Package, State, guard, scaffold};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let package = Package::from_files(scaffold("fuzz").unwrap()).unwrap();
    let workflow = package.workflow(None).unwrap();
    if let Ok(accepted) = guard(&workflow.graph, &workflow.text, text, None, Conditions::Enforce) {
        assert!(workflow.graph.node(&accepted.to).is_some());
    }
    let value = serde_json::json!({ "updatedAt": text });
    if let Ok(edited) = edit_front_matter(text, |_| value.as_object().unwrap().clone()) {
        assert!(aiwf_reply::parse_front_matter(&edited).problems.is_empty());
    }
    drop(State::parse(text));
});
