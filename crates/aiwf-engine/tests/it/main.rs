//! The engine as a program that embeds it meets it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "helper functions of tests stop at the first surprise"
)]

mod abilities;
mod budget;
mod build;
mod change;
mod change_agents;
mod change_prompts;
mod comments;
mod count_once;
mod do_flow;
mod driver;
mod embedding;
mod everyday;
mod exchange;
mod fake_provider;
mod flows;
mod gates;
mod histories;
mod hostile_checkout;
mod hostile_runs;
mod import;
mod leaks;
mod ledger;
mod notifications;
mod prompt_cases;
mod prompt_diff;
mod properties;
mod real_setups;
mod review;
mod run_control;
mod run_driver;
mod run_limits;
mod run_mcp;
mod run_messages;
mod run_rules;
mod run_tools;
mod safe_apply;
mod scene;
mod seen_gate;
mod self_running_files;
mod session;
mod session_limits;
mod standards;
mod strangers_checkout;
mod taken_names;
mod tool_loop;
mod trust;
mod twins;
mod usage_limits;
mod worktree_flow;
