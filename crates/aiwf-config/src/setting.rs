//! The declaration of a settings table: once, with everything that depends on it.
//!
//! The macro [`settings!`] takes a table as a struct with one line per setting: documentation, key, type, kind,
//! default, and what a project's file may do with it. Reading, merging, defaults, `config show`, the rules for
//! checkouts, suggestions for unknown keys and the reference page all follow from that line.
//!
//! ```text
//! /// How sessions run.
//! pub SessionConfig from SessionLayer {
//!     /// Maximum number of iterations; the first generation counts as 1.
//!     max_iterations: Sourced<NonZeroU32> = Count [count(5)], at_most();
//! }
//! ```
//!
//! `key as "type"` gives a setting a key other than its field name; `[…]` is its default, `["…" elsewhere]` a default
//! applied by another crate; rules follow after commas.

use std::path::Path;

use crate::checkout::Loosening;
use crate::entry::Entry;
use crate::layer_reader::{LayerReader, TomlEntry};

/// A restriction on a project's file, because a project may come from a stranger.
pub(crate) enum Rule<T> {
    /// Only the user's own file may set it.
    UserOnly,
    /// Only the user's own file may set it to a value for which `applies` holds, given the directory of the file.
    UserOnlyIf { applies: fn(&T, &Path) -> bool, doc: &'static str },
    /// A project's value that is looser than the user's own or the default applies only after consent.
    ConsentIf { is_looser: fn(&T, Option<&T>) -> bool, doc: &'static str },
    /// A user's value for which `stays` holds overrides the project's.
    UserKeeps { stays: fn(&T) -> bool, doc: &'static str },
    /// It determines what is started or contacted, so the user must agree to the whole table.
    DecidesWhatRuns,
}

impl<T> Rule<T> {
    /// The meaning of the rule for a project's file, for the reference page.
    fn doc(&self) -> &'static str {
        match self {
            Self::UserOnly => "not allowed",
            Self::UserOnlyIf { doc, .. } | Self::ConsentIf { doc, .. } | Self::UserKeeps { doc, .. } => doc,
            Self::DecidesWhatRuns => "needs consent",
        }
    }
}

/// A limit: a project may lower it. If the user has no limit, nothing is looser.
pub(crate) fn at_most<T: PartialOrd>() -> Rule<T> {
    Rule::ConsentIf {
        is_looser: |found, instead| instead.is_some_and(|instead| found > instead),
        doc: "raising it needs consent",
    }
}

/// A safeguard: a project may enable it.
pub(crate) fn off_needs_consent() -> Rule<bool> {
    Rule::ConsentIf {
        is_looser: |found, instead| !found && instead.is_some_and(|instead| *instead),
        doc: "`false` needs consent",
    }
}

/// A permission: a project may disable it.
pub(crate) fn on_needs_consent() -> Rule<bool> {
    Rule::ConsentIf {
        is_looser: |found, instead| *found && !instead.is_some_and(|instead| *instead),
        doc: "`true` needs consent",
    }
}

/// A switch that stays off once the user turned it off.
pub(crate) fn user_off_wins() -> Rule<bool> {
    Rule::UserKeeps { stays: |is_on| !is_on, doc: "cannot undo your `false`" }
}

/// A list of permissions: a project may shorten it.
pub(crate) fn more_needs_consent() -> Rule<Vec<String>> {
    Rule::ConsentIf {
        is_looser: |found, instead| {
            found.iter().any(|name| instead.is_none_or(|instead| !instead.contains(name)))
        },
        doc: "adding to it needs consent",
    }
}

/// Which settings to list, and how to format their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// All settings, as in `config show`.
    All,
    /// Settings that determine what is started or contacted, quoted, so that no value can pass for another line.
    DecidesWhatRuns,
}

impl Listing {
    pub(crate) fn includes<T>(self, rules: &[Rule<T>]) -> bool {
        self == Self::All || rules.iter().any(|rule| matches!(rule, Rule::DecidesWhatRuns))
    }
}

/// The kinds of keys: a value, a table of values, or a table of settings.
pub(crate) trait Kind {
    /// The content of one file or of the flags; empty by default.
    type Layer;
    /// The value in force.
    type Resolved;
    /// The value that rules are applied to.
    type Item;

