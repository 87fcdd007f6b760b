use std::collections::BTreeMap;

use aiwf_prompt::{TemplateSource, render_template_here};

use super::*;

fn rendered(text: &str) -> String {
    let source = TemplateSource { name: "test".to_owned(), text: text.to_owned() };
    let variables = BTreeMap::from([("x".to_owned(), "X".into())]);
    render_template_here(&source, &variables).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn template_syntax_comes_out_as_it_was() {
    for text in
        ["{{ x }}", "{% if x %}", "{# x #}", "{{{{x}}}}", "{{{% raw %}", "a {", "{%- endraw -%}\n", "`{{`"]
    {
        assert_eq!(rendered(&literal(text)), text);
        // Whatever stands around it.
        assert_eq!(
            rendered(&format!("{}{{{{ x }}}}{}", literal(text), literal(text))),
            format!("{text}X{text}")
        );
    }
}

#[test]
fn a_fence_is_longer_than_any_in_the_text() {
    assert_eq!(fenced("a\n````\nb\n", "markdown"), "`````markdown\na\n````\nb\n`````");
    assert_eq!(fenced("a", ""), "```\na\n```");
}

#[test]
fn names_are_plain() {
    assert_eq!(plain_name("Front End/Fix_It!").as_deref(), Some("front-end-fix-it"));
    assert_eq!(plain_name("äöü"), None);
    assert_eq!(plain_name(&"a".repeat(99)).unwrap().len(), 31);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_comes_out_as_it_was(parts in proptest::collection::vec(
            prop_oneof!["\\{", "\\}", "%", "#", "-", "\"", "\n", " ", "raw", "endraw", "\\PC{0,4}"], 0..40)
        ) {
            let text = parts.concat();
            prop_assert_eq!(rendered(&literal(&text)), text);
        }
    }
}
