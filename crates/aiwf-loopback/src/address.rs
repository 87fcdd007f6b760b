//! The listening address of an HTTP server: the loopback interface only.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// An address that only this machine can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopbackAddress(SocketAddr);

/// Why a server cannot listen on an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("`{given}` is not an address")]
    NoAddress { given: String },
    /// An address that other machines can reach.
    #[error("`{given}` can be reached from other machines")]
    NotLoopback { given: String },
}

impl AddressError {
    /// A code that is stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoAddress { .. } | Self::NotLoopback { .. } => "ADDRESS_INVALID",
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoAddress { .. } => {
                "write it like `8765`, `127.0.0.1:8765`, `localhost:8765` or `[::1]:8765`"
            }
            Self::NotLoopback { .. } => {
                "listen on `127.0.0.1:PORT`; from another machine, connect through `ssh -L PORT:127.0.0.1:PORT`"
            }
        }
    }
}

impl LoopbackAddress {
    /// A port of `127.0.0.1`; port 0 means any free port.
    pub fn of_port(port: u16) -> Self {
        Self(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))
    }

    /// Reads `PORT` or `HOST:PORT`; port 0 means any free port. No name is resolved: `localhost` means `127.0.0.1`.
    pub fn parse(given: &str) -> Result<Self, AddressError> {
        let no_address = || AddressError::NoAddress { given: given.to_owned() };
        let (host, port) = given.rsplit_once(':').unwrap_or(("", given));
        // `u16::from_str` would accept `+1`.
        if port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(no_address());
        }
        let port: u16 = port.parse().ok().ok_or_else(no_address)?;
        let ip: IpAddr = match host {
            "" | "localhost" => Ipv4Addr::LOCALHOST.into(),
            _ => match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
                Some(inner) => IpAddr::V6(inner.parse().ok().ok_or_else(no_address)?),
                None if is_name(host) => return Err(AddressError::NotLoopback { given: given.to_owned() }),
                None => IpAddr::V4(host.parse().ok().ok_or_else(no_address)?),
            },
        };
        if !ip.is_loopback() {
            return Err(AddressError::NotLoopback { given: given.to_owned() });
        }
        Ok(Self(SocketAddr::new(ip, port)))
    }

    pub fn socket(self) -> SocketAddr {
        self.0
    }
}

/// Whether a host is a name, whose address is unknown without resolving it.
fn is_name(host: &str) -> bool {
    let is_fine = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_');
    host.chars().all(is_fine) && host.chars().any(|character| character.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str) -> String {
        match LoopbackAddress::parse(given) {
            Ok(address) => address.socket().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_port_alone_is_on_loopback() {
        assert_eq!(check("8765"), "127.0.0.1:8765");
        assert_eq!(check(":0"), "127.0.0.1:0");
        assert_eq!(check("localhost:1"), "127.0.0.1:1");
        assert_eq!(check("127.1.2.3:1"), "127.1.2.3:1");
        assert_eq!(check("[::1]:80"), "[::1]:80");
    }

    #[test]
    fn addresses_that_others_can_reach_are_refused() {
        for given in ["0.0.0.0:80", "[::]:80", "192.168.1.2:80", "example.com:80", "localhost.example.com:80"]
        {
            assert_eq!(check(given), format!("`{given}` can be reached from other machines"));
        }
    }

    #[test]
    fn anything_but_an_address_is_refused() {
        for given in ["", "a", "1.2.3:80", "::1:80", "[::1]", "127.0.0.1", "127.0.0.1:99999", "localhost:+1"]
        {
            assert_eq!(check(given), format!("`{given}` is not an address"));
        }
    }
}
