use proptest::prelude::*;

use super::super::{CheckEnd, CheckOutput};
use super::*;

fn result(name: &str, run: &str, ended: CheckEnd, exit_code: Option<i32>) -> CheckResult {
    CheckResult {
        name: name.to_owned(),
        run: run.to_owned(),
        passed: exit_code == Some(0),
        ended,
        exit_code,
        signal: None,
        millis: 61_500,
        output: CheckOutput { path: "x.txt".to_owned(), sha256: String::new(), n_bytes: 10 },
        notes: Vec::new(),
    }
}

fn exited(name: &str, run: &str, code: i32) -> CheckResult {
    result(name, run, CheckEnd::Exited, Some(code))
}

#[test]
fn a_prompt_says_first_how_many_passed_and_shows_what_failing_ones_printed() {
    let checks = [
        (exited("fmt", "cargo fmt --check", 0), b"nothing to say".to_vec()),
        (
            exited("tests", "cargo test", 101),
            b"\x1b[31mtest a ... FAILED\x1b[0m\r\n```\nleft: 1\n```\n".to_vec(),
        ),
        (exited("lint", "grep `x`", 1), Vec::new()),
    ];
    insta::assert_snapshot!(checks_text(&checks, 10_000), @r"
    1 of 3 checks passed.

    - `fmt`: `cargo fmt --check` passed
    - `tests`: `cargo test` failed with exit code 101
    - `lint`: `` grep `x` `` failed with exit code 1

    ### `tests`

    It printed:

    ````text
    test a ... FAILED
    ```
    left: 1
    ```
    ````

    ### `lint`

    It printed nothing.
    ");
}

#[test]
fn every_way_a_check_can_end_is_reported() {
    let ends = [
        (CheckEnd::TimedOut, None),
        (CheckEnd::TooMuchOutput, None),
        (CheckEnd::Stopped, None),
        (CheckEnd::NotStarted("no such file or directory".to_owned()), None),
        (CheckEnd::Exited, None),
    ];
    let checks: Vec<(CheckResult, Vec<u8>)> =
        ends.into_iter().map(|(end, code)| (result("a", "x", end, code), b"..".to_vec())).collect();
    let text = checks_text(&checks, 10_000);
    insta::assert_snapshot!(text.split("\n\n###").next().unwrap_or_default(), @"
    0 of 5 checks passed.

    - `a`: `x` was stopped after 61 s: it took too long
    - `a`: `x` was stopped after 10 bytes: it printed too much
    - `a`: `x` was stopped
    - `a`: `x` could not start: no such file or directory
    - `a`: `x` failed
    ");
    let killed = CheckResult { signal: Some(9), ..result("a", "x", CheckEnd::Exited, None) };
    assert_eq!(killed.outcome(), "was killed by signal 9");
}

#[test]
fn numbers_agree() {
    let summary =
        |codes: &[i32]| checks_summary(&codes.iter().map(|code| exited("a", "x", *code)).collect::<Vec<_>>());
    assert_eq!(summary(&[]), "no checks ran");
    assert_eq!(summary(&[0]), "1 check passed");
    assert_eq!(summary(&[1]), "1 check failed");
    assert_eq!(summary(&[0, 0]), "all 2 checks passed");
    assert_eq!(summary(&[0, 1]), "1 of 2 checks passed");
}

#[test]
fn a_note_is_shown_next_to_its_check() {
    let noted =
        CheckResult { notes: vec!["not isolated from the network: x".to_owned()], ..exited("a", "x", 0) };
    insta::assert_snapshot!(checks_text(&[(noted, Vec::new())], 100), @"
    1 check passed.

    - `a`: `x` passed; not isolated from the network: x
    ");
}

#[test]
fn long_output_keeps_its_ends_and_counts_the_rest() {
    let lines = (1..=100).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n") + "\n";
    insta::assert_snapshot!(head_and_tail(lines.as_bytes(), 200), @"
    line 1
    line 2
    line 3
    line 4
    [… 88 lines, 699 bytes left out …]
    line 93
    line 94
    line 95
    line 96
    line 97
    line 98
    line 99
    line 100
    ");
    assert_eq!(head_and_tail(lines.as_bytes(), lines.len()), lines);
    insta::assert_snapshot!(head_and_tail("é".repeat(300).as_bytes(), 120), @"
    éééé
    [… 576 bytes left out …]
    éééééééé
    ");
    assert_eq!(head_and_tail(&[b'x'; 100], 0), "[… 100 bytes left out …]\n");
}

#[test]
fn sequences_for_terminals_are_removed_and_hide_nothing_after_their_line() {
    let plain = |bytes: &[u8]| head_and_tail(bytes, 1000);
    assert_eq!(plain(b"\x1b[1;31merror\x1b[0m: \x1b]8;;http://x\x07link\x1b]8;;\x07"), "error: link");
    assert_eq!(plain(b"a\rb\r\nc\x07\x08\x00"), "a\nb\nc");
    assert_eq!(plain(b"begin \x1b]0;no end\nFAILED: 3\n"), "begin \nFAILED: 3\n");
    assert_eq!(plain(b"\x1bPno end either\nFAILED\n\xff\xfe\n"), "\nFAILED\n\u{fffd}\u{fffd}\n");
    assert_eq!(plain("tab\tand \u{9b}31mnine".as_bytes()).lines().count(), 1);
}

proptest! {
    #[test]
    fn any_output_is_cut_the_same_way_and_to_its_limit(
        printed in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(0x1b), Just(b'`'), any::<u8>()], 0..600),
        max_bytes in 0usize..700,
    ) {
        let shown = head_and_tail(&printed, max_bytes);
        prop_assert!(shown.len() <= max_bytes.max(MAX_NOTE));
        prop_assert_eq!(&shown, &head_and_tail(&printed, max_bytes));
        prop_assert!(!shown.contains(|character: char| character.is_control() && !"\n\t".contains(character)));
    }

    #[test]
    fn the_section_is_bounded_and_no_output_closes_its_fence(
        printed in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'`'), Just(b'#'), any::<u8>()], 0..2000),
        run in any::<String>(),
        n_checks in 1usize..4,
    ) {
        let checks = vec![(exited("a", &run, 1), printed); n_checks];
        let text = checks_text(&checks, 600);
        prop_assert_eq!(&text, &checks_text(&checks, 600));
        // A fence is at most as long as the output inside of it.
        prop_assert!(text.len() <= n_checks * (3 * 600 + 2 * 4 * MAX_COMMAND + 200), "{}", text.len());
        let mut open: Option<String> = None;
        let mut n_fences = 0;
        for line in text.lines() {
            match &open {
                Some(fence) if line == *fence => open = None,
                Some(_) => {}
                None => {
                    if let Some(fence) = line.strip_suffix("text").filter(|fence| fence.starts_with("```")) {
                        open = Some(fence.to_owned());
                        n_fences += 1;
                    } else {
                        prop_assert!(["", "It printed:", "It printed nothing."].contains(&line)
                            || line.starts_with("- `") || line == "### `a`" || line.ends_with(" checks passed.")
                            || line == "1 check failed.", "{line:?}");
                    }
                }
            }
        }
        prop_assert!(open.is_none() && (n_fences == n_checks || n_fences == 0));
    }
}
