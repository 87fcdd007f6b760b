//! One page per project: who serves it, and where; and the browser that shows it.
//!
//! The record is in the user's own state directory and holds no secret.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_process::detached::start_detached;
use aiwf_store::{
    Durability, LedgerDir, Lock, LockError, StoreError, create_dir, read_user_file, sha256_hex, write_atomic,
};
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::notify::plain;

/// How long a program that opens the browser may take.
const WAIT: Duration = Duration::from_secs(30);

/// The right to serve the page of a project; it ends with the process.
#[derive(Debug)]
pub struct PagePlace {
    /// `None` for users without a home.
    held: Option<(Lock, PathBuf)>,
}

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PageTaken {
    #[error("this project's page is already open at {address}")]
    Served {
        /// Its address, without the secret.
        address: String,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl PageTaken {
    /// A code that is stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Served { .. } => "PAGE_SERVED",
            Self::Store(_) | Self::Lock(_) => "FILE_UNWRITABLE",
        }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::Served { .. } => {
                "open the address that the first `aiwf ui` printed, or stop it with Ctrl-C".to_owned()
            }
            Self::Store(error) => error.hint(),
            Self::Lock(error) => error.hint(),
        }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    address: String,
}

impl Engine {
    /// Claims the page of this project for this process.
    pub fn claim_page(&self) -> Result<PagePlace, PageTaken> {
        let Some(state) = self.settings().state_dir() else { return Ok(PagePlace { held: None }) };
        let root = self.settings().project_root.canonicalize();
        let root = root.unwrap_or_else(|_| self.settings().project_root.clone());
        let name = sha256_hex(root.as_os_str().as_encoded_bytes());
        let directory = state.join("pages").join(name.get(..16).unwrap_or(&name));
        create_dir(&directory)?;
        let record = directory.join("page.json");
        let unusable = |error: aiwf_store::ConfinedError| LockError::Unusable {
            path: directory.clone(),
            source: error.into(),
        };
        match Lock::take(&LedgerDir::at_private(&directory).map_err(unusable)?) {
            Ok(lock) => Ok(PagePlace { held: Some((lock, record)) }),
            Err(LockError::Taken) => {
                let address = read_user_file::<Record>(&record).unwrap_or_default().address;
                Err(PageTaken::Served { address })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens an address in the user's browser; returns why that did not work.
    ///
    /// Other users of the machine can read arguments, so the browser gets a private file that leads to the address.
    pub fn open_in_browser(&self, url: &str) -> Result<tempfile::NamedTempFile, String> {
        let has = |name| aiwf_config::variable(name).is_some();
        let is_mac = cfg!(target_os = "macos");
        if !(is_mac || has("DISPLAY") || has("WAYLAND_DISPLAY")) {
            return Err("there is no desktop here".to_owned());
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":/.#-[]".contains(&byte);
        if !url.bytes().all(is_plain) {
            return Err("the address is not plain".to_owned());
        }
        let failed = |error: std::io::Error| plain(&error);
        let mut file = tempfile::Builder::new().prefix("aiwf-").suffix(".html").tempfile().map_err(failed)?;
        let page = format!(
            "<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer><meta http-equiv=refresh content=\"0;url={url}\"><title>aiwf</title>"
        );
        file.write_all(page.as_bytes()).map_err(failed)?;
        let program = if is_mac { "open" } else { "xdg-open" };
        let words = [OsString::from(program), file.path().as_os_str().to_owned()];
        let directory = self.settings().home.clone().unwrap_or_else(|| PathBuf::from("/"));
        start_detached(&words, &[], &directory, b"", WAIT)
            .map_err(|error| format!("could not start `{program}`: {}", plain(&error)))?;
        Ok(file)
    }
}

impl PagePlace {
    /// Records the address for whoever asks next.
    pub fn record(&self, address: &str) -> Result<(), PageTaken> {
        let Some((_, path)) = &self.held else { return Ok(()) };
        let text = serde_json::to_vec(&Record { address: address.to_owned() }).unwrap_or_default();
        Ok(write_atomic(path, Durability::Process, |file| file.write_all(&text))?)
    }
}
