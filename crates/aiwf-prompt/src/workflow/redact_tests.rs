use super::*;

fn roots() -> Roots {
    Roots {
        project: Some("/home/me/shop".to_owned()),
        package: Some("/home/me/packages/hello/".to_owned()),
        state: Some("/home/me/.aiwf/runs/r1".to_owned()),
        home: Some("/home/me".to_owned()),
        others: vec![("/mnt/link/shop".to_owned(), "@project")],
    }
}

#[track_caller]
fn check_alias(text: &str, expected: &str) {
    assert_eq!(alias_roots(text, &roots()), expected);
}

#[track_caller]
fn check_windows_alias(text: &str, expected: &str) {
    let roots = Roots {
        project: Some("C:\\Users\\me\\My Shop\\".to_owned()),
        home: Some("C:/Users/me".to_owned()),
        ..Roots::default()
    };
    assert_eq!(alias_roots(text, &roots), expected);
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(redact_paths(text), expected);
}

#[track_caller]
fn check_untouched(text: &str) {
    check(text, text);
}

#[test]
fn every_root_has_its_alias() {
    check_alias("/home/me/shop/src", "@project/src");
    check_alias("/home/me/packages/hello/a.md", "@pkg/a.md");
    check_alias("/home/me/.aiwf/runs/r1/workflow.md", "@state/workflow.md");
    check_alias("/home/me/notes", "~/notes");
    check_alias("/home/me/shop", "@project");
    check_alias("/home/me/shop/", "@project/");
}

#[test]
fn a_root_is_found_wherever_a_path_can_stand() {
    check_alias("(/home/me/shop)", "(@project)");
    check_alias("\"/home/me/shop\", '/home/me'", "\"@project\", '~'");
    check_alias("cwd=/home/me/shop:/home/me", "cwd=@project:~");
    check_alias("file:///home/me/shop/a", "file://@project/a");
    check_alias("Look in /home/me/shop. Then go.", "Look in @project. Then go.");
    check_alias("a\n/home/me/shop\nb", "a\n@project\nb");
    check_alias("\"a\\n/home/me/shop\\t/home/me\"", "\"a\\n@project\\t~\"");
}

#[test]
fn a_root_may_touch_a_script_without_spaces() {
    check_alias("请看/home/me/shop中的文件", "请看@project中的文件");
    check_alias("/home/me/shop에서", "@project에서");
}

#[test]
fn a_longer_name_is_not_the_root() {
    check_alias("/home/me/shopping/x", "~/shopping/x");
    check_alias("/home/me/shop-2 /home/me/shop_2 /home/me/shop2", "~/shop-2 ~/shop_2 ~/shop2");
    check_alias("/home/me/shop.bak", "~/shop.bak");
    check_alias("/home/me/shopé", "~/shopé");
    check_alias("/home/melanie", "/home/melanie");
    check_alias("backup/home/me/shop", "backup/home/me/shop");
    check_alias("~/home/me/shop", "~/home/me/shop");
}

