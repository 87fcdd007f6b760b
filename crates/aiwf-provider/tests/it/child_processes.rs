use std::io;
use std::time::Duration;

use aiwf_provider::{AskError, Sink, Wait};

use crate::fake_agent::{FakeAgent, processes_of, prompt};

// A child that must not be waited for sleeps longer than a test may run: waiting for it is a hang, on any machine.

fn command(script: &str) -> FakeAgent {
    FakeAgent::new("command", script)
}

#[test]
fn a_child_that_never_reads_gets_a_large_prompt_and_answers() {
    let mut agent = command("echo answer");
    agent.payload = prompt(&"x".repeat(2_000_000));
    let (kept, reply) = agent.ask();
    reply.unwrap();
    assert_eq!(kept.text, "answer\n");
}

#[test]
fn a_child_that_writes_before_it_reads_does_not_lock_up() {
    let script = "head -c 1000000 /dev/zero | tr '\\0' a; cat > \"$FAKE_DIR/stdin\"; echo end";
    let mut agent = command(script);
    agent.payload = prompt(&"é".repeat(500_000));
    let (kept, reply) = agent.ask();
    let reply = reply.unwrap();
    assert_eq!(kept.text.len(), 1_000_004);
    assert_eq!(kept.n_bytes, 1_000_004);
    assert_eq!(kept.raw.len(), 1_000_004);
    assert_eq!(agent.file("stdin"), "é".repeat(500_000));
    assert!(reply.timings.first_byte.is_some_and(|first| first <= reply.timings.total));
}

#[test]
fn a_child_that_complains_at_length_is_heard_out() {
    let script = "head -c 500000 /dev/zero | tr '\\0' e >&2; echo 'the last words' >&2; exit 3";
    let error = command(script).error();
    assert!(
        error.starts_with("`command` failed: it ended with exit code 3: …eee") || error.contains("…"),
        "{error}"
    );
    assert!(error.contains("the last words\nhint: run `PROGRAM` yourself"), "{error}");
    assert!(error.len() < 2_500);
}

#[test]
fn a_hang_ends_with_the_total_time_and_keeps_what_came() {
    let mut agent = command("echo some; sleep 6000 & sleep 6000");
    agent.setting.timeouts.total = Duration::from_secs(4);
    let (kept, reply) = agent.ask();
    assert!(matches!(reply, Err(AskError::TimedOut { wait: Wait::Total, .. })), "{reply:?}");
    assert_eq!(kept.text, "some\n");
}

#[test]
fn silence_ends_with_the_time_for_the_first_byte() {
    let mut agent = command("echo only complaints >&2; sleep 6000");
    agent.setting.timeouts.first_byte = Duration::from_millis(300);
    insta::assert_snapshot!(agent.error(), @"
    nothing received from `command` within 300 ms
    hint: Retry asks again; `first_byte_timeout` of the provider sets how long to wait
    ");
}

#[test]
fn a_child_that_does_not_want_to_go_is_made_to() {
    let mut agent = command("trap '' TERM; echo on; while :; do sleep 1; done");
    agent.setting.timeouts.total = Duration::from_millis(300);
    let (_, reply) = agent.ask();
    assert!(matches!(reply, Err(AskError::TimedOut { .. })));
}

#[test]
fn a_flood_ends_at_the_cap() {
    let mut agent = command("yes");
    agent.setting.max_reply_bytes = 100_000;
    insta::assert_snapshot!(agent.error(), @r"
    the reply from `command` is larger than 100000 bytes
    hint: raise `max_reply_bytes` of the provider
    ");
}

#[test]
fn a_grandchild_that_holds_the_pipe_holds_nothing_up() {
    let agent = command("echo answer; sleep 6000 &");
    let (kept, reply) = agent.ask();
    reply.unwrap();
    assert_eq!(kept.text, "answer\n");
}

#[test]
fn a_grandchild_outside_of_the_group_holds_nothing_up_either() {
    let script = r#"setsid sh -c 'echo $$ > "$FAKE_DIR/outside"; exec sleep 6000' &
while [ ! -s "$FAKE_DIR/outside" ]; do :; done; echo answer"#;
    let agent = command(script);
    let (kept, reply) = agent.ask();
    reply.unwrap();
    assert_eq!(kept.text, "answer\n");
    let ended = std::process::Command::new("kill").arg(agent.file("outside").trim()).status().unwrap();
    assert!(ended.success());
}

#[test]
fn what_a_child_leaves_running_is_ended_with_it() {
    let agent = command("sleep 6000 > /dev/null 2>&1 < /dev/null & echo answer");
    let (_, reply) = agent.ask();
    reply.unwrap();
    assert!(processes_of(agent.file("pid").trim()).is_empty());
}

#[test]
fn a_stop_ends_the_call() {
    let agent = command("echo started; sleep 6000 & sleep 6000");
    let stop = agent.stop.clone();
    let pid = agent.dir().join("pid");
    let raiser = std::thread::spawn(move || {
        while !pid.exists() {
            std::thread::yield_now();
        }
        stop.raise();
    });
    insta::assert_snapshot!(agent.error(), @"
    the call to `command` was interrupted
    hint: Retry asks again
    ");
    raiser.join().unwrap();
}

#[test]
fn a_signal_that_ends_the_child_is_named() {
    insta::assert_snapshot!(command("echo half; kill -9 $$").error(), @"
    `command` failed: it was killed by signal 9
    hint: run `PROGRAM` yourself to see what is wrong, then Retry
    ");
}

#[test]
fn a_hundred_megabytes_pass_in_small_pieces() {
    let mut agent = command("head -c 100000000 /dev/zero | tr '\\0' a");
    agent.setting.max_reply_bytes = 200_000_000;
    let mut counted = Counted::default();
    agent.ask_into(&mut counted).unwrap();
    assert_eq!(counted.n_bytes, 100_000_000);
    assert!(counted.largest <= 64 * 1024 + 3);
}

#[derive(Default)]
struct Counted {
    n_bytes: usize,
    largest: usize,
}

impl Sink for Counted {
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.n_bytes += text.len();
        self.largest = self.largest.max(text.len());
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        panic!("there is one text")
    }
}

#[test]
fn a_sink_that_takes_no_more_ends_the_call() {
    struct Full;
    impl Sink for Full {
        fn text(&mut self, _: &str) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn restart(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let agent = command("yes");
    let error = agent.ask_into(&mut Full).unwrap_err();
    assert!(matches!(error, AskError::Sink(error) if error.kind() == io::ErrorKind::StorageFull));
}
