//! Finds the owner of each part of a prompt file after a person may have edited it.
//!
//! In: the stretches as built, and the current text. Out: the stretches that are unchanged, in order; all text between
//! them belongs to the section `edited`, whose source is the file.

use aiwf_prompt::{OwnedText, Role};

/// Attributes every byte of `text`.
pub(super) fn attribute(built: &[&OwnedText], role: Role, text: &str, file: &str) -> Vec<OwnedText> {
    let push_edited = |owned: &mut Vec<OwnedText>, text: &str| {
        if !text.is_empty() {
            owned.push(OwnedText {
                section: "edited".to_owned(),
                source: format!("file:{file}"),
                role,
                text: text.to_owned(),
                is_stable: false,
            });
        }
    };
    let mut owned = Vec::new();
    let mut rest = text;
    for stretch in built {
        let Some((before, after)) = rest.split_once(stretch.text.as_str()) else { continue };
        push_edited(&mut owned, before);
        owned.push((*stretch).clone());
        rest = after;
    }
    push_edited(&mut owned, rest);
    owned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, usize)]) {
        let owned = |section: &str, text: &str| OwnedText {
            section: section.to_owned(),
            source: "file:x".to_owned(),
            role: Role::User,
            text: text.to_owned(),
            is_stable: true,
        };
        let built =
            [owned("plan", "the plan\n\n"), owned("task", "the task\n\n"), owned("output", "save it")];
        let sections = attribute(&built.iter().collect::<Vec<_>>(), Role::User, text, "prompt.md");
        let found: Vec<(&str, usize)> =
            sections.iter().map(|section| (section.section.as_str(), section.text.len())).collect();
        assert_eq!(found, expected);
        assert_eq!(sections.iter().map(|section| section.text.len()).sum::<usize>(), text.len());
    }

    #[test]
    fn an_unedited_prompt_belongs_to_its_sections() {
        check("the plan\n\nthe task\n\nsave it", &[("plan", 10), ("task", 10), ("output", 7)]);
    }

    #[test]
    fn what_was_changed_belongs_to_the_edit_and_the_rest_keeps_its_owner() {
        check("the plan\n\nanother task\n\nsave it", &[("plan", 10), ("edited", 14), ("output", 7)]);
        check("all new", &[("edited", 7)]);
        check(
            "note\nthe plan\n\nthe task\n\nsave it!",
            &[("edited", 5), ("plan", 10), ("task", 10), ("output", 7), ("edited", 1)],
        );
    }
}
