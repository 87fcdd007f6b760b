//! Locations, from flags and the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use aiwf_store::Consents;

use crate::environment::Environment;
use crate::error::ConfigError;

/// The locations of the project, the home directory and the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The base of relative paths on the command line.
    pub current_dir: PathBuf,
    /// The same directory as known to the shell, including symbolic links.
    pub shell_dir: Option<PathBuf>,
    /// The project: the nearest directory with `.aiwf/`, otherwise the git root, otherwise the current directory.
    pub project_root: PathBuf,
    pub home: Option<PathBuf>,
    /// Files here can be deleted at any time.
    pub cache_dir: Option<PathBuf>,
    /// The login name.
    pub user: Option<String>,
    /// Providers of the embedding program; each exists as if it had a `[providers.NAME]` table.
    pub embedded_providers: BTreeSet<String>,
    /// Models set by flags, by provider; they override every file.
    pub models: BTreeMap<String, String>,
    /// The spending limit of a session set by a flag, in millionths of a dollar; it overrides every file.
    pub max_cost_micros: Option<u64>,
}

/// Marks a project; the one in the home directory is the user's own.
const AIWF_DIR: &str = ".aiwf";

impl Settings {
    /// An explicit `project_dir` overrides the project found from the working directory.
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
        // Prompts, journals and agents get paths as text; a lossy path would name another directory.
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
            embedded_providers: BTreeSet::new(),
            models: BTreeMap::new(),
            max_cost_micros: None,
        })
    }

    /// The project's `.aiwf/`.
    pub fn project_dir(&self) -> PathBuf {
        self.project_root.join(AIWF_DIR)
    }

    /// The user's `~/.aiwf/`.
    pub fn user_dir(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(AIWF_DIR))
    }

    /// The directory with records of the user's sessions and consents.
    pub fn state_dir(&self) -> Option<PathBuf> {
        self.user_dir().map(|user| user.join("state"))
    }

    pub fn consents(&self) -> Option<Consents> {
        self.state_dir().map(|state| Consents::at(state.join("consents.json")))
    }
}

fn find_project(environment: &Environment) -> PathBuf {
    let above = || environment.current_dir.ancestors();
    // The home directory's `.aiwf/` is the user's own and does not make it a project.
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
