//! What each agent is started with, for each permission.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use aiwf_prompt::Role;

use super::invocation::{Call, Invocation, position, prompt_text};
use super::{Dialect, claude_code::ClaudeCode, codex::Codex, gemini_cli::GeminiCli};
use crate::ask::{Permission, Request};
use crate::payload::{Payload, PayloadMessage, Turn};
use crate::provider_setting::{BaseUrl, KeySource, ProviderSetting, Secret};
use aiwf_process::Stop;

fn user(content: &str) -> PayloadMessage {
    PayloadMessage::new(Role::User, content.to_owned())
}

struct Case {
    setting: ProviderSetting,
    payload: Payload,
    permission: Permission,
    response_path: &'static str,
}

impl Case {
    fn new(permission: Permission) -> Self {
        Self {
            setting: ProviderSetting::new("agent", "agent"),
            payload: Payload { messages: vec![user("/compact @x")], ..Payload::default() },
            permission,
            response_path: "/project/.aiwf/sessions/s-1/iteration-1/generation-response.md",
        }
    }

    fn with_everything(permission: Permission) -> Self {
        let mut case = Self::new(permission);
        case.setting.model = Some("model-1".to_owned());
        case.setting.base_url = Some(BaseUrl { url: "http://127.0.0.1:9/v1".to_owned(), is_users: true });
        let value = Some(Secret::new("the-key"));
        case.setting.key = KeySource::Variable { name: "MY_KEY".to_owned(), value };
        case.setting.env.insert("MINE".to_owned(), "yes".to_owned());
        case.payload.system = vec!["system \"text\"\n".to_owned()];
        case
    }

    fn shown(&self, dialect: &dyn Dialect) -> String {
        let request = Request {
            name: "x",
            payload: &self.payload,
            directory: Path::new("/project"),
            response_path: Some(Path::new(self.response_path)),
            permission: self.permission,
            stop: &Stop::default(),
        };
        let key = match &self.setting.key {
            KeySource::Variable { value, .. } => value.as_ref(),
            KeySource::None | KeySource::Command(_) => None,
        };
        let private_dir = Path::new("/private");
        let call = Call { setting: &self.setting, request: &request, key, private_dir };
        let invocation = dialect.invocation(&call).unwrap();
        let mut shown = invocation.program.to_string_lossy().into_owned();
        for arg in &invocation.args {
            let arg = arg.to_string_lossy();
            // A flag begins a line, what belongs to it follows.
            let space = if arg.starts_with('-') { "\n  " } else { " " };
            write!(shown, "{space}{arg}").unwrap();
        }
        for (name, value) in &invocation.env {
            write!(shown, "\nenv {name}={value}").unwrap();
        }
        for name in &invocation.env_removed {
            write!(shown, "\nenv without {name}").unwrap();
        }
        for file in &invocation.files {
            write!(shown, "\nfile {}: {:?}", file.name, file.text).unwrap();
        }
        write!(shown, "\nstdin {}", String::from_utf8_lossy(&invocation.stdin).trim_end()).unwrap();
        shown
    }
}

#[test]
fn claude_code_reads_only() {
    insta::assert_snapshot!(Case::new(Permission::ReadOnly).shown(&ClaudeCode));
}

#[test]
fn claude_code_writes_the_response() {
    insta::assert_snapshot!(Case::with_everything(Permission::WriteResponse).shown(&ClaudeCode));
}

#[test]
fn claude_code_writes_the_directory() {
    insta::assert_snapshot!(Case::with_everything(Permission::WriteDirectory).shown(&ClaudeCode));
}

#[test]
fn claude_code_writes_nothing_where_a_path_is_a_pattern_or_outside() {
    let reads = Case::new(Permission::ReadOnly).shown(&ClaudeCode);
    for response_path in [
        "/elsewhere/response.md",
        "/project",
        "/project/a/../../b.md",
        "/project/a*.md",
        "/project/(a).md",
        "/project/a,Bash",
        "/project/{a,b}.md",
        "/project/!a",
    ] {
        let case = Case { response_path, ..Case::new(Permission::WriteResponse) };
        assert_eq!(case.shown(&ClaudeCode), reads, "{response_path}");
    }
}

