//! The table `[roles]`.

use std::collections::BTreeMap;

use aiwf_session::Role;

use crate::entry::Entry;
use crate::layer_reader::{LayerReader, TomlEntry};
use crate::origin::Sourced;
use crate::setting::settings;
use crate::setting_docs::table_of_key;
use crate::table_kinds::{Map, Name};
use crate::value::ProviderName;

settings! {
    /// The provider of each role. Roles of your own flows can be set too.
    pub Roles from RolesLayer {
        /// The default for all other roles.
        default: Sourced<String> = ProviderName ["manual".to_owned()];
        .. named: BTreeMap<Role, Sourced<String>> = Map<RoleName, ProviderName>;
    }
}

impl Roles {
    pub fn get(&self, role: Role) -> &Sourced<String> {
        self.named.get(&role).unwrap_or(&self.default)
    }

    /// The standard roles that follow `default`.
    pub(crate) fn entries_of_followers(&self) -> Vec<Entry> {
        let followers = Role::STANDARD.into_iter().filter(|role| !self.named.contains_key(role));
        let entry = |role: Role| Entry {
            key: format!("roles.{}", role.as_str()),
            value: self.default.value.clone(),
            origin: self.default.origin,
        };
        followers.map(entry).collect()
    }
}

pub(crate) struct RoleName;

impl Name for RoleName {
    type Key = Role;
    const LABEL: &'static str = "role";
    const KNOWN: &'static [(&'static str, &'static str)] = &[
        ("planner", "Writes the plan"),
        ("generator", "Writes the code"),
        ("reviewer", "Reviews the code"),
        ("reviser", "Fixes the problems found in review"),
    ];

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Role> {
        let mut names = vec!["default"];
        names.extend(Self::KNOWN.iter().map(|(name, _)| *name));
        // Flows have their own roles; a name close to a standard one, or a key of another table, is a mistake.
        let is_near = |known: &&str| strsim::damerau_levenshtein(entry.key, known) <= 2;
        let is_slip = || names.iter().any(is_near) || table_of_key(entry.key).is_some();
        let role = Role::from_name(entry.key).filter(|role| Role::STANDARD.contains(role) || !is_slip());
        if role.is_none() {
            reader.unknown(entry, &names);
        }
        role
    }

    fn show(role: &Role) -> String {
        role.as_str().to_owned()
    }
}
