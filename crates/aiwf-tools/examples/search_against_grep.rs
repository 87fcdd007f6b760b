//! Searches 10,000 files with `fs.search`, next to plain walks with ripgrep's own crates over the same files with the
//! same pattern and context, and prints the times as JSON.
//!
//! `cargo run --release -p aiwf-tools --example search_against_grep`

#![expect(clippy::print_stdout, reason = "an example prints its result")]
#![expect(clippy::disallowed_methods, reason = "an example writes its own files")]

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use aiwf_tools::sandbox::{FsLimits, Mount, Mounts, SearchArgs, search};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::{WalkBuilder, WalkState};

const N_FILES: u64 = 10_000;
/// One in so many files has a match, so that all files are read to the end.
const RARITY: u64 = 250;
const PATTERN: &str = "needle_in_the_haystack";
const ROUNDS: usize = 15;

const WORDS: [&str; 16] = [
    "let",
    "customer",
    "=",
    "tenant.find(id)?;",
    "return",
    "fn",
    "order",
    "->",
    "Result<Order>",
    "{",
    "}",
    "//",
    "match",
    "status",
    "Some(value)",
    "=>",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scratch = tempfile::tempdir()?;
    let root = scratch.path();
    let n_bytes = write_files(root)?;
    let mut mounts = Mounts::default();
    mounts.mount(Mount::Project, root)?;
    let args: SearchArgs = serde_json::from_value(
        serde_json::json!({ "path": "@project", "pattern": PATTERN, "maxMatches": 1000 }),
    )?;
    let matcher =
        RegexMatcherBuilder::new().line_terminator(Some(b'\n')).fixed_strings(true).build(PATTERN)?;

    let [mut ours, mut in_order, mut on_all_cores] = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        let start = Instant::now();
        let result = search(&mounts, FsLimits::default(), &args).map_err(|error| error.message)?;
        let ours_s = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let lines = walk_in_order(root, &matcher)?;
        let in_order_s = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let n_lines = walk_on_all_cores(root, &matcher);
        let on_all_cores_s = start.elapsed().as_secs_f64();
        // Each match has a line before it and one after it.
        let n_matches = result.pointer("/stats/matchesFound").and_then(serde_json::Value::as_u64);
        let n_scanned = result.pointer("/stats/filesScanned").and_then(serde_json::Value::as_u64);
        let expected = N_FILES / RARITY;
        if (n_matches, n_scanned) != (Some(expected), Some(N_FILES))
            || lines.len() as u64 != 3 * expected
            || n_lines != 3 * expected
        {
            return Err(format!(
                "the searches disagree: {n_matches:?} matches of ours in {n_scanned:?} files"
            )
            .into());
        }
        // The first round warms the caches.
        if round > 0 {
            ours.push(ours_s);
            in_order.push(in_order_s);
            on_all_cores.push(on_all_cores_s);
        }
    }
    let printed = serde_json::json!({
        "n_bytes": n_bytes,
        "search_s": median(ours.clone()),
        "in_order_s": median(in_order.clone()),
        "on_all_cores_s": median(on_all_cores.clone()),
        "ratio_in_order": ratio(&ours, &in_order),
        "ratio_on_all_cores": ratio(&ours, &on_all_cores),
    });
    println!("{printed}");
    Ok(())
}

/// Files of a few hundred to a few thousand bytes, three directories deep.
fn write_files(root: &Path) -> io::Result<u64> {
    let spread = |index: u64| index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let mut n_bytes = 0;
    for number in 0..N_FILES {
        let directory = root.join(format!("module-{}/part-{}", number % 10, number / 10 % 20));
        if number < 200 {
            fs::create_dir_all(&directory)?;
        }
        let n_lines = 10 + spread(number) % 80;
        let mut text = String::new();
        for line in 0..n_lines {
            for word in 0..(spread(number ^ (line << 20)) % 10) {
                let idx = spread(number ^ (line << 20) ^ (word << 40)) % WORDS.len() as u64;
                let word = usize::try_from(idx).ok().and_then(|idx| WORDS.get(idx)).copied();
                text.push_str(word.unwrap_or_default());
                text.push(' ');
            }
            if number % RARITY == 0 && line == n_lines / 2 {
                text.push_str(PATTERN);
            }
            let _ = writeln!(text);
        }
        n_bytes += text.len() as u64;
        fs::write(directory.join(format!("file_{number:05}.rs")), text)?;
    }
    Ok(n_bytes)
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .before_context(1)
        .after_context(1)
        .build()
}

fn walker(root: &Path) -> WalkBuilder {
    let mut walker = WalkBuilder::new(root);
    // The same files: nothing hidden, but no ignore files either.
    walker.standard_filters(false).hidden(true);
    walker
}

/// One thread, files sorted by name, as in `rg --sort path`.
fn walk_in_order(root: &Path, matcher: &RegexMatcher) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut searcher = searcher();
    let mut lines = Vec::new();
    for entry in walker(root).sort_by_file_name(Ord::cmp).build() {
        let entry = entry?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            searcher.search_path(
                matcher,
                entry.path(),
                Lines(|text: &[u8]| {
                    lines.push(format!("{}:{}", entry.path().display(), String::from_utf8_lossy(text)));
                }),
            )?;
        }
    }
    Ok(lines)
}

/// One thread per core, in no particular order, as `rg` does by default.
fn walk_on_all_cores(root: &Path, matcher: &RegexMatcher) -> u64 {
    let n_lines = AtomicU64::new(0);
    walker(root).build_parallel().run(|| {
        let mut searcher = searcher();
        let n_lines = &n_lines;
        Box::new(move |entry| {
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
            {
                let count = Lines(|_: &[u8]| {
                    n_lines.fetch_add(1, Ordering::Relaxed);
                });
                drop(searcher.search_path(matcher, entry.path(), count));
            }
            WalkState::Continue
        })
    });
    n_lines.into_inner()
}

/// Counts the lines of matches and their context.
struct Lines<F>(F);

impl<F: FnMut(&[u8])> Sink for Lines<F> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        (self.0)(found.bytes());
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        (self.0)(context.bytes());
        Ok(true)
    }
}

/// The median of the ratios of adjacent rounds, which is robust against a single disturbed round.
fn ratio(ours: &[f64], theirs: &[f64]) -> f64 {
    median(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
