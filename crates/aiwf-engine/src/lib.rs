//! aiwf-engine
