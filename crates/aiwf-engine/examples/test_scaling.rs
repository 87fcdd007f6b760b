//! Runs 10,000 prompt cases, and builds the same prompts without cases; compares golden files of two sizes. Prints the
//! times as JSON. A debug build does a hundredth of it.
//!
//! `cargo run --release -p aiwf-engine --example test_scaling`

#![expect(clippy::print_stdout, reason = "an example prints its result")]
#![expect(clippy::disallowed_methods, reason = "an example makes its own scratch project")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::prompt::{FsAbility, Recipe};
use aiwf_engine::{BuildOptions, ChangeFlags, Document, Engine, TestOptions};

const N_CASES: usize = if cfg!(debug_assertions) { 100 } else { 10_000 };
const PROMPT_BYTES: usize = 20_000;
const GOLDEN_BYTES: usize = if cfg!(debug_assertions) { 20_000 } else { 2_000_000 };
const ROUNDS: usize = if cfg!(debug_assertions) { 1 } else { 5 };

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let root = scratch.path();
    let cases_dir = root.join(".aiwf/tests");
    std::fs::create_dir_all(&cases_dir)?;
    std::fs::write(cases_dir.join("prompt.json"), document(PROMPT_BYTES).to_string())?;
    std::fs::write(cases_dir.join("many.toml"), cases())?;
    let environment = Environment { current_dir: root.to_owned(), ..Environment::default() };
    let engine = Engine::new(Settings::resolve(Some(root), environment)?);

    let options = test(&cases_dir.join("many.toml"));
    let run = || -> Result<(), Box<dyn Error>> {
        let report = engine.test(&options, &|_| ())?;
        assert_eq!(report.counts.passed, N_CASES, "{:?}", report.results.first());
        Ok(())
    };
    let json = std::fs::read_to_string(cases_dir.join("prompt.json"))?;
    let build = || -> Result<(), Box<dyn Error>> {
        for _ in 0..N_CASES {
            let document = Document::from_json(Recipe::Change, &json)?;
            let options = BuildOptions {
                fs_ability: Some(FsAbility::None),
                supports_system_prompt: Some(false),
                supports_file_attachments: Some(false),
                ..BuildOptions::default()
            };
            let mut built = engine.build(document, &ChangeFlags::default(), &options, &|_| ())?;
            std::hint::black_box(built.prompt.full_prompt());
            std::hint::black_box(built.metadata());
        }
        Ok(())
    };
    let (mut tested_s, mut built_s) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        built_s = built_s.min(timed(&build)?);
        tested_s = tested_s.min(timed(&run)?);
    }
    let once = golden(&engine, &cases_dir, "once", GOLDEN_BYTES)?;
    let twice = golden(&engine, &cases_dir, "twice", 2 * GOLDEN_BYTES)?;
    println!(
        "{}",
        serde_json::json!({ "test_s": tested_s, "build_s": built_s, "golden_once_s": once, "golden_twice_s": twice })
    );
    Ok(())
}

fn test(file: &Path) -> TestOptions {
    TestOptions { paths: vec![PathBuf::from(file)], ..TestOptions::default() }
}

fn timed(run: &dyn Fn() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed().as_secs_f64())
}

fn document(n_bytes: usize) -> serde_json::Value {
    let mut text = String::new();
    for number in 0..n_bytes / 50 {
        // Writing to a string does not fail.
        let _ = writeln!(text, "line {number:06} of some fifty characters, as code is");
    }
    serde_json::json!({
        "instructions": "Add login",
        "context": [{ "type": "file", "name": "src/long.rs", "content": text }],
    })
}

fn cases() -> String {
    let mut text = String::new();
    for number in 0..N_CASES {
        let _ = writeln!(
            text,
            "[[case]]\nname = \"case {number}\"\nrecipe = \"change\"\ninput = \"prompt.json\"\nfor = [\"none\"]\n\
             [[case.assert]]\ntype = \"section.order\"\nvalue = [\"context\", \"instructions\"]\n\
             [[case.assert]]\ntype = \"section.contains\"\nsection = \"instructions\"\nvalue = \"login\"\n\
             [[case.assert]]\ntype = \"tokens.max\"\nvalue = 100000\n\
             [[case.assert]]\ntype = \"no_paths\"\n"
        );
    }
    text
}

/// The time to compare a prompt with a golden file that differs in its last section.
fn golden(engine: &Engine, cases_dir: &Path, name: &str, n_bytes: usize) -> Result<f64, Box<dyn Error>> {
    let input = cases_dir.join(format!("{name}.json"));
    let mut given = document(n_bytes);
    std::fs::write(&input, given.to_string())?;
    let file = cases_dir.join(format!("{name}.toml"));
    let case = format!(
        "[[case]]\nname = \"{name}\"\nrecipe = \"change\"\ninput = \"{name}.json\"\nfor = [\"none\"]\n[[case.assert]]\ntype = \"golden\"\n"
    );
    std::fs::write(&file, case)?;
    engine.test(&TestOptions { update: true, ..test(&file) }, &|_| ())?;
    if let Some(instructions) = given.get_mut("instructions") {
        *instructions = "Add logout".into();
    }
    std::fs::write(&input, given.to_string())?;
    let options = test(&file);
    let compare = || -> Result<(), Box<dyn Error>> {
        let report = engine.test(&options, &|_| ())?;
        assert_eq!(report.counts.failed, 1);
        Ok(())
    };
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        best = best.min(timed(&compare)?);
    }
    Ok(best)
}
