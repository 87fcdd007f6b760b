//! Asks model APIs over HTTP.

use crate::ask::Ask;
use crate::ask_error::AskError;
use crate::built_in::Kind;
use crate::provider_setting::ProviderSetting;

/// Opens one of them.
pub(crate) fn open(_kind: Kind, setting: ProviderSetting) -> Result<Box<dyn Ask>, AskError> {
    Err(AskError::Setting {
        message: format!("`{}` cannot be asked yet", setting.kind),
        provider: setting.name,
        hint: "use another provider".to_owned(),
    })
}
