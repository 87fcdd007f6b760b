//! aiwf-store
