//! Source code made up for measuring: the same bytes on every machine, and no two files alike.
//!
//! In: a seed and sizes. Out: files that tokenise, compress and read like code somebody wrote: names built
//! from words, calls, literals, comments, now and then a character outside ASCII.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::bench::lab::{create_dir, write};
use crate::failure::Failure;

/// A written corpus.
#[derive(Debug)]
pub(super) struct Corpus {
    pub(super) root: PathBuf,
    /// Relative to the root, in the order of their bytes.
    pub(super) files: Vec<PathBuf>,
    pub(super) n_bytes: u64,
}

/// Writes `n_files` files below `root`; `size_of` gives each its size from a random number.
pub(super) fn write_corpus(
    root: &Path,
    n_files: usize,
    size_of: impl Fn(u64) -> usize,
) -> Result<Corpus, Failure> {
    let mut corpus = Corpus { root: root.to_path_buf(), files: Vec::with_capacity(n_files), n_bytes: 0 };
    for number in 0..n_files {
        let mut random = Random::new(number as u64);
        let language = random.pick(&Language::ALL);
        let path = file_path(number, language, &mut random);
        let size = size_of(random.next());
        let text = source_text(language, size, &mut random);
        let full_path = root.join(&path);
        if let Some(dir) = full_path.parent() {
            create_dir(dir)?;
        }
        write(&full_path, &text)?;
        corpus.n_bytes += text.len() as u64;
        corpus.files.push(path);
    }
    corpus.files.sort();
    Ok(corpus)
}

/// Prose with headings, lists and code, such as a plan or a bundle of standards.
pub(super) fn prose(seed: u64, n_bytes: usize) -> String {
    source_text(Language::Markdown, n_bytes, &mut Random::new(seed))
}

/// Nested folders of at most thirty files; the number keeps paths apart.
fn file_path(number: usize, language: Language, random: &mut Random) -> PathBuf {
    let area = number / 240;
    let part = number / 30 % 8;
    let name = format!("{}_{}_{number}", random.pick(VERBS), random.pick(NOUNS));
    PathBuf::from(format!("area_{area}/part_{part}/{name}.{}", language.extension()))
}

/// xorshift64*, seeded through one round of splitmix so that neighbouring seeds differ at once.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or_default() % end.max(1)
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        #[expect(clippy::indexing_slicing, reason = "`below` stays under the length, and no list is empty")]
        let item = items[self.below(items.len())];
        item
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    TypeScript,
    Python,
    Markdown,
}

impl Language {
    /// Code is more common than prose.
    const ALL: [Self; 7] = [
        Self::Rust,
        Self::Rust,
        Self::TypeScript,
        Self::TypeScript,
        Self::Python,
        Self::Python,
        Self::Markdown,
    ];

    fn extension(self) -> &'static str {
        match self {
            Self::Rust => "rs",
            Self::TypeScript => "ts",
            Self::Python => "py",
            Self::Markdown => "md",
        }
    }
}

const VERBS: &[&str] = &[
    "append",
    "apply",
    "build",
    "cancel",
    "check",
    "close",
    "compare",
    "count",
    "decode",
    "delete",
    "encode",
    "expand",
    "fetch",
    "filter",
    "find",
    "flush",
    "format",
    "insert",
    "join",
    "load",
    "lock",
    "map",
    "merge",
    "normalize",
    "open",
    "parse",
    "prune",
    "read",
    "reduce",
    "refresh",
    "render",
    "resolve",
    "restore",
    "retry",
    "rotate",
    "sample",
    "save",
    "schedule",
    "select",
    "send",
    "sort",
    "split",
    "store",
    "sum",
    "sync",
    "trace",
    "update",
    "validate",
    "verify",
    "visit",
    "walk",
    "write",
];

const NOUNS: &[&str] = &[
    "account", "address", "archive", "batch", "block", "bucket", "buffer", "cache", "channel", "chunk",
    "client", "column", "cursor", "customer", "digest", "document", "edge", "entry", "event", "field",
    "filter", "frame", "graph", "handle", "header", "history", "index", "invoice", "item", "journal", "key",
    "label", "ledger", "limit", "line", "message", "metric", "node", "offset", "order", "owner", "packet",
    "page", "parcel", "path", "payload", "payment", "policy", "quota", "record", "region", "report",
    "request", "response", "route", "row", "sample", "schema", "segment", "session", "shard", "signal",
    "snapshot", "source", "stream", "table", "target", "ticket", "token", "tree", "user", "value", "vertex",
    "window", "worker",
];

const PROSE: &[&str] = &[
    "a", "after", "again", "all", "already", "an", "and", "any", "before", "because", "both", "but", "by",
    "can", "does", "each", "every", "first", "for", "from", "has", "if", "in", "into", "is", "it", "last",
    "may", "more", "must", "never", "no", "not", "of", "on", "once", "one", "only", "or", "other", "over",
    "same", "so", "that", "the", "their", "then", "this", "to", "twice", "under", "until", "when", "where",
    "which", "while", "with", "without", "naïve", "über", "→", "…",
];

/// Text in `language` that ends with a whole line and has at most `n_bytes` bytes.
fn source_text(language: Language, n_bytes: usize, random: &mut Random) -> String {
    let mut text = String::with_capacity(n_bytes + 1024);
    while text.len() < n_bytes {
        match language {
            Language::Rust => rust_item(&mut text, random),
            Language::TypeScript => typescript_item(&mut text, random),
            Language::Python => python_item(&mut text, random),
            Language::Markdown => markdown_item(&mut text, random),
        }
    }
    // Line ends are one byte, so the cut never falls inside a character.
    let end = text.bytes().take(n_bytes).collect::<Vec<u8>>().iter().rposition(|&byte| byte == b'\n');
    text.truncate(end.map_or(0, |end| end + 1));
    text
}

