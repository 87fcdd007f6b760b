//! The scripted model server against the programs it is made for.

#![allow(clippy::expect_used, reason = "helper functions of tests stop at the first surprise")]

mod real_agents;
