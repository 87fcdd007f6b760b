//! aiwf-provider
