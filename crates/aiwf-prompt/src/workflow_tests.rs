use super::directive::{hidden, in_package};
use super::*;

#[track_caller]
fn check_in_package(path: &str, expected: &str) {
    let roots = Roots {
        project: Some("/home/me/shop".to_owned()),
        package: Some("C:\\packages\\hello".to_owned()),
        state: Some("/home/me/.aiwf/runs/r1/".to_owned()),
        home: Some("/home/me".to_owned()),
        others: Vec::new(),
    };
    assert_eq!(in_package(path, &roots), expected);
}

#[test]
fn a_path_in_the_package_has_its_mount_once() {
    check_in_package("steps/a.md", "@pkg/steps/a.md");
    check_in_package("@pkg/steps/a.md", "@pkg/steps/a.md");
    check_in_package("./steps/a.md", "@pkg/steps/a.md");
    check_in_package("@pkg/./steps/a.md", "@pkg/steps/a.md");
    check_in_package(" /steps/a\n- x: y.md ", "@pkg/steps/a - x: y.md");
    check_in_package("C:\\packages\\hello\\steps\\a.md", "@pkg/steps\\a.md");
    check_in_package("C:/packages/hello/steps/a.md", "@pkg/steps/a.md");
}

#[test]
fn a_path_below_another_mount_stays_there() {
    check_in_package("/home/me/shop/a.md", "@project/a.md");
    check_in_package("/home/me/.aiwf/runs/r1/a.md", "@state/a.md");
    check_in_package("/home/me/a.md", "~/a.md");
}

#[test]
fn a_value_on_one_line_has_no_line_ends() {
    assert_eq!(single_line(" a\r\n\u{2028}b\t\tc\u{85}d "), "a b c d");
    assert_eq!(single_line("\n"), "");
}

#[test]
fn an_ambiguous_value_is_quoted() {
    assert_eq!(single_value("green field"), "green field");
    assert_eq!(single_value("ça\nva"), "ça va");
    assert_eq!(single_value("a, b=c"), "\"a, b=c\"");
    assert_eq!(single_value("a\") x (\\"), "\"a\\\") x (\\\\\"");
    assert_eq!(single_value(""), "\"\"");
}

#[test]
fn a_quoted_value_cannot_close_its_quotes() {
    assert_eq!(quoted("x == \"y\""), r#""x == \"y\"""#);
    assert_eq!(quoted("\\"), r#""\\""#);
    let value: String = serde_json::from_str(&quoted("a\\\", b=\"c\n")).unwrap();
    assert_eq!(value, "a\\\", b=\"c");
}

#[test]
fn paths_are_hidden_at_any_depth() {
    let roots = Roots { project: Some("/home/me/shop".to_owned()), ..Roots::default() };
    let value = serde_json::json!({
        "a": ["/home/me/shop/x", { "/etc/b": "see /etc/c" }],
        "/etc/d": 1,
        "/etc/e": 2,
        "plain": null,
    });
    assert_eq!(
        hidden(&value, &roots),
        serde_json::json!({
            "a": ["@project/x", { "[path]": "see [path]" }],
            "[path]": 1,
            "[path] (2)": 2,
            "plain": null,
        })
    );
}
