//! Finds profiles: built-in and installed ones first, then the user's, then the project's.
//!
//! A broken profile is reported and affects no other profile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_profile::{
    Files, MAX_FILE_BYTES, MAX_FILES, Profile, ProfileError, built_in_profile, built_in_profiles,
};

use aiwf_store::is_temporary;

use crate::Engine;
use crate::session::session_error::SessionError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileOrigin {
    BuiltIn,
    /// Installed by `aiwf profile add`.
    Installed,
    User,
    Project,
}

impl ProfileOrigin {
    /// The origin, for display.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Installed => "installed",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A profile, valid or not.
#[derive(Debug)]
pub struct FoundProfile {
    pub name: String,
    pub origin: ProfileOrigin,
    /// The profile, or its problems.
    pub profile: Result<Profile, ProfileFault>,
    /// Other profiles of the same name that are not used.
    pub hides: Vec<ProfileOrigin>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFault {
    pub message: String,
    pub hint: String,
}

impl ProfileFault {
    pub(crate) fn new(message: impl Into<String>, hint: &str) -> Self {
        Self { message: message.into(), hint: hint.to_owned() }
    }
}

pub(crate) fn find(settings: &Settings, name: &str) -> Result<Profile, SessionError> {
    find_with(settings, name, &Profile::load)
}

/// The profile with this name for a session that started when its hash was `checked`.
pub(crate) fn find_again(settings: &Settings, name: &str, checked: &str) -> Result<Profile, SessionError> {
    find_with(settings, name, &|files| Profile::load_again(files, checked))
}

/// Loads only the named profile: there may be many others.
fn find_with(settings: &Settings, name: &str, load: Load<'_>) -> Result<Profile, SessionError> {
    let places = places(settings);
    if let Some(place) = places.iter().find(|place| place.name == name) {
        return place
            .load(load)
            .map_err(|fault| SessionError::BrokenProfile { name: name.to_owned(), fault });
    }
    let known: BTreeSet<String> = places.into_iter().map(|place| place.name).collect();
    Err(SessionError::UnknownProfile { name: name.to_owned(), known: known.into_iter().collect() })
}

/// All profiles, by name.
pub(crate) fn all(settings: &Settings) -> Vec<FoundProfile> {
    let mut found: BTreeMap<String, FoundProfile> = BTreeMap::new();
    for place in places(settings) {
        if let Some(winner) = found.get_mut(&place.name) {
            winner.hides.push(place.origin);
            continue;
        }
        let profile = place.load(&Profile::load);
        let Place { name, origin, .. } = place;
        found.insert(name.clone(), FoundProfile { name, origin, profile, hides: Vec::new() });
    }
    found.into_values().collect()
}

type Load<'a> = &'a dyn Fn(Files) -> Result<Profile, ProfileError>;

struct Place {
    name: String,
    origin: ProfileOrigin,
    /// `None` for built-in profiles.
    directory: Option<PathBuf>,
    /// The file with its pinned hash, if it is installed.
    pin: Option<PathBuf>,
}

impl Place {
    fn load(&self, load: Load<'_>) -> Result<Profile, ProfileFault> {
        let files = match &self.directory {
            Some(directory) => read_files(directory)?,
            None => built_in_profile(&self.name).unwrap_or_default(),
        };
        let profile = load(files).map_err(|error| ProfileFault::new(error.to_string(), &error.hint()))?;
        let profile = match &self.pin {
            Some(pin) => check_pin(pin, profile)?,
            None => profile,
        };
        let found = profile.name();
        if found == self.name {
            return Ok(profile);
        }
        let hint = format!("set `name = \"{}\"` in its `profile.toml`, or rename its directory", self.name);
        Err(ProfileFault::new(format!("its manifest calls it `{found}`"), &hint))
    }
}

/// The places of profiles, in the order of precedence.
fn places(settings: &Settings) -> Vec<Place> {
    let built_in = built_in_profiles().iter().map(|(name, _)| Place {
        name: (*name).to_owned(),
        origin: ProfileOrigin::BuiltIn,
        directory: None,
        pin: None,
    });
    let mut places: Vec<Place> = built_in.collect();
    let user = settings.user_dir();
    let layers = [
        (ProfileOrigin::Installed, installed_root(settings)),
        (ProfileOrigin::User, user.as_ref().map(|user| user.join("profiles"))),
        (ProfileOrigin::Project, Some(settings.project_dir().join("profiles"))),
    ];
    for (origin, root) in layers {
        let Some(root) = root else { continue };
        places.extend(directories(&root).into_iter().map(|(name, directory)| Place {
            pin: (origin == ProfileOrigin::Installed).then(|| pin_path(&root, &name)),
            name,
            origin,
            directory: Some(directory),
        }));
    }
    places
}

pub(crate) fn installed_root(settings: &Settings) -> Option<PathBuf> {
    settings.user_dir().map(|user| user.join("installed"))
}

/// The file with the hash of an installed profile.
pub(crate) fn pin_path(root: &Path, name: &str) -> PathBuf {
    root.join(format!("{name}.sha256"))
}

/// The pinned hashes: one, or two while another version is being installed.
pub(crate) fn pinned(pin: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(pin).unwrap_or_default();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// Refuses an installed profile that changed since it was added.
fn check_pin(pin: &Path, profile: Profile) -> Result<Profile, ProfileFault> {
    if pinned(pin).contains(&profile.hash().to_string()) {
        Ok(profile)
    } else {
        Err(ProfileFault::new(
            "it changed since it was added",
            "check what changed, then `aiwf profile add DIR` it again",
        ))
    }
}

fn directories(root: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut directories: Vec<(String, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter(|entry| !is_temporary(&entry.path()) && entry.path().join("profile.toml").is_file())
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .collect();
    directories.sort();
    directories
}

/// The files of a profile. Follows no links and limits sizes.
pub(crate) fn read_files(root: &Path) -> Result<Files, ProfileFault> {
    let too_much = |message: String| ProfileFault::new(message, "remove what does not belong to the profile");
    let unreadable =
        |message: String| ProfileFault::new(message, "check that every file of the profile can be read");
    let mut files = Files::new();
    for entry in ignore::WalkBuilder::new(root).standard_filters(false).build() {
        let entry = entry.map_err(|error| unreadable(error.to_string()))?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let name =
            entry.path().strip_prefix(root).unwrap_or(entry.path()).to_string_lossy().replace('\\', "/");
        // Tests say something about the profile and are no part of it.
        if name.starts_with("tests/") {
            continue;
        }
        if files.len() >= MAX_FILES {
            return Err(too_much(format!("it has more than {MAX_FILES} files")));
        }
        let bytes =
            crate::prompt::read::read_bytes(entry.path()).map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() > MAX_FILE_BYTES {
            return Err(too_much(format!("`{name}` is larger than {MAX_FILE_BYTES} bytes")));
        }
        files.insert(name, bytes);
    }
    Ok(files)
}

/// Warnings about profiles with the same name that are not used.
pub(crate) fn clash_warnings(settings: &Settings, name: &str) -> Vec<String> {
    let same: Vec<Place> = places(settings).into_iter().filter(|place| place.name == name).collect();
    let [winner, hidden @ ..] = same.as_slice() else { return Vec::new() };
    let warning = |place: &Place| {
        let (used, other) = (winner.origin.as_str(), place.origin.as_str());
        format!("there are two profiles `{name}`: the {used} one is used and the {other} one is not")
    };
    hidden.iter().map(warning).collect()
}

impl Engine {
    /// Warnings about a profile: others with the same name that are not used.
    pub fn profile_warnings(&self, name: &str) -> Vec<String> {
        clash_warnings(self.settings(), name)
    }

    pub fn profile(&self, name: &str) -> Result<Profile, SessionError> {
        find(self.settings(), name)
    }

    /// All profiles by name; broken ones with their problems.
    pub fn profiles(&self) -> Vec<FoundProfile> {
        all(self.settings())
    }
}
