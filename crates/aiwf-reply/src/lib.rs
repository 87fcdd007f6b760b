//! aiwf-reply