#[test]
fn codex_reads_only() {
    insta::assert_snapshot!(Case::new(Permission::ReadOnly).shown(&Codex));
}

#[test]
fn codex_is_not_let_write_one_file() {
    let reads = Case::new(Permission::ReadOnly).shown(&Codex);
    assert_eq!(Case::new(Permission::WriteResponse).shown(&Codex), reads);
}

#[test]
fn codex_writes_the_directory() {
    insta::assert_snapshot!(Case::with_everything(Permission::WriteDirectory).shown(&Codex));
}

#[test]
fn codex_gets_a_key_without_a_server() {
    let mut case = Case::with_everything(Permission::ReadOnly);
    case.setting.base_url = None;
    let shown = case.shown(&Codex);
    assert!(shown.contains("env CODEX_API_KEY=the-key"), "{shown}");
    assert!(!shown.contains("model_provider"), "{shown}");
}

#[test]
fn gemini_cli_reads_only() {
    insta::assert_snapshot!(Case::new(Permission::ReadOnly).shown(&GeminiCli));
}

#[test]
fn gemini_cli_is_not_let_write_one_file() {
    let reads = Case::new(Permission::ReadOnly).shown(&GeminiCli);
    assert_eq!(Case::new(Permission::WriteResponse).shown(&GeminiCli), reads);
}

#[test]
fn gemini_cli_writes_the_directory() {
    insta::assert_snapshot!(Case::with_everything(Permission::WriteDirectory).shown(&GeminiCli));
}

#[test]
fn no_agent_is_told_to_resume_a_session() {
    let dialects: [&dyn Dialect; 3] = [&ClaudeCode, &Codex, &GeminiCli];
    for dialect in dialects {
        for permission in [Permission::ReadOnly, Permission::WriteResponse, Permission::WriteDirectory] {
            let shown = Case::with_everything(permission).shown(dialect);
            for flag in
                ["--resume", "--continue", "--session-id", " resume", "--session-file", "\n  -r", "\n  -c\n"]
            {
                assert!(!shown.contains(flag), "{flag} in {shown}");
            }
        }
    }
}

#[test]
fn several_texts_are_joined_by_a_blank_line() {
    let mut payload = Payload { messages: vec![user("a\n")], ..Payload::default() };
    assert_eq!(prompt_text(&payload), "a\n");
    payload.messages.push(PayloadMessage::new(Role::System, "b".to_owned()));
    payload.turns.push(Turn::User { content: "c".into() });
    assert_eq!(prompt_text(&payload), "a\n\n\nb\n\nc");
    assert_eq!(prompt_text(&Payload::default()), "");
}

#[test]
fn a_place_in_a_text_has_a_line_and_a_column() {
    assert_eq!(position("é\nüx", 0), (1, 1));
    assert_eq!(position("é\nüx", 3), (2, 1));
    assert_eq!(position("é\nüx", 5), (2, 2));
}

#[test]
fn private_files_and_their_directories_are_the_users_alone() {
    let directory = tempfile::tempdir().unwrap();
    let stop = Stop::default();
    let case = Case::with_everything(Permission::ReadOnly);
    let request = Request {
        name: "x",
        payload: &case.payload,
        directory: Path::new("/project"),
        response_path: None,
        permission: case.permission,
        stop: &stop,
    };
    let call = Call { request: &request, setting: &case.setting, key: None, private_dir: directory.path() };
    let mut invocation = Invocation::default();
    invocation.file(&call, "system.md", "secret");
    invocation.file(&call, "home/.agent/settings.json", "secret");
    invocation.write_files(directory.path()).unwrap();
    for (path, expected) in
        [("system.md", 0o600), ("home", 0o700), ("home/.agent", 0o700), ("home/.agent/settings.json", 0o600)]
    {
        let mode = std::fs::metadata(directory.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, expected, "{path}");
    }
}