#[test]
fn other_text_is_not_touched() {
    for text in ["", "no path", "/etc/passwd", "@project/a", "home/me/shop", "/HOME/ME"] {
        assert!(matches!(alias_roots(text, &roots()), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn windows_roots_are_known_in_every_spelling() {
    check_windows_alias("C:\\Users\\me\\My Shop\\src\\a.rs", "@project\\src\\a.rs");
    check_windows_alias("C:/Users/me/My Shop/src", "@project/src");
    check_windows_alias("{\"a\": \"C:\\\\Users\\\\me\\\\My Shop\\\\src\"}", "{\"a\": \"@project\\\\src\"}");
    check_windows_alias("C:\\Users\\me\\notes", "~\\notes");
    check_windows_alias("C:\\\\Users\\\\me\\\\notes", "~\\\\notes");
    check_windows_alias("file:///C:/Users/me/My%20Shop/a", "file:///@project/a");
    check_windows_alias("C:/Users/me/My\\ Shop/a", "@project/a");
    check_windows_alias("\"C:\\/Users\\/me\\/notes\"", "\"~\\/notes\"");
    check_windows_alias("D:\\Users\\me", "D:\\Users\\me");
}

#[test]
fn other_text_gets_no_alias() {
    for root in ["", "/", "\\", "C:", "C:\\", ".", "..", "shop", "~"] {
        let roots = Roots { project: Some(root.to_owned()), home: Some(root.to_owned()), ..Roots::default() };
        let text = "a shop / C: C:\\x .. ~ . b";
        assert_eq!(alias_roots(text, &roots), text, "{root:?}");
    }
}

#[test]
fn the_same_directory_twice_has_the_first_alias() {
    let same = Some("/srv/app".to_owned());
    let roots = Roots { project: same.clone(), home: same, ..Roots::default() };
    assert_eq!(alias_roots("/srv/app/x", &roots), "@project/x");
}

#[test]
fn another_path_to_a_root_has_the_same_alias() {
    assert_eq!(
        alias_roots("see /mnt/link/shop/src and /home/me/shop", &roots()),
        "see @project/src and @project"
    );
}

#[test]
fn posix_paths_are_hidden() {
    check("/etc/passwd", "[path]");
    check("see /etc/passwd, then /var/log/app.log:12.", "see [path], then [path].");
    check(
        "a=/etc/x, in:/etc/y (/etc/z) \"/etc/q\" '/etc/r' `/etc/s`",
        "a=[path], in:[path] ([path]) \"[path]\" '[path]' `[path]`",
    );
    check("/.hidden /~x /@scope/pkg /$HOME", "[path] [path] [path] [path]");
    check("/etc/passwd\n/etc/hosts", "[path]\n[path]");
    check("\"a\\n/etc/passwd\"", "\"a\\n[path]\"");
    check("<file>/etc/passwd</file>", "<file>[path]</file>");
    check("Is it /etc/passwd?", "Is it [path]?");
}

#[test]
fn drive_unc_and_file_paths_are_hidden() {
    check("C:\\Users\\bob\\x.txt", "[path]");
    check("d:/data and E:\\", "[path] and [path]");
    check("\\\\server\\share\\x", "[path]");
    check("file:///etc/passwd FILE://host/x", "[path] [path]");
    check("file:/etc/passwd", "file:[path]");
}

#[test]
fn paths_with_spaces_are_hidden_to_their_end() {
    check("/home/bob/My Documents/x.txt", "[path]");
    check("C:\\Program Files\\x\\y.exe runs", "[path] runs");
    check("\"/home/bob/My Documents/x.txt\" is it", "\"[path]\" is it");
    check("/etc/hosts is a file", "[path] is a file");
    check("a=/etc/x b=/etc/y in:/etc/z", "a=[path] b=[path] in:[path]");
}

#[test]
fn a_well_known_path_may_touch_a_script_without_spaces() {
    check("见/home/bob/x。", "见[path]");
    check("见C:\\x", "见[path]");
    check_untouched("文档/src/main.rs");
    check_untouched("和/或");
}

#[test]
fn urls_are_not_touched() {
    check_untouched("https://example.com/a/b?c=d");
    check_untouched("http://localhost:8080/x ssh://git@host/repo.git");
    check("see /etc/hosts https://example.com/a", "see [path] https://example.com/a");
}

#[test]
fn words_with_a_slash_are_not_touched() {
    check_untouched("and/or, 1/2, km/h, a / b, n/a");
    check_untouched("src/main.rs ./a ../b ~/c @project/d @/e ${HOME}/f **/*.rs");
    check_untouched("// comment /* comment */ / //");
}

#[test]
fn closing_tags_are_not_touched() {
    check_untouched("<b>x</b></file> </a> </x:y>");
    check("</etc/passwd", "<[path]");
}

#[test]
fn backslashes_that_lead_nowhere_are_not_touched() {
    check_untouched("\\n \\\\ \\d+ C: a:b c:d\\e");
}

#[test]
fn all_text_of_a_section_is_aliased() {
    let mut section = Section {
        heading: Some("## /home/me/shop".to_owned()),
        parts: [
            PartBody::Inline(Text::from("/home/me/shop/a")),
            PartBody::Reference("/home/me/shop/b".to_owned()),
            PartBody::Note("/home/me/shop/c".to_owned()),
        ]
        .map(|body| crate::section::Part {
            name: "/home/me/shop/n".to_owned(),
            kind: crate::section::SectionKind::File,
            source: crate::section::Source::File("/home/me/shop/n".to_owned()),
            body,
            need: crate::section::Need::Required,
            cut: None,
            attached: None,
        })
        .to_vec(),
        ..Section::new("s", "/home/me/shop", crate::section::Source::Input("x".to_owned()), "/home/me")
    };
    hide_in_section(&mut section, &roots());
    assert_eq!(section.title, "@project");
    assert_eq!(section.heading.as_deref(), Some("## @project"));
    assert_eq!(section.body.as_str(), "~");
    let parts: Vec<String> =
        section.parts.iter().map(|part| format!("{} {:?}", part.name, part.body)).collect();
    assert_eq!(
        parts,
        [
            "@project/n Inline(\"@project/a\")",
            "@project/n Reference(\"@project/b\")",
            "@project/n Note(\"@project/c\")",
        ]
    );
}
