use super::*;

#[test]
fn front_matter_that_is_no_yaml_gives_its_plain_lines() {
    let read = document("---\nname: Tool: Propose\ndescription: \"Write a proposal\"\n---\nBody {{x}}\n");
    assert!(read.is_lenient);
    assert_eq!(read.text("name").as_deref(), Some("Tool: Propose"));
    assert_eq!(read.text("description").as_deref(), Some("Write a proposal"));
    assert_eq!((read.body.as_str(), read.first_line), ("Body {{x}}\n", 5));
}

#[test]
fn a_file_without_front_matter_is_all_body() {
    let read = document("# Title\n---\n");
    assert_eq!((read.body.as_str(), read.first_line, read.data.len()), ("# Title\n---\n", 1, 0));
}

#[test]
fn lists_are_joined() {
    let read = document("---\nallowed-tools: [Read, Grep]\nmodel: 5\n---\n");
    assert_eq!(read.text("allowed-tools").as_deref(), Some("Read, Grep"));
    assert_eq!(read.text("model").as_deref(), Some("5"));
}

#[test]
fn headings_in_fences_are_text() {
    let body = "Intro\n## One\n```\n## not a heading\n```\n## Two\nEnd";
    let found: Vec<(&str, usize)> = parts(body).iter().map(|part| (part.heading, part.line)).collect();
    assert_eq!(found, [("", 0), ("One", 1), ("Two", 5)]);
    assert_eq!(parts(body).iter().map(|part| part.text).collect::<String>(), body);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn marks() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "---\n",
            "## ",
            "```",
            "\n",
            ": ",
            "- ",
            "\\[",
            "\"",
            "\\$ARGUMENTS",
            "\\$1",
            "@a.b",
            "!`x`",
            "\\{\\{",
            "\\PC{0,6}"
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_file_is_read_and_its_parts_are_its_body(text in marks()) {
            let read = document(&text);
            prop_assert!(text.ends_with(&read.body));
            let together: String = parts(&read.body).iter().map(|part| part.text).collect();
            prop_assert_eq!(together, read.body);
            drop(yaml(&text));
        }
    }
}
