//! Where an agent's login may go.
//!
//! A CLI agent holds the login of its user. A project's configuration may send it to this machine or to the vendor,
//! and nowhere else unless the user's own configuration says the same.

use crate::ask_error::AskError;
use crate::provider_setting::ProviderSetting;

/// Refuses a setting that would send the user's login where only the project says.
pub(crate) fn check(setting: &ProviderSetting, vendor_hosts: &[&str]) -> Result<(), AskError> {
    let users = setting.base_url.as_ref().filter(|base_url| base_url.is_users);
    let named = setting.base_url.iter().map(|base_url| base_url.url.as_str());
    let in_env =
        setting.env.iter().filter(|(name, _)| leads_elsewhere(name)).map(|(_, value)| value.as_str());
    let mut untrusted = named.chain(in_env).filter(|url| {
        let is_users = users.is_some_and(|users| users.url == url.trim_end_matches('/'));
        !is_users && !is_loopback(url) && !is_vendors(url, vendor_hosts) && !url.is_empty()
    });
    match untrusted.next() {
        Some(url) => Err(AskError::KeyWithheld { provider: setting.name.clone(), base_url: url.to_owned() }),
        None => Ok(()),
    }
}

/// Whether a variable of that name says where requests go.
fn leads_elsewhere(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name != "NO_PROXY" && ["BASE_URL", "API_URL", "ENDPOINT", "_PROXY"].iter().any(|end| name.ends_with(end))
}

fn is_loopback(url: &str) -> bool {
    let host = host(url).map(|(_, host)| host);
    let is_v4 = |host: &str| host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    host.is_some_and(|host| host.eq_ignore_ascii_case("localhost") || host == "[::1]" || is_v4(host))
}

fn is_vendors(url: &str, vendor_hosts: &[&str]) -> bool {
    host(url).is_some_and(|(scheme, host)| {
        scheme == "https" && vendor_hosts.iter().any(|vendor| vendor.eq_ignore_ascii_case(host))
    })
}

/// The scheme and the host of an address; nothing when programs could read it in more than one way.
fn host(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = match authority.rfind(':').filter(|colon| authority.get(*colon..).is_some_and(is_port)) {
        Some(colon) => authority.get(..colon)?,
        None => authority,
    };
    let is_name =
        |host: &str| host.chars().all(|letter| letter.is_ascii_alphanumeric() || "-.".contains(letter));
    (matches!(scheme, "http" | "https") && !host.is_empty() && (host == "[::1]" || is_name(host)))
        .then_some((scheme, host))
}

fn is_port(text: &str) -> bool {
    text.chars().skip(1).all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider_setting::BaseUrl;

    fn of_project(url: &str) -> ProviderSetting {
        let base_url = Some(BaseUrl { url: url.to_owned(), is_users: false });
        ProviderSetting { base_url, ..ProviderSetting::new("agent", "claude-code") }
    }

    #[test]
    fn a_project_leads_to_this_machine_or_to_the_vendor_only() {
        let good = [
            "http://127.0.0.1:8080",
            "http://localhost/v1",
            "http://LOCALHOST:1",
            "https://[::1]:9/x",
            "http://127.9.9.9",
            "https://api.vendor.com/v1",
        ];
        for url in good {
            assert!(check(&of_project(url), &["api.vendor.com"]).is_ok(), "{url}");
        }
        let bad = [
            "https://evil.example",
            "http://api.vendor.com",
            "https://api.vendor.com.evil.example",
            "https://api.vendor.com@evil.example",
            "http://127.0.0.1@evil.example",
            "http://127.0.0.1:80@evil.example",
            "http://localhost\\@evil.example",
            "http://127.0.0.1.evil.example",
            "http://localhost%00.evil.example",
            "http://localhost evil",
            "//localhost",
            "localhost:80",
            "http://",
            "ftp://localhost",
            "http://2130706433",
            "http://10.0.0.1",
        ];
        for url in bad {
            assert!(check(&of_project(url), &["api.vendor.com"]).is_err(), "{url}");
        }
    }

    #[test]
    fn what_the_user_names_is_trusted_in_variables_too() {
        let mut setting = of_project("https://proxy.example");
        setting.base_url = Some(BaseUrl { url: "https://proxy.example".to_owned(), is_users: true });
        setting.env.insert("ANTHROPIC_BASE_URL".to_owned(), "https://proxy.example/".to_owned());
        assert!(check(&setting, &[]).is_ok());
        setting.env.insert("no_proxy".to_owned(), "localhost,internal.example".to_owned());
        assert!(check(&setting, &[]).is_ok());
        setting.env.insert("https_proxy".to_owned(), "https://evil.example".to_owned());
        assert!(check(&setting, &[]).is_err());
    }
}
