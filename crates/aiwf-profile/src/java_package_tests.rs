use super::*;

fn check(source: &str, expected: Option<&str>) {
    assert_eq!(java_package(source).as_deref(), expected, "{source:?}");
}

#[test]
fn reads_the_declaration_after_comments_and_annotations() {
    check("package a.b.c;", Some("a.b.c"));
    check("\u{feff}// package x;\n/* package y; */\npackage a;\nclass A {}", Some("a"));
    check("/** Doc. */\n@Generated(\"by (me)\")\npackage a . b /* c */ ;", Some("a.b"));
    check("package\n  com.example_1.größe;", Some("com.example_1.größe"));
}

#[test]
fn code_without_a_valid_declaration_has_no_package() {
    check("", None);
    check("class A { String s = \"package a;\"; }", None);
    check("import a.b;\npackage a;", None);
    check("packages a;", None);
    check("package a b;", None);
    check("package a..b;", None);
    check("package ..;", None);
    check("package a/../b;", None);
    check("package 1a;", None);
    check("package a", None);
    check("@A(\npackage a;", None);
    check("/* package a;", None);
}
