//! A provider's kind becomes something that can be asked; the one place that knows which is which.

use crate::ask::Ask;
use crate::ask_error::AskError;
use crate::built_in::{Kind, kind};
use crate::manual::Manual;
use crate::provider_setting::ProviderSetting;
use crate::replay::{Cassette, Replay};

/// Opens a provider; nothing is started or looked up before it is asked or checked.
///
/// What one call finds out, such as the key that a program prints, the next ones use: open it once.
pub fn open(setting: ProviderSetting) -> Result<Box<dyn Ask + Send + Sync>, AskError> {
    let Some(found) = kind(&setting.kind) else {
        return Err(AskError::Setting {
            message: format!("unknown type `{}`", setting.kind),
            provider: setting.name,
            hint: format!("set `type` to one of {}", crate::built_in::kind_names().join(", ")),
        });
    };
    match found {
        Kind::Manual => Ok(Box::new(Manual)),
        Kind::Replay => match setting.dir {
            Some(dir) => Ok(Box::new(Replay::new(Cassette::in_directory(dir)))),
            None => Err(missing(&setting.name, "dir", "the directory of its recordings")),
        },
        Kind::ClaudeCode | Kind::Codex | Kind::GeminiCli | Kind::Command => {
            crate::agent::open(found, setting)
        }
        Kind::Anthropic | Kind::OpenAi | Kind::Gemini => crate::http::open(found, setting),
    }
}

/// A setting that a provider cannot do without.
pub(crate) fn missing(provider: &str, setting: &str, what: &str) -> AskError {
    AskError::Setting {
        provider: provider.to_owned(),
        message: format!("`{setting}` is not set"),
        hint: format!("set `{setting}`, {what}, in `[providers.{provider}]`"),
    }
}
