//! The files of the page: style, script and icon, built in, with their hash in their name.

use std::sync::OnceLock;

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

use crate::words::sha256_hex;

#[derive(Debug)]
pub(crate) struct Asset {
    /// The path of its address.
    pub(crate) path: String,
    pub(crate) media_type: &'static str,
    pub(crate) text: &'static str,
}

#[derive(Debug)]
pub(crate) struct Assets {
    pub(crate) style: Asset,
    pub(crate) script: Asset,
    pub(crate) icon: Asset,
}

pub(crate) const ENTRY_STYLE: &str = include_str!("assets/entry.css");
pub(crate) const ENTRY_SCRIPT: &str = include_str!("assets/entry.js");

pub(crate) fn assets() -> &'static Assets {
    static ASSETS: OnceLock<Assets> = OnceLock::new();
    ASSETS.get_or_init(|| Assets {
        style: asset("page", "css", "text/css; charset=utf-8", include_str!("assets/page.css")),
        script: asset("page", "js", "text/javascript; charset=utf-8", include_str!("assets/page.js")),
        icon: asset("icon", "svg", "image/svg+xml", include_str!("assets/icon.svg")),
    })
}

impl Assets {
    pub(crate) fn find(&self, path: &str) -> Option<&Asset> {
        [&self.style, &self.script, &self.icon].into_iter().find(|asset| asset.path == path)
    }
}

fn asset(name: &str, extension: &str, media_type: &'static str, text: &'static str) -> Asset {
    let hash: String = sha256_hex(text).chars().take(12).collect();
    Asset { path: format!("/assets/{name}-{hash}.{extension}"), media_type, text }
}

/// The policy of the entry page, whose style and script are in the page itself: without a cookie nothing else loads.
pub(crate) fn entry_policy() -> String {
    let hash = |text: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
        hash(ENTRY_SCRIPT),
        hash(ENTRY_STYLE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_light() {
        let assets = assets();
        assert!(assets.script.text.len() <= 40 * 1024, "{}", assets.script.text.len());
        let all = [&assets.style, &assets.script, &assets.icon].map(|asset| asset.text.len());
        assert!(all.iter().sum::<usize>() <= 100 * 1024, "{all:?}");
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        let assets = assets();
        for asset in [&assets.style, &assets.script] {
            for mark in ["http://", "https://", "@import", "url(", "eval(", "innerHTML", "new Function"] {
                assert!(!asset.text.contains(mark), "{} has {mark}", asset.path);
            }
        }
    }
}
