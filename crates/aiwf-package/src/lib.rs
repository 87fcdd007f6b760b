//! Workflow packages.

pub mod sandbox;
