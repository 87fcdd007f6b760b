//! Flags and surroundings become settings.

use std::path::{Path, PathBuf};

use aiwf_store::Consents;

use crate::environment::Environment;
use crate::error::ConfigError;

/// Where everything is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where relative paths of the command line start.
    pub current_dir: PathBuf,
    /// The same directory as the shell names it, links and all.
    pub shell_dir: Option<PathBuf>,
    /// The project: the nearest directory with `.aiwf/`, else the git root, else the current directory.
    pub project_root: PathBuf,
    /// The user's home, when there is one.
    pub home: Option<PathBuf>,
    /// Where things live that can be made again.
    pub cache_dir: Option<PathBuf>,
    /// The name the system knows the user by.
    pub user: Option<String>,
    /// Providers that the program brings itself; each exists as if it had a `[providers.NAME]` table.
    pub embedded_providers: std::collections::BTreeSet<String>,
}

/// The directory that makes a project, and the user's own one in the home.
const AIWF_DIR: &str = ".aiwf";

impl Settings {
    /// Flags over surroundings.
    pub fn resolve(project_dir: Option<&Path>, environment: Environment) -> Result<Self, ConfigError> {
        let project_root = match project_dir {
            Some(given) => {
                let path = environment.current_dir.join(given);
                if !path.is_dir() {
                    return Err(ConfigError::NoProjectDir { path });
                }
                path
            }
            None => find_project(&environment),
        };
        // Prompts, journals and agents are told paths as text; half of them would name another directory.
        if project_root.to_str().is_none() {
            return Err(ConfigError::PathNotUtf8 { path: project_root });
        }
        let cache_dir = environment
            .cache_home
            .or_else(|| environment.home.as_ref().map(|home| home.join(".cache")))
            .map(|cache| cache.join("aiwf"));
        Ok(Self {
            current_dir: environment.current_dir,
            shell_dir: environment.shell_dir,
            project_root,
            home: environment.home,
            cache_dir,
            user: environment.user,
            embedded_providers: std::collections::BTreeSet::new(),
        })
    }

    /// The project's own directory.
    pub fn project_dir(&self) -> PathBuf {
        self.project_root.join(AIWF_DIR)
    }

    /// The user's own directory.
    pub fn user_dir(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(AIWF_DIR))
    }

    /// What the user's own state remembers: sessions, and what the user agreed to.
    pub fn state_dir(&self) -> Option<PathBuf> {
        self.user_dir().map(|user| user.join("state"))
    }

    /// What the user agreed to.
    pub fn consents(&self) -> Option<Consents> {
        self.state_dir().map(|state| Consents::at(state.join("consents.json")))
    }
}

fn find_project(environment: &Environment) -> PathBuf {
    let above = || environment.current_dir.ancestors();
    // The home's `.aiwf` is the user's, so a home is not a project because of it.
    let is_project =
        |path: &&Path| environment.home.as_deref() != Some(*path) && path.join(AIWF_DIR).is_dir();
    above()
        .find(is_project)
        .or_else(|| above().find(|path| path.join(".git").exists()))
        .unwrap_or(&environment.current_dir)
        .to_owned()
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
