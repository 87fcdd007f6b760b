//! The kinds of providers every installation knows, with their default capabilities.

use aiwf_prompt::{FsAbility, Tokenizer};

/// A kind of provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A person.
    Manual,
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Any program.
    Command,
    /// Anthropic's API.
    Anthropic,
    /// OpenAI's API, or one like it.
    OpenAi,
    /// Gemini's API.
    Gemini,
    /// Recorded answers.
    Replay,
}

/// What a provider can take by default.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing it can or cannot do")]
pub struct Provider {
    /// The name that it has without a table of its own, and that `type` names it by.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// What it is.
    pub description: &'static str,
    /// What it can do with files; not known for those that depend on the person or the program behind them.
    pub fs_ability: Option<FsAbility>,
    /// Whether it takes system text apart from the user's.
    pub supports_system_prompt: bool,
    /// Whether files are named as `@path` instead of standing in the prompt.
    pub supports_file_attachments: bool,
    /// Whether files that are named so have to travel with the request: it opens none by itself.
    pub sends_files: bool,
    /// The vocabulary its models count with, where one is public.
    pub tokenizer: Tokenizer,
    /// How many tokens its usual models read at once; unknown where any model may stand behind it.
    pub context_window: Option<u64>,
    /// How many tokens of reply are asked for when nobody says; `None` where aiwf cannot limit them.
    pub max_output_tokens: Option<u64>,
    /// Whether the reply arrives piece by piece.
    pub is_streaming: bool,
    /// Whether it calls tools of ours by its own means.
    pub has_native_tools: bool,
    /// Whether marks in a request say what its cache keeps.
    pub has_cache_marks: bool,
    /// What aiwf can hold it to.
    pub confinement: Confinement,
    /// The agent whose system templates it takes.
    pub template_agent: Option<&'static str>,
    /// The model that is asked at the vendor's own address when nobody names one.
    pub default_model: Option<&'static str>,
    /// The variable its key is usually in.
    pub key_variable: Option<&'static str>,
}

/// What aiwf can hold a provider to while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// It has no hands.
    NoHands,
    /// It writes the response path and nothing else.
    ResponsePath,
    /// It reads and writes nothing.
    ReadOnly,
    /// It cannot be limited.
    Unconfined,
}

impl Confinement {
    /// The words used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoHands => "touches no files",
            Self::ResponsePath => "can be limited to writing the response file",
            Self::ReadOnly => "can be limited to reading",
            Self::Unconfined => "not sandboxed",
        }
    }
}

/// A provider about which nothing is known but its name.
const fn row(name: &'static str, kind: Kind, description: &'static str) -> Provider {
    Provider {
        name,
        kind,
        description,
        fs_ability: None,
        supports_system_prompt: false,
        supports_file_attachments: false,
        sends_files: false,
        tokenizer: Tokenizer::Estimate,
        context_window: None,
        max_output_tokens: None,
        is_streaming: false,
        has_native_tools: false,
        has_cache_marks: false,
        confinement: Confinement::Unconfined,
        template_agent: None,
        default_model: None,
        key_variable: None,
    }
}

/// A program that a vendor gives to work in a project.
const AGENT: Provider = Provider {
    fs_ability: Some(FsAbility::LocalWrite),
    supports_system_prompt: true,
    confinement: Confinement::ReadOnly,
    ..row("", Kind::Command, "")
};

/// A model behind a web address.
const API: Provider = Provider {
    fs_ability: Some(FsAbility::None),
    supports_system_prompt: true,
    sends_files: true,
    is_streaming: true,
    has_native_tools: true,
    confinement: Confinement::NoHands,
    ..row("", Kind::OpenAi, "")
};

static PROVIDERS: [Provider; 9] = [
    row("manual", Kind::Manual, "a person who pastes the prompt into any chat"),
    Provider {
        name: "claude-code",
        kind: Kind::ClaudeCode,
        description: "Claude Code",
        context_window: Some(200_000),
        confinement: Confinement::ResponsePath,
        template_agent: Some("CLAUDE"),
        key_variable: Some("ANTHROPIC_API_KEY"),
        ..AGENT
    },
    Provider {
        name: "codex",
        kind: Kind::Codex,
        description: "Codex CLI",
        context_window: Some(256_000),
        tokenizer: Tokenizer::O200kBase,
        template_agent: Some("CODEX"),
        key_variable: Some("OPENAI_API_KEY"),
        ..AGENT
    },
    Provider {
        name: "gemini-cli",
        kind: Kind::GeminiCli,
        description: "Gemini CLI",
        context_window: Some(1_000_000),
        is_streaming: true,
        template_agent: Some("GEMINI"),
        key_variable: Some("GEMINI_API_KEY"),
        ..AGENT
    },
    Provider {
        // Its standard output is the reply; one whose reply is a file can write, as its table says.
        fs_ability: Some(FsAbility::None),
        is_streaming: true,
        ..row("command", Kind::Command, "any program that reads a prompt")
    },
    Provider {
        name: "anthropic",
        kind: Kind::Anthropic,
        description: "Anthropic's API",
        has_cache_marks: true,
        context_window: Some(200_000),
        max_output_tokens: Some(32_000),
        template_agent: Some("CLAUDE"),
        default_model: Some("claude-sonnet-4-5"),
        key_variable: Some("ANTHROPIC_API_KEY"),
        ..API
    },
    Provider {
        name: "openai",
        kind: Kind::OpenAi,
        description: "OpenAI's API, or one like it",
        tokenizer: Tokenizer::O200kBase,
        max_output_tokens: Some(32_000),
        template_agent: Some("CODEX"),
        default_model: Some("gpt-5"),
        key_variable: Some("OPENAI_API_KEY"),
        ..API
    },
    Provider {
        name: "gemini",
        kind: Kind::Gemini,
        description: "Gemini's API",
        context_window: Some(1_000_000),
        max_output_tokens: Some(32_000),
        template_agent: Some("GEMINI"),
        default_model: Some("gemini-2.5-pro"),
        key_variable: Some("GEMINI_API_KEY"),
        ..API
    },
    Provider {
        fs_ability: Some(FsAbility::None),
        confinement: Confinement::NoHands,
        ..row("replay", Kind::Replay, "recorded answers, offline")
    },
];

/// The providers every installation knows.
pub fn built_in_providers() -> &'static [Provider] {
    &PROVIDERS
}

/// The built-in provider with that name.
pub fn provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// The kind with that name.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    provider(name).map(|provider| provider.kind)
}

/// The names of all kinds, as `type` takes them.
pub fn kind_names() -> Vec<&'static str> {
    PROVIDERS.iter().map(|provider| provider.name).collect()
}

/// The kind that stands for an agent family: `claude` for `claude-code`.
pub fn of_family(family: &str) -> Option<&'static Provider> {
    let kind = match family {
        "claude" => Kind::ClaudeCode,
        "codex" => Kind::Codex,
        "gemini" => Kind::GeminiCli,
        _ => return None,
    };
    PROVIDERS.iter().find(|provider| provider.kind == kind)
}
