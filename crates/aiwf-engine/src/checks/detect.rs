//! Suggests checks by the files at the project's root.
//!
//! In: names and texts of a few well-known files. Out: candidates, each with the file that suggests it. A candidate
//! does not run without consent. Reads are limited, and no link is followed.

use std::collections::BTreeMap;
use std::path::Path;

use aiwf_store::LedgerDir;
use serde_json::Value;

/// Larger files are not read.
const MAX_BYTES: u64 = 256 * 1024;

/// Files that are read.
const READ: [&str; 9] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "GNUmakefile",
    "makefile",
    "Makefile",
];
/// Files of which only the name matters.
const NAMED: [&str; 14] = [
    "go.mod",
    "pom.xml",
    "mvnw",
    "build.gradle",
    "build.gradle.kts",
    "gradlew",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "uv.lock",
    "poetry.lock",
    "conftest.py",
    "package-lock.json",
];

/// A suggested check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Unique.
    pub(super) name: String,
    pub(super) run: String,
    pub(super) reason: String,
}

/// The well-known files at the root of a project; with texts where they matter.
pub(super) type RootFiles = BTreeMap<&'static str, String>;

/// Reads the files for [`detect`]; unreadable files are skipped.
pub(super) fn read_files(root: &Path) -> RootFiles {
    let Ok(directory) = LedgerDir::at(root) else { return RootFiles::new() };
    let is_small = |name: &str| matches!(directory.n_bytes(name), Ok(Some(n_bytes)) if n_bytes <= MAX_BYTES);
    let read = READ.into_iter().filter(|name| is_small(name)).filter_map(|name| {
        let bytes = directory.read(name).ok()??;
        Some((name, String::from_utf8_lossy(&bytes).into_owned()))
    });
    let named = NAMED.into_iter().filter(|name| directory.is_file(name)).map(|name| (name, String::new()));
    read.chain(named).collect()
}

/// The candidates, grouped by ecosystem.
pub(super) fn detect(files: &RootFiles) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut add = |name: &str, run: &str, reason: &str| {
        found.push(Candidate { name: name.to_owned(), run: run.to_owned(), reason: reason.to_owned() });
    };
    let has = |name: &str| files.contains_key(name);
    if has("Cargo.toml") {
        add("cargo-test", "cargo test", "Cargo.toml");
    }
    if let Some(package) = files.get("package.json") {
        for script in scripts(package) {
            let tool = package_manager(files);
            add(&format!("{tool}-{script}"), &script_command(tool, script), "package.json");
        }
    }
    if let Some(reason) = pytest_file(files) {
        let run = if has("uv.lock") {
            "uv run pytest"
        } else if has("poetry.lock") {
            "poetry run pytest"
        } else {
            "python3 -m pytest"
        };
        add("pytest", run, reason);
    }
    if has("go.mod") {
        add("go-test", "go test ./...", "go.mod");
    }
    if has("pom.xml") {
        add("maven-test", if has("mvnw") { "./mvnw -q test" } else { "mvn -q test" }, "pom.xml");
    }
    if let Some(reason) = ["build.gradle", "build.gradle.kts"].into_iter().find(|name| has(name)) {
        add("gradle-test", if has("gradlew") { "./gradlew test" } else { "gradle test" }, reason);
    }
    // In make's own order of precedence.
    let makefile =
        ["GNUmakefile", "makefile", "Makefile"].into_iter().find_map(|name| files.get_key_value(name));
    if let Some((name, text)) = makefile {
        for target in ["test", "check", "lint"].into_iter().filter(|target| has_target(text, target)) {
            add(&format!("make-{target}"), &format!("make {target}"), name);
        }
    }
    found
}

/// The scripts of a `package.json` that are checks.
fn scripts(package: &str) -> Vec<&'static str> {
    let Ok(package) = serde_json::from_str::<Value>(package) else { return Vec::new() };
    let script = |name: &str| package.get("scripts")?.get(name)?.as_str();
    // The default script of `npm init` always fails.
    let is_real = |text: &str| !text.trim().is_empty() && !text.contains("no test specified");
    ["test", "lint"].into_iter().filter(|name| script(name).is_some_and(is_real)).collect()
}

fn package_manager(files: &RootFiles) -> &'static str {
    let has = |name: &str| files.contains_key(name);
    if has("pnpm-lock.yaml") {
        "pnpm"
    } else if has("yarn.lock") {
        "yarn"
    } else if has("bun.lock") || has("bun.lockb") {
        "bun"
    } else {
        "npm"
    }
}

fn script_command(tool: &str, script: &str) -> String {
    match (tool, script) {
        // `bun test` is bun's own test runner, not the script.
        ("bun", script) => format!("bun run {script}"),
        (tool, "test") => format!("{tool} test"),
        (tool, script) => format!("{tool} run {script}"),
    }
}

/// The file that shows that the project uses pytest.
fn pytest_file(files: &RootFiles) -> Option<&'static str> {
    let says = |name: &str, marks: &[&str]| {
        let has_mark = |text: &String| marks.iter().any(|mark| text.contains(mark));
        files.get(name).is_some_and(has_mark)
    };
    if files.contains_key("pytest.ini") {
        return Some("pytest.ini");
    }
    // A dependency on pytest counts as much as its settings.
    if says("pyproject.toml", &["[tool.pytest", "\"pytest", "'pytest", "\npytest"]) {
        return Some("pyproject.toml");
    }
    if says("setup.cfg", &["pytest"]) {
        return Some("setup.cfg");
    }
    if says("tox.ini", &["[pytest]"]) {
        return Some("tox.ini");
    }
    files.contains_key("conftest.py").then_some("conftest.py")
}

/// Whether a makefile has a rule for a target; an assignment such as `test := x` is not one.
fn has_target(makefile: &str, target: &str) -> bool {
    makefile.lines().any(|line| {
        let Some((targets, rest)) = line.split_once(':') else { return false };
        let is_assignment = rest.trim_start_matches(':').starts_with('=') || targets.contains('=');
        let is_rule = !line.starts_with(['\t', '#']) && !is_assignment;
        is_rule && targets.split_whitespace().any(|name| name == target)
    })
}

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;
