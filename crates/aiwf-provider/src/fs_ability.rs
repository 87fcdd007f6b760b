//! What a provider can do with files, when several places say something about it.

use aiwf_prompt::FsAbility;

/// What each place says, the strongest first.
#[derive(Clone, Copy, Debug, Default)]
pub struct FsAbilitySettings {
    /// The flag of this command.
    pub flag: Option<FsAbility>,
    /// The setting for this provider, or the document of this request.
    pub provider_config: Option<FsAbility>,
    /// The setting for every provider.
    pub global_config: Option<FsAbility>,
    /// What the provider says of itself.
    pub provider: Option<FsAbility>,
}

/// The ability that holds: flag, provider setting, global setting, provider; else `local-write`.
pub fn resolve_fs_ability(settings: FsAbilitySettings) -> FsAbility {
    settings
        .flag
        .or(settings.provider_config)
        .or(settings.global_config)
        .or(settings.provider)
        .unwrap_or(FsAbility::LocalWrite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_wins_over_the_ones_after_it() {
        let mut settings = FsAbilitySettings {
            flag: Some(FsAbility::LocalRead),
            provider_config: Some(FsAbility::WriteOnly),
            global_config: Some(FsAbility::None),
            provider: Some(FsAbility::LocalWrite),
        };
        assert_eq!(resolve_fs_ability(settings), FsAbility::LocalRead);
        settings.flag = None;
        assert_eq!(resolve_fs_ability(settings), FsAbility::WriteOnly);
        settings.provider_config = None;
        assert_eq!(resolve_fs_ability(settings), FsAbility::None);
        settings.global_config = None;
        assert_eq!(resolve_fs_ability(settings), FsAbility::LocalWrite);
    }

    #[test]
    fn without_any_setting_the_ability_is_local_write() {
        assert_eq!(resolve_fs_ability(FsAbilitySettings::default()), FsAbility::LocalWrite);
    }
}
