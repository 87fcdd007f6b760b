use aiwf_provider::{AskError, ReplySource, open};

use crate::fake_agent::FakeAgent;

fn command(script: &str, args: &[&str]) -> FakeAgent {
    let mut agent = FakeAgent::new("command", script);
    agent.setting.argv.extend(args.iter().map(|arg| (*arg).to_owned()));
    agent
}

fn not_opened(agent: &FakeAgent) -> String {
    let Err(error) = open(agent.setting.clone()) else { panic!("it was opened") };
    format!("{error}\nhint: {}", error.advice().worded(|action, _| format!("{action:?}")))
}

#[test]
fn placeholders_are_replaced_and_the_files_are_private_and_gone_afterwards() {
    let script = r#"printf '%s\n' "$@" > "$FAKE_DIR/args"; cat "$1" > "$FAKE_DIR/prompt"; cat "${2#--system=}" > "$FAKE_DIR/system"
stat -c %a "$1" "$(dirname "$1")" > "$FAKE_DIR/modes"; cat > "$FAKE_DIR/stdin"; echo reply"#;
    let args = ["{prompt_file}", "--system={system_prompt_file}", "{model}:{model}", "{}", "{response_path}"];
    let mut agent = command(script, &args);
    agent.setting.model = Some("{prompt_file}".to_owned());
    agent.payload.system = vec!["the system text".to_owned()];
    agent.response_path = Some(agent.dir().join("response.md"));
    let (kept, reply) = agent.ask();
    reply.unwrap();
    assert_eq!(kept.text, "reply\n");
    assert_eq!(agent.file("prompt"), "the prompt");
    assert_eq!(agent.file("system"), "the system text");
    assert_eq!(agent.file("stdin"), "");
    assert_eq!(agent.file("modes"), "600\n700\n");
    let file = agent.file("args");
    let args: Vec<&str> = file.lines().collect();
    assert_eq!(args[2..4], ["{prompt_file}:{prompt_file}", "{}"]);
    assert_eq!(args[4], agent.dir().join("response.md").to_str().unwrap());
    assert!(!std::path::Path::new(args[0]).exists());
}

#[test]
fn characters_split_between_chunks_are_whole_in_the_reply() {
    let script = "printf '\\303'; sleep 0.2; printf '\\251\\342\\202'; sleep 0.2; printf '\\254'";
    let (kept, reply) = command(script, &[]).ask();
    reply.unwrap();
    assert_eq!(kept.text, "é€");
}

