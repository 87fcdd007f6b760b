//! Installs profiles for the user, and creates new ones.

use std::path::{Path, PathBuf};

use aiwf_profile::{Files, Profile, scaffold};
use aiwf_session::Flow;
use aiwf_store::{Durability, Lock, WritePlan, create_dir, write_atomic};

use crate::Engine;
use crate::catalog::profiles::{
    self, ProfileFault, ProfileOrigin, installed_root, pin_path, pinned, read_files,
};
use crate::session::session_error::SessionError;

impl Engine {
    /// Installs a copy of a profile and pins its hash; returns its directory.
    pub fn add_profile(&self, directory: &Path) -> Result<(String, PathBuf), SessionError> {
        let path = self.settings().current_dir.join(directory);
        let broken = |fault: ProfileFault| SessionError::BrokenProfile {
            name: directory.display().to_string(),
            fault,
        };
        let files = read_files(&path).map_err(broken)?;
        let profile = Profile::load(files.clone())?;
        let name = profile.name().to_owned();
        if aiwf_profile::built_in_profile(&name).is_some() {
            return Err(SessionError::ProfileExists { name, origin: ProfileOrigin::BuiltIn.as_str() });
        }
        let root = installed_root(self.settings()).ok_or(SessionError::NoHome)?;
        let target = root.join(&name);
        create_dir(&root)?;
        // Under the lock, unfinished files can only be left from a killed process.
        let _lock = Lock::wait(&root.join(".lock"))?;
        if let Ok(root) = aiwf_store::LedgerDir::at(&root) {
            root.remove_leftovers();
        }
        let pin = pin_path(&root, &name);
        let hash = profile.hash().to_string();
        // Both hashes are pinned, so either version is valid if the process is killed here.
        let both = [pinned(&pin), vec![hash.clone()]].concat().join("\n");
        write_atomic(&pin, Durability::PowerLoss, |out| writeln!(out, "{both}"))?;
        write_profile(&files, &root, &target)?;
        write_atomic(&pin, Durability::PowerLoss, |out| writeln!(out, "{hash}"))?;
        Ok((name, target))
    }

    /// Creates a working profile; returns its directory.
    ///
    /// It is made for the flow `generate`, or a copy of the profile that `from` names.
    pub fn new_profile(&self, name: &str, from: &str, is_for_project: bool) -> Result<PathBuf, SessionError> {
        let files: Files = if from == Flow::GENERATE {
            scaffold(name).into_iter().map(|(path, text)| (path, text.into_bytes())).collect()
        } else {
            let model = profiles::find(self.settings(), from).map_err(|error| {
                let SessionError::UnknownProfile { name, mut known } = error else { return error };
                known.insert(0, Flow::GENERATE.to_owned());
                SessionError::NoModel { name, known }
            })?;
            model.renamed(name)
        };
        let root = if is_for_project {
            self.settings().project_dir().join("profiles")
        } else {
            self.settings().user_dir().ok_or(SessionError::NoHome)?.join("profiles")
        };
        // A built-in profile comes before one with the same name, which would never run.
        if aiwf_profile::built_in_profile(name).is_some() {
            let origin = ProfileOrigin::BuiltIn.as_str();
            return Err(SessionError::ProfileExists { name: name.to_owned(), origin });
        }
        let target = root.join(name);
        if target.exists() {
            let origin = if is_for_project { ProfileOrigin::Project } else { ProfileOrigin::User };
            return Err(SessionError::ProfileExists { name: name.to_owned(), origin: origin.as_str() });
        }
        // An invalid name is reported before anything is written.
        Profile::load(files.clone())?;
        write_profile(&files, &root, &target)?;
        Ok(target)
    }
}

/// Writes all files of a profile, or none.
fn write_profile(files: &Files, root: &Path, target: &Path) -> Result<(), SessionError> {
    let plan = WritePlan::check(files.iter().map(|(path, bytes)| (path.clone(), bytes.clone()))).map_err(
        |problems| SessionError::BrokenProfile {
            name: target.display().to_string(),
            fault: ProfileFault::new(
                problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
                "rename these files in the profile",
            ),
        },
    )?;
    create_dir(root)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    plan.write(&root.join(format!(".tmp-{name}")), target)?;
    Ok(())
}
