//! The kinds of tables: one table of settings, values by name, tables by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::marker::PhantomData;

use toml::de::DeArray;

use crate::checkout::Loosening;
use crate::entry::Entry;
use crate::fault::ConfigFault;
use crate::layer_reader::{LayerReader, TomlEntry};
use crate::name::quoted_key;
use crate::origin::{Origin, Sourced};
use crate::setting::{Kind, Listing, Resolve, Rule, SettingDoc, Table, TableDoc, join};
use crate::value::{Value, confine_one, read_allowed, stronger_of};

/// A table of settings, such as `[session]`.
pub(crate) struct Section<T>(PhantomData<T>);

impl<T: Resolve> Kind for Section<T> {
    type Layer = T;
    type Resolved = T::Config;
    type Item = T;

    fn describe() -> String {
        "table".to_owned()
    }

    fn read(layer: &mut T, reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>, _: &[Rule<T>]) {
        if let Some(table) = reader.expect_table(entry) {
            reader.table(&entry.path(), table, layer);
        }
    }

    fn over(stronger: T, weaker: T, _: &[Rule<T>]) -> T {
        stronger.over(weaker)
    }

    fn resolve(layer: T) -> T::Config {
        layer.resolve()
    }

    fn list(resolved: &T::Config, path: &str, listing: Listing, entries: &mut Vec<Entry>) {
        T::list(resolved, path, listing, entries);
    }

    fn confine(
        project: &mut T,
        user: &T,
        path: &str,
        _: Option<&T>,
        _: &[Rule<T>],
        loosened: &mut Vec<Loosening>,
    ) {
        project.confine(user, path, loosened);
    }

    fn docs(path: &str) -> Vec<TableDoc> {
        T::docs(path)
    }
}

/// The possible names in a table of values.
pub(crate) trait Name {
    type Key: Ord + Clone + Debug;
    /// What the names refer to, for the reference page.
    const LABEL: &'static str;
    /// The standard names with descriptions.
    const KNOWN: &'static [(&'static str, &'static str)] = &[];
    /// The placeholder for the name in the title of a table on the reference page.
    const PLACEHOLDER: &'static str = "NAME";
    /// The introduction of the table on the reference page, if it lists the names.
    const ABOUT: Option<&'static str> = None;

    /// The name, or `None` and a problem.
    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Self::Key>;
    /// The name as a key.
    fn show(key: &Self::Key) -> String;
}

/// Values by name, such as `[tools.grant]`.
pub(crate) struct Map<N, V>(PhantomData<(N, V)>);

impl<N: Name, V: Value> Map<N, V> {
    pub(crate) fn read_one(
        layer: &mut BTreeMap<N::Key, Sourced<V::Type>>,
        reader: &mut LayerReader<'_>,
        entry: &TomlEntry<'_, '_>,
        rules: &[Rule<V::Type>],
    ) {
        let Some(key) = N::read(reader, entry) else { return };
        if let Some(value) = read_allowed::<V>(reader, entry, rules) {
            layer.insert(key, value);
        }
    }

    /// The settings, followed by the standard names of this table.
    pub(crate) fn with_known_names(mut settings: Vec<SettingDoc>) -> Vec<SettingDoc> {
        settings
            .extend(N::KNOWN.iter().map(|(key, help)| SettingDoc::new::<V>(key, String::new(), help, &[])));
        settings
    }
}

impl<N: Name, V: Value> Kind for Map<N, V> {
    type Layer = BTreeMap<N::Key, Sourced<V::Type>>;
    type Resolved = BTreeMap<N::Key, Sourced<V::Type>>;
    type Item = V::Type;

    fn describe() -> String {
        format!("table of {} = {}", N::LABEL, <V as Value>::describe())
    }

    fn read(
        layer: &mut Self::Layer,
        reader: &mut LayerReader<'_>,
        entry: &TomlEntry<'_, '_>,
        rules: &[Rule<V::Type>],
    ) {
        let Some(table) = reader.expect_table(entry) else { return };
        reader.each(&entry.path(), table, |reader, entry| Self::read_one(layer, reader, entry, rules));
    }

