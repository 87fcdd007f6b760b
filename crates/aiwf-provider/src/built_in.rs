//! The providers every installation knows, with their default capabilities.

use aiwf_prompt::{FsAbility, Tokenizer};

/// What a provider can take by default.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// What it can do with files; not known for those that depend on the person or the program behind them.
    pub fs_ability: Option<FsAbility>,
    /// Whether it takes system text apart from the user's.
    pub supports_system_prompt: bool,
    /// Whether it opens `@path` references by itself.
    pub supports_file_attachments: bool,
    /// The vocabulary its models count with, where one is public.
    pub tokenizer: Tokenizer,
}

const fn provider_row(
    name: &'static str,
    description: &'static str,
    fs_ability: Option<FsAbility>,
    supports_system_prompt: bool,
    tokenizer: Tokenizer,
) -> Provider {
    Provider {
        name,
        description,
        fs_ability,
        supports_system_prompt,
        supports_file_attachments: false,
        tokenizer,
    }
}

static PROVIDERS: [Provider; 8] = [
    provider_row("manual", "a person who pastes the prompt into any chat", None, false, Tokenizer::Estimate),
    provider_row("claude-code", "Claude Code", Some(FsAbility::LocalWrite), true, Tokenizer::Estimate),
    provider_row("codex", "Codex CLI", Some(FsAbility::LocalWrite), true, Tokenizer::O200kBase),
    provider_row("gemini-cli", "Gemini CLI", Some(FsAbility::LocalWrite), true, Tokenizer::Estimate),
    provider_row("command", "any program that reads a prompt", None, false, Tokenizer::Estimate),
    provider_row("anthropic", "Anthropic's API", Some(FsAbility::None), true, Tokenizer::Estimate),
    provider_row("openai", "OpenAI's API, or one like it", Some(FsAbility::None), true, Tokenizer::O200kBase),
    provider_row("gemini", "Gemini's API", Some(FsAbility::None), true, Tokenizer::Estimate),
];

/// The providers every installation knows.
pub fn built_in_providers() -> &'static [Provider] {
    &PROVIDERS
}

/// The built-in provider with that name.
pub fn provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}
