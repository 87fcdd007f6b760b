//! The kinds of setting values: how each is read, shown and described.

use std::marker::PhantomData;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::checkout::Loosening;
use crate::entry::Entry;
use crate::fault::ConfigFault;
use crate::layer_reader::{LayerReader, TomlEntry};
use crate::name::{PROVIDER_NAME_RULE, excerpt, is_mcp_server_name, is_provider_name, nearest, ticked};
use crate::origin::Sourced;
use crate::setting::{Kind, Listing, Rule, TableDoc};
use crate::vocabulary::Choice;

pub(crate) trait Value {
    type Type;

    /// The possible values, for the reference page.
    fn describe() -> String;
    /// The value with its origin, or `None` and a problem.
    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Self::Type>>;
    /// The value without quotes.
    fn show(value: &Self::Type) -> String;
    /// The value on one line, quoted if it could pass for other text.
    fn quote(value: &Self::Type) -> String {
        Self::show(value)
    }
    /// Shown when there is no value.
    fn unset() -> &'static str {
        "unset"
    }
    /// The table of its options, if it has any.
    fn docs(_path: &str) -> Vec<TableDoc> {
        Vec::new()
    }
    fn list(sourced: &Sourced<Self::Type>, path: &str, listing: Listing, entries: &mut Vec<Entry>) {
        let value = match listing {
            Listing::All => Self::show(&sourced.value),
            Listing::DecidesWhatRuns => Self::quote(&sourced.value),
        };
        entries.push(Entry { key: path.to_owned(), value, origin: sourced.origin });
    }
}

/// Lists a setting that always has a value.
pub(crate) fn list_one<V: Value>(
    sourced: &Sourced<V::Type>,
    path: &str,
    listing: Listing,
    entries: &mut Vec<Entry>,
) {
    V::list(sourced, path, listing, entries);
}

/// The value, unless a project's file may not set it.
pub(crate) fn read_allowed<V: Value>(
    reader: &mut LayerReader<'_>,
    entry: &TomlEntry<'_, '_>,
    rules: &[Rule<V::Type>],
) -> Option<Sourced<V::Type>> {
    if !reader.is_project() {
        return V::read(reader, entry);
    }
    if rules.iter().any(|rule| matches!(rule, Rule::UserOnly)) {
        reader.report_user_only(entry);
        return None;
    }
    let read = V::read(reader, entry)?;
    let is_refused = |rule: &Rule<V::Type>| matches!(rule, Rule::UserOnlyIf { applies, .. } if applies(&read.value, reader.root));
    if rules.iter().any(is_refused) {
        reader.report_user_only(entry);
        return None;
    }
    Some(read)
}

/// Of two values of a setting, the one that applies.
pub(crate) fn stronger_of<T>(stronger: Sourced<T>, weaker: Sourced<T>, rules: &[Rule<T>]) -> Sourced<T> {
    let is_kept = |rule: &Rule<T>| matches!(rule, Rule::UserKeeps { stays, .. } if stays(&weaker.value));
    if rules.iter().any(is_kept) { weaker } else { stronger }
}

/// Removes the project's value if it needs the user's consent.
pub(crate) fn confine_one<V: Value>(
    project: &mut Option<Sourced<V::Type>>,
    instead: Option<&V::Type>,
    path: &str,
    rules: &[Rule<V::Type>],
    loosened: &mut Vec<Loosening>,
) {
    let needs_consent = |value: &V::Type| {
        let is_looser = |rule: &Rule<V::Type>| matches!(rule, Rule::ConsentIf { is_looser, .. } if is_looser(value, instead));
        rules.iter().any(is_looser)
    };
    if let Some(found) = project.take_if(|found| needs_consent(&found.value)) {
        loosened.push(Loosening {
            key: path.to_owned(),
            value: V::show(&found.value),
            instead: instead.map_or_else(|| V::unset().to_owned(), V::show),
            origin: found.origin,
        });
    }
}

