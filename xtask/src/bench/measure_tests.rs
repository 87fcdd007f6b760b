use std::process::Command;

use super::{Times, Usage, median, parse_usage, take_turns, usage};

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
    let ours = Times(vec![2.0, 20.0, 2.0]);
    let reference = Times(vec![1.0, 1.0, 1.0]);
    assert!(is_close(ours.ratio_to(&reference), 2.0));
}

#[test]
fn every_program_gets_every_turn() {
    let [first, second] = take_turns(3, [&|| Ok(shell("exit 0")), &|| Ok(shell(":"))]).unwrap();
    assert_eq!((first.0.len(), second.0.len()), (3, 3));
}

#[test]
fn a_program_that_fails_is_named_with_its_words() {
    let failure = take_turns(1, [&|| Ok(shell("echo no such thing >&2; exit 3"))]).unwrap_err().to_string();
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
