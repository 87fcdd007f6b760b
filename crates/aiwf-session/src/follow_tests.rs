use super::*;

fn lines(first: u32, last: u32) -> LineRange {
    LineRange { first, last }
}

/// A text of very many lines.
fn many(line: impl Fn(u32) -> String) -> String {
    (0..60_000).map(line).collect::<Vec<_>>().join("\n") + "\n"
}

fn check(old: &[&str], new: &[&str], first: u32, last: u32) -> Place {
    let (old, new) = (old.join("\n"), new.join("\n"));
    follow_through([old.as_str(), new.as_str()], lines(first, last))
}

#[test]
fn a_range_is_read_and_written_the_same() {
    for (text, first, last) in [("12", 12, 12), ("12-14", 12, 14), ("1-1", 1, 1)] {
        assert_eq!(LineRange::parse(text), Some(lines(first, last)));
    }
    assert_eq!(lines(3, 3).to_string(), "3");
    assert_eq!(lines(3, 5).to_string(), "3-5");
    for wrong in ["", "0", "5-3", "-3", "3-", "+1", "a", "1-2-3", "99999999999"] {
        assert_eq!(LineRange::parse(wrong), None, "{wrong}");
    }
    assert_eq!(lines(2, 3).of("a\nb\nc\n").as_deref(), Some("b\nc"));
    assert_eq!(lines(3, 4).of("a\nb\nc\n"), None);
}

#[test]
fn lines_move_with_what_is_inserted_and_deleted_before_them() {
    assert_eq!(
        check(&["a", "b", "c"], &["x", "y", "a", "b", "c"], 2, 3),
        Place::Unchanged { lines: lines(4, 5) }
    );
    assert_eq!(check(&["a", "b", "c"], &["c"], 3, 3), Place::Unchanged { lines: lines(1, 1) });
}

#[test]
fn a_block_that_was_moved_is_found() {
    let old = ["one", "two", "three", "four", "five", "six"];
    let new = ["four", "five", "six", "one", "two", "three"];
    assert_eq!(check(&old, &new, 1, 2), Place::Unchanged { lines: lines(4, 5) });
    assert_eq!(check(&old, &new, 5, 6), Place::Unchanged { lines: lines(2, 3) });
}

#[test]
fn an_edited_line_is_found_by_what_is_left_of_it() {
    let old = ["# Plan", "Store reports in Postgres", "Write tests"];
    let new = ["# Plan", "Read the input first", "Store all reports in SQLite", "Write tests"];
    assert_eq!(check(&old, &new, 2, 2), Place::Edited { lines: lines(3, 3) });
    // A range with one changed line is where its other lines are.
    assert_eq!(check(&old, &new, 1, 2), Place::Edited { lines: lines(1, 1) });
}

#[test]
fn a_line_that_is_gone_is_deleted_although_an_equal_one_is_left() {
    assert_eq!(
        check(&["{", "a", "}", "b", "}"], &["{", "a", "b", "}"], 2, 2),
        Place::Unchanged { lines: lines(2, 2) }
    );
    assert_eq!(check(&["a", "remove", "b"], &["a", "b"], 2, 2), Place::Deleted);
    assert_eq!(check(&["start", "}", "middle", "}"], &["start", "middle", "}"], 2, 2), Place::Deleted);
    assert_eq!(check(&["a"], &[], 1, 1), Place::Deleted);
}

#[test]
fn lines_are_followed_through_every_version() {
    let texts = ["a\nkeep\n", "b\na\nkeep\n", "b\na\nc\nkeep it\n", "b\na\nc\nkeep it\nd\n"];
    assert_eq!(follow_through(texts, lines(2, 2)), Place::Edited { lines: lines(4, 4) });
    let gone = ["a\nkeep\n", "a\n", "a\nkeep\n"];
    assert_eq!(follow_through(gone, lines(2, 2)), Place::Deleted);
}

