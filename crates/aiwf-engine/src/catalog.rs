//! What a session can follow: profiles, flows and packages. Finds and validates them.

pub(crate) mod flows;
pub(crate) mod packages;
pub(crate) mod profile_store;
pub(crate) mod profiles;
pub(crate) mod validate;
