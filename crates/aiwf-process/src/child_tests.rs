use super::*;

const LIMITS: Limits =
    Limits { first_byte: Duration::from_mins(100), total: Duration::from_mins(100), max_bytes: 1_000 };

fn shell(args: &[OsString]) -> Program<'_> {
    Program::new(OsStr::new("/bin/sh"), args)
}

fn is_running(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// What was killed needs a moment to be gone; a test that waits in vain is killed as a hang.
fn await_end(id: u32) {
    while is_running(id) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_panic_ends_the_group() {
    let args = ["-c", "sleep 6000 & echo $!; sleep 6000"].map(OsString::from);
    let ids = std::sync::Mutex::new(Vec::new());
    let panicked = std::panic::catch_unwind(|| {
        let stop = Stop::default();
        let mut child = Child::start(&shell(&args), LIMITS, &stop).unwrap();
        let mut buffer = [0; 100];
        let n_read = child.read(&mut buffer).unwrap();
        let grandchild = std::str::from_utf8(&buffer[..n_read]).unwrap().trim().parse().unwrap();
        ids.lock().unwrap().extend([child.id(), grandchild]);
        panic!("the sink panics");
    });
    assert!(panicked.is_err());
    let ids = ids.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert_eq!(ids.len(), 2);
    ids.into_iter().for_each(await_end);
}

#[test]
fn a_child_in_front_shares_our_group_and_is_ended_alone() {
    let args = ["-c", "cut -d' ' -f5 /proc/$$/stat; exec sleep 6000"].map(OsString::from);
    let stop = Stop::default();
    let program = Program { is_in_front: true, ..shell(&args) };
    let mut child = Child::start(&program, LIMITS, &stop).unwrap();
    let mut buffer = [0; 100];
    let n_read = child.read(&mut buffer).unwrap();
    let group: i32 = std::str::from_utf8(&buffer[..n_read]).unwrap().trim().parse().unwrap();
    assert_eq!(group, rustix::process::getpgrp().as_raw_nonzero().get());
    let id = child.id();
    // We are in that group, too, and still here.
    child.end(Duration::ZERO);
    assert!(!is_running(id));
}

#[test]
fn the_end_of_the_complaints_is_kept() {
    let args = ["-c", "head -c 100000 /dev/zero | tr '\\0' x >&2; printf end >&2"].map(OsString::from);
    let (printed, ended) = output(&shell(&args), LIMITS, &Stop::default()).unwrap();
    assert!(printed.is_empty());
    assert_eq!(ended.stderr.len(), STDERR_TAIL);
    assert!(ended.stderr.ends_with("xend"));
}

#[test]
fn a_directory_that_is_not_there_is_an_error_of_its_own() {
    let program = Program { directory: Some(Path::new("/no/such/place")), ..shell(&[]) };
    let error = output(&program, LIMITS, &Stop::default()).unwrap_err();
    assert!(matches!(error, ChildError::NotStarted(_)));
}

#[test]
fn merged_output_comes_in_the_order_of_its_writes() {
    let args = ["-c", "printf 1; printf 2 >&2; printf 3; printf 4 >&2"].map(OsString::from);
    let program = Program { stderr: Stderr::Merged, ..shell(&args) };
    let (printed, ended) = output(&program, LIMITS, &Stop::default()).unwrap();
    assert_eq!(String::from_utf8(printed).unwrap(), "1234");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn merged_output_counts_towards_the_limit_of_bytes() {
    let args = ["-c", "head -c 2000 /dev/zero >&2; sleep 6000"].map(OsString::from);
    let program = Program { stderr: Stderr::Merged, ..shell(&args) };
    let error = output(&program, LIMITS, &Stop::default()).unwrap_err();
    assert!(matches!(error, ChildError::TooLarge { limit: 1_000 }), "{error:?}");
}

#[test]
fn a_cleared_environment_has_only_the_variables_it_was_given() {
    let args = [OsString::from("-c"), OsString::from("/usr/bin/env | /usr/bin/sort")];
    let env = [("GREETING".to_owned(), "hello".to_owned())];
    let program = Program { environment: Environment::Cleared, env: &env, ..shell(&args) };
    let (printed, _) = output(&program, LIMITS, &Stop::default()).unwrap();
    let printed = String::from_utf8(printed).unwrap();
    // A shell sets some of its own.
    let names: Vec<&str> =
        printed.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(names.contains(&"GREETING"), "{names:?}");
    assert!(names.iter().all(|name| ["GREETING", "PWD", "OLDPWD", "SHLVL", "_"].contains(name)), "{names:?}");
}
