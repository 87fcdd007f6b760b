//! Names that profiles, their parameters and their commands cannot have.

/// The commands of aiwf, and words reserved for future ones.
pub const RESERVED_PROFILE_NAMES: [&str; 66] = [
    "adopt",
    "agent",
    "aiwf",
    "apply",
    "approve",
    "assign",
    "bench",
    "cache",
    "cancel",
    "change",
    "chat",
    "checks",
    "comment",
    "completions",
    "config",
    "demo",
    "diff",
    "do",
    "events",
    "export",
    "flow",
    "help",
    "import",
    "init",
    "integrate",
    "list",
    "log",
    "man",
    "mcp",
    "new",
    "package",
    "packages",
    "policy",
    "preview",
    "profile",
    "profiles",
    "prompt",
    "prompts",
    "provider",
    "providers",
    "reject",
    "reply",
    "respond",
    "restore",
    "retry",
    "revise",
    "rm",
    "run",
    "serve",
    "session",
    "sessions",
    "show",
    "status",
    "step",
    "template",
    "test",
    "tool",
    "tools",
    "trust",
    "ui",
    "undo",
    "validate",
    "verify",
    "version",
    "web",
    "workflow",
];

/// The flags of `init` that every profile has.
pub(crate) const RESERVED_FLAGS: [&str; 16] = [
    "budget",
    "force",
    "fs-ability",
    "gate",
    "generator",
    "hash-prompts",
    "help",
    "json",
    "no-hash-prompts",
    "planner",
    "project-dir",
    "reviewer",
    "reviser",
    "standards",
    "version",
    "yes",
];

/// The commands that every profile has.
const RESERVED_SUBCOMMANDS: [&str; 3] = ["help", "info", "init"];

pub(crate) fn is_reserved_profile(name: &str) -> bool {
    RESERVED_PROFILE_NAMES.contains(&name)
}

pub(crate) fn is_reserved_flag(name: &str) -> bool {
    RESERVED_FLAGS.contains(&name)
}

pub(crate) fn is_reserved_subcommand(name: &str) -> bool {
    RESERVED_SUBCOMMANDS.contains(&name)
}

/// Lower-case letters, digits and single hyphens, starting with a letter, at most 40 characters.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(is_fine)
        && !name.ends_with('-')
        && !name.contains("--")
}

/// Upper-case letters, digits and underscores, starting with a letter.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.len() <= 60 && name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(is_fine)
}
