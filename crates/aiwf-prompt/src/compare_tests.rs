use super::*;
use crate::tokens::Tokenizer;

/// Pieces from `section=text` lines; `role:section=text` sets the role.
fn pieces<'a>(said: &[&'a str]) -> Vec<Piece<'a>> {
    said.iter()
        .map(|line| {
            let (name, text) = line.split_once('=').unwrap();
            let (role, section) = name.split_once(':').unwrap_or(("user", name));
            Piece { section, source: "input:x", role, text }
        })
        .collect()
}

fn line(change: &SectionChange, before: &[Piece<'_>], after: &[Piece<'_>]) -> String {
    let section = change
        .after
        .and_then(|side| after.get(side.index))
        .or_else(|| before.get(change.before.unwrap().index));
    let what = match change.change {
        Change::Unchanged => "=",
        Change::Added => "+",
        Change::Removed => "-",
        Change::Changed => "~",
    };
    format!("{what}{}{}", if change.is_moved { ">" } else { "" }, section.unwrap().section)
}

fn check(before: &[&str], after: &[&str], sections: &str, prefix: usize, end: Option<(&str, usize, usize)>) {
    let (before, after) = (pieces(before), pieces(after));
    let found = compare(&before, &after, &Tokenizer::Estimate);
    let lines: Vec<String> = found.sections.iter().map(|change| line(change, &before, &after)).collect();
    assert_eq!(lines.join(" "), sections);
    assert_eq!(found.prefix.bytes, prefix, "bytes in the prefix");
    let found_end = found.prefix_end.map(|end| (after[end.index].section, end.byte, end.line));
    assert_eq!(found_end, end, "end of the prefix");
}

#[test]
fn nothing_is_stable_once_a_prompt_is_empty() {
    let before = pieces(&["one=text"]);
    assert!(compare(&before, &[], &Tokenizer::Estimate).stable_share() < 0.01);
}

#[test]
fn equal_prompts_have_no_changes_and_are_their_own_prefix() {
    check(&["plan=one\n", "task=two"], &["plan=one\n", "task=two"], "=plan =task", 7, None);
    check(&[], &[], "", 0, None);
}

#[test]
fn a_changed_section_ends_the_prefix_at_its_first_byte_that_differs() {
    check(
        &["plan=one\n", "rules=a\nb\nc\n", "task=two"],
        &["plan=one\n", "rules=a\nX\nc\n", "task=two"],
        "=plan ~rules =task",
        6,
        Some(("rules", 2, 2)),
    );
}

#[test]
fn added_and_removed_sections_stand_where_they_are_or_were() {
    check(
        &["plan=one", "task=two"],
        &["plan=one", "new=x", "task=two"],
        "=plan +new =task",
        3,
        Some(("new", 0, 1)),
    );
    check(
        &["plan=one", "old=x", "task=two"],
        &["plan=one", "task=two"],
        "=plan -old =task",
        3,
        Some(("task", 0, 1)),
    );
    check(&["plan=one"], &["plan=one", "task=two"], "=plan +task", 3, None);
    check(&["plan=one", "task=two"], &["plan=one"], "=plan -task", 3, None);
}

#[test]
fn a_section_in_another_place_is_moved_and_its_neighbours_are_not() {
    check(&["a=1", "b=2", "c=3"], &["b=2", "c=3", "a=1"], "=b =c =>a", 0, Some(("b", 0, 1)));
    check(&["a=1", "b=2", "c=3"], &["a=1", "c=33", "b=2"], "=a ~>c =b", 1, Some(("c", 0, 1)));
}

