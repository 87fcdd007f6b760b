//! `--file` of `aiwf prompt build change`: names, directories and patterns.

use aiwf_testkit::{Outcome, TestProject};
use insta::assert_snapshot;

use crate::{json, project};

fn tree() -> TestProject {
    project()
        .file(".gitignore", "build/\n*.log\n")
        .file("src/main.rs", "fn main() {}\n")
        .file("src/lib.rs", "")
        .file("src/deep/er/mod.rs", "mod er;\n")
        .file("build/out.js", "x")
        .file("run.log", "log")
        .file(".env", "SECRET=1")
        .file(".github/ci.yml", "on: push")
        .file("app/[slug]/page.tsx", "page")
        .file("README.md", "# Read me\n")
}

fn run(project: &TestProject, patterns: &[&str]) -> Outcome {
    let flags = patterns.iter().flat_map(|pattern| ["--file", *pattern]);
    project.run_args("prompt build change --instructions x --json".split(' ').chain(flags))
}

/// The names of the files that the patterns bring, in the order of the prompt.
#[track_caller]
fn files(project: &TestProject, patterns: &[&str]) -> Vec<String> {
    let json = json(&run(project, patterns).success());
    let parts = json["sections"][0]["parts"].as_array().cloned().unwrap_or_default();
    parts.iter().map(|part| part["id"].as_str().unwrap().to_owned()).collect()
}

