use proptest::prelude::*;

use super::*;

fn files(files: &[(&'static str, &str)]) -> RootFiles {
    files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect()
}

fn check(given: &[(&'static str, &str)]) -> String {
    let found = detect(&files(given));
    found
        .iter()
        .map(|one| format!("{}: {} ({})", one.name, one.run, one.reason))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn every_ecosystem_has_its_command() {
    insta::assert_snapshot!(check(&[("Cargo.toml", "")]), @"cargo-test: cargo test (Cargo.toml)");
    insta::assert_snapshot!(check(&[("go.mod", "")]), @"go-test: go test ./... (go.mod)");
    insta::assert_snapshot!(check(&[("pom.xml", "")]), @"maven-test: mvn -q test (pom.xml)");
    insta::assert_snapshot!(check(&[("pom.xml", ""), ("mvnw", "")]), @"maven-test: ./mvnw -q test (pom.xml)");
    insta::assert_snapshot!(check(&[("build.gradle", "")]), @"gradle-test: gradle test (build.gradle)");
    insta::assert_snapshot!(
        check(&[("build.gradle.kts", ""), ("gradlew", "")]), @"gradle-test: ./gradlew test (build.gradle.kts)"
    );
    assert_eq!(check(&[]), "");
}

#[test]
fn scripts_of_a_package_run_with_its_package_manager() {
    let package = r#"{"scripts": {"test": "vitest run", "lint": "eslint .", "build": "vite build"}}"#;
    insta::assert_snapshot!(check(&[("package.json", package)]), @"
    npm-test: npm test (package.json)
    npm-lint: npm run lint (package.json)
    ");
    insta::assert_snapshot!(check(&[("package.json", package), ("pnpm-lock.yaml", "")]), @"
    pnpm-test: pnpm test (package.json)
    pnpm-lint: pnpm run lint (package.json)
    ");
    insta::assert_snapshot!(check(&[("package.json", package), ("bun.lock", "")]), @"
    bun-test: bun run test (package.json)
    bun-lint: bun run lint (package.json)
    ");
    let placeholder = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    for none in [placeholder, "{", "[]", "{\"scripts\": []}", "{\"scripts\": {\"test\": 1}}"] {
        assert_eq!(check(&[("package.json", none)]), "", "{none}");
    }
}

#[test]
fn pytest_is_offered_where_something_names_it() {
    let offered = |given: &[(&'static str, &str)]| check(given);
    insta::assert_snapshot!(
        offered(&[("pyproject.toml", "[tool.pytest.ini_options]\n")]), @"pytest: python3 -m pytest (pyproject.toml)"
    );
    insta::assert_snapshot!(
        offered(&[("pyproject.toml", "dev = [\"pytest>=8\"]\n"), ("uv.lock", "")]), @"pytest: uv run pytest (pyproject.toml)"
    );
    insta::assert_snapshot!(
        offered(&[("pyproject.toml", "[deps]\npytest = \"^8\"\n"), ("poetry.lock", "")]), @"pytest: poetry run pytest (pyproject.toml)"
    );
    insta::assert_snapshot!(offered(&[("setup.cfg", "[tool:pytest]\n")]), @"pytest: python3 -m pytest (setup.cfg)");
    insta::assert_snapshot!(offered(&[("pytest.ini", "")]), @"pytest: python3 -m pytest (pytest.ini)");
    insta::assert_snapshot!(offered(&[("conftest.py", "")]), @"pytest: python3 -m pytest (conftest.py)");
    assert_eq!(offered(&[("pyproject.toml", "[project]\n"), ("tox.ini", "[tox]\n")]), "");
}

#[test]
fn rules_of_a_makefile_are_found_and_assignments_are_not() {
    let makefile =
        ".PHONY: test check\nall test: build\n\tcargo test\ncheck ::\n\ttrue\n\nlint := x\n# lint: y\n";
    insta::assert_snapshot!(check(&[("Makefile", makefile)]), @"
    make-test: make test (Makefile)
    make-check: make check (Makefile)
    ");
    for none in ["test = a:b\n", "test ::= x\n", "\ttest: x\n", "tests: x\n", "test\n", "check?=a:b\n"] {
        assert_eq!(check(&[("Makefile", none)]), "", "{none}");
    }
    // Make reads one of them only.
    assert_eq!(check(&[("GNUmakefile", "all:\n"), ("Makefile", "test:\n")]), "");
}

#[test]
fn a_project_of_several_kinds_has_all_of_them_under_names_of_their_own() {
    let found = detect(&files(&[
        ("Cargo.toml", ""),
        ("package.json", r#"{"scripts": {"test": "x"}}"#),
        ("conftest.py", ""),
        ("go.mod", ""),
        ("pom.xml", ""),
        ("build.gradle", ""),
        ("Makefile", "test:\nlint:\n"),
    ]));
    let names: std::collections::BTreeSet<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((found.len(), names.len()), (8, 8));
}

#[test]
fn only_small_files_of_the_project_itself_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let (root, outside) = (directory.path().join("project"), directory.path().join("outside"));
    for directory in [&root, &outside] {
        aiwf_store::create_dir(directory).unwrap();
    }
    let write = |path: &Path, bytes: &[u8]| {
        aiwf_store::write_atomic(path, aiwf_store::Durability::Process, |out| out.write_all(bytes)).unwrap();
    };
    write(&outside.join("Makefile"), b"test:\n");
    write(&outside.join("go.mod"), b"");
    for name in ["Makefile", "go.mod"] {
        rustix::fs::symlink(outside.join(name), root.join(name)).unwrap();
    }
    write(&root.join("package.json"), &vec![b' '; 300 * 1024]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pytest.ini"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    write(&root.join("Cargo.toml"), b"\xff[package]");
    let read = read_files(&root);
    assert_eq!(read.keys().copied().collect::<Vec<_>>(), ["Cargo.toml"]);
    assert_eq!(read_files(&root.join("missing")), RootFiles::new());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_the_same_files_give_the_same_commands(text in any::<String>(), line in "[a-z:=# \t\n]{0,60}") {
        for text in [text, line] {
            let given: RootFiles = READ.into_iter().chain(NAMED).map(|name| (name, text.clone())).collect();
            prop_assert_eq!(detect(&given), detect(&given));
        }
    }
}