#[test]
fn a_separator_belongs_to_the_place_of_a_section() {
    let found = compare(
        &pieces(&["plan=one\n\n---\n\n", "task=two"]),
        &pieces(&["plan=one\n\n---\n\n", "task=two\n\n---\n\n", "more=three"]),
        &Tokenizer::Estimate,
    );
    let changes: Vec<Change> = found.sections.iter().map(|section| section.change).collect();
    assert_eq!(changes, [Change::Unchanged, Change::Unchanged, Change::Added]);
    assert!((found.unchanged_share() - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_change_of_the_speaker_ends_the_prefix() {
    check(&["system:a=1", "b=2"], &["a=1", "b=2"], "=a =b", 0, Some(("a", 0, 1)));
}

#[test]
fn a_character_is_never_cut() {
    check(&["a=ä"], &["a=ö"], "~a", 0, Some(("a", 0, 1)));
    check(&["a=xä"], &["a=xö"], "~a", 1, Some(("a", 1, 1)));
}

#[test]
fn sections_of_the_same_name_are_matched_by_their_text_first() {
    check(
        &["said=one", "said=two", "said=three"],
        &["said=two", "said=three", "said=four"],
        "=said =said ~>said",
        0,
        Some(("said", 0, 1)),
    );
}

#[test]
fn unchanged_text_after_a_change_is_unchanged_but_not_in_the_prefix() {
    let long = "the same line of a long section\n".repeat(100);
    let (before, after) = (format!("task={long}"), format!("task={long}"));
    let old = ["date=Monday", before.as_str()];
    let new = ["date=Friday", after.as_str()];
    let found = compare(&pieces(&old), &pieces(&new), &Tokenizer::Estimate);
    assert!(found.unchanged_share() < 0.01, "{}", found.unchanged_share());
    assert!(found.stable_share() < 0.01);
    assert_eq!(found.missed(), found.after.tokens);

    let found =
        compare(&pieces(&[&before, "date=Monday"]), &pieces(&[&after, "date=Friday"]), &Tokenizer::Estimate);
    assert!(found.unchanged_share() > 0.99, "{}", found.unchanged_share());
    assert_eq!(found.missed(), Tokens(2));
}

#[test]
fn lines_that_stay_in_a_changed_section_are_unchanged() {
    assert_eq!(same_bytes("a\nb\nc\n", "a\nX\nc\n"), 4);
    assert_eq!(same_bytes("first\nkept\nlast", "start\nkept\nend"), "kept\n".len());
    assert_eq!(same_bytes("one\ntwo\n", "two\none\n"), 8);
    assert_eq!(same_bytes("\n\nx", "y\n\nz"), 0);
    assert_eq!(same_bytes("", "new"), 0);
}

#[test]
fn sizes_are_those_of_the_texts() {
    let found = compare(&pieces(&["a=12345678"]), &pieces(&["a=1234567890123456"]), &Tokenizer::Estimate);
    assert_eq!(found.before, Size { bytes: 8, tokens: Tokens(2) });
    assert_eq!(found.after, Size { bytes: 16, tokens: Tokens(4) });
    assert_eq!(found.prefix, Size { bytes: 8, tokens: Tokens(2) });
    assert_eq!(found.missed(), Tokens(2));
    assert!(!found.is_same());
}

mod properties {
    use proptest::prelude::*;

    use super::super::*;
    use crate::tokens::Tokenizer;

    fn prompt() -> impl Strategy<Value = Vec<(String, String)>> {
        prop::collection::vec(("[abc]", "[xyä\n]{0,12}"), 0..8)
    }

    fn as_pieces(prompt: &[(String, String)]) -> Vec<Piece<'_>> {
        prompt.iter().map(|(section, text)| Piece { section, source: "", role: "user", text }).collect()
    }

    proptest! {
        #[test]
        fn the_prefix_is_the_longest_one_and_every_section_is_listed_once(before in prompt(), after in prompt()) {
            let (old, new) = (as_pieces(&before), as_pieces(&after));
            let found = compare(&old, &new, &Tokenizer::Estimate);
            let text = |pieces: &[Piece<'_>]| pieces.iter().map(|piece| piece.text).collect::<String>();
            let (old_text, new_text) = (text(&old), text(&new));
            let chars = old_text.chars().zip(new_text.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a);
            prop_assert_eq!(found.prefix.bytes, chars.map(char::len_utf8).sum::<usize>());
            let mut places: Vec<usize> = found.sections.iter().filter_map(|s| Some(s.before?.index)).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..old.len()).collect::<Vec<_>>());
            let places: Vec<usize> = found.sections.iter().filter_map(|s| Some(s.after?.index)).collect();
            prop_assert_eq!(places, (0..new.len()).collect::<Vec<_>>());
            prop_assert!(found.prefix.tokens <= found.unchanged);
            prop_assert!(found.after.bytes == new_text.len() && found.before.bytes == old_text.len());
        }

        #[test]
        fn a_prompt_equals_itself(prompt in prompt()) {
            let pieces = as_pieces(&prompt);
            let found = compare(&pieces, &pieces, &Tokenizer::Estimate);
            prop_assert!(found.is_same());
            prop_assert!(found.sections.iter().all(|s| s.change == Change::Unchanged && !s.is_moved));
            prop_assert_eq!(found.prefix_end, None);
        }
    }
}
