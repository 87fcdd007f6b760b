//! aiwf-config
