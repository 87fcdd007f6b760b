use super::*;
use crate::template::{TemplateSource, check_template};

/// A tag of about `n_bytes` in the middle of other text.
fn tag(open: &str, unit: &str, close: &str, n_bytes: usize) -> String {
    format!("line\n{open}{}{close} text", unit.repeat(n_bytes / unit.len()))
}

/// Chains that make a tree as deep as they are long.
const CHAINS: [(&str, &str, &str); 14] = [
    ("{{ 1", " + 1", " }}"),
    ("{{ 1", "+1", "}}"),
    ("{{ ", "not ", "1 }}"),
    ("{{ ", "-", "1 }}"),
    ("{{ X", ".a", " }}"),
    ("{{ X", "[0]", " }}"),
    ("{{ X", "()", " }}"),
    ("{{ X", "|e", " }}"),
    ("{{ 1", " if 1 else 1", " }}"),
    ("{{ 1", "~1", " }}"),
    ("{{ 1", " is odd", " }}"),
    ("{{ 1", "**1", " }}"),
    ("{% if 1", " or 1", " %}{% endif %}"),
    ("{% set x = \"}}%}\"", "~'%}'", " %}"),
];

#[test]
fn long_tags_are_refused() {
    for (open, unit, close) in CHAINS {
        let fault = template_fault(&tag(open, unit, close, 20_000));
        let (line, message) = fault.unwrap_or_else(|| panic!("{open}{unit}"));
        assert_eq!(line, 2);
        assert!(message.starts_with("a tag has "), "{message}");
        // The end of the tag does not matter.
        assert!(template_fault(&tag(open, unit, "", 20_000)).is_some(), "{open}{unit}");
    }
}

#[test]
fn accepted_templates_fit_on_the_stack() {
    for (open, unit, close) in CHAINS {
        let text = tag(open, unit, close, MAX_TAG_BYTES - 60);
        assert_eq!(template_fault(&text), None, "{open}{unit}");
        let template = TemplateSource { name: "t".to_owned(), text };
        // Valid or not, it must not crash.
        drop(check_template(&template, &["X"]));
    }
    let elifs = format!("{{% if 1 %}}{}{{% endif %}}", "{%- elif 1 %}".repeat(MAX_ELIFS));
    assert_eq!(template_fault(&elifs), None);
    assert_eq!(check_template(&TemplateSource { name: "t".to_owned(), text: elifs }, &[]), Ok(()));
}

#[test]
fn markers_in_strings_and_brackets_do_not_end_a_tag() {
    let hidden = [
        format!("{{{{ \"}}}}\" {} }}}}", "+ 1".repeat(500)),
        format!("{{{{ '\\'}}}}' {} }}}}", "+ 1".repeat(500)),
        format!("{{{{ {{1: {{}}}} {} }}}}", "+ 1".repeat(500)),
        format!("{{% set a = (1 %}} 2) {} %}}", "+ 1".repeat(500)),
        format!("{{{{ ) }}}} {} }}}}", "+ 1".repeat(500)),
    ];
    for text in hidden {
        assert!(template_fault(&text).is_some(), "{}", text.get(..30).unwrap());
    }
}

#[test]
fn text_comments_and_raw_parts_may_be_long() {
    let long = "{ 1 + 1 } ".repeat(1_000);
    assert_eq!(template_fault(&long), None);
    assert_eq!(template_fault(&format!("{{# {long} #}}")), None);
    assert_eq!(template_fault(&format!("{{% raw %}}{{{{ {long} {{%- endraw %}}{{{{ X }}}}")), None);
}

#[test]
fn many_elifs_are_refused() {
    let elifs = format!("{{% if 1 %}}\n{}{{% endif %}}", "{% elif 1 %}".repeat(MAX_ELIFS + 1));
    insta::assert_snapshot!(template_fault(&elifs).unwrap().1, @"the template has more than 100 `elif`");
}
