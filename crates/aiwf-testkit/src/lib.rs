//! aiwf-testkit