impl<V: Value> Kind for V {
    type Layer = Option<Sourced<V::Type>>;
    type Resolved = Option<Sourced<V::Type>>;
    type Item = V::Type;

    fn describe() -> String {
        <V as Value>::describe()
    }

    fn read(
        layer: &mut Self::Layer,
        reader: &mut LayerReader<'_>,
        entry: &TomlEntry<'_, '_>,
        rules: &[Rule<V::Type>],
    ) {
        *layer = read_allowed::<V>(reader, entry, rules);
    }

    fn over(stronger: Self::Layer, weaker: Self::Layer, rules: &[Rule<V::Type>]) -> Self::Layer {
        match (stronger, weaker) {
            (Some(stronger), Some(weaker)) => Some(stronger_of(stronger, weaker, rules)),
            (stronger, weaker) => stronger.or(weaker),
        }
    }

    fn resolve(layer: Self::Layer) -> Self::Resolved {
        layer
    }

    fn list(resolved: &Self::Resolved, path: &str, listing: Listing, entries: &mut Vec<Entry>) {
        if let Some(sourced) = resolved {
            <V as Value>::list(sourced, path, listing, entries);
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
        let instead = user.as_ref().map(|user| &user.value).or(default);
        confine_one::<V>(project, instead, path, rules, loosened);
    }
}

/// Declares text kinds, each with a description and a reader.
macro_rules! texts {
    ($($(#[$meta:meta])* $Kind:ident, $about:literal, $read:expr;)+) => {$(
        $(#[$meta])*
        pub(crate) struct $Kind;

        impl Value for $Kind {
            type Type = String;

            fn describe() -> String {
                $about.to_owned()
            }

            fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<String>> {
                let read: fn(&mut LayerReader<'_>, &TomlEntry<'_, '_>) -> Option<Sourced<String>> = $read;
                read(reader, entry)
            }

            fn show(value: &String) -> String {
                value.clone()
            }

            fn quote(value: &String) -> String {
                format!("{value:?}")
            }
        }
    )+};
}

texts! {
    ProviderName, "provider", provider_name;
    ProviderType, "provider type", provider_name;
    Line, "string", line;
    Program, "program", line;
    /// A text that may be empty or have several lines.
    AnyText, "string", any_text;
    /// A text on one line, which may be empty.
    AnyLine, "string", any_line;
    /// A URL without a trailing slash.
    Address, "URL", |reader, entry| address(reader, entry, |url| url.trim_end_matches('/').to_owned());
    /// A URL as written: a trailing slash may matter to the server.
    ExactAddress, "URL", |reader, entry| address(reader, entry, str::to_owned);
    VariableName, "variable", variable_name;
    ReplySource, "`stdout`, `file` or `json:/pointer`", reply_source;
}

/// Declares list kinds, each with a description and a reader.
macro_rules! lists {
    ($($(#[$meta:meta])* $Kind:ident, $about:literal, $read:expr;)+) => {$(
        $(#[$meta])*
        pub(crate) struct $Kind;

        impl Value for $Kind {
            type Type = Vec<String>;

            fn describe() -> String {
                $about.to_owned()
            }

            fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Vec<String>>> {
                $read(reader, entry)
            }

            fn show(value: &Vec<String>) -> String {
                let words: Vec<String> = value.iter().map(|word| format!("{word:?}")).collect();
                format!("[{}]", words.join(", "))
            }

            fn unset() -> &'static str {
                "[]"
            }
        }
    )+};
}

lists! {
    Words, "list of strings", some_texts;
    Paths, "list of paths", some_texts;
    Names, "list of names", some_texts;
    Patterns, "list of patterns", some_texts;
    /// A list that may be empty.
    Arguments, "list of strings", texts;
    VariableNames, "list of variables", variable_names;
    /// Files or directories of the project, by path.
    ProjectPaths, "list of paths in the project", project_paths;
    /// Tools by the names that their server gives them.
    ServerTools, "list of tools", texts;
    /// Tools by their full names, `SERVER__TOOL`.
    ToolNames, "list of tools", tool_names;
}

/// A whole number from 1.
pub(crate) struct Count;

impl Value for Count {
    type Type = NonZeroU32;

    fn describe() -> String {
        "number".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<NonZeroU32>> {
        let count = integer(entry).and_then(NonZeroU32::new);
        reader.expect(entry, count, || format!("a whole number from 1 to {}", u32::MAX), None)
    }

    fn show(value: &NonZeroU32) -> String {
        value.to_string()
    }
}

/// A whole number from 0.
pub(crate) struct CountOrZero;

impl Value for CountOrZero {
    type Type = u32;

    fn describe() -> String {
        "number".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<u32>> {
        reader.expect(entry, integer(entry), || format!("a whole number from 0 to {}", u32::MAX), None)
    }

    fn show(value: &u32) -> String {
        value.to_string()
    }
}

/// A whole number from 1 that may be large: bytes and tokens.
pub(crate) struct LargeCount;

impl Value for LargeCount {
    type Type = NonZeroU64;

    fn describe() -> String {
        "number".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<NonZeroU64>> {
        let number = entry.value.get_ref().as_integer();
        let count = number
            .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok())
            .and_then(NonZeroU64::new);
        reader.expect(entry, count, || "a whole number from 1".to_owned(), None)
    }

    fn show(value: &NonZeroU64) -> String {
        value.to_string()
    }
}

/// A size that a file of a session may have.
pub(crate) struct OutputBytes;

impl Value for OutputBytes {
    type Type = NonZeroU64;

    fn describe() -> String {
        format!("number up to {}", aiwf_store::MAX_LEDGER_FILE_BYTES)
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<NonZeroU64>> {
        const MAX: u64 = aiwf_store::MAX_LEDGER_FILE_BYTES;
        let count = integer(entry).and_then(|number| NonZeroU64::new(number.into()));
        let count = count.filter(|count| count.get() <= MAX);
        reader.expect(entry, count, || format!("a whole number from 1 to {MAX}"), None)
    }

    fn show(value: &NonZeroU64) -> String {
        value.to_string()
    }
}

/// An amount of money that is not negative.
pub(crate) struct Dollars;

impl Value for Dollars {
    type Type = f64;

    fn describe() -> String {
        "dollars".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<f64>> {
        let float = entry.value.get_ref().as_float();
        let number = float.and_then(|float| float.as_str().parse::<f64>().ok());
        let number = number.or_else(|| integer(entry).map(f64::from));
        let amount = number.filter(|amount| amount.is_finite() && *amount >= 0.0);
        reader.expect(entry, amount, || "a number of dollars, such as `5.00`".to_owned(), None)
    }

    fn show(value: &f64) -> String {
        value.to_string()
    }
}

pub(crate) struct Switch;

impl Value for Switch {
    type Type = bool;

    fn describe() -> String {
        "true or false".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<bool>> {
        reader.expect(entry, entry.value.get_ref().as_bool(), || "`true` or `false`".to_owned(), None)
    }

    fn show(value: &bool) -> String {
        value.to_string()
    }
}

/// A duration such as `90s`, `10m` or `1h`.
pub(crate) struct Time;

impl Value for Time {
    type Type = Duration;

    fn describe() -> String {
        "duration".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Duration>> {
        let duration = entry.value.get_ref().as_str().and_then(parse_duration);
        reader.expect(entry, duration, || "a duration such as `500ms`, `90s`, `10m` or `1h`".to_owned(), None)
    }

    fn show(value: &Duration) -> String {
        format!("{}ms", value.as_millis())
    }
}

/// A path, joined to the directory that contains the file's `.aiwf/`.
pub(crate) struct Directory;

impl Value for Directory {
    type Type = PathBuf;

    fn describe() -> String {
        "path".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<PathBuf>> {
        let is_path = |path: &&str| {
            // No shell expands `~` here: it would mean a directory named `~`.
            !path.trim().is_empty() && !path.starts_with('~') && !path.contains(char::is_control)
        };
        let directory = entry.value.get_ref().as_str().filter(is_path).map(|path| reader.root.join(path));
        let expected = || "a path without `~`, absolute or relative to the directory of `.aiwf/`".to_owned();
        reader.expect(entry, directory, expected, None)
    }

    fn show(value: &PathBuf) -> String {
        value.display().to_string()
    }

    fn quote(value: &PathBuf) -> String {
        format!("{:?}", value.display().to_string())
    }
}

/// A path outside of the project.
pub(crate) fn outside_is_user_only() -> Rule<PathBuf> {
    Rule::UserOnlyIf {
        applies: |path: &PathBuf, root: &Path| {
            let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
            !path.strip_prefix(root).is_ok_and(|below| below.components().all(is_below))
        },
        doc: "only inside the project",
    }
}

/// A program given by path rather than found in `PATH`.
pub(crate) fn path_is_user_only() -> Rule<String> {
    Rule::UserOnlyIf { applies: |program, _| program.contains(['/', '\\']), doc: "a name, not a path" }
}

/// One of several words.
pub(crate) struct OneOf<T>(PhantomData<T>);

impl<T: Choice> Value for OneOf<T> {
    type Type = T;

    fn describe() -> String {
        let words: Vec<String> = T::choices().iter().map(|choice| format!("`{}`", choice.name())).collect();
        match words.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<T>> {
        let names: Vec<&str> = T::choices().iter().map(|choice| choice.name()).collect();
        let find = |name: &str| T::choices().iter().copied().find(|choice| choice.name() == name);
        reader.choice(entry, find, &names)
    }

    fn show(value: &T) -> String {
        value.name().to_owned()
    }
}

impl LayerReader<'_> {
    /// A word, or a problem that lists the valid ones.
    pub(crate) fn choice<T>(
        &mut self,
        entry: &TomlEntry<'_, '_>,
        from_name: impl Fn(&str) -> Option<T>,
        legal: &[&str],
    ) -> Option<Sourced<T>> {
        let name = entry.value.get_ref().as_str().unwrap_or_default();
        let expected = || format!("one of {}", ticked(legal.iter().copied()));
        self.expect(entry, from_name(name), expected, nearest(name, legal.iter().copied()))
    }
}

fn provider_name(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<String>> {
    let name = entry.value.get_ref().as_str().filter(|name| is_provider_name(name));
    reader.expect(entry, name.map(str::to_owned), || format!("a name of {PROVIDER_NAME_RULE}"), None)
}

fn line(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<String>> {
    let is_line = |text: &&str| !text.trim().is_empty() && !text.contains(char::is_control);
    let text = entry.value.get_ref().as_str().filter(is_line).map(str::to_owned);
    reader.expect(entry, text, || "a string on one line".to_owned(), None)
}

fn any_line(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<String>> {
    let text = entry.value.get_ref().as_str().filter(|text| !text.contains(['\0', '\r', '\n']));
    reader.expect(entry, text.map(str::to_owned), || "a string on one line".to_owned(), None)
}

fn any_text(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<String>> {
    let text = entry.value.get_ref().as_str().filter(|text| !text.contains('\0'));
    reader.expect(entry, text.map(str::to_owned), || "a string".to_owned(), None)
}

fn address(
    reader: &mut LayerReader<'_>,
    entry: &TomlEntry<'_, '_>,
    keep: fn(&str) -> String,
) -> Option<Sourced<String>> {
    let is_url = |url: &&str| {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
            && !url.contains(|character: char| character.is_whitespace() || character.is_control())
    };
    let url = entry.value.get_ref().as_str().filter(is_url).map(keep);
    reader.expect(entry, url, || "a URL that starts with `https://` or `http://`".to_owned(), None)
}

fn variable_name(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<String>> {
    let name = entry.value.get_ref().as_str().filter(|name| is_variable(name)).map(str::to_owned);
    reader.expect(entry, name, || "the name of a variable, such as `OPENAI_API_KEY`".to_owned(), None)
}

fn reply_source(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<String>> {
    let is_source = |text: &&str| {
        matches!(*text, "stdout" | "file")
            || text
                .strip_prefix("json:")
                .is_some_and(|pointer| pointer.is_empty() || pointer.starts_with('/'))
    };
    let source = entry.value.get_ref().as_str().filter(is_source).map(str::to_owned);
    reader.expect(entry, source, || "one of `stdout`, `file`, `json:/pointer`".to_owned(), None)
}

/// A list of texts, which may be empty.
fn texts(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Vec<String>>> {
    expect_texts(reader, entry, texts_of(entry))
}

/// A list of at least one text.
fn some_texts(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Vec<String>>> {
    expect_texts(reader, entry, texts_of(entry).filter(|list| !list.is_empty()))
}

fn texts_of(entry: &TomlEntry<'_, '_>) -> Option<Vec<String>> {
    let text = |text: &str| (!text.contains('\0')).then(|| text.to_owned());
    entry.value.get_ref().as_array()?.iter().map(|item| item.get_ref().as_str().and_then(text)).collect()
}

fn expect_texts(
    reader: &mut LayerReader<'_>,
    entry: &TomlEntry<'_, '_>,
    list: Option<Vec<String>>,
) -> Option<Sourced<Vec<String>>> {
    reader.expect(entry, list, || "a list of strings, such as `[\"a\", \"b\"]`".to_owned(), None)
}

fn variable_names(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Vec<String>>> {
    let names = texts_of(entry).filter(|names| names.iter().all(|name| is_variable(name)));
    reader.expect(entry, names, || "a list of variables, such as `[\"DATABASE_URL\"]`".to_owned(), None)
}

/// Paths that are inside the project as written; links are resolved where they are used.
fn project_paths(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Vec<String>>> {
    let is_below = |path: &String| {
        let mut parts = Path::new(path).components();
        !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    let paths = texts_of(entry).filter(|paths| paths.iter().all(is_below));
    let expected = || "a list of paths in the project, such as `[\"node_modules\"]`".to_owned();
    reader.expect(entry, paths, expected, None)
}

/// Full names of tools: a pattern or a server alone would grant tools that nobody has reviewed.
fn tool_names(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Vec<String>>> {
    let names = texts(reader, entry)?;
    let is_name = |name: &&String| {
        name.split_once("__").is_some_and(|(server, tool)| is_mcp_server_name(server) && !tool.is_empty())
    };
    if let Some(wrong) = names.value.iter().find(|name| !is_name(name)) {
        let fault = ConfigFault::ToolName { path: entry.path(), name: excerpt(wrong) };
        reader.report(entry.value.span().start, fault);
        return None;
    }
    Some(names)
}

fn integer(entry: &TomlEntry<'_, '_>) -> Option<u32> {
    let number = entry.value.get_ref().as_integer()?;
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

pub(crate) fn is_variable(name: &str) -> bool {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.len() - text.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok().filter(|number| (1..=10_000_000).contains(number))?;
    match unit.trim() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_mins(number)),
        "h" => Some(Duration::from_hours(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_number_and_a_unit() {
        assert_eq!(parse_duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(parse_duration("10m"), Some(Duration::from_mins(10)));
        assert_eq!(parse_duration("1 h"), Some(Duration::from_hours(1)));
        for wrong in ["", "10", "m", "-1s", "0s", "1.5h", "1d", "99999999999999999999s", "１s"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }
}
