//! aiwf-prompt
