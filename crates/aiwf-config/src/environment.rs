//! The process environment, as values that tests can choose.

#![expect(clippy::disallowed_methods, reason = "this crate reads the environment")]

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub current_dir: PathBuf,
    /// `PWD`, if it is an absolute path: the working directory as known to the shell, including symbolic links.
    pub shell_dir: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`, if it is an absolute path.
    pub cache_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`, if it is an absolute path, otherwise the default in the home directory.
    pub data_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, if it is an absolute path, otherwise the default in the home directory.
    pub config_home: Option<PathBuf>,
    /// `SHELL`: the user's login shell.
    pub shell: Option<PathBuf>,
    /// `USER`, or `LOGNAME`.
    pub user: Option<String>,
}

/// The value of an environment variable; `None` if it is unset or empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The environment variables of a check: those that programs need in general, and those listed by name. Keys are
/// included only if they are listed.
pub fn check_environment(named: &[String]) -> Vec<(String, String)> {
    let is_passed = |name: &str| is_basic(name) || named.iter().any(|other| other == name);
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).filter(|(name, _)| is_passed(name)).collect()
}

/// Whether build and test programs generally need the variable.
fn is_basic(name: &str) -> bool {
    const BASIC: [&str; 8] = ["PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR", "CARGO_HOME", "RUSTUP_HOME"];
    BASIC.contains(&name) || name.starts_with("LC_")
}

impl Environment {
    pub fn read() -> io::Result<Self> {
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        Ok(Self {
            current_dir: std::env::current_dir()?,
            shell_dir: absolute("PWD"),
            cache_home: absolute("XDG_CACHE_HOME"),
            data_home: absolute("XDG_DATA_HOME").or_else(|| in_home(".local/share")),
            config_home: absolute("XDG_CONFIG_HOME").or_else(|| in_home(".config")),
            shell: std::env::var_os("SHELL").map(PathBuf::from).filter(|shell| !shell.as_os_str().is_empty()),
            home,
            user: std::env::var("USER")
                .or_else(|_| std::env::var("LOGNAME"))
                .ok()
                .filter(|name| !name.is_empty()),
        })
    }
}
