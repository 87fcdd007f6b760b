use aiwf_store::sha256_hex;

use super::super::{CheckConsent, CheckOrigin};
use super::*;

fn check(run: CheckCommand) -> Check {
    Check {
        name: "tests".to_owned(),
        run,
        after: None,
        timeout: Duration::from_mins(10),
        max_output: 100_000,
        network: None,
        env: Vec::new(),
        origin: CheckOrigin::Typed,
        consent: CheckConsent::NotNeeded,
        shown: String::new(),
        sha256: String::new(),
    }
}

fn shell(line: &str) -> Check {
    check(CheckCommand::Shell(line.to_owned()))
}

/// A directory to run checks in, and one for what they print.
struct World {
    directory: tempfile::TempDir,
    ledger: LedgerDir,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["work", "session"] {
            aiwf_store::create_dir(&directory.path().join(name)).unwrap();
        }
        let ledger = LedgerDir::at(&directory.path().join("session")).unwrap();
        Self { directory, ledger }
    }

    fn run_until(&self, check: &Check, stop: &Stop) -> (CheckResult, String) {
        let result =
            run_check(check, &self.directory.path().join("work"), &self.ledger, "checks/1.txt", stop);
        let printed = self.ledger.read("checks/1.txt").unwrap().unwrap();
        self.ledger.remove("checks/1.txt").unwrap();
        let result = result.unwrap();
        assert_eq!(result.output.sha256, sha256_hex(&printed));
        assert_eq!(result.output.n_bytes, printed.len() as u64);
        (result, String::from_utf8(printed).unwrap())
    }

    fn run(&self, check: &Check) -> (CheckResult, String) {
        self.run_until(check, &Stop::default())
    }
}

