use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(AliasPath::parse(text).map(|path| path.to_string()), Ok(expected.to_owned()), "{text:?}");
}

#[track_caller]
fn check_refused(text: &str, reason: &str) {
    let error = AliasPath::parse(text).expect_err(text);
    assert_eq!(error.code, ErrorCode::SandboxViolation, "{text:?}");
    assert!(error.message.contains(reason), "{text:?}: {}", error.message);
}

#[test]
fn a_path_is_a_mount_and_names() {
    check("@project", "@project");
    check("@project/", "@project");
    check("@pkg/steps/a.md", "@pkg/steps/a.md");
    check("@state/workflow.md", "@state/workflow.md");
}

#[test]
fn dots_double_slashes_and_backslashes_are_normalised() {
    check("@project/./artifacts/x.md", "@project/artifacts/x.md");
    check("@project//artifacts///x.md", "@project/artifacts/x.md");
    check("@project\\artifacts\\x.md", "@project/artifacts/x.md");
    check("@pkg/././steps/./a.md/", "@pkg/steps/a.md");
    check("@project/.github/workflows/ci.yml", "@project/.github/workflows/ci.yml");
    check("@project/Übung/naïve café.md", "@project/Übung/naïve café.md");
}

#[test]
fn paths_outside_the_mounts_are_refused() {
    for text in [
        "",
        "x",
        "artifacts/x",
        "./@project/x",
        " @project/x",
        "@project2/x",
        "＠project/x",
        "@Project/x",
        "@PKG",
    ] {
        check_refused(text, "@project");
    }
    check_refused("@home/x", "unknown mount");
    check_refused("@project:/x", "unknown mount");
    check_refused("/etc/passwd", "absolute");
    check_refused("\\\\server\\share", "absolute");
    check_refused("C:\\x", "drive");
    check_refused("c:x", "drive");
    check_refused("~/x", "home");
    check_refused("@project/~/x", "home");
    check_refused("file:///etc/passwd", "no mount");
}

#[test]
fn a_refused_path_outside_the_mounts_is_not_shown() {
    let error = AliasPath::parse("/srv/data/secret").unwrap_err();
    assert!(!error.to_json().to_string().contains("srv"));
}

#[test]
fn two_dots_are_refused_even_where_they_would_stay_inside() {
    for text in ["@project/..", "@project/a/../b", "@project/..\\x", "@pkg/a/b/../..", "@state/./../x"] {
        check_refused(text, "contains `..`");
    }
}

#[test]
fn deceptive_characters_are_refused() {
    check_refused("@project/a\0b", "NUL");
    check_refused("@project/a\nb", "control character");
    check_refused("@project/a\u{7f}", "control character");
    check_refused("@project/a\u{200b}b", "invisible");
    check_refused("@project/\u{202e}gpj.exe", "invisible");
    check_refused("@project/.g\u{200c}it/config", "invisible");
    check_refused("@project/a\u{ff0f}b", "separator");
    check_refused("@project/a\u{2215}b", "separator");
    check_refused("@project/a\u{ff3c}b", "separator");
    check_refused("@project/\u{2024}\u{2024}/x", "looks like a dot");
    check_refused("@project/\u{ff0e}\u{ff0e}/x", "looks like a dot");
    check_refused("@project/a:b", "colon");
    check_refused("@project/a\u{ff1a}b", "separator");
    check_refused("@project/workflow.md::$DATA", "colon");
    check_refused("@state/workflow.md.", "space or a dot");
    check_refused("@state/workflow.md ", "space or a dot");
    check_refused("@project/...", "space or a dot");
    check_refused("@project/ a", "a space");
}

#[test]
fn devices_are_refused_in_every_spelling() {
    for name in ["con", "NUL", "nul.txt", "aux.c", "COM1", "lpt9.md", "ｃｏｎ", "conin$", "com\u{b9}"] {
        check_refused(&format!("@project/{name}"), "device");
    }
    check("@project/console.md", "@project/console.md");
    check("@project/com10.md", "@project/com10.md");
}

#[test]
fn long_paths_are_refused() {
    check_refused(&format!("@project/{}", "a".repeat(256)), "too long");
    check_refused(&format!("@project/{}", "a/".repeat(3000)), "too long");
}

#[test]
fn names_that_a_file_system_could_confuse_fold_to_one() {
    for name in [".git", ".GIT", ".Git", "．ｇｉｔ", ".git ", ".git.", ".gıt", ".GİT", ".g\u{200d}it"] {
        assert_eq!(folded(name), ".git", "{name:?}");
    }
    assert_eq!(folded("cafe\u{301}"), folded("caf\u{e9}"));
    assert_eq!(folded("straße"), folded("STRASSE"));
    assert_ne!(folded(".gitignore"), ".git");
    let path = AliasPath::parse("@state/WorkFlow.MD").unwrap();
    assert!(path.could_be(Mount::State, "workflow.md") && !path.is(Mount::State, "workflow.md"));
    assert!(AliasPath::parse("@state/./workflow.md").unwrap().is(Mount::State, "workflow.md"));
}

proptest! {
    #[test]
    fn accepted_paths_have_plain_names_and_round_trip(text in "(@project|@pkg|@state)[/\\\\a-zA-Z.:~ \\x00-\\x20ſıéÀ．／‥\u{200b}]{0,24}") {
        if let Ok(path) = AliasPath::parse(&text) {
            for part in path.parts() {
                prop_assert!(!part.is_empty() && part != "." && part != "..");
                prop_assert!(!part.contains(['/', '\\', '\0', ':']));
            }
            prop_assert_eq!(AliasPath::parse(&path.to_string()).unwrap(), path);
        }
    }

    #[test]
    fn no_text_crashes_the_parser(text in any::<String>()) {
        drop(AliasPath::parse(&text).map(|path| path.to_string()));
    }
}