#[test]
fn large_texts_without_common_lines_are_followed_in_bounded_time() {
    let old: String = many(|number| format!("old {number}"));
    let new: String = many(|number| format!("new {number}"));
    assert_eq!(follow_through([old.as_str(), new.as_str()], lines(30_000, 30_000)), Place::Deleted);
    // The same few lines again and again: nothing occurs once.
    let twice: String = many(|number| (number % 7).to_string());
    let other: String = many(|number| (number % 5).to_string());
    follow_through([twice.as_str(), other.as_str()], lines(1, 50_000));
    // Lines that occur once align the rest.
    let mixed: String = many(|number| if number % 100 == 0 { number.to_string() } else { "1".to_owned() });
    let shifted = format!("0\n1\n2\n{mixed}end\n");
    let place = follow_through([mixed.as_str(), shifted.as_str()], lines(501, 501));
    assert_eq!(place, Place::Unchanged { lines: lines(504, 504) });
}

mod properties {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// A text in which every line is unlike every other.
    fn line_of(id: u64) -> String {
        let mut line = String::new();
        for part in 1..=3_u64 {
            let mut word = id.wrapping_mul(3).wrapping_add(part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            write!(line, "{:016x}", word ^ (word >> 31)).unwrap();
        }
        line
    }

    /// A line of the new text: the id of an old line, and whether it was edited.
    #[derive(Clone, Debug, PartialEq)]
    struct Line {
        id: u64,
        is_edited: bool,
    }

    impl Line {
        fn text(&self) -> String {
            let line = line_of(self.id);
            if self.is_edited { format!("{line} edited") } else { line }
        }
    }

    /// Edits a text by four numbers: what to do, and where.
    fn edit(lines: &mut Vec<Line>, next_id: &mut u64, (kind, a, b, c): (u8, usize, usize, usize)) {
        let place = |pick: usize, len: usize| if len == 0 { 0 } else { pick % len };
        let n_lines = lines.len();
        let from = place(a, n_lines);
        let to = (from + b % 4 + 1).min(n_lines);
        match kind % 4 {
            0 => {
                let new = Line { id: *next_id, is_edited: false };
                *next_id += 1;
                lines.insert(place(a, n_lines + 1), new);
            }
            1 => drop(lines.drain(from..to)),
            2 => {
                let block: Vec<Line> = lines.drain(from..to).collect();
                let at = place(c, lines.len() + 1);
                lines.splice(at..at, block);
            }
            _ => {
                if let Some(line) = lines.get_mut(from) {
                    line.is_edited = true;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn lines_are_found_where_they_are_and_deleted_ones_are_not_found(
            n_lines in 1_u64..40,
            edits in prop::collection::vec(any::<(u8, usize, usize, usize)>(), 0..12),
            first in any::<u32>(),
            n_commented in 1_u32..5,
        ) {
            let old: Vec<Line> = (0..n_lines).map(|id| Line { id, is_edited: false }).collect();
            let first = first % u32::try_from(n_lines).unwrap() + 1;
            let last = (first + n_commented - 1).min(u32::try_from(n_lines).unwrap());
            let mut new = old.clone();
            let mut next_id = n_lines;
            for one in edits {
                edit(&mut new, &mut next_id, one);
            }
            let text = |lines: &[Line]| lines.iter().map(|line| line.text() + "\n").collect::<String>();
            let place = follow_through([text(&old).as_str(), text(&new).as_str()], lines(first, last));
            let commented = &old[(first - 1) as usize..last as usize];
            let n_left = new.iter().filter(|line| commented.iter().any(|old| old.id == line.id)).count();
            let whole = new.windows(commented.len()).position(|window| window == commented);
            if let Some(start) = whole {
                let start = u32::try_from(start).unwrap() + 1;
                prop_assert_eq!(place, Place::Unchanged { lines: lines(start, start + last - first) });
            } else if n_left == 0 {
                prop_assert_eq!(place, Place::Deleted);
            } else if let Place::Unchanged { .. } = place {
                prop_assert!(false, "the lines are not the same: {place:?}");
            }
            if let Some(found) = place.lines() {
                prop_assert!(found.first <= found.last && found.last as usize <= new.len());
            }
        }

        #[test]
        fn any_two_texts_can_be_followed(
            old in "([abc]{0,2}\n){0,30}",
            new in "([abc]{0,2}\n){0,30}",
            first in 0_u32..40,
            last in 0_u32..40,
        ) {
            let place = follow_through([old.as_str(), new.as_str()], lines(first, last));
            if let Some(found) = place.lines() {
                prop_assert!(found.last as usize <= new.lines().count());
            }
        }
    }
}
