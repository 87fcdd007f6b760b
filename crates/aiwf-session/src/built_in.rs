//! The flows that come with aiwf.

use std::sync::{Arc, LazyLock};

use crate::flow::Flow;
use crate::flow_file::parse_flow;

/// Each with the text of its file.
const FILES: [(&str, &str); 4] = [
    ("generate", include_str!("../../../flows/generate/flow.toml")),
    ("change", include_str!("../../../flows/change/flow.toml")),
    ("do", include_str!("../../../flows/do/flow.toml")),
    ("spec", include_str!("../../../flows/spec/flow.toml")),
];

/// The templates beside them: flow, file, text.
const TEMPLATES: [(&str, &str, &str); 8] = [
    ("do", "plan.md", include_str!("../../../flows/do/plan.md")),
    ("do", "implement.md", include_str!("../../../flows/do/implement.md")),
    ("do", "review.md", include_str!("../../../flows/do/review.md")),
    ("spec", "specify.md", include_str!("../../../flows/spec/specify.md")),
    ("spec", "plan.md", include_str!("../../../flows/spec/plan.md")),
    ("spec", "tasks.md", include_str!("../../../flows/spec/tasks.md")),
    ("spec", "implement.md", include_str!("../../../flows/spec/implement.md")),
    ("spec", "review.md", include_str!("../../../flows/spec/review.md")),
];

static FLOWS: LazyLock<Vec<Arc<Flow>>> = LazyLock::new(|| {
    // A test parses each of them: a broken one would be missing here without an error.
    FILES.iter().filter_map(|(name, text)| parse_flow(name, text, &mut |_| true).ok()).map(Arc::new).collect()
});

impl Flow {
    /// The name of the flow that sessions of profiles follow.
    pub const GENERATE: &'static str = "generate";
    /// The name of the flow of `aiwf change`.
    pub const CHANGE: &'static str = "change";

    pub fn built_in() -> &'static [Arc<Self>] {
        &FLOWS
    }

    /// The text of the file of a flow that comes with aiwf.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    pub fn built_in_template(flow: &str, file: &str) -> Option<&'static str> {
        let template = TEMPLATES.iter().find(|(known, name, _)| (*known, *name) == (flow, file));
        template.map(|(_, _, text)| *text)
    }

    /// The flow of that name that comes with aiwf.
    pub fn find_built_in(name: &str) -> Option<Arc<Self>> {
        FLOWS.iter().find(|flow| flow.name == name).cloned()
    }
}