    fn over(stronger: Self::Layer, mut weaker: Self::Layer, rules: &[Rule<V::Type>]) -> Self::Layer {
        for (name, value) in stronger {
            let value = match weaker.remove(&name) {
                Some(weaker) => stronger_of(value, weaker, rules),
                None => value,
            };
            weaker.insert(name, value);
        }
        weaker
    }

    fn resolve(layer: Self::Layer) -> Self::Resolved {
        layer
    }

    fn list(resolved: &Self::Resolved, path: &str, listing: Listing, entries: &mut Vec<Entry>) {
        for (name, value) in resolved {
            <V as Value>::list(value, &join(path, &N::show(name)), listing, entries);
        }
    }

    fn confine(
        project: &mut Self::Layer,
        user: &Self::Layer,
        path: &str,
        default: Option<&V::Type>,
        rules: &[Rule<V::Type>],
        loosened: &mut Vec<Loosening>,
    ) {
        for (name, value) in std::mem::take(project) {
            let instead = user.get(&name).map(|user| &user.value).or(default);
            let mut value = Some(value);
            confine_one::<V>(&mut value, instead, &join(path, &N::show(&name)), rules, loosened);
            project.extend(value.map(|value| (name, value)));
        }
    }

    fn docs(path: &str) -> Vec<TableDoc> {
        let names = |about| TableDoc {
            table: format!("[{path}]"),
            about,
            settings: Self::with_known_names(Vec::new()),
            has_settings: false,
        };
        let mut docs: Vec<TableDoc> = N::ABOUT.map(names).into_iter().collect();
        docs.extend(<V as Value>::docs(&join(path, N::PLACEHOLDER)));
        docs
    }
}

/// A named table, such as `[providers.NAME]`.
pub(crate) trait NamedTable: Table<Config = Self> {
    /// An empty table at `origin`.
    fn new(origin: Origin) -> Self;
    /// Why a name is invalid for a table.
    fn name_fault(name: &str) -> Option<ConfigFault>;
    /// The error for an unknown key, if there is more to say than that it is unknown.
    fn key_fault(_key: &str, _path: String) -> Option<ConfigFault> {
        None
    }
    /// What is wrong with the table as a whole.
    fn fault(&self, _path: String) -> Option<ConfigFault> {
        None
    }
    /// The part of a weaker table with the same name that still applies.
    fn weaker_part(&self, weaker: Self) -> Self {
        weaker
    }
}

/// Tables by name.
pub(crate) struct Tables<T>(PhantomData<T>);

impl<T: NamedTable> Kind for Tables<T> {
    type Layer = BTreeMap<String, T>;
    type Resolved = BTreeMap<String, T>;
    type Item = T;

    fn describe() -> String {
        "tables".to_owned()
    }

    fn read(layer: &mut Self::Layer, reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>, _: &[Rule<T>]) {
        let Some(tables) = reader.expect_table(entry) else { return };
        reader.each(&entry.path(), tables, |reader, entry| {
            if let Some(fault) = T::name_fault(entry.key) {
                return reader.report(entry.key_offset, fault);
            }
            let Some(table) = reader.expect_table(entry) else { return };
            let mut read = T::new(reader.toml.origin(entry.key_offset));
            reader.each(&entry.path(), table, |reader, entry| {
                if read.read_key(reader, entry) {
                    return;
                }
                match T::key_fault(entry.key, entry.path()) {
                    Some(fault) => reader.report(entry.key_offset, fault),
                    None => reader.unknown(entry, &T::keys()),
                }
            });
            if let Some(fault) = read.fault(entry.path()) {
                reader.report(entry.key_offset, fault);
            }
            layer.insert(entry.key.to_owned(), read);
        });
    }

    fn over(stronger: Self::Layer, mut weaker: Self::Layer, _: &[Rule<T>]) -> Self::Layer {
        for (name, table) in stronger {
            let table = match weaker.remove(&name) {
                Some(weaker) => {
                    let weaker = table.weaker_part(weaker);
                    table.over(weaker)
                }
                None => table,
            };
            weaker.insert(name, table);
        }
        weaker
    }

