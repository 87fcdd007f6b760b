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

static FLOWS: LazyLock<Vec<Arc<Flow>>> = LazyLock::new(|| {
    // A test reads each of them; a file that is broken would leave its flow out.
    FILES.iter().filter_map(|(name, text)| parse_flow(name, text).ok()).map(Arc::new).collect()
});

impl Flow {
    /// The name of the flow that sessions of profiles follow.
    pub const GENERATE: &'static str = "generate";
    /// The name of the flow of `aiwf change`.
    pub const CHANGE: &'static str = "change";

    /// The flows that come with aiwf.
    pub fn built_in() -> &'static [Arc<Self>] {
        &FLOWS
    }

    /// The text of the file of a flow that comes with aiwf.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// The flow of that name that comes with aiwf.
    pub fn find_built_in(name: &str) -> Option<Arc<Self>> {
        FLOWS.iter().find(|flow| flow.name == name).cloned()
    }
}