fn snake(random: &mut Random) -> String {
    match random.below(4) {
        0 => random.pick(NOUNS).to_owned(),
        1 => format!("{}_{}", random.pick(NOUNS), random.pick(NOUNS)),
        _ => format!("{}_{}", random.pick(VERBS), random.pick(NOUNS)),
    }
}

fn camel(random: &mut Random) -> String {
    format!("{}{}", random.pick(VERBS), capital(random.pick(NOUNS)))
}

fn pascal(random: &mut Random) -> String {
    format!("{}{}", capital(random.pick(NOUNS)), capital(random.pick(NOUNS)))
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

fn sentence(random: &mut Random) -> String {
    let n_words = 5 + random.below(12);
    let words = (0..n_words).map(|_| match random.below(3) {
        0 => random.pick(NOUNS),
        _ => random.pick(PROSE),
    });
    format!("{}.", capital(&words.collect::<Vec<_>>().join(" ")))
}

/// Adds formatted text; writing to a string cannot fail.
macro_rules! add {
    ($text:expr, $($words:tt)*) => { write!($text, $($words)*).unwrap_or_default() };
}

fn rust_item(text: &mut String, random: &mut Random) {
    let (name, argument, kind) = (snake(random), snake(random), pascal(random));
    add!(
        text,
        "/// {}\npub fn {name}({argument}: &[{kind}]) -> Result<u64, {kind}Error> {{\n",
        sentence(random)
    );
    for _ in 0..2 + random.below(6) {
        let (local, other, number) = (snake(random), snake(random), random.below(100_000));
        match random.below(5) {
            0 => add!(text, "    let {local} = {other}.{}({number})?;\n", snake(random)),
            1 => add!(
                text,
                "    if {local} > {number} {{\n        return Err({kind}Error::{});\n    }}\n",
                pascal(random)
            ),
            2 => add!(text, "    // {}\n    {local}.push({other}.clone());\n", sentence(random)),
            3 => add!(text, "    let {local} = format!(\"{other} {{}} of {number}\", {argument}.len());\n"),
            _ => add!(
                text,
                "    for {local} in {argument}.iter().filter(|{other}| {other}.is_{}()) {{\n        total += {local}.{}();\n    }}\n",
                random.pick(NOUNS),
                snake(random)
            ),
        }
    }
    add!(text, "    Ok(total)\n}}\n\n");
}

fn typescript_item(text: &mut String, random: &mut Random) {
    let (name, argument, kind) = (camel(random), camel(random), pascal(random));
    add!(
        text,
        "/** {} */\nexport async function {name}({argument}: {kind}[]): Promise<number> {{\n",
        sentence(random)
    );
    for _ in 0..2 + random.below(6) {
        let (local, other, number) = (camel(random), camel(random), random.below(100_000));
        match random.below(4) {
            0 => add!(text, "  const {local} = await this.{other}({argument}, {{ limit: {number} }});\n"),
            1 => add!(
                text,
                "  if ({local}.length > {number}) {{\n    throw new {kind}Error(`{other}: ${{{local}}}`);\n  }}\n"
            ),
            2 => add!(text, "  // {}\n  {local}.set('{other}', {number});\n", sentence(random)),
            _ => add!(
                text,
                "  const {local} = {argument}.map(({other}) => {other}.{} ?? {number});\n",
                camel(random)
            ),
        }
    }
    add!(text, "  return total;\n}}\n\n");
}

fn python_item(text: &mut String, random: &mut Random) {
    let (name, argument, kind) = (snake(random), snake(random), pascal(random));
    add!(text, "def {name}({argument}: list[{kind}], *, limit: int = {}) -> int:\n", random.below(5000));
    add!(text, "    \"\"\"{}\"\"\"\n", sentence(random));
    for _ in 0..2 + random.below(6) {
        let (local, other, number) = (snake(random), snake(random), random.below(100_000));
        match random.below(4) {
            0 => {
                add!(
                    text,
                    "    {local} = [{other}.{} for {other} in {argument} if {other}]\n",
                    snake(random)
                );
            }
            1 => add!(
                text,
                "    if {local} > {number}:\n        raise {kind}Error(f\"{other}: {{{local}}}\")\n"
            ),
            2 => add!(text, "    # {}\n    {local}[\"{other}\"] = {number}\n", sentence(random)),
            _ => add!(text, "    {local} = self.{other}({argument}, limit={number})\n"),
        }
    }
    add!(text, "    return total\n\n\n");
}

fn markdown_item(text: &mut String, random: &mut Random) {
    add!(text, "## {} {}\n\n", capital(random.pick(VERBS)), random.pick(NOUNS));
    for _ in 0..2 + random.below(4) {
        add!(text, "{} {}\n", sentence(random), sentence(random));
    }
    for _ in 0..random.below(5) {
        add!(text, "- `{}`: {}\n", snake(random), sentence(random));
    }
    add!(text, "\n```rust\n");
    rust_item(text, random);
    add!(text, "```\n\n");
}

#[cfg(test)]
#[path = "corpus_tests.rs"]
mod tests;
