//! Checks who a request says it is for and where it comes from, before anything else is looked at.
//!
//! A page that rebinds its name to this machine sends its own name as `Host`, so `Host` is checked first: such a
//! request has an `Origin` equal to its `Host`, or none. Browsers add `Origin` and `Sec-Fetch-Site` themselves.

use std::net::SocketAddr;

use hyper::header::HeaderMap;
use hyper::http::request::Parts;

/// The names under which a server may be addressed, with its port.
#[derive(Clone, Debug)]
pub struct Authority(Vec<String>);

/// Whether a link on another site may lead to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Navigation {
    Allowed,
    Refused,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgedHeader {
    Host,
    Origin,
}

impl ForgedHeader {
    pub fn words(self) -> &'static str {
        match self {
            Self::Host => "the request is for another host",
            Self::Origin => "the request comes from another site",
        }
    }
}

impl Authority {
    /// The names of the loopback interface and the address itself.
    pub fn of(bound: SocketAddr) -> Self {
        let port = bound.port();
        let mut names = vec![
            format!("localhost:{port}"),
            format!("127.0.0.1:{port}"),
            format!("[::1]:{port}"),
            bound.to_string(),
        ];
        names.dedup();
        Self(names)
    }

    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Refuses a request for another host, or from another site.
    pub fn check(&self, request: &Parts, navigation: Navigation) -> Result<(), ForgedHeader> {
        let host = only(&request.headers, "host").ok().flatten().ok_or(ForgedHeader::Host)?;
        let in_target = request.uri.authority().map(hyper::http::uri::Authority::as_str);
        if !self.0.iter().any(|name| name == host) || in_target.is_some_and(|target| target != host) {
            return Err(ForgedHeader::Host);
        }
        let site = only(&request.headers, "sec-fetch-site")?;
        let is_own_site = match site {
            None | Some("same-origin" | "none") => true,
            Some(_) => navigation == Navigation::Allowed && is_link(request),
        };
        // A form on a page without referrers has the origin `null`; the browser's own word for it settles it.
        let is_own_origin = match only(&request.headers, "origin")? {
            None => true,
            Some("null") => site == Some("same-origin"),
            Some(origin) => {
                let name = origin.strip_prefix("http://");
                self.0.iter().any(|own| Some(own.as_str()) == name)
            }
        };
        if is_own_site && is_own_origin { Ok(()) } else { Err(ForgedHeader::Origin) }
    }
}

/// Whether the browser opens a page because the user followed a link.
fn is_link(request: &Parts) -> bool {
    let is = |name: &str, value| only(&request.headers, name) == Ok(Some(value));
    request.method == hyper::Method::GET
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

/// The value of a header that may occur once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, ForgedHeader> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().ok().map(Some).ok_or(ForgedHeader::Origin),
        (Some(_), Some(_)) => Err(ForgedHeader::Origin),
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    /// Judges a request with these headers, one `name: value` per line.
    fn check(target: &str, headers: &str, navigation: Navigation) -> Result<(), ForgedHeader> {
        let authority = Authority::of(([127, 0, 0, 1], 8765).into());
        let (method, target) = target.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(target);
        for line in headers.lines().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        authority.check(&parts, navigation)
    }

    #[test]
    fn only_the_exact_host_with_its_port_is_accepted() {
        for host in ["127.0.0.1:8765", "localhost:8765", "[::1]:8765"] {
            assert_eq!(check("GET /", &format!("host: {host}"), Navigation::Refused), Ok(()));
        }
        for host in [
            "host: 127.0.0.1",
            "host: localhost",
            "host: 127.0.0.1:8766",
            "host: evil.example:8765",
            "host: 127.0.0.1:8765.evil.example",
            "host: 127.0.0.1:8765\nhost: evil.example:8765",
            "host: LOCALHOST:8765",
            "",
        ] {
            assert_eq!(check("POST /", host, Navigation::Allowed), Err(ForgedHeader::Host), "{host}");
        }
    }

    #[test]
    fn a_target_with_another_host_is_refused() {
        let host = "host: 127.0.0.1:8765";
        assert_eq!(check("GET http://127.0.0.1:8765/", host, Navigation::Refused), Ok(()));
        assert_eq!(check("GET http://evil.example/", host, Navigation::Refused), Err(ForgedHeader::Host));
    }

    #[test]
    fn a_rebound_name_is_refused_although_its_origin_fits() {
        let headers =
            "host: evil.example:8765\norigin: http://evil.example:8765\nsec-fetch-site: same-origin";
        assert_eq!(check("POST /", headers, Navigation::Allowed), Err(ForgedHeader::Host));
    }

    #[test]
    fn another_site_is_refused() {
        for headers in [
            "origin: http://evil.example",
            "origin: https://127.0.0.1:8765",
            "origin: http://127.0.0.1:8766",
            "origin: null",
            "origin: null\nsec-fetch-site: cross-site",
            "origin: http://127.0.0.1:8765\norigin: http://evil.example",
            "sec-fetch-site: cross-site",
            "sec-fetch-site: same-site",
            "sec-fetch-site: cross-site\nsec-fetch-mode: navigate\nsec-fetch-dest: document",
            "sec-fetch-site: same-origin\norigin: http://evil.example",
        ] {
            let headers = format!("host: 127.0.0.1:8765\n{headers}");
            assert_eq!(
                check("POST /", &headers, Navigation::Allowed),
                Err(ForgedHeader::Origin),
                "{headers}"
            );
        }
    }

    #[test]
    fn the_servers_own_pages_are_accepted() {
        for headers in [
            "",
            "origin: http://127.0.0.1:8765",
            "origin: http://localhost:8765",
            "origin: http://127.0.0.1:8765\nsec-fetch-site: same-origin",
            "origin: null\nsec-fetch-site: same-origin",
            "sec-fetch-site: none",
        ] {
            let headers = format!("host: 127.0.0.1:8765\n{headers}");
            assert_eq!(check("POST /", &headers, Navigation::Refused), Ok(()), "{headers}");
        }
    }

    #[test]
    fn a_link_on_another_site_leads_in_only_where_that_is_allowed() {
        let link =
            "host: 127.0.0.1:8765\nsec-fetch-site: cross-site\nsec-fetch-mode: navigate\nsec-fetch-dest: ";
        let document = format!("{link}document");
        assert_eq!(check("GET /", &document, Navigation::Allowed), Ok(()));
        assert_eq!(check("GET /", &document, Navigation::Refused), Err(ForgedHeader::Origin));
        assert_eq!(check("GET /", &format!("{link}iframe"), Navigation::Allowed), Err(ForgedHeader::Origin));
    }
}
