//! Tests of the prompt pipeline as an embedding program sees it: requests in, prompts out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets what it did not expect must fail"
)]

// Base requests for the other files, and text that is difficult for a format.
mod fixtures;
// Strategies for property tests.
mod strategies;

// Recipe `session`: which artifact in which phase, references, output instructions, code files.
mod session;
// Recipe `change`: the XML document, templates by name, context items.
mod change;
// Recipe `workflow`: which layer in which mode, and what each layer says.
mod workflow;
// Recipe `workflow`: no real path gets out, and no forged block or key gets in.
mod workflow_boundaries;
// Recipe `reply`, and the registry of components that all recipes share.
mod reply;

// What fits a budget, what is cut, and how it is reported.
mod budget;
// Every error message with its hint.
mod errors;
// Whole prompts per recipe, format and capability, as snapshot files.
mod golden;
// Properties that hold for every request.
mod properties;