/// What the patterns bring about that a person should know.
#[track_caller]
fn problems(project: &TestProject, patterns: &[&str]) -> Vec<String> {
    let json = json(&run(project, patterns).success());
    let problems = json["problems"].as_array().unwrap().iter();
    problems
        .map(|problem| {
            format!("{}: {}", problem["source"].as_str().unwrap(), problem["message"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn files_are_sorted_by_path_whatever_the_order_of_patterns() {
    let tree = tree();
    let all = ["README.md", "src/deep/er/mod.rs", "src/lib.rs", "src/main.rs"];
    assert_eq!(files(&tree, &["src/main.rs", "src/**", "README.md"]), all);
    assert_eq!(files(&tree, &["*.md", "src"]), all);
}

#[test]
fn a_star_stays_in_its_directory_and_two_go_below() {
    let tree = tree();
    assert_eq!(files(&tree, &["src/*.rs"]), ["src/lib.rs", "src/main.rs"]);
    assert_eq!(files(&tree, &["**/*.rs"]), ["src/deep/er/mod.rs", "src/lib.rs", "src/main.rs"]);
    assert_eq!(files(&tree, &["src/{main,lib}.rs"]), ["src/lib.rs", "src/main.rs"]);
    assert_eq!(files(&tree, &["src/[lm]*.rs"]), ["src/lib.rs", "src/main.rs"]);
    assert_eq!(files(&tree, &["src/???.rs"]), ["src/lib.rs"]);
}

#[test]
fn a_pattern_leaves_out_what_gitignore_names_and_hidden_files() {
    let tree = tree();
    let all = ["README.md", "app/[slug]/page.tsx", "src/deep/er/mod.rs", "src/lib.rs", "src/main.rs"];
    assert_eq!(files(&tree, &["**"]), all);
    assert_eq!(files(&tree, &["."]), all);
    assert_snapshot!(run(&tree, &["*.log"]), @r#"
    --- stdout
    {"schema_version":1,"command":"prompt build","exit_code":1,"error":{"code":"INPUT_INVALID","message":"no file matches `*.log`\n  searched in: `[project]`","hint":"check the pattern; hidden and git-ignored files must be named exactly"}}
    --- exit code 1
    "#);
    assert_eq!(run(&tree, &["build/**"]).exit_code(), 1);
    assert_eq!(run(&tree, &["**/*.yml"]).exit_code(), 1);
}

#[test]
fn a_name_brings_its_file_or_directory_whatever_gitignore_says() {
    let tree = tree();
    assert_eq!(files(&tree, &["run.log"]), ["run.log"]);
    assert_eq!(files(&tree, &["build"]), ["build/out.js"]);
    assert_eq!(files(&tree, &["build/out.js"]), ["build/out.js"]);
    assert_eq!(files(&tree, &[".env"]), [".env"]);
    assert_eq!(files(&tree, &[".github/*"]), [".github/ci.yml"]);
}

#[test]
fn a_gitignore_further_down_holds_too() {
    let tree = tree().file("src/.gitignore", "deep/\n").file("src/deep/x.rs", "");
    assert_eq!(files(&tree, &["src/**"]), ["src/lib.rs", "src/main.rs"]);
    assert_eq!(files(&tree, &["**/*.rs"]), ["src/lib.rs", "src/main.rs"]);
}

#[test]
fn a_pattern_is_relative_to_the_current_directory() {
    let tree = tree();
    let run = tree.command("prompt build change --instructions x --file '*.rs' --file ../README.md --json");
    let json = json(&run.in_dir("src").run().success());
    let names: Vec<&str> = json["sections"][0]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["id"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["../README.md", "lib.rs", "main.rs"]);
}

#[test]
fn the_same_file_named_in_many_ways_is_taken_once() {
    let tree = tree();
    let absolute = tree.path("src/main.rs").display().to_string();
    let absolute_pattern = tree.path("src/ma*.rs").display().to_string();
    let absolute_directory = tree.path("src").display().to_string();
    for patterns in [
        ["src/main.rs", "src/main.rs", "src/ma*.rs"],
        ["./src/main.rs", "src/./main.rs", "src//main.rs"],
        ["src/../src/main.rs", "src/../src/ma*.rs", "../project/src/ma*.rs"],
        [&absolute, &absolute_pattern, "src/main.rs"],
    ] {
        assert_eq!(files(&tree, &patterns), ["src/main.rs"], "{patterns:?}");
    }
    let all = ["src/deep/er/mod.rs", "src/lib.rs", "src/main.rs"];
    for directory in ["src", "src/", "./src", "src/.", "src/**", &absolute_directory] {
        assert_eq!(files(&tree, &[directory]), all, "{directory}");
    }
}

#[test]
fn a_directory_whose_name_looks_like_a_pattern_is_itself() {
    let tree = tree();
    for pattern in ["app/[slug]/page.tsx", "app/[slug]", "app/[slug]/*", "app/*/*.tsx", "app/[[]slug]/*"] {
        assert_eq!(files(&tree, &[pattern]), ["app/[slug]/page.tsx"], "{pattern}");
    }
}

#[test]
fn binaries_and_other_encodings_are_skipped_and_named() {
    let tree = tree()
        .file("src/logo.png", b"\x89PNG\0\0")
        .file("src/old.txt", b"caf\xe9")
        .file("src/nul.rs", "a\0b");
    assert_eq!(files(&tree, &["src/*"]), ["src/lib.rs", "src/main.rs"]);
    assert_eq!(
        problems(&tree, &["src/*"]),
        [
            "file:src/logo.png: skipped: binary (6 bytes)",
            "file:src/nul.rs: skipped: binary (3 bytes)",
            "file:src/old.txt: skipped: not UTF-8 text (4 bytes)",
        ]
    );
    let outcome = tree.run("prompt build change --instructions x --file src/logo.png");
    assert_snapshot!(outcome, @"
    --- stdout
    <prompt>
    <instructions>x</instructions>
    </prompt>⏎
    --- stderr
    warning: file:src/logo.png: skipped: binary (6 bytes)
    --- exit code 0
    ");
}

#[test]
fn links_are_followed_to_files_inside_and_named_when_they_lead_elsewhere() {
    let tree = tree()
        .link("src/alias.rs", "main.rs")
        .link("src/outside", "/etc/passwd")
        .link("src/up.md", "../README.md")
        .link("src/broken", "nowhere")
        .link("src/loop", "loop")
        .link("src/folder", "deep");
    assert_eq!(files(&tree, &["src/*"]), ["src/alias.rs", "src/lib.rs", "src/main.rs"]);
    assert_eq!(
        problems(&tree, &["src/*"]),
        [
            "file:src/broken: skipped: a broken link",
            "file:src/folder: skipped: a link to something that is not a file",
            "file:src/loop: skipped: a broken link",
            "file:src/outside: skipped: a link that leads outside the directory",
            "file:src/up.md: skipped: a link that leads outside the directory",
        ]
    );
}

#[test]
fn a_link_that_is_named_is_followed() {
    let tree = tree().link("alias.rs", "src/main.rs").link("code", "src");
    assert_eq!(files(&tree, &["alias.rs"]), ["alias.rs"]);
    assert_eq!(files(&tree, &["code/*.rs"]), ["code/lib.rs", "code/main.rs"]);
    assert_eq!(files(&tree, &["code"]), ["code/deep/er/mod.rs", "code/lib.rs", "code/main.rs"]);
}

#[test]
fn a_pattern_that_matches_nothing_is_an_error() {
    let tree = tree().dir("empty");
    for pattern in ["nothing", "nothing/*.rs", "src/*.py", "empty", "src/main.rs/x"] {
        let outcome = tree.run_args(["prompt", "build", "change", "--instructions", "x", "--file", pattern]);
        assert_eq!(outcome.exit_code(), 1, "{outcome}");
        assert_eq!(outcome.first_error_line(), format!("error: no file matches `{pattern}`"));
        assert_eq!(outcome.stdout, b"");
    }
    let outcome = tree.run("prompt build change --instructions x --file 'src/**' --file 'sorce/**'");
    assert_snapshot!(outcome, @"
    --- stderr
    error: no file matches `sorce/**`
      searched in: `[project]`

    hint: check the pattern; hidden and git-ignored files must be named exactly
    --- exit code 1
    ");
}

#[test]
fn a_pattern_that_is_none_is_an_error() {
    assert_snapshot!(tree().run("prompt build change --instructions x --file 'src/[a'"), @"
    --- stderr
    error: `src/[a` is not a file pattern: unclosed character class; missing ']'

    hint: write it like `src/**/*.rs`, and quote it in a shell
    --- exit code 1
    ");
    assert_snapshot!(tree().run("prompt build change --instructions x --file 'src/{a'"), @"
    --- stderr
    error: `src/{a` is not a file pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)

    hint: write it like `src/**/*.rs`, and quote it in a shell
    --- exit code 1
    ");
    assert_snapshot!(tree().run("prompt build change --instructions x --file ''"), @"
    --- stderr
    error: `` is not a file pattern: it is empty

    hint: write it like `src/**/*.rs`, and quote it in a shell
    --- exit code 1
    ");
}

#[test]
fn special_files_are_not_read() {
    let outcome = project().run("prompt build change --instructions x --file /dev/zero");
    assert_eq!(outcome.first_error_line(), "error: no file matches `/dev/zero`");
    assert_eq!(outcome.exit_code(), 1);
}

#[test]
fn many_files_are_read_and_sorted() {
    let mut tree = project();
    for number in 0..300 {
        tree = tree.file(&format!("src/{number:03}.rs"), format!("fn f{number}() {{}}\n"));
    }
    let names = files(&tree, &["src/**"]);
    assert_eq!(names.len(), 300);
    assert!(names.is_sorted());
}
