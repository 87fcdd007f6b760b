//! Comparing prompts: two large ones against reading both, and what of each call of a session lies in the common prefix.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::corpus::write_corpus;
use crate::bench::lab::{self, Lab};
use crate::bench::table::{Quantity, Row};
use crate::failure::Failure;
use crate::workspace;

/// Files of one to nine kilobytes, six megabytes in all.
const N_FILES: usize = 1200;

pub(super) fn diff(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let root = lab.dir("prompt-diff")?;
    let corpus = write_corpus(&root.join("src"), lab.scaled(N_FILES), |random| {
        1000 + usize::try_from(random % 8000).unwrap_or_default()
    })?;
    let (before, after) = (lab.path("before.json"), lab.path("after.json"));
    write_prompt(lab, &root, &before)?;
    // One file in the middle is another one.
    let changed = corpus.files.get(corpus.files.len() / 2).cloned().unwrap_or_default();
    lab::write(&root.join("src").join(changed), "changed\n")?;
    write_prompt(lab, &root, &after)?;
    let diff = || {
        let mut command = lab.aiwf()?;
        command.current_dir(&root).args(["prompt", "diff", "--stat"]).args([&before, &after]);
        Ok(command)
    };
    let both = [before.clone(), after.clone()];
    let copy = lab.path("both");
    let [ours, cat] = lab.take_turns(9, [&diff, &|| lab.cat(&root, &both, &copy)])?;
    Ok(vec![Row::of_times("two prompts of 6 MB", &ours, ("reading both", &cat)).at_most(3.0)])
}

fn write_prompt(lab: &Lab<'_>, root: &Path, to: &Path) -> Result<(), Failure> {
    let mut command = lab.aiwf()?;
    command.current_dir(root);
    command.args([
        "prompt",
        "build",
        "change",
        "--instructions",
        "Explain this code.",
        "--file",
        "src/**",
        "--json",
    ]);
    lab::write(to, &workspace::capture(&mut command)?)
}

/// A model that says the same whatever it is asked.
const REPLIES: &str = r#"
[roles]
default = "script"
[providers.script]
type = "command"
fs_ability = "none"
argv = ["sh", "-c", "cat > /dev/null; echo '# Plan: one entity'"]
"#;

const SCHEMA: &str =
    "CREATE TABLE customer (id BIGINT PRIMARY KEY, tenant_id BIGINT NOT NULL, name VARCHAR(80) NOT NULL);\n";

/// What of the unchanged tokens does not lie in the common prefix, by `aiwf cache`: rounds of a phase, and turns of a run.
pub(super) fn cache(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    lab.configure(REPLIES)?;
    let root: PathBuf = lab.build_path("cache-project");
    lab::create_dir(&root.join(".aiwf"))?;
    lab::write(&root.join("schema.sql"), SCHEMA)?;
    let aiwf = |words: &[&str]| {
        let mut command = lab.aiwf()?;
        workspace::capture(command.current_dir(&root).args(words))
    };
    let init =
        ["jpa-mt", "init", "--entity", "Customer", "--table", "customer", "--bounded-context", "sales"];
    aiwf(&[&init[..], &["--schema-file", "schema.sql"]].concat())?;
    aiwf(&["approve"])?;
    for feedback in ["Name the table.", "Name every column."] {
        aiwf(&["reject", "--feedback", feedback])?;
        aiwf(&["approve"])?;
    }
    let mut rows = vec![outside("rounds of a phase", &aiwf(&["cache", "--json"])?)?];
    aiwf(&["chat", "--provider", "script", "--input", "What is a plan?"])?;
    for question in ["Why?", "What else?", "Who reads it?"] {
        aiwf(&["workflow", "say", "latest", question])?;
    }
    rows.push(outside("turns of a run", &aiwf(&["cache", "latest", "--json"])?)?);
    Ok(rows)
}

fn outside(what: &str, printed: &str) -> Result<Row, Failure> {
    let report: Value = serde_json::from_str(printed)
        .map_err(|error| Failure::new(format!("`aiwf cache` printed: {error}")))?;
    let pairs = report.get("pairs").and_then(Value::as_array).cloned().unwrap_or_default();
    let same: Vec<&Value> =
        pairs.iter().filter(|pair| pair.get("same_phase").and_then(Value::as_bool) == Some(true)).collect();
    let number = |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or_default();
    let unchanged: f64 = same.iter().map(|pair| number(pair.get("unchanged_tokens"))).sum();
    let in_prefix: f64 =
        same.iter().map(|pair| number(pair.get("prefix").and_then(|prefix| prefix.get("tokens")))).sum();
    if same.is_empty() || unchanged <= 0.0 {
        return Err(Failure::new(format!("`aiwf cache` compared no calls: {printed}")));
    }
    let share = (unchanged - in_prefix) / unchanged;
    let (ours, all) = (Quantity::Tokens(unchanged - in_prefix), Quantity::Tokens(unchanged));
    Ok(Row::new(format!("{what}: not in the prefix"), ours, ("unchanged", all), share).at_most(0.05))
}
