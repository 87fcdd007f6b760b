use super::*;

fn check_comment(line: &str, expected: Option<&str>) {
    assert_eq!(path_in_comment(line), expected, "{line}");
}

fn check_info(info: &str, expected: Option<&str>) {
    assert_eq!(path_in_info(info), expected, "{info}");
}

#[test]
fn comments_of_many_languages_contain_a_path() {
    check_comment("// src/a.rs", Some("src/a.rs"));
    check_comment("  //src/a.rs  ", Some("src/a.rs"));
    check_comment("# a.py", Some("a.py"));
    check_comment("-- db/x.sql", Some("db/x.sql"));
    check_comment("/* a.css */", Some("a.css"));
    check_comment("/** a.css */", Some("a.css"));
    check_comment("<!-- a.html -->", Some("a.html"));
    check_comment("<%-- a.jsp --%>", Some("a.jsp"));
    check_comment("(* a.ml *)", Some("a.ml"));
    check_comment("{- A.hs -}", Some("A.hs"));
    check_comment("{# a.j2 #}", Some("a.j2"));
    check_comment("; x.asm", Some("x.asm"));
    check_comment(";; x.el", Some("x.el"));
    check_comment("% x.tex", Some("x.tex"));
}

#[test]
fn labels_quotes_and_a_colon_are_removed() {
    check_comment("// File: src/a.rs", Some("src/a.rs"));
    check_comment("# filename: a.py", Some("a.py"));
    check_comment("// FilePath: `src/a.rs`", Some("src/a.rs"));
    check_comment("# Path: \"bin/tool\"", Some("bin/tool"));
    check_comment("// src/a.rs:", Some("src/a.rs"));
    check_comment("# File: Makefile", Some("Makefile"));
    check_comment("# File: run", Some("run"));
    check_comment("# Dockerfile", Some("Dockerfile"));
}

#[test]
fn odd_names_are_paths_too() {
    check_comment("# .gitignore", Some(".gitignore"));
    check_comment("// app/(auth)/[id]/page.tsx", Some("app/(auth)/[id]/page.tsx"));
    check_comment("// src/é.rs", Some("src/é.rs"));
    check_comment("// ../x.rs", Some("../x.rs"));
    check_comment("// C:/x/y.rs", Some("C:/x/y.rs"));
    check_comment(r"// src\a.rs", Some(r"src\a.rs"));
    check_comment("// a.7z", Some("a.7z"));
}

#[test]
fn prose_is_not_a_path() {
    check_comment("// This module parses src/a.rs", None);
    check_comment("# File: a b.py", None);
    check_comment("// File:", None);
    check_comment("// TODO", None);
    check_comment("# version 1.5", None);
    check_comment("# 1.5", None);
    check_comment("// etc.", None);
    check_comment("// https://example.com/a.rs", None);
    check_comment("// src/", None);
    check_comment("#!/bin/sh", None);
    check_comment("#include<stdio.h>", None);
    check_comment("//", None);
    check_comment("/* a.css", None);
    check_comment("/*/", None);
    check_comment("let a = 1; // src/a.rs", None);
    check_comment("", None);
}

#[test]
fn an_info_string_contains_a_path() {
    check_info("java src/A.java", Some("src/A.java"));
    check_info("src/a.rs", Some("src/a.rs"));
    check_info("a.rs", Some("a.rs"));
    check_info("rust title=\"src/a.rs\"", Some("src/a.rs"));
    check_info("rust {file='src/a.rs'}", Some("src/a.rs"));
    check_info("rust,path=src/a.rs", Some("src/a.rs"));
    check_info("rust ignore filename=a.rs", Some("a.rs"));
    check_info("java:src/A.java", Some("src/A.java"));
    check_info("c++:src/a.cpp", Some("src/a.cpp"));
    check_info("make Makefile", Some("Makefile"));
    check_info("js .eslintrc.js", None);
}

#[test]
fn a_language_is_not_a_path() {
    check_info("", None);
    check_info("rust", None);
    check_info("Dockerfile", None);
    check_info("rust,ignore", None);
    check_info("{.java .numberLines}", None);
    check_info("python-3.11", None);
    check_info("js {1,3-5}", None);
    check_info("12:15:src/a.rs", None);
    check_info("rust title=\"An example\"", None);
    check_info("json href=https://example.com/a.json", None);
}