    fn resolve(layer: Self::Layer) -> Self::Resolved {
        layer
    }

    fn list(resolved: &Self::Resolved, path: &str, listing: Listing, entries: &mut Vec<Entry>) {
        for (name, table) in resolved {
            T::list(table, &join(path, &quoted_key(name)), listing, entries);
        }
    }

    fn confine(
        project: &mut Self::Layer,
        user: &Self::Layer,
        path: &str,
        _: Option<&T>,
        _: &[Rule<T>],
        loosened: &mut Vec<Loosening>,
    ) {
        let nothing = T::default();
        for (name, table) in project {
            let user = user.get(name).unwrap_or(&nothing);
            table.confine(user, &join(path, &quoted_key(name)), loosened);
        }
    }

    fn docs(path: &str) -> Vec<TableDoc> {
        T::docs(&join(path, "NAME"))
    }
}

/// A table of a list, such as each `[[checks]]`.
pub(crate) trait ListedTable: Table<Config = Self> {
    /// An empty table at `origin`.
    fn new(origin: Origin) -> Self;
    /// Its name, which must be unique.
    fn name(&self) -> Option<&str>;
    /// What is wrong with the table as a whole.
    fn fault(&self, path: String) -> Option<ConfigFault>;
}

/// Tables in the order of the file, each with a unique name.
pub(crate) struct List<T>(PhantomData<T>);

impl<T: ListedTable> Kind for List<T> {
    type Layer = Vec<T>;
    type Resolved = Vec<T>;
    type Item = T;

    fn describe() -> String {
        "list of tables".to_owned()
    }

    fn read(layer: &mut Vec<T>, reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>, _: &[Rule<T>]) {
        let path = entry.path();
        let expected = || format!("a list of tables, each of which starts with `[[{path}]]`");
        let items = entry.value.get_ref().as_array();
        let is_list = |items: &&DeArray<'_>| items.iter().all(|item| item.get_ref().is_table());
        let Some(items) = reader.expect(entry, items.filter(is_list), expected, None) else { return };
        let mut names = BTreeSet::new();
        for item in items.value {
            let (Some(table), offset) = (item.get_ref().as_table(), item.span().start) else { continue };
            let mut read = T::new(reader.toml.origin(offset));
            let n_problems = reader.n_problems();
            // The form used in the file and in problems.
            reader.each(&format!("[{path}]"), table, |reader, entry| {
                if !read.read_key(reader, entry) {
                    reader.unknown(entry, &T::keys());
                }
            });
            if reader.n_problems() > n_problems {
                continue;
            }
            if let Some(fault) = read.fault(format!("[[{path}]]")) {
                reader.report(offset, fault);
            } else if let Some(name) = read.name().map(str::to_owned)
                && !names.insert(name.clone())
            {
                reader.report(offset, ConfigFault::NameTaken { path: path.clone(), name });
            } else {
                layer.push(read);
            }
        }
    }

    /// The weaker tables that are not replaced, followed by the stronger ones. A table is a single value: the command
    /// of one file with the limits of another would be a mix that nobody wrote.
    fn over(stronger: Vec<T>, mut weaker: Vec<T>, _: &[Rule<T>]) -> Vec<T> {
        let names: BTreeSet<_> = stronger.iter().map(ListedTable::name).collect();
        weaker.retain(|table| !names.contains(&table.name()));
        weaker.extend(stronger);
        weaker
    }

    fn resolve(layer: Vec<T>) -> Vec<T> {
        layer
    }

    fn list(resolved: &Vec<T>, path: &str, listing: Listing, entries: &mut Vec<Entry>) {
        for table in resolved {
            let name = quoted_key(table.name().unwrap_or_default());
            T::list(table, &join(path, &name), listing, entries);
        }
    }

    /// Consent is per table, and asked for right before it runs.
    fn confine(_: &mut Vec<T>, _: &Vec<T>, _: &str, _: Option<&T>, _: &[Rule<T>], _: &mut Vec<Loosening>) {}

    fn docs(path: &str) -> Vec<TableDoc> {
        T::docs(&format!("[{path}]"))
    }
}
