//! What an agent's program reads to call aiwf: an entry for the MCP server, and a command or a skill.
//!
//! In: the agent and its directories. Out: the files and what belongs into each, as data; nothing is read or written here.
//! Places and keys as Claude Code 2.1.325, Codex 0.166.0 and Gemini CLI 0.61.0 read them.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// The name of our entry in every agent.
pub const INTEGRATION_NAME: &str = "aiwf";
/// How an agent starts our server.
pub const INTEGRATION_COMMAND: (&str, &[&str]) = ("aiwf", &["mcp"]);

/// Whose files are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegrationScope {
    Project,
    User,
}

impl IntegrationScope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }

    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Project => Self::User,
            Self::User => Self::Project,
        }
    }
}

/// Where agents keep their files.
#[derive(Clone, Debug)]
pub struct IntegrationPlaces<'p> {
    pub project_root: &'p Path,
    pub home: &'p Path,
    /// A directory that the environment names instead of the agent's usual one, by variable.
    pub variable: fn(&str) -> Option<String>,
}

/// A file of an agent, and what belongs into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegrationFile {
    /// The directory that it stays in.
    pub root: PathBuf,
    /// Relative to the directory, joined with `/`.
    pub path: String,
    pub content: IntegrationContent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegrationContent {
    /// An entry in the object of servers of a JSON file.
    JsonServer { servers: &'static str, has_type: bool },
    /// A table below the table of servers of a TOML file.
    TomlServer { servers: &'static str },
    /// A file of our own.
    Own(&'static str),
}

/// The agents that can be integrated, each with the scopes it has; the first is the default.
pub const INTEGRATED_AGENTS: [(&str, &[IntegrationScope]); 3] = [
    ("claude", &[IntegrationScope::Project, IntegrationScope::User]),
    ("codex", &[IntegrationScope::User]),
    ("gemini", &[IntegrationScope::Project, IntegrationScope::User]),
];

/// The files of an agent; `None` if it has none in this scope.
pub fn integration(
    agent: &str,
    scope: IntegrationScope,
    places: &IntegrationPlaces<'_>,
) -> Option<Vec<IntegrationFile>> {
    let user_dir =
        |variable: &str| (places.variable)(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let file = |root: &Path, path: &str, content: IntegrationContent| IntegrationFile {
        root: root.to_owned(),
        path: path.to_owned(),
        content,
    };
    let json = |has_type: bool| IntegrationContent::JsonServer { servers: "mcpServers", has_type };
    match (agent, scope) {
        ("claude", IntegrationScope::Project) => Some(vec![
            file(places.project_root, ".mcp.json", json(false)),
            file(places.project_root, ".claude/commands/aiwf.md", IntegrationContent::Own(CLAUDE_COMMAND)),
        ]),
        ("claude", IntegrationScope::User) => {
            // With a directory of its own, all of its files are in there.
            let chosen = user_dir("CLAUDE_CONFIG_DIR");
            let (state, commands) = match &chosen {
                Some(directory) => (directory.as_path(), "commands/aiwf.md"),
                None => (places.home, ".claude/commands/aiwf.md"),
            };
            Some(vec![
                file(state, ".claude.json", json(true)),
                file(state, commands, IntegrationContent::Own(CLAUDE_COMMAND)),
            ])
        }
        ("codex", IntegrationScope::User) => {
            let chosen = user_dir("CODEX_HOME");
            let (root, below) = match &chosen {
                Some(directory) => (directory.as_path(), ""),
                None => (places.home, ".codex/"),
            };
            Some(vec![
                file(
                    root,
                    &format!("{below}config.toml"),
                    IntegrationContent::TomlServer { servers: "mcp_servers" },
                ),
                file(root, &format!("{below}skills/aiwf/SKILL.md"), IntegrationContent::Own(CODEX_SKILL)),
            ])
        }
        ("gemini", scope) => {
            let chosen = user_dir("GEMINI_CLI_HOME");
            let root = match scope {
                IntegrationScope::Project => places.project_root,
                IntegrationScope::User => chosen.as_deref().unwrap_or(places.home),
            };
            Some(vec![
                file(root, ".gemini/settings.json", json(false)),
                file(root, ".gemini/commands/aiwf.toml", IntegrationContent::Own(GEMINI_COMMAND)),
            ])
        }
        _ => None,
    }
}

const CLAUDE_COMMAND: &str = "\
---
description: Change this project with aiwf, with a gate after each step
argument-hint: what to change
---
Change this project with aiwf: $ARGUMENTS

1. Call the tool `list_sessions` of the MCP server `aiwf`. If a session for this request is waiting, continue with it.
2. Otherwise run `aiwf do` with the request as one argument. It plans, implements, checks and reviews, and stops at each gate.
3. Show what `session_status` and `preview_prompt` say, and stop. The user approves with `aiwf approve`, rejects with
   `aiwf reject`, and writes the result into the project with `aiwf apply`. Never approve or apply for the user.
";

const CODEX_SKILL: &str = "\
---
name: aiwf
description: Change a project with aiwf, with a gate after each step. Use it when the user asks for aiwf.
---
Change the project with aiwf, as the user asks:

1. Call the tool `list_sessions` of the MCP server `aiwf`. If a session for this request is waiting, continue with it.
2. Otherwise run `aiwf do` with the request as one argument. It plans, implements, checks and reviews, and stops at each gate.
3. Show what `session_status` and `preview_prompt` say, and stop. The user approves with `aiwf approve`, rejects with
   `aiwf reject`, and writes the result into the project with `aiwf apply`. Never approve or apply for the user.
";

const GEMINI_COMMAND: &str = r#"description = "Change this project with aiwf, with a gate after each step"
prompt = """
Change this project with aiwf: {{args}}

1. Call the tool `list_sessions` of the MCP server `aiwf`. If a session for this request is waiting, continue with it.
2. Otherwise run `aiwf do` with the request as one argument. It plans, implements, checks and reviews, and stops at each gate.
3. Show what `session_status` and `preview_prompt` say, and stop. The user approves with `aiwf approve`, rejects with
   `aiwf reject`, and writes the result into the project with `aiwf apply`. Never approve or apply for the user.
"""
"#;
