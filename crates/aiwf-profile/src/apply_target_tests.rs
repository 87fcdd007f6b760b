use serde_json::json;

use super::*;
use crate::param::ParamKind;

fn params() -> Vec<Param> {
    let param = |name: &str, kind: ParamKind| Param {
        name: name.to_owned(),
        help: String::new(),
        kind,
        is_required: false,
        default: None,
    };
    vec![
        param("component", ParamKind::String { pattern: None }),
        param("page-no", ParamKind::Integer { minimum: None, maximum: None }),
    ]
}

fn target(target: &str, root: Option<&str>) -> Result<ApplyTarget, String> {
    let file = ApplyFile { target: target.to_owned(), root: root.map(str::to_owned) };
    ApplyTarget::read(Some(&file), &params()).map_err(|(key, message, hint)| match hint {
        Some(hint) => format!("{key}: {message} / {hint}"),
        None => format!("{key}: {message}"),
    })
}

/// Where files go, or what is wrong, one per line.
fn check(target: &ApplyTarget, files: &[(&str, &str)]) -> String {
    let context = json!({"component": "Button", "page_no": 7});
    let Value::Object(context) = context else { panic!("not an object") };
    match target.paths(files, &context) {
        Ok(paths) => paths.join("\n"),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn java_files_go_below_the_source_directory_by_package() {
    let java = target("java-package", None).unwrap();
    insta::assert_snapshot!(check(&java, &[("A.java", "package a.b;"), ("x/B.java", "package c;")]), @r"
    src/main/java/a/b/A.java
    src/main/java/c/B.java
    ");
    insta::assert_snapshot!(
        check(&java, &[("A.java", "class A {}"), ("a.sql", "package a;"), ("../B.java", "package a;"), ("C.java", "package a..b;")]),
        @r"
        `A.java` has no package declaration, so its place below the source directory is unknown
        `a.sql` is not a Java file, so no package determines its place
        `../B.java` leaves its directory
        `C.java` has no package declaration, so its place below the source directory is unknown
        "
    );
}

#[test]
fn flat_keeps_paths_below_a_directory() {
    let flat = target("flat", Some("docs/out")).unwrap();
    insta::assert_snapshot!(check(&flat, &[("a.md", ""), ("b/c.md", "")]), @r"
    docs/out/a.md
    docs/out/b/c.md
    ");
    insta::assert_snapshot!(check(&ApplyTarget::default(), &[("a.md", "")]), @"a.md");
    insta::assert_snapshot!(
        check(&flat, &[("/a", ""), ("C:\\a", ""), ("a//b", ""), ("./a", ""), ("", ""), ("a\nb", ""), ("a\\b", ""), (".git/hooks/x", "")]),
        @r"
        `/a` is absolute
        `C:\a` is absolute
        `a//b` has an empty or `.` segment
        `./a` has an empty or `.` segment
        `` is empty
        `a…` has a control character
        `a\b` has a backslash
        `.git/hooks/x` would be written to `.git` or `.aiwf`, where only git and aiwf may write
        "
    );
}

#[test]
fn a_pattern_is_filled_with_names_and_parameters() {
    let by_name = target("src/{component}/{name}", None).unwrap();
    insta::assert_snapshot!(check(&by_name, &[("Button.tsx", ""), ("x/Button.css", "")]), @r"
    src/Button/Button.tsx
    src/Button/Button.css
    ");
    let by_path = target("p{page-no}/{path}", None).unwrap();
    insta::assert_snapshot!(check(&by_path, &[("x/Button.css", "")]), @"p7/x/Button.css");
}

#[test]
fn two_files_never_share_a_path() {
    let by_name = target("src/{name}", None).unwrap();
    insta::assert_snapshot!(check(&by_name, &[("a/x.ts", ""), ("b/X.ts", "")]), @"`a/x.ts` and `b/X.ts` would both be written to `src/X.ts`");
}

#[test]
fn a_parameter_is_one_segment_of_a_path() {
    let target = target("src/{component}/{name}", None).unwrap();
    let fault = |value: Value| {
        let mut context = Map::new();
        context.insert("component".to_owned(), value);
        target.paths(&[("a.ts", "")], &context).unwrap_err()[0].to_string()
    };
    let faults = [json!("../x"), json!("a/b"), json!(".git"), json!(""), json!(null)].map(fault);
    insta::assert_snapshot!(faults.join("\n"), @r"
    `a.ts` has no place, because `component` is `../x`, not a plain name
    `a.ts` has no place, because `component` is `a/b`, not a plain name
    `a.ts` has no place, because `component` is `.git`, not a plain name
    `a.ts` has no place, because `component` is ``, not a plain name
    `a.ts` has no place, because `component` has no value
    ");
}

#[test]
fn invalid_targets_are_refused() {
    let faults = [
        target("java-pakage", None),
        target("src/{nme}", None),
        target("src/{name", None),
        target("/etc/{name}", None),
        target("../{name}", None),
        target("src/{name}", Some("docs")),
        target("flat", Some("..")),
    ];
    insta::assert_snapshot!(faults.map(Result::unwrap_err).join("\n"), @"
    target: target `java-pakage` is unknown and has neither `{name}` nor `{path}` / did you mean `java-package`? known: `java-package`, `flat`
    target: pattern has unknown `{nme}` / did you mean `name`? known: `component`, `page-no`, `name`, `path`
    target: pattern `src/{name` has a `{` that is not closed / close it, such as in `src/{name}`
    target: pattern `/etc/{name}` is absolute / name a path below the project, such as `src/{name}`
    target: pattern `../{name}` leaves its directory / name a path below the project, such as `src/{name}`
    root: target `src/{name}` does not accept `root` / remove `root`: the target is a complete path
    root: path `..` leaves its directory / name a directory below the project, such as `src`
    ");
}

#[test]
fn code_is_not_copied_into_directories_of_git_and_aiwf() {
    for root in [".git", ".aiwf", "web/.GIT/hooks", ".Aiwf/sessions"] {
        let refused = target("flat", Some(root)).unwrap_err();
        assert!(refused.starts_with("root: code cannot be copied into `.git` or `.aiwf`"), "{refused}");
    }
    assert!(target(".git/hooks/{name}", None).unwrap_err().starts_with("target: "));
    target("flat", Some(".github")).unwrap();
}
