//! For whom a prompt is built: a provider by name, or a capability.
//!
//! A capability is written `ABILITY[+system][+attachments]`, such as `none+system`: what the receiver does with files,
//! whether it takes system text apart, and whether it gets files beside the text.

use aiwf_config::Config;
use aiwf_prompt::FsAbility;
use aiwf_provider::built_in_providers;

use crate::ask::providers::{self, Duty};
use crate::prompt::build::BuildOptions;

/// One receiver of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The name in reports and in the names of golden files.
    pub(crate) name: String,
    pub(crate) receiver: Receiver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// A provider of this name.
    Provider,
    Capability {
        fs_ability: FsAbility,
        has_system: bool,
        has_attachments: bool,
    },
}

impl Shape {
    /// A receiver by its name; `None` if it is neither a provider nor a capability.
    pub(crate) fn named(name: &str, config: &Config) -> Option<Self> {
        let capability = capability(name);
        if capability.is_none() {
            providers::refuse_unknown(name, config, String::new).ok()?;
        }
        let receiver = capability.unwrap_or(Receiver::Provider);
        Some(Self { name: name.to_owned(), receiver })
    }

    /// The provider to ask; a capability has none.
    pub(crate) fn provider(&self) -> Option<&str> {
        (self.receiver == Receiver::Provider).then_some(self.name.as_str())
    }

    /// Every capability that a built-in provider has, without repetitions.
    pub(crate) fn of_built_in_providers(config: &Config) -> Vec<Self> {
        let mut shapes: Vec<Self> = Vec::new();
        for provider in built_in_providers() {
            let ability = providers::ability(provider.name, config, None, Duty::Write, "");
            let Ok(ability) = ability else { continue };
            let capability = ability.capability;
            let receiver = Receiver::Capability {
                fs_ability: capability.fs_ability.unwrap_or(FsAbility::None),
                has_system: capability.supports_system_prompt,
                has_attachments: capability.supports_file_attachments,
            };
            if !shapes.iter().any(|shape| shape.receiver == receiver) {
                shapes.push(Self { name: capability_name(receiver), receiver });
            }
        }
        shapes
    }

    /// The options with which a document is built for it.
    pub(crate) fn options(&self, options: BuildOptions) -> BuildOptions {
        match self.receiver {
            Receiver::Provider => BuildOptions { provider: Some(self.name.clone()), ..options },
            Receiver::Capability { fs_ability, has_system, has_attachments } => BuildOptions {
                fs_ability: Some(fs_ability),
                supports_system_prompt: Some(has_system),
                supports_file_attachments: Some(has_attachments),
                ..options
            },
        }
    }
}

const SYSTEM: &str = "system";
const ATTACHMENTS: &str = "attachments";

fn capability_name(receiver: Receiver) -> String {
    match receiver {
        Receiver::Provider => String::new(),
        Receiver::Capability { fs_ability, has_system, has_attachments } => {
            let system = if has_system { format!("+{SYSTEM}") } else { String::new() };
            let attachments = if has_attachments { format!("+{ATTACHMENTS}") } else { String::new() };
            format!("{}{system}{attachments}", fs_ability.as_str())
        }
    }
}

fn capability(name: &str) -> Option<Receiver> {
    let mut parts = name.split('+');
    let fs_ability = FsAbility::from_name(parts.next()?)?;
    let (mut has_system, mut has_attachments) = (false, false);
    for part in parts {
        match part {
            SYSTEM if !has_system => has_system = true,
            ATTACHMENTS if !has_attachments => has_attachments = true,
            _ => return None,
        }
    }
    Some(Receiver::Capability { fs_ability, has_system, has_attachments })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_is_its_name_again() {
        for name in ["local-write", "none", "none+system", "local-read+system+attachments"] {
            let receiver = capability(name).unwrap();
            assert_eq!(capability_name(receiver), name);
        }
        for other in ["openai", "none+", "none+system+system", "none+tools", ""] {
            assert_eq!(capability(other), None, "{other}");
        }
    }
}