#[test]
fn a_reply_that_is_no_text_is_refused_at_its_byte() {
    let agent = command("printf 'ab\\303\\251\\377cd'", &[]);
    let (kept, _) = agent.ask();
    assert_eq!(kept.text, "abé");
    insta::assert_snapshot!(agent.error(), @r"
    the reply from `command` cannot be read: it is not UTF-8 at byte 4
    hint: check that `type`, `base_url` and `reply` of the provider fit together
    ");
    let (_, reply) = command("printf 'ab\\303'", &[]).ask();
    assert!(matches!(reply, Err(AskError::Malformed { message, .. }) if message.ends_with("byte 2")));
}

#[test]
fn a_non_zero_exit_has_the_programs_words_and_keeps_what_came() {
    let agent = command("echo half; echo 'no credit' >&2; exit 7", &[]);
    let (kept, _) = agent.ask();
    assert_eq!(kept.text, "half\n");
    insta::assert_snapshot!(agent.error(), @"
    `command` failed: it ended with exit code 7: no credit
    hint: run `PROGRAM` yourself to see what is wrong, then Retry
    ");
}

#[test]
fn an_empty_reply_is_an_error() {
    insta::assert_snapshot!(command("printf ' \\n'", &[]).error(), @"
    `command` sent an empty reply
    hint: Retry asks again
    ");
}

#[test]
fn a_reply_in_json_is_found_by_its_pointer() {
    let script = r#"printf '{"a":[{"b":"the reply"},3]}'"#;
    let mut agent = command(script, &[]);
    agent.setting.reply = ReplySource::Json("/a/0/b".to_owned());
    let (kept, reply) = agent.ask();
    reply.unwrap();
    assert_eq!(kept.text, "the reply");
    agent.setting.reply = ReplySource::Json("/a/1".to_owned());
    insta::assert_snapshot!(agent.error(), @r"
    the reply from `command` cannot be read: there is no text at `/a/1`
    hint: check that `type`, `base_url` and `reply` of the provider fit together
    ");
    agent.setting.reply = ReplySource::Json("/c".to_owned());
    assert!(agent.error().contains("there is nothing at `/c`"));
}

#[test]
fn json_that_breaks_off_is_named_unless_the_exit_says_more() {
    let mut agent = command(r#"printf '{"a":'"#, &[]);
    agent.setting.reply = ReplySource::Json("/a".to_owned());
    insta::assert_snapshot!(agent.error(), @r"
    the reply from `command` cannot be read: it is not JSON: EOF while parsing a value at line 1 column 5
    hint: check that `type`, `base_url` and `reply` of the provider fit together
    ");
    let mut agent = command("echo 'not here' >&2; exit 1", &[]);
    agent.setting.reply = ReplySource::Json("/a".to_owned());
    assert!(agent.error().starts_with("`command` failed: it ended with exit code 1: not here"));
}

#[test]
fn a_reply_in_the_response_file_is_left_to_the_caller() {
    let mut agent = command("echo chatter; echo the reply > \"$1\"", &["{response_path}"]);
    agent.setting.reply = ReplySource::File;
    agent.response_path = Some(agent.dir().join("response.md"));
    let (kept, reply) = agent.ask();
    reply.unwrap();
    assert_eq!(kept.text, "");
    assert_eq!(agent.file("response.md"), "the reply\n");
}

#[test]
fn without_a_response_path_the_reply_file_is_read() {
    let mut agent = command("echo the reply > \"$1\"", &["{response_path}"]);
    agent.setting.reply = ReplySource::File;
    let (kept, reply) = agent.ask();
    reply.unwrap();
    assert_eq!(kept.text, "the reply\n");
}

#[test]
fn a_file_that_was_not_written_is_a_failure() {
    let mut agent = command(":", &["{response_path}"]);
    agent.setting.reply = ReplySource::File;
    insta::assert_snapshot!(agent.error(), @"
    `command` failed: it wrote no reply to the response path
    hint: run `PROGRAM` yourself to see what is wrong, then Retry
    ");
}

#[test]
fn system_text_without_a_place_is_refused() {
    let mut agent = command("echo x", &[]);
    agent.payload.system = vec!["s".to_owned()];
    insta::assert_snapshot!(agent.error(), @r"
    provider `command` cannot be asked: it has no place for the system text
    hint: put `{system_prompt_file}` into `argv`, or set `supports_system_prompt = false`
    ");
}

#[test]
fn a_setting_that_makes_no_sense_is_not_opened() {
    let mut agent = command("", &["--x={promptfile}"]);
    insta::assert_snapshot!(not_opened(&agent), @r"
    provider `command` cannot be asked: `{promptfile}` in `argv` is not a known placeholder
    hint: use `{prompt_file}`, `{system_prompt_file}`, `{response_path}`, `{model}`
    ");
    agent.setting.argv = vec!["x".to_owned(), "{model}".to_owned()];
    insta::assert_snapshot!(not_opened(&agent), @r"
    provider `command` cannot be asked: `model` is not set
    hint: set `model`, which `{model}` in `argv` stands for, in `[providers.command]`
    ");
    agent.setting.argv.clear();
    insta::assert_snapshot!(not_opened(&agent), @r"
    provider `command` cannot be asked: `argv` is not set
    hint: set `argv`, the program and its arguments, in `[providers.command]`
    ");
    agent.setting.argv = vec!["x".to_owned()];
    agent.setting.reply = ReplySource::Json("a/b".to_owned());
    insta::assert_snapshot!(not_opened(&agent), @r"
    provider `command` cannot be asked: `json:a/b` of `reply` is not a JSON pointer
    hint: start it with a slash, as in `json:/result/text`
    ");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut agent = command("", &[]);
    agent.setting.argv = vec!["no-such-program-of-anyone".to_owned()];
    insta::assert_snapshot!(agent.error(), @r"
    `no-such-program-of-anyone` cannot be started: there is no such program
    hint: install it, or change `argv` in `[providers.command]`
    ");
}

#[test]
fn a_program_that_edits_files_is_started_in_its_directory_and_prints_the_reply() {
    let worktree = tempfile::tempdir().unwrap();
    let mut agent = command("cat > prompt.txt; echo edited > a.txt; pwd -P", &[]);
    agent.works_in = Some(worktree.path().to_owned());
    agent.permission = aiwf_provider::Permission::WriteDirectory;
    let (kept, reply) = agent.ask();
    reply.unwrap();
    assert_eq!(kept.text.trim_end(), worktree.path().canonicalize().unwrap().to_str().unwrap());
    let text = |name| std::fs::read_to_string(worktree.path().join(name)).unwrap();
    assert_eq!((text("prompt.txt").as_str(), text("a.txt").as_str()), ("the prompt", "edited\n"));
}

#[test]
fn a_missing_directory_is_distinguished_from_a_missing_program() {
    let mut agent = command("echo reply", &[]);
    agent.works_in = Some(agent.dir().join("gone"));
    let shown = agent.error().replace(agent.dir().to_str().unwrap(), "DIR");
    insta::assert_snapshot!(shown, @r"
    `PROGRAM` cannot be started: its working directory `DIR/gone` does not exist
    hint: restore that directory, then try again
    ");
}
