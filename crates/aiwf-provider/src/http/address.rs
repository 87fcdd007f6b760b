//! Where a provider's server is, and whether a key may go there.
//!
//! A hostile checkout can name any `base_url`, so a key goes only to the vendor's own server, to this machine, or to
//! where the user's own configuration says. Hosts are compared after the URL parser made them one spelling.

use std::net::IpAddr;

use reqwest::Url;

use super::api::Api;
use crate::ask_error::AskError;
use crate::provider_setting::ProviderSetting;

/// Where a server is.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) base: Url,
    /// Whether it is the vendor's own server, over TLS.
    pub(super) is_vendors: bool,
    /// Whether it is this machine.
    pub(super) is_loopback: bool,
    is_users: bool,
}

impl Address {
    /// Reads the address of a setting; the vendor's own when there is none.
    pub(super) fn of(setting: &ProviderSetting, api: &Api) -> Result<Self, AskError> {
        let text = setting.base_url.as_ref().map_or(api.base_url, |base_url| &base_url.url);
        let wrong = |message: String| AskError::Setting {
            provider: setting.name.clone(),
            message,
            hint: format!("set `base_url` to an address like `{}`", api.base_url),
        };
        let base = Url::parse(text).map_err(|error| wrong(format!("`base_url` is no address: {error}")))?;
        // The address is not shown here: it may hold a password.
        if !base.username().is_empty() || base.password().is_some() {
            return Err(wrong("`base_url` holds a user name or a password".to_owned()));
        }
        if !matches!(base.scheme(), "http" | "https") {
            return Err(wrong(format!(
                "`base_url` begins with `{}:`, not `http:` or `https:`",
                base.scheme()
            )));
        }
        if base.fragment().is_some() {
            return Err(wrong("`base_url` holds a `#`".to_owned()));
        }
        Ok(Self {
            is_vendors: is_vendors(&base, api),
            is_loopback: is_loopback(&base),
            is_users: setting.base_url.as_ref().is_some_and(|base_url| base_url.is_users),
            base,
        })
    }

    /// Whether a key may be sent there.
    pub(super) fn may_have_key(&self) -> bool {
        self.is_vendors || self.is_loopback || self.is_users
    }

    /// The address as it is shown: a query is left out, it may be a secret.
    pub(super) fn shown(&self) -> String {
        let mut base = self.base.clone();
        base.set_query(None);
        base.as_str().trim_end_matches('/').to_owned()
    }
}

fn is_vendors(base: &Url, api: &Api) -> bool {
    let Ok(vendors) = Url::parse(api.base_url) else { return false };
    // The origin is scheme, host and port.
    base.origin() == vendors.origin()
}

fn is_loopback(base: &Url) -> bool {
    let Some(host) = base.host_str() else { return false };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
