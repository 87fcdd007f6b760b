//! Tests of the prompt pipeline as an embedding program sees it: requests in, prompts out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets what it did not expect must fail"
)]

// Requests that the other files start from, and the text that makes life hard for a format.
mod fixtures;
// What property tests draw.
mod strategies;

// Recipe `session`: which artifact in which phase, references, output instructions, code files.
mod session;
// Recipe `change`: the XML document, templates by name, context items.
mod change;
// Recipe `workflow`: which layer in which mode, and what each layer says.
mod workflow;
// Recipe `workflow`: what must not get out (real paths) and what must not get in (forged blocks and keys).
mod workflow_boundaries;
// Recipe `reply`, and the registry of components that all recipes share.
mod reply;

// What fits a budget, what is cut and what is said about it.
mod budget;
// Every error message with its hint.
mod errors;
// Whole prompts per recipe, format and capability, as snapshot files.
mod golden;
// What must hold for every request.
mod properties;
