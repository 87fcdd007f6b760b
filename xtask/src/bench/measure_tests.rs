use std::cell::RefCell;
use std::process::Command;

use super::{Samples, Switch, Usage, Which, median, parse_usage, take_turns, usage};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn the_median_is_the_middle_or_between_the_two() {
    assert!(is_close(median(&[3.0, 1.0, 100.0]), 3.0));
    assert!(is_close(median(&[4.0, 1.0, 2.0, 100.0]), 3.0));
    assert!(median(&[]).is_nan());
}

#[test]
fn one_disturbed_turn_does_not_move_the_ratio() {
    let ours = Samples { present: vec![2.0, 20.0, 2.0], other: vec![4.0, 4.0, 4.0] };
    let reference = Samples { present: vec![1.0, 1.0, 1.0], other: Vec::new() };
    assert!(is_close(ours.ratio_to(&reference), 2.0));
    assert!(is_close(ours.ratio_to_other(), 0.5));
    assert_eq!(reference.other_median(), None);
}

#[test]
fn every_program_gets_every_turn() {
    let programs: [super::Prepare<'_>; 2] = [&|| Ok(shell("exit 0")), &|| Ok(shell(":"))];
    let [first, second] = take_turns(3, &Switch::default(), programs).unwrap();
    assert_eq!((first.present.len(), second.present.len()), (3, 3));
    assert_eq!(first.other_median(), None);
}

#[test]
fn the_other_build_runs_beside_the_present_one_in_changing_order() {
    let switch = Switch::new(true);
    let runs = RefCell::new(Vec::new());
    let ours = || {
        runs.borrow_mut().push(switch.use_current());
        Ok(shell(":"))
    };
    let [times] = take_turns(2, &switch, [&ours]).unwrap();
    let (present, other) = (Which::Present, Which::Other);
    assert_eq!(*runs.borrow(), [present, other, other, present, present, other]);
    assert_eq!((times.present.len(), times.other.len()), (2, 2));
}

#[test]
fn a_program_that_is_not_ours_runs_once_in_a_turn() {
    let [times] = take_turns(2, &Switch::new(true), [&|| Ok(shell(":"))]).unwrap();
    assert_eq!((times.present.len(), times.other.len()), (2, 0));
}

#[test]
fn a_failure_says_which_build_it_is_in() {
    let switch = Switch::new(true);
    let ours = || Ok(shell(if switch.use_current() == Which::Other { "exit 3" } else { ":" }));
    let failure = take_turns(1, &switch, [&ours]).unwrap_err().to_string();
    assert!(failure.contains("  in the build that `--against` names\n"), "{failure}");
}

#[test]
fn a_program_that_fails_is_named_with_its_words() {
    let failure = take_turns(1, &Switch::default(), [&|| Ok(shell("echo no such thing >&2; exit 3"))]);
    let failure = failure.unwrap_err().to_string();
    assert!(failure.contains("exit status: 3"), "{failure}");
    assert!(failure.contains("  no such thing\n"), "{failure}");
}

#[test]
fn usage_is_read_from_the_last_line() {
    assert_eq!(
        parse_usage("2048 0.30 0.10 0.20"),
        Some(Usage { peak_bytes: 2_097_152.0, cores: (0.30 + 0.10) / 0.20 })
    );
    assert_eq!(parse_usage("Command terminated"), None);
}

#[test]
fn peak_memory_follows_what_a_program_holds() {
    // `sh` reads 8 MB into a variable; a machine without GNU time and Python measures nothing.
    let small = usage(&shell(":")).unwrap();
    let large = usage(&shell("x=$(head -c 8000000 /dev/zero | tr '\\0' a); :")).unwrap();
    if let (Some(small), Some(large)) = (small, large) {
        assert!(large.peak_bytes > small.peak_bytes + 4e6, "{small:?} {large:?}");
    }
}
