//! Providers as the engine meets them: opened from a setting, asked, and judged by what comes back.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "a test that meets what it did not expect must fail"
)]

// Model APIs, against a server of the tests.
mod asking;
mod http_check;
mod http_endings;
mod http_failures;
mod http_keys;
mod http_once;
mod http_replies;
mod http_waits;
mod server;

// A program that stands for an agent, and a sink that keeps everything.
mod fake_agent;

// What ends a call early, and that no process is left then.
mod child_processes;

// Each agent: what it says, and what of it is a reply.
mod claude_code;
mod codex;
mod command;
mod gemini_cli;

// The real agents, and what they write where they may write.
mod real_agents;

// What `check` finds.
mod checks;
// What is said of usage limits, by agents and by model APIs.
mod limits;
// Where a login goes, and where it does not.
mod logins;
