//! Packing a tree of files into a change's prompt: plain, with exact counts, and beside other packers.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::corpus::{Corpus, write_corpus};
use crate::bench::examples::number;
use crate::bench::lab::{self, Lab};
use crate::bench::measure::{self, Prepare};
use crate::bench::peers::{self, Counting};
use crate::bench::table::{Change, Quantity, Row};
use crate::failure::Failure;

const N_FILES: usize = 1200;
const N_TURNS: usize = 7;

/// Exact counts of everything, with room for everything.
const TOKENS: &[&str] = &["--tokenizer", "o200k_base", "--budget", "100000000"];

pub(super) fn change_plain(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let corpus = write_tree(lab, "change-plain")?;
    let out = lab.path("change-plain.prompt");
    let cat_out = lab.path("change-plain.cat");
    let plain = || build(lab, &corpus, &out, &[]);
    let [ours, cat] = lab.take_turns(15, [&plain, &|| lab.cat(&corpus.root, &corpus.files, &cat_out)])?;
    let mut rows = vec![Row::of_times(described(&corpus), &ours, ("cat", &cat))];
    rows.extend(beside_peers(lab, &corpus, Counting::No, plain)?);
    Ok(rows)
}

pub(super) fn change_tokens(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let corpus = write_tree(lab, "change-tokens")?;
    let out = lab.path("change-tokens.prompt");
    let cold = || {
        let cold_cache = lab.build_path("cold-cache");
        // A cache that is not there is no error.
        if cold_cache.exists() {
            fs::remove_dir_all(&cold_cache).map_err(|error| Failure::io("empty the cache", &error))?;
        }
        let mut command = build(lab, &corpus, &out, TOKENS)?;
        command.env("XDG_CACHE_HOME", cold_cache);
        Ok(command)
    };
    // The run to warm up fills the cache.
    let warm = || {
        let mut command = build(lab, &corpus, &out, TOKENS)?;
        command.env("XDG_CACHE_HOME", lab.build_path("warm-cache"));
        Ok(command)
    };
    let plain = || build(lab, &corpus, &out, &[]);
    let [cold_times, warm_times, plain_times] = lab.take_turns(N_TURNS, [&cold, &warm, &plain])?;

    let counting = counting_alone(lab, &corpus)?;
    let cold_median = cold_times.median();
    let mut rows = vec![
        Row::new(
            format!("counts cold, {}", described(&corpus)),
            Quantity::Seconds(cold_median),
            ("counting alone, one thread", Quantity::Seconds(counting)),
            cold_median / counting,
        )
        .with_change(Change::of(&cold_times, Quantity::Seconds)),
        Row::of_times("counts cached", &warm_times, ("plain packing", &plain_times)),
        Row::of_times("counts cached", &warm_times, ("counts cold", &cold_times)),
    ];
    if let Some([_, cores]) = lab.usage(&cold)? {
        let n_cores = cores.median();
        let one_core = ("one core", Quantity::Cores(1.0));
        rows.push(
            Row::new("counts cold, cores used", Quantity::Cores(n_cores), one_core, n_cores)
                .with_change(Change::of(&cores, Quantity::Cores)),
        );
    }
    rows.extend(beside_peers(lab, &corpus, Counting::Yes, cold)?);
    Ok(rows)
}

/// One row per other packer that is installed; ours is to be the faster.
fn beside_peers<F>(lab: &Lab<'_>, corpus: &Corpus, counting: Counting, ours: F) -> Result<Vec<Row>, Failure>
where
    F: Fn() -> Result<Command, Failure> + Copy,
{
    let mut rows = Vec::new();
    if lab.is_comparing() {
        return Ok(rows);
    }
    for peer in peers::installed(lab).iter().filter(|peer| peer.counting == counting) {
        let out = lab.path(&format!("{}.out", peer.name));
        let theirs: Prepare<'_> = &|| Ok(peer.pack(lab, &corpus.root, &out));
        let [our_times, their_times] = lab.take_turns(N_TURNS, [&ours, theirs])?;
        if lab::size(&out)? < corpus.n_bytes / 2 {
            return Err(Failure::new(format!("`{}` left out most of the files", peer.name)));
        }
        rows.push(Row::of_times("beside another packer", &our_times, (peer.name, &their_times)).at_most(1.0));
    }
    Ok(rows)
}

/// Seconds to load the vocabulary and count all the files as one text, in memory and on one thread.
fn counting_alone(lab: &Lab<'_>, corpus: &Corpus) -> Result<f64, Failure> {
    let all = lab.path("change-tokens.all");
    measure::run_once(&mut lab.cat(&corpus.root, &corpus.files, &all)?)?;
    let printed = lab.example("aiwf-prompt", "count", &[OsStr::new(&all)])?;
    let seconds = |key| number(&printed, key);
    Ok(seconds("load_s")? + seconds("count_s")?)
}

/// Files of one to nine kilobytes, six megabytes in all.
fn write_tree(lab: &Lab<'_>, name: &str) -> Result<Corpus, Failure> {
    let root: PathBuf = lab.dir(name)?;
    write_corpus(&root, lab.scaled(N_FILES), |random| {
        1000 + usize::try_from(random % 8000).unwrap_or_default()
    })
}

fn described(corpus: &Corpus) -> String {
    let tenths = corpus.n_bytes / 100_000;
    format!("{} files / {}.{} MB", corpus.files.len(), tenths / 10, tenths % 10)
}

fn build(lab: &Lab<'_>, corpus: &Corpus, out: &Path, extra: &[&str]) -> Result<Command, Failure> {
    let mut command = lab.aiwf()?;
    command.current_dir(&corpus.root);
    command.args(["prompt", "build", "change", "--agent", "CLAUDE", "--phase", "plan"]);
    command.args(["--instructions", "Explain this code.", "--file", "**"]).args(extra);
    command.arg("--out").arg(out);
    Ok(command)
}