    /// The possible values, for the reference page.
    fn describe() -> String;
    fn read(
        layer: &mut Self::Layer,
        reader: &mut LayerReader<'_>,
        entry: &TomlEntry<'_, '_>,
        rules: &[Rule<Self::Item>],
    );
    /// `stronger`, with gaps filled from `weaker`.
    fn over(stronger: Self::Layer, weaker: Self::Layer, rules: &[Rule<Self::Item>]) -> Self::Layer;
    fn resolve(layer: Self::Layer) -> Self::Resolved;
    fn list(resolved: &Self::Resolved, path: &str, listing: Listing, entries: &mut Vec<Entry>);
    /// Removes what needs the user's consent from the project's layer.
    fn confine(
        project: &mut Self::Layer,
        user: &Self::Layer,
        path: &str,
        default: Option<&Self::Item>,
        rules: &[Rule<Self::Item>],
        loosened: &mut Vec<Loosening>,
    );
    /// The tables below this key.
    fn docs(_path: &str) -> Vec<TableDoc> {
        Vec::new()
    }
}

/// A table of settings, filled from one file or the flags.
pub(crate) trait Table: Default {
    /// The table with defaults.
    type Config;

    fn keys() -> Vec<&'static str>;
    /// Reads the setting if the table has its key.
    fn read_key(&mut self, reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> bool;
    /// This table, with gaps filled from `weaker`.
    fn over(self, weaker: Self) -> Self;
    fn list(config: &Self::Config, path: &str, listing: Listing, entries: &mut Vec<Entry>);
    /// Removes what needs the user's consent from the project's table.
    fn confine(&mut self, user: &Self, path: &str, loosened: &mut Vec<Loosening>);
    /// The table, followed by the tables below it.
    fn docs(path: &str) -> Vec<TableDoc>;
}

/// A table that gets its defaults when all layers are merged.
pub(crate) trait Resolve: Table {
    fn resolve(self) -> Self::Config;
}

/// A table of `config.toml`.
#[derive(Clone, Debug)]
pub struct TableDoc {
    /// As written in the file: `[session]`, `[providers.NAME]`.
    pub table: String,
    pub about: &'static str,
    pub settings: Vec<SettingDoc>,
    /// Whether a misplaced key may belong here; false for the parts of a single value.
    pub(crate) has_settings: bool,
}

#[derive(Clone, Debug)]
pub struct SettingDoc {
    pub key: &'static str,
    /// The possible values.
    pub kind: String,
    /// The value in force by default; empty if there is none.
    pub default: String,
    pub help: &'static str,
    /// What a project's file may not do; empty if there is no restriction.
    pub project: String,
}

impl SettingDoc {
    pub(crate) fn new<K: Kind>(
        key: &'static str,
        default: String,
        help: &'static str,
        rules: &[Rule<K::Item>],
    ) -> Self {
        let is_user_only = |rule: &&Rule<K::Item>| matches!(rule, Rule::UserOnly);
        let project = match rules.iter().find(is_user_only) {
            Some(rule) => rule.doc().to_owned(),
            None => rules.iter().map(Rule::doc).collect::<Vec<_>>().join("; "),
        };
        Self { key, kind: K::describe(), default, help: help.trim_ascii_start(), project }
    }
}

/// The full name of a setting: `table.key`, or only the key at the top level.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Declares a table; see the top of this file.
macro_rules! settings {
    // A table of the file: a layer without defaults, and a configuration with them.
    (
        $(#[doc = $about:literal])+
        $vis:vis $Config:ident from $Layer:ident {
            $(
                $(#[doc = $help:literal])+
                $field:ident $(as $key:literal)?: $Type:ty = $Kind:ty $([$($default:tt)+])? $(, $rule:expr)*;
            )*
            $(.. $named:ident: $NamedType:ty = $NamedKind:ty;)?
            $(also $extra:ident: $ExtraType:ty;)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Config {
            $($(#[doc = $help])+ $vis $field: $Type,)*
            $($vis $named: $NamedType,)?
            $($vis $extra: $ExtraType,)*
        }

        #[derive(Clone, Debug, Default, PartialEq)]
        #[allow(clippy::struct_field_names, reason = "fields are named after their keys")]
        pub(crate) struct $Layer {
            $(pub(crate) $field: <$Kind as $crate::setting::Kind>::Layer,)*
            $(pub(crate) $named: <$NamedKind as $crate::setting::Kind>::Layer,)?
        }

        impl $crate::setting::Resolve for $Layer {
            fn resolve(self) -> $Config {
                $Config {
                    $($field: $crate::setting::settings!(@resolve $Kind, self.$field $(, $($default)+)?),)*
                    $($named: <$NamedKind as $crate::setting::Kind>::resolve(self.$named),)?
                    $($extra: <$ExtraType>::default(),)*
                }
            }
        }

        $crate::setting::settings! {
            @table $Layer, $Config, concat!($($about),+);
            $($field, [$($key)?], concat!($($help),+), $Kind, [$($($default)+)?], [$($rule),*];)*
            $(.. $named, $NamedKind;)?
        }
    };

    // A named table, such as `[providers.NAME]`: without defaults, and with its first line.
    (
        $(#[doc = $about:literal])+
        $vis:vis $Table:ident {
            $(
                $(#[doc = $help:literal])+
                $field:ident $(as $key:literal)?: $Type:ty = $Kind:ty $([$($default:tt)+])? $(, $rule:expr)*;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $Table {
            /// The position of the table.
            $vis origin: $crate::origin::Origin,
            $($(#[doc = $help])+ $vis $field: $Type,)*
        }

        $crate::setting::settings! {
            @table $Table, $Table, concat!($($about),+);
            $($field, [$($key)?], concat!($($help),+), $Kind, [$($($default)+)?], [$($rule),*];)*
        }
    };

    (
        @table $Layer:ident, $Config:ident, $about:expr;
        $($field:ident, [$($key:literal)?], $help:expr, $Kind:ty, [$($default:tt)*], [$($rule:expr),*];)*
        $(.. $named:ident, $NamedKind:ty;)?
    ) => {
        impl $crate::setting::Table for $Layer {
            type Config = $Config;

            fn keys() -> Vec<&'static str> {
                vec![$($crate::setting::settings!(@key $field $($key)?)),*]
            }

            fn read_key(
                &mut self,
                reader: &mut $crate::layer_reader::LayerReader<'_>,
                entry: &$crate::layer_reader::TomlEntry<'_, '_>,
            ) -> bool {
                $(
                    if entry.key == $crate::setting::settings!(@key $field $($key)?) {
                        <$Kind as $crate::setting::Kind>::read(&mut self.$field, reader, entry, &[$($rule),*]);
                        return true;
                    }
                )*
                $crate::setting::settings!(@read_named self, reader, entry $(, $named, $NamedKind)?)
            }

            fn over(mut self, weaker: Self) -> Self {
                $(
                    self.$field = <$Kind as $crate::setting::Kind>::over(self.$field, weaker.$field, &[$($rule),*]);
                )*
                $(self.$named = <$NamedKind as $crate::setting::Kind>::over(self.$named, weaker.$named, &[]);)?
                self
            }

            fn list(
                config: &$Config,
                path: &str,
                listing: $crate::setting::Listing,
                entries: &mut Vec<$crate::entry::Entry>,
            ) {
                $(
                    let path_of_key = $crate::setting::join(path, $crate::setting::settings!(@key $field $($key)?));
                    if listing.includes::<<$Kind as $crate::setting::Kind>::Item>(&[$($rule),*]) {
                        $crate::setting::settings!(
                            @list $Kind, &config.$field, &path_of_key, listing, entries, $($default)*
                        );
                    }
                )*
                $(<$NamedKind as $crate::setting::Kind>::list(&config.$named, path, listing, entries);)?
            }

            fn confine(&mut self, user: &Self, path: &str, loosened: &mut Vec<$crate::checkout::Loosening>) {
                $(
                    <$Kind as $crate::setting::Kind>::confine(
                        &mut self.$field,
                        &user.$field,
                        &$crate::setting::join(path, $crate::setting::settings!(@key $field $($key)?)),
                        $crate::setting::settings!(@default_value $($default)*).as_ref(),
                        &[$($rule),*],
                        loosened,
                    );
                )*
            }

            fn docs(path: &str) -> Vec<$crate::setting::TableDoc> {
                let settings = vec![$(
                    $crate::setting::SettingDoc::new::<$Kind>(
                        $crate::setting::settings!(@key $field $($key)?),
                        $crate::setting::settings!(@default_text $Kind, $($default)*),
                        $help,
                        &[$($rule),*],
                    )
                ),*];
                $(let settings = <$NamedKind>::with_known_names(settings);)?
                let about = $about.trim_ascii_start();
                let mut docs = vec![$crate::setting::TableDoc {
                    table: format!("[{path}]"),
                    about,
                    settings,
                    has_settings: true,
                }];
                $(
                    let key = $crate::setting::settings!(@key $field $($key)?);
                    docs.extend(<$Kind as $crate::setting::Kind>::docs(&$crate::setting::join(path, key)));
                )*
                $(docs.extend(<$NamedKind as $crate::setting::Kind>::docs(path));)?
                docs
            }
        }
    };

    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };

    (@resolve $Kind:ty, $layer:expr) => { <$Kind as $crate::setting::Kind>::resolve($layer) };
    (@resolve $Kind:ty, $layer:expr, $text:literal elsewhere) => {
        <$Kind as $crate::setting::Kind>::resolve($layer)
    };
    (@resolve $Kind:ty, $layer:expr, $default:expr) => {
        $layer.unwrap_or_else(|| $crate::origin::Sourced::new($default, $crate::origin::Origin::Default))
    };

    (@list $Kind:ty, $field:expr, $path:expr, $listing:expr, $entries:expr,) => {
        <$Kind as $crate::setting::Kind>::list($field, $path, $listing, $entries)
    };
    (@list $Kind:ty, $field:expr, $path:expr, $listing:expr, $entries:expr, $text:literal elsewhere) => {
        <$Kind as $crate::setting::Kind>::list($field, $path, $listing, $entries)
    };
    (@list $Kind:ty, $field:expr, $path:expr, $listing:expr, $entries:expr, $default:expr) => {
        $crate::value::list_one::<$Kind>($field, $path, $listing, $entries)
    };

    (@default_value) => { None };
    (@default_value $text:literal elsewhere) => { None };
    (@default_value $default:expr) => { Some($default) };

    (@default_text $Kind:ty,) => { String::new() };
    (@default_text $Kind:ty, $text:literal elsewhere) => { $text.to_owned() };
    (@default_text $Kind:ty, $default:expr) => { <$Kind as $crate::value::Value>::show(&$default) };

    (@read_named $layer:expr, $reader:expr, $entry:expr) => { false };
    (@read_named $layer:expr, $reader:expr, $entry:expr, $named:ident, $NamedKind:ty) => {{
        <$NamedKind>::read_one(&mut $layer.$named, $reader, $entry, &[]);
        true
    }};
}
pub(crate) use settings;
