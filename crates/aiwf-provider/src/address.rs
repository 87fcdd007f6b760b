//! The address of a provider's server, and whether a key or a login may be sent there.
//!
//! A hostile checkout can set any address, so a login is sent only to the vendor's own server, to this machine, or to
//! an address in the user's own configuration. Hosts are compared after parsing. An address that another program could
//! parse differently is not trusted, because an agent parses it by its own rules.

use std::net::IpAddr;

use reqwest::Url;

use crate::ask_error::AskError;
use crate::provider_setting::ProviderSetting;

#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) base: Url,
    /// Whether it is the vendor's own server, over TLS.
    pub(crate) is_vendors: bool,
    pub(crate) is_loopback: bool,
    may_have_key: bool,
}

impl Address {
    /// The address of a setting, by default the vendor's.
    pub(crate) fn of(setting: &ProviderSetting, vendors: &str) -> Result<Self, AskError> {
        let text = setting.base_url.as_ref().map_or(vendors, |base_url| &base_url.url);
        let is_users = setting.base_url.as_ref().is_some_and(|base_url| base_url.is_users);
        Self::read(text, is_users, &[vendors]).map_err(|message| AskError::Setting {
            provider: setting.name.clone(),
            message: format!("`base_url` {message}"),
            hint: format!("set `base_url` to an address like `{vendors}`"),
        })
    }

    /// Parses an address. An error never contains it, because it may contain a password.
    fn read(text: &str, is_users: bool, vendors: &[&str]) -> Result<Self, String> {
        let base = Url::parse(text).map_err(|error| format!("is not a URL: {error}"))?;
        if !base.username().is_empty() || base.password().is_some() {
            return Err("contains a user name or a password".to_owned());
        }
        if !matches!(base.scheme(), "http" | "https") {
            return Err(format!("starts with `{}:`, not `http:` or `https:`", base.scheme()));
        }
        if base.fragment().is_some() {
            return Err("contains a `#`".to_owned());
        }
        let is_vendors = vendors.iter().any(|vendor| is_same_server(&base, vendor));
        let is_loopback = is_loopback(&base);
        let may_have_key = is_users || is_plain(text, &base) && (is_vendors || is_loopback);
        Ok(Self { base, is_vendors, is_loopback, may_have_key })
    }

    /// Whether a key or a login may be sent to it.
    pub(crate) fn may_have_key(&self) -> bool {
        self.may_have_key
    }

    /// For display: without the query, which may contain a secret.
    pub(crate) fn shown(&self) -> String {
        let mut base = self.base.clone();
        base.set_query(None);
        base.as_str().trim_end_matches('/').to_owned()
    }
}

/// Refuses a setting with which an agent's login would go to an address or variable that only the project sets.
pub(crate) fn check_login(setting: &ProviderSetting, vendors: &[&str]) -> Result<(), AskError> {
    let users = setting.base_url.as_ref().filter(|base_url| base_url.is_users);
    let named = setting.base_url.iter().map(|base_url| base_url.url.as_str());
    let in_env =
        setting.env.iter().filter(|(name, _)| leads_elsewhere(name)).map(|(_, value)| value.as_str());
    for text in named.chain(in_env).filter(|text| !text.is_empty()) {
        if users.is_some_and(|users| users.url == text.trim_end_matches('/')) {
            continue;
        }
        let base_url = match Address::read(text, false, vendors) {
            Ok(address) if address.may_have_key() => continue,
            Ok(address) => address.shown(),
            Err(message) => format!("an address that {message}"),
        };
        return Err(AskError::KeyWithheld { provider: setting.name.clone(), base_url });
    }
    Ok(())
}

/// Whether a variable with this name changes where requests go.
fn leads_elsewhere(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name != "NO_PROXY" && ["BASE_URL", "API_URL", "ENDPOINT", "_PROXY"].iter().any(|end| name.ends_with(end))
}

/// Whether scheme, host and port are the same.
fn is_same_server(base: &Url, vendors: &str) -> bool {
    Url::parse(vendors).is_ok_and(|vendors| base.origin() == vendors.origin())
}

fn is_loopback(base: &Url) -> bool {
    let Some(host) = base.host_str() else { return false };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether the address is written as the parser would write it, as far as it determines the server.
fn is_plain(text: &str, base: &Url) -> bool {
    let server = format!("{}://{}", base.scheme(), base.host_str().unwrap_or_default());
    let Some((own, rest)) = text.split_at_checked(server.len()) else { return false };
    let rest = match rest.strip_prefix(':') {
        Some(port) => port.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => rest,
    };
    let is_harmless = |letter: char| !letter.is_whitespace() && !letter.is_control() && letter != '\\';
    own.eq_ignore_ascii_case(&server)
        && (rest.is_empty() || rest.starts_with(['/', '?']))
        && text.chars().all(is_harmless)
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
