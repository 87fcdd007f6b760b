//! What every setting is for, in the order a reader meets them: the source of the configuration's reference.
//!
//! Kept beside the readers: a test compares the keys here with the keys that are read, and the defaults with what
//! holds when nothing is set.

/// A table of `config.toml`.
#[derive(Clone, Copy, Debug)]
pub struct TableDoc {
    /// As a person writes it: `[session]`, `[providers.NAME]`.
    pub table: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// Its keys.
    pub settings: &'static [SettingDoc],
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct SettingDoc {
    /// The key.
    pub key: &'static str,
    /// What may stand there.
    pub kind: &'static str,
    /// What holds when it is not set; empty when nothing does.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
}

const fn setting(
    key: &'static str,
    kind: &'static str,
    default: &'static str,
    help: &'static str,
) -> SettingDoc {
    SettingDoc { key, kind, default, help }
}

/// Every table there is.
pub fn setting_docs() -> &'static [TableDoc] {
    TABLES
}

static TABLES: &[TableDoc] = &[
    TableDoc {
        table: "[roles]",
        about: "Who does the work of a session.",
        settings: &[
            setting("default", "provider", "manual", "whoever has no role of their own"),
            setting("planner", "provider", "", "makes the plan"),
            setting("generator", "provider", "", "writes the code"),
            setting("reviewer", "provider", "", "judges the code"),
            setting("reviser", "provider", "", "mends the code"),
        ],
    },
    TableDoc {
        table: "[gates]",
        about: "Who says yes. A gate is named by phase and stage, in quotes: `\"planning.prompt\"`. Its value is \
                `\"manual\"`, `\"skip\"` or `\"ai:PROVIDER\"`, or a table with the keys of the next list.",
        settings: &[setting("default", "gate", "manual", "every gate that is not named")],
    },
    TableDoc {
        table: "[gates.\"PHASE.STAGE\"]",
        about: "One gate, with its options.",
        settings: &[
            setting("approver", "`manual`, `skip` or `ai:PROVIDER`", "", "who decides"),
            setting("max_retries", "number", "0", "how often a model may turn down before a person decides"),
            setting(
                "allow_rewrite",
                "true or false",
                "false",
                "whether a model that judges a prompt may put its own version in place",
            ),
        ],
    },
    TableDoc {
        table: "[session]",
        about: "How sessions run.",
        settings: &[
            setting(
                "max_iterations",
                "number",
                "5",
                "how many iterations there may be; the first generation is 1",
            ),
            setting(
                "hash_prompts",
                "true or false",
                "true",
                "whether a prompt edited after its approval counts as changed",
            ),
            setting(
                "budget_tokens",
                "number",
                "",
                "how many tokens a prompt may have; else the provider's window less its reply limit",
            ),
            setting(
                "max_template_mb",
                "number",
                "64",
                "how many megabytes of memory a template that is not built in may take; a project may only lower it",
            ),
        ],
    },
    TableDoc {
        table: "[standards]",
        about: "What the project brings to the standards of every profile, beside the files in `.aiwf/standards/`. A file \
                is named by its path below its directory.",
        settings: &[
            setting(
                "dirs",
                "list of paths",
                "",
                "more directories of standards; those that a project names lie in the project",
            ),
            setting(
                "replace",
                "list of names",
                "",
                "use the project's file of that name in place of the profile's",
            ),
            setting("exclude", "list of names", "", "leave these files out of the bundle"),
        ],
    },
    TableDoc {
        table: "[change]",
        about: "How changes run.",
        settings: &[
            setting("agents", "table of phase = provider", "", "who does a phase; others: `[roles] default`"),
            setting("files", "list of patterns", "", "files that every phase sees"),
            setting("max_rounds", "number", "3", "how many rounds each loop may take"),
            setting(
                "write",
                "true or false",
                "false",
                "whether the agent that implements edits the project itself",
            ),
        ],
    },
    TableDoc {
        table: "[workflow]",
        about: "How runs of workflow packages go, and conversations with their agents.",
        settings: &[
            setting(
                "conditions",
                "`warn` or `enforce`",
                "warn",
                "an edge whose condition does not hold: taken with a warning, or refused",
            ),
            setting("max_turns", "number", "50", "how often a model is asked until the run stops by itself"),
            setting(
                "context_tokens",
                "number",
                "",
                "how many tokens a request may have; else the provider's window less its reply limit",
            ),
            setting(
                "result_preview_bytes",
                "number",
                "65536",
                "how much of one result of a tool stays in the conversation",
            ),
            setting("provider", "provider", "", "who is asked; else `[roles] default`"),
            setting(
                "max_read_bytes",
                "number",
                "524288",
                "how much a file tool may read at once; an agent can only have less",
            ),
            setting(
                "max_write_bytes",
                "number",
                "2097152",
                "how much a file tool may write at once; an agent can only have less",
            ),
            setting(
                "files",
                "true or false",
                "true",
                "whether models get file tools; `false` in your own file is not overruled by a project",
            ),
        ],
    },
    TableDoc {
        table: "[budget]",
        about: "What one session, change or run may cost. Checked before each call with the worst case; what is not set has no limit.",
        settings: &[
            setting("max_calls", "number", "", "how many calls"),
            setting("max_tokens", "number", "", "how many tokens, sent and received"),
            setting("max_cost", "dollars", "", "how much money"),
        ],
    },
    TableDoc {
        table: "[prices.\"MODEL\"]",
        about: "What a model costs, in dollars per million tokens; adds to the list that aiwf knows, and wins over it.",
        settings: &[
            setting("input", "dollars", "", "tokens sent"),
            setting("output", "dollars", "", "tokens received"),
            setting(
                "cached_input",
                "dollars",
                "",
                "tokens sent that came from a cache; as `input` when not set",
            ),
        ],
    },
    TableDoc {
        table: "[defaults]",
        about: "What holds for every provider that says nothing else.",
        settings: &[setting(
            "fs_ability",
            "`local-write`, `local-read`, `write-only` or `none`",
            "",
            "what a provider can do with files",
        )],
    },
    TableDoc {
        table: "[providers.NAME]",
        about: "A provider, or more about a built-in one. Which keys count depends on its type.",
        settings: &[
            setting("type", "provider type", "", "what it is: one of the built-in names; those need none"),
            setting("model", "text", "", "the model; an agent's own choice when not set"),
            setting(
                "base_url",
                "address",
                "",
                "where the API is; a key goes to no address that only a project names",
            ),
            setting("api_key_env", "variable", "", "the variable that holds the key"),
            setting(
                "api_key_command",
                "list of words",
                "",
                "the program that prints the key; only in your own file",
            ),
            setting("timeout", "time", "30m", "how long a call may take"),
            setting("connect_timeout", "time", "10s", "how long connecting may take"),
            setting("first_byte_timeout", "time", "5m", "how long nothing may arrive at first"),
            setting("program", "program", "", "the agent's program; a path only in your own file"),
            setting("argv", "list of words", "", "the program and its arguments, for `command`"),
            setting(
                "reply",
                "`stdout`, `file` or `json:/pointer`",
                "stdout",
                "where the reply of a `command` is",
            ),
            setting("env", "table of variable = text", "", "variables for the program"),
            setting("dir", "path", "", "where the recordings of a `replay` are"),
            setting("max_output_tokens", "number", "", "how long a reply may be"),
            setting("context_window", "number", "", "how much the model takes"),
            setting("max_reply_bytes", "number", "33554432", "how many bytes of reply are taken"),
            setting(
                "fs_ability",
                "`local-write`, `local-read`, `write-only` or `none`",
                "",
                "what it can do with files",
            ),
            setting(
                "supports_system_prompt",
                "true or false",
                "",
                "whether it takes system text apart from the user's",
            ),
            setting(
                "supports_file_attachments",
                "true or false",
                "",
                "whether it opens `@path` references by itself",
            ),
        ],
    },
    TableDoc {
        table: "[mcp]",
        about: "Servers of tools.",
        settings: &[
            setting(
                "allow_unknown",
                "true or false",
                "false",
                "start servers that nobody agreed to; only in your own file",
            ),
            setting("servers", "tables", "", "the servers, see the next list"),
        ],
    },
    TableDoc {
        table: "[mcp.servers.NAME]",
        about: "A server of tools: a program (`command`) or an address (`url`). `${VAR}` in `env` and `headers` is \
                replaced from the environment.",
        settings: &[
            setting("command", "program", "", "what to start"),
            setting("args", "list of words", "", "its arguments"),
            setting("env", "table of variable = text", "", "variables for it"),
            setting("cwd", "path", "", "where it runs"),
            setting("url", "address", "", "where it listens, instead of `command`"),
            setting("headers", "table of name = text", "", "headers for `url`"),
            setting("timeout", "time", "", "how long one call may take"),
            setting(
                "read_only",
                "list of tools",
                "",
                "tools that change nothing, where the server does not say so",
            ),
        ],
    },
    TableDoc {
        table: "[tools]",
        about: "How tools are used.",
        settings: &[
            setting("enabled", "true or false", "true", "whether tools are used at all"),
            setting("max_rounds", "number", "10", "how often a model may be asked again with results"),
            setting("max_result_bytes", "number", "32768", "how much of one result is handed on"),
            setting("timeout", "time", "", "how long one call may take, where the server does not say"),
            setting(
                "grant",
                "table of phase = list of tools",
                "",
                "the tools each phase may use, by their full names `SERVER__TOOL`; see the next list",
            ),
        ],
    },
    TableDoc {
        table: "[tools.grant]",
        about: "Which tools of the servers each phase may use. A phase that is not named gets none.",
        settings: &[
            setting("planning", "list of tools", "", "sessions: the plan"),
            setting("generating", "list of tools", "", "sessions: the code"),
            setting("reviewing", "list of tools", "", "sessions: the review"),
            setting("revising", "list of tools", "", "sessions: the revision"),
            setting("plan", "list of tools", "", "changes: the plan"),
            setting("challenge", "list of tools", "", "changes: what speaks against the plan"),
            setting("implement", "list of tools", "", "changes: the code"),
            setting("review", "list of tools", "", "changes: the review"),
            setting("archive", "list of tools", "", "changes: the record"),
            setting("reply", "list of tools", "", "`aiwf prompt send reply`"),
            setting("workflow", "list of tools", "", "`aiwf workflow`: runs of packages"),
            setting("agent", "list of tools", "", "`aiwf agent`: conversations with agents of packages"),
            setting("chat", "list of tools", "", "`aiwf chat`"),
        ],
    },
    TableDoc {
        table: "[trust]",
        about: "What is trusted without being asked. Counts in the user's own file only.",
        settings: &[setting(
            "adopt",
            "`ask` or `always`",
            "ask",
            "what happens to a session that you did not create: `always` lets every command act on it, for CI and \
             containers with a fresh home",
        )],
    },
];

#[cfg(test)]
#[path = "setting_docs_tests.rs"]
mod tests;