/// Whether a process is there and no zombie that nobody reaps.
fn is_running(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// What was killed needs a moment to be gone; a test that waits in vain is killed as a hang.
fn await_end(id: &str) {
    while is_running(id) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn both_streams_go_to_the_file_in_the_order_of_their_writes() {
    let world = World::new();
    let (result, printed) = world.run(&shell("echo one; echo two >&2; echo three; exit 3"));
    assert_eq!(printed, "one\ntwo\nthree\n");
    assert_eq!((result.passed, result.exit_code, &result.ended), (false, Some(3), &CheckEnd::Exited));
    assert_eq!(result.outcome(), "failed with exit code 3");
    let (result, _) = world.run(&shell("true"));
    assert!(result.passed);
}

#[test]
fn it_runs_where_the_phase_wrote_and_no_shell_reads_a_list() {
    let world = World::new();
    let words = ["printf", "%s|", "$HOME", "a b", "*"].map(str::to_owned).to_vec();
    assert_eq!(world.run(&check(CheckCommand::Argv(words))).1, "$HOME|a b|*|");
    let (_, printed) = world.run(&shell("pwd"));
    let expected = world.directory.path().join("work").canonicalize().unwrap();
    assert_eq!(Path::new(printed.trim()).canonicalize().unwrap(), expected);
}

#[test]
fn a_check_gets_only_basic_and_named_variables() {
    let world = World::new();
    let names = |check: &Check| -> Vec<String> {
        let (_, printed) = world.run(check);
        printed.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect()
    };
    let given = names(&shell("env"));
    let usual = ["PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR", "CARGO_HOME", "RUSTUP_HOME"];
    let of_shell = ["PWD", "SHLVL", "OLDPWD", "_"];
    let is_usual = |name: &str| usual.contains(&name) || of_shell.contains(&name) || name.starts_with("LC_");
    assert!(given.iter().all(|name| is_usual(name)), "{given:?}");
    assert!(given.iter().any(|name| name == "PATH"));
    // Cargo sets it for tests.
    assert!(!given.iter().any(|name| name == "CARGO_MANIFEST_DIR"));
    let passing = Check { env: vec!["CARGO_MANIFEST_DIR".to_owned()], ..shell("env") };
    assert!(names(&passing).iter().any(|name| name == "CARGO_MANIFEST_DIR"));
}

#[test]
fn one_that_hangs_is_ended_with_everything_it_started() {
    let world = World::new();
    // The shell waits for both, so the time is up whenever it is up.
    let hanging = Check { timeout: Duration::from_millis(300), ..shell("sleep 6000 & echo $!; sleep 6000") };
    let (result, printed) = world.run(&hanging);
    assert_eq!((result.passed, result.exit_code, &result.ended), (false, None, &CheckEnd::TimedOut));
    // It may have had no time to say so.
    if !printed.is_empty() {
        await_end(&printed);
    }
}

#[test]
fn one_that_floods_is_ended_and_keeps_what_it_may_print() {
    let world = World::new();
    let (result, printed) = world.run(&Check { max_output: 1_001, ..shell("yes") });
    assert_eq!((result.passed, &result.ended, printed.len()), (false, &CheckEnd::TooMuchOutput, 1_001));
    assert_eq!(result.outcome(), "was stopped after 1001 bytes: it printed too much");
    // Exactly as much as allowed is no flood.
    let (result, _) = world.run(&Check { max_output: 4, ..shell("printf 1234") });
    assert!(result.passed);
}

#[test]
fn leftover_processes_are_killed() {
    let world = World::new();
    let (result, printed) = world.run(&shell("sleep 6000 & echo $!"));
    assert!(result.passed);
    await_end(&printed);
    let (result, printed) =
        world.run(&shell("for i in 1 2 3 4 5 6 7 8; do (sleep 6000 >/dev/null 2>&1) & echo $!; done"));
    assert!(result.passed);
    assert_eq!(printed.lines().count(), 8, "{printed}");
    printed.lines().for_each(await_end);
}

#[test]
fn a_stop_ends_it() {
    let world = World::new();
    let stop = Stop::default();
    stop.raise();
    let (result, _) = world.run_until(&shell("sleep 6000"), &stop);
    assert_eq!((result.passed, &result.ended), (false, &CheckEnd::Stopped));
}

#[test]
fn a_signal_is_no_exit_code() {
    let (result, _) = World::new().run(&shell("kill -9 $$"));
    assert_eq!((result.passed, result.exit_code, result.signal), (false, None, Some(9)));
    assert_eq!(result.outcome(), "was killed by signal 9");
}

#[test]
fn a_program_that_is_not_there_is_a_result() {
    let world = World::new();
    let (result, printed) = world.run(&check(CheckCommand::Argv(vec!["no-such-program".to_owned()])));
    assert_eq!(result.ended, CheckEnd::NotStarted("no such file or directory".to_owned()));
    assert_eq!((result.passed, printed.as_str()), (false, ""));
    let nowhere =
        run_check(&shell("true"), Path::new("/no/such/place"), &world.ledger, "1.txt", &Stop::default());
    assert!(matches!(nowhere.unwrap().ended, CheckEnd::NotStarted(_)));
}

#[test]
fn without_consent_nothing_starts() {
    let world = World::new();
    let (result, _) = world.run(&Check { consent: CheckConsent::Missing, ..shell("touch started") });
    assert_eq!(result.outcome(), "could not start: you have not agreed to its command");
    assert!(!world.directory.path().join("work/started").exists());
}

#[test]
fn a_file_that_is_there_is_not_written_over() {
    let world = World::new();
    let run =
        || run_check(&shell("echo x"), world.directory.path(), &world.ledger, "1.txt", &Stop::default());
    assert!(run().unwrap().passed);
    assert!(run().is_err());
}

#[test]
fn a_check_can_be_cut_off_from_the_network_or_a_note_says_that_it_is_not() {
    let world = World::new();
    let line = "sed 1,2d /proc/net/dev | cut -d: -f1 | tr -d ' \\n'; echo; grep -c 127.0.0.1 /proc/net/fib_trie; id -u";
    let (result, printed) = world.run(&Check { network: Some(CheckNetwork::Loopback), ..shell(line) });
    if network::loopback_only().is_ok() {
        let lines: Vec<&str> = printed.lines().collect();
        assert!(result.passed && result.notes.is_empty(), "{printed}");
        assert_eq!(lines[0], "lo", "{printed}");
        assert_ne!(lines[1], "0", "the interface is up");
        assert_eq!(lines[2], rustix::process::getuid().as_raw().to_string());
    } else {
        assert!(result.notes[0].starts_with("not isolated from the network: "), "{:?}", result.notes);
    }
}

#[test]
fn a_result_is_read_back_as_it_was_written() {
    let world = World::new();
    let (mut result, _) = world.run(&shell("echo x; exit 1"));
    result.millis = 12;
    insta::assert_snapshot!(serde_json::to_string(&result).unwrap(), @r#"{"name":"tests","run":"echo x; exit 1","passed":false,"ended":"exited","exit_code":1,"millis":12,"output":{"path":"checks/1.txt","sha256":"73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac","n_bytes":2}}"#);
    let not_started = CheckResult { ended: CheckEnd::NotStarted("no".to_owned()), ..result.clone() };
    for result in [result, not_started] {
        let text = serde_json::to_string(&result).unwrap();
        assert_eq!(serde_json::from_str::<CheckResult>(&text).unwrap(), result);
    }
}
