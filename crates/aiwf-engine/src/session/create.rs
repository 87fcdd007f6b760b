//! A new session: parameters settled, standards and inputs kept, the first event written, the first prompt ready.

use std::collections::BTreeMap;

use aiwf_config::Flags;
use aiwf_session::{Approver, Command, FileHash, GateSetting, Role, Setup};
use aiwf_store::{Durability, Lock, Objects, create_dir, sha256_hex, write_atomic};
use serde_json::{Map, Value};

use super::directory::{SessionDirectory, new_id, remove_temporary, sessions_root};
use super::perform::Performed;
use super::work::Work;
use crate::error::EngineError;
use crate::session_error::SessionError;
use crate::{Engine, profiles, providers};

/// What a session is created from.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// The profile.
    pub profile: String,
    /// What was given for its parameters, by name.
    pub given: Map<String, Value>,
    /// The provider of each role; `manual` for those not named.
    pub roles: BTreeMap<Role, String>,
    /// The gates that are not manual, by `phase.stage`.
    pub gates: BTreeMap<String, GateSetting>,
    /// How many iterations there may be.
    pub max_iterations: u32,
    /// Whether edited prompts count as changed after approval.
    pub hash_prompts: bool,
}

/// A session that was created.
#[derive(Debug)]
pub struct Created {
    /// Its id.
    pub id: String,
    /// What was done for it.
    pub performed: Vec<Performed>,
}

impl Engine {
    /// Creates a session and writes its first prompt; when that fails, nothing is left behind.
    pub fn create_session(&self, new: NewSession) -> Result<Created, SessionError> {
        let profile = profiles::find(self.settings(), &new.profile)?;
        let config = providers::load_config(self.settings(), &Flags::default())?;
        for (role, name) in &new.roles {
            providers::refuse_unknown(name, &config, || format!("role `{}`", role.as_str()))?;
            providers::open(name, &config)?;
        }
        for (gate, setting) in &new.gates {
            if let Approver::Ai(name) = &setting.approver {
                providers::refuse_unknown(name, &config, || format!("gate `{gate}`"))?;
                providers::open(name, &config)?;
            }
        }
        let root = &self.settings().project_root;
        let files = profile
            .wanted_files(&new.given)
            .into_iter()
            .map(|wanted| {
                let path = root.join(&wanted.path);
                let bytes = crate::read::read_bytes(&path).map_err(|error| {
                    if let EngineError::Unreadable { source, .. } = &error {
                        source.to_string()
                    } else {
                        error.to_string()
                    }
                });
                (wanted.key, bytes)
            })
            .collect();
        let settled = profile
            .settle(&new.given, &files)
            .map_err(|problems| SessionError::Params { profile: new.profile.clone(), problems })?;
        let standards = profile.standards(&settled.context, None)?.unwrap_or_default();

        // One at a time: whatever is unfinished while we hold the lock was left by a process that died.
        let root = sessions_root(self.settings());
        create_dir(&root)?;
        let lock = Lock::wait(&root.join(".lock"))?;
        remove_temporary(&root);
        let directory = SessionDirectory::new(self.settings(), &new_id(self.settings()));
        let unfinished = directory.unfinished();
        let outcome = fill(&unfinished, &standards, &settled.inputs).and_then(|(standards, inputs)| {
            let setup = Setup {
                session_id: directory.id.clone(),
                profile: new.profile,
                profile_sha256: profile.hash().to_string(),
                context: settled.context,
                roles: new.roles,
                gates: new.gates,
                max_iterations: new.max_iterations.max(1),
                hash_prompts: new.hash_prompts,
                standards: Some(standards),
                inputs,
                change: None,
            };
            Work::open(self, unfinished.clone())?.commit(Command::Create(Box::new(setup)))?;
            // From here on there is a session; before, there was nothing.
            Ok(aiwf_store::move_to(&unfinished.path, &directory.path)?)
        });
        if let Err(error) = outcome {
            // The error is what matters; what is left is removed by the next `init`.
            drop(aiwf_store::remove(&unfinished.path));
            return Err(error);
        }
        drop(lock);
        let mut work = Work::open(self, directory.clone())?;
        let performed = work.run_until_waiting().inspect_err(|_| {
            // A session whose first prompt cannot be built has not begun.
            if work.state.n_events == 1 {
                drop(aiwf_store::remove(&directory.path));
            }
        })?;
        Ok(Created { id: directory.id, performed })
    }
}

/// Writes what a session keeps from its beginning: the standards and the inputs.
fn fill(
    directory: &SessionDirectory,
    standards: &str,
    inputs: &BTreeMap<String, String>,
) -> Result<(FileHash, Vec<FileHash>), SessionError> {
    create_dir(&directory.path)?;
    let objects = directory.objects();
    let bundle = keep(directory, &objects, "standards-bundle.md", standards)?;
    let inputs = inputs
        .iter()
        .map(|(key, text)| keep(directory, &objects, &format!("inputs/{key}"), text))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((bundle, inputs))
}

fn keep(
    directory: &SessionDirectory,
    objects: &Objects,
    relative: &str,
    text: &str,
) -> Result<FileHash, SessionError> {
    let path = directory.file(relative);
    if let Some(parent) = path.parent() {
        create_dir(parent)?;
    }
    objects.keep(text.as_bytes())?;
    write_atomic(&path, Durability::PowerLoss, |out| out.write_all(text.as_bytes()))?;
    Ok(FileHash { path: relative.to_owned(), sha256: sha256_hex(text.as_bytes()) })
}
