//! Manual commands for checks: run them, agree to them, add one.

use std::path::{Path, PathBuf};

use aiwf_config::{CHECK_NAME_RULE, CheckBlock, Config, Flags, is_check_name};
use aiwf_store::{Durability, LedgerDir, create_dir, sha256_hex};

use super::check_error::CheckError;
use super::{Check, CheckConsent, CheckResult};
use crate::Engine;
use crate::ask::send::private_directory;
use crate::ledger::create_project_dir;
use crate::trust::trust_error::TrustError;

#[derive(Clone, Debug)]
pub struct CheckRun {
    pub result: CheckResult,
    pub printed: Vec<u8>,
    /// The file with its output, kept until the next run if there is a cache.
    pub kept: Option<PathBuf>,
}

impl Engine {
    /// The checks with these names; by default those that a session would run.
    ///
    /// Without names, a candidate is included only if the user agreed to it.
    pub fn checks_named(&self, names: &[String]) -> Result<Vec<Check>, CheckError> {
        let all = self.checks()?;
        if names.is_empty() {
            if all.is_empty() {
                return Err(CheckError::None);
            }
            let has_agreed = all.iter().any(Check::may_run);
            return Ok(all
                .into_iter()
                .filter(|check| !check.is_detected() || check.may_run() || !has_agreed)
                .collect());
        }
        let find = |name: &String| {
            let known = || all.iter().map(|check| check.name.clone()).collect();
            let found = all.iter().find(|check| check.name == *name).cloned();
            found.ok_or_else(|| CheckError::Unknown { name: name.clone(), known: known() })
        };
        names.iter().map(find).collect()
    }

    /// Runs checks in a directory, one by one. If one lacks consent, none runs.
    ///
    /// Their output stays in the user's cache until the next run, if there is a cache.
    pub fn run_checks(&self, checks: &[Check], directory: &Path) -> Result<Vec<CheckRun>, CheckError> {
        let missing = checks.iter().filter(|check| !check.may_run());
        let names: Vec<String> = missing.map(|check| check.name.clone()).collect();
        if !names.is_empty() {
            return Err(CheckError::NotAgreed { names });
        }
        let directory = self.settings().current_dir.join(directory);
        if !directory.is_dir() {
            return Err(CheckError::NoDirectory { path: directory });
        }
        let place = OutputPlace::of(self)?;
        let mut runs = Vec::new();
        for (number, check) in checks.iter().enumerate() {
            let (temporary, name) = (temporary_name(number), format!("{}.txt", check.file_stem(number + 1)));
            let mut result = self.run_check(check, &directory, &place.ledger, &temporary)?;
            place.ledger.rename(&temporary, &name)?;
            let unreadable = |source| crate::StoreError { path: place.ledger.path().join(&name), source };
            let printed = place.ledger.read(&name).map_err(|error| unreadable(error.into()))?;
            let is_stopped = self.call_context().stop.is_raised();
            let kept = place.temporary.is_none().then(|| place.ledger.path().join(&name));
            result.output.path = name;
            runs.push(CheckRun { result, printed: printed.unwrap_or_default(), kept });
            if is_stopped {
                break;
            }
        }
        Ok(runs)
    }

    /// Stores the user's consent to exactly these checks.
    pub fn agree_to_checks(&self, checks: &[Check]) -> Result<(), CheckError> {
        let project = self.settings().project_root.to_string_lossy().into_owned();
        let consents = self.settings().consents().ok_or(TrustError::NoPlace)?;
        for check in checks.iter().filter(|check| check.consent != CheckConsent::NotNeeded) {
            consents.add(check.consent_of(project.clone())).map_err(TrustError::from)?;
        }
        Ok(())
    }

    /// Adds a check to the project's configuration. The user typed its command, so consent is stored too.
    pub fn add_check(&self, name: &str, run: &str) -> Result<Check, CheckError> {
        if !is_check_name(name) {
            return Err(CheckError::BadName { name: name.to_owned(), rule: CHECK_NAME_RULE });
        }
        let block =
            CheckBlock::new(name, run).ok_or_else(|| CheckError::BadCommand { run: run.to_owned() })?;
        let config = Config::load(self.settings(), &Flags::default())?;
        if config.checks.iter().any(|check| check.name.as_ref().is_some_and(|known| known.value == name)) {
            return Err(CheckError::Exists { name: name.to_owned() });
        }
        let refused = |why: String| CheckError::NotAdded { why, block: block.to_string() };
        let directory = create_project_dir(self.settings())?;
        let before = directory.read("config.toml").map_err(|error| refused(error.to_string()))?;
        let before = String::from_utf8(before.unwrap_or_default())
            .map_err(|error| refused(format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to())))?;
        let after =
            block.added_to(&before).ok_or_else(|| refused("`checks` is set in another form".to_owned()))?;
        directory.write("config.toml", after.as_bytes(), Durability::PowerLoss)?;
        let added = self.checks()?.into_iter().find(|check| check.name == name);
        let mut added =
            added.ok_or_else(|| CheckError::Unknown { name: name.to_owned(), known: Vec::new() })?;
        if !added.may_run() {
            self.agree_to_checks(std::slice::from_ref(&added))?;
            added.consent = CheckConsent::Agreed;
        }
        Ok(added)
    }
}

/// Where the output of manual runs goes.
struct OutputPlace {
    ledger: LedgerDir,
    /// Removed with its owner if there is no cache.
    temporary: Option<tempfile::TempDir>,
}

impl OutputPlace {
    /// A directory in the user's cache, one per project.
    fn of(engine: &Engine) -> Result<Self, CheckError> {
        let settings = engine.settings();
        let (path, temporary): (PathBuf, _) = if let Some(cache) = &settings.cache_dir {
            let project = sha256_hex(settings.project_root.as_os_str().as_encoded_bytes());
            let path = cache.join("checks").join(project.get(..12).unwrap_or(&project));
            create_dir(&path)?;
            (path, None)
        } else {
            let directory = private_directory()?;
            (directory.path().to_owned(), Some(directory))
        };
        let unusable =
            |error: aiwf_store::ConfinedError| crate::StoreError { path: path.clone(), source: error.into() };
        Ok(Self { ledger: LedgerDir::at_private(&path).map_err(unusable)?, temporary })
    }
}

/// A name for this process only, so that parallel runs do not mix their output.
fn temporary_name(number: usize) -> String {
    format!(".tmp-{}-{number}", std::process::id())
}
