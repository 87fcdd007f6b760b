//! Every error a user can meet, in one place to be read, and what must hold for all of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use aiwf_engine::Engine;
use aiwf_engine::config::{Environment, Settings, setting_docs};
use aiwf_engine::package::FindingCode;
use aiwf_engine::profile::{Check, ProfileProblemKind};

use super::{Failure, samples};
use crate::commands::completions;

/// Errors that are no type of their own to a user, and where their words go.
const INNER: [(&str, &str); 13] = [
    ("ApplyProblem", "a line of `SessionError::NoPlace`"),
    ("CallError", "the result of a call, for a model; both of its variants are listed"),
    ("ConditionError", "a finding of `aiwf package check`"),
    ("ConfinedError", "words of a `ToolError`"),
    ("EditError", "words of a `Rejected`"),
    ("EventFault", "the problem of a line of a `JournalError`"),
    ("MenuFault", "a finding of `aiwf package check`"),
    ("PageTaken", "its variants are listed with `PageError`"),
    ("ParamProblem", "a line of `SessionError::Params`"),
    ("PlanProblem", "a line of whatever cannot be written"),
    ("ToolError", "the result of a call, for a model"),
    ("TurnsTooLarge", "the fault `CONTEXT_STILL_TOO_LARGE` of a run"),
    ("Unsent", "words of a `ToolsError`"),
];

/// As `output::note_failure` prints it, without colours.
fn shown(failure: &Failure) -> String {
    let mut text = format!("error: {}\n", failure.message);
    if let Some(place) = failure.place() {
        let _ = writeln!(text, "  {place}");
    }
    for cause in &failure.causes {
        let _ = writeln!(text, "  caused by: {cause}");
    }
    if let Some(hint) = &failure.hint() {
        let _ = writeln!(text, "\nhint: {hint}");
    }
    text
}

#[test]
fn every_error_can_be_read_in_one_place() {
    for (error, samples) in samples::all() {
        let mut page = String::new();
        for (variant, failure) in samples {
            let _ = writeln!(
                page,
                "── {variant} ({}, {})\n{}",
                failure.exit.code(),
                failure.code,
                shown(&failure)
            );
        }
        insta::with_settings!({ omit_expression => true, description => error }, {
            insta::assert_snapshot!(error, page);
        });
    }
}

#[test]
fn every_error_says_what_is_wrong_and_one_thing_to_do() {
    let mut faults = String::new();
    let mut n_variants = 0;
    for (error, samples) in samples::all() {
        n_variants += samples.len();
        for (variant, failure) in samples {
            for fault in faults_of(&failure) {
                let _ = writeln!(faults, "{error}::{variant} {fault}\n{}", shown(&failure));
            }
        }
    }
    assert!(n_variants > 200, "only {n_variants} samples");
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn what_is_advised_about_packages_and_profiles_can_be_done() {
    let findings = FindingCode::ALL.iter().map(|code| code.advice());
    let problems = ProfileProblemKind::ALL.iter().map(|kind| kind.advice());
    let checks = Check::ALL.into_iter().map(Check::hint);
    for advice in findings.chain(problems).chain(checks) {
        let failure = Failure { advice: Some(Box::new(advice.into())), ..Failure::bug("something is wrong") };
        // A manifest has tables of its own.
        let faults = faults_of(&failure).into_iter().filter(|fault| !fault.starts_with("names a table"));
        assert_eq!(faults.collect::<Vec<_>>(), Vec::<String>::new(), "{advice}");
    }
}

/// What is wrong with the words of a failure.
pub(crate) fn faults_of(failure: &Failure) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |text: &str| faults.push(text.to_owned());
    let message = failure.message.as_str();
    let first_line = message.lines().next().unwrap_or_default();
    if message.chars().next().is_none_or(char::is_uppercase) {
        fault("begins with an upper-case letter");
    }
    if first_line.chars().count() > 200 {
        fault("is longer than a line is read");
    }
    let chain = [std::slice::from_ref(&failure.message), failure.causes.as_slice()].concat().join("\n");
    if chain.matches("failed to").count() > 1 || chain.matches("could not").count() > 1 {
        fault("says more than once that something did not work");
    }
    if failure.causes.iter().any(|cause| message.contains(cause.as_str())) {
        fault("says its cause twice");
    }
    let Some(hint) = &failure.hint() else {
        fault("has no hint");
        return faults;
    };
    let is_list = hint.contains("known: ");
    if hint.contains('\n') || hint.is_empty() || (hint.chars().count() > 200 && !is_list) {
        fault("has a hint that is no single line");
    }
    if hint.chars().next().is_some_and(char::is_uppercase) {
        fault("has a hint that begins with an upper-case letter");
    }
    for text in [message, hint].into_iter().chain(failure.causes.iter().map(String::as_str)) {
        if text.lines().any(|line| line.ends_with('.') && !is_excerpt(line)) {
            fault("ends with a period");
        }
        let (plain, ticked) = split_ticks(text);
        if plain.contains(['{', '}'])
            || ["Some(", "None", "Err(", "Ok("].iter().any(|word| plain.contains(word))
        {
            fault("shows how the program sees it");
        }
        // `next:` is a line of `aiwf status`, as that prints it.
        let mut commands = plain.split("aiwf ").skip(1).filter_map(|rest| rest.split_whitespace().next());
        if !plain.starts_with("next: ") && commands.any(|word| command_line().find_subcommand(word).is_some())
        {
            fault("names a command without backticks");
        }
        for command in ticked.iter().filter(|ticked| **ticked == "aiwf" || ticked.starts_with("aiwf ")) {
            if let Err(why) = check_command(command) {
                fault(&format!("names `{command}`: {why}"));
            }
        }
        for table in ticked.iter().filter(|ticked| is_table(ticked)) {
            if !is_known_table(table) {
                fault(&format!("names a table `{table}` that no configuration has"));
            }
        }
        // What nobody has is what such a message is about.
        let is_about_it = text.starts_with("unknown flag `");
        for flag in ticked.iter().filter(|ticked| is_flag(ticked) && !is_about_it) {
            let name = flag.split([' ', '=']).next().unwrap_or_default();
            if !PROFILE_FLAGS.contains(&name) && !has_flag_anywhere(command_line(), name) {
                fault(&format!("names a flag `{flag}` that no command has"));
            }
        }
    }
    faults
}

/// An engine that knows nothing but what is built in.
pub(crate) fn bare_engine() -> Engine {
    let nowhere = Environment { current_dir: PathBuf::from("/nowhere"), ..Environment::default() };
    Engine::new(Settings::resolve(None, nowhere).unwrap())
}

/// Every command there is, those of the built-in profiles included.
fn command_line() -> &'static clap::Command {
    static COMMAND_LINE: LazyLock<clap::Command> =
        LazyLock::new(|| completions::with_profiles(crate::cli::command(), &bare_engine()));
    &COMMAND_LINE
}

/// Flags that the manifest of a profile in a sample makes.
const PROFILE_FLAGS: [&str; 1] = ["--name"];

/// A line of a template with its number.
fn is_excerpt(line: &str) -> bool {
    line.split_once(" | ").is_some_and(|(number, _)| number.trim().parse::<u32>().is_ok())
}

/// What stands outside of backticks, and each text inside of them; excerpts are left out.
fn split_ticks(text: &str) -> (String, Vec<&str>) {
    let mut plain = String::new();
    let mut ticked = Vec::new();
    for line in text.lines().filter(|line| !is_excerpt(line)) {
        for (index, part) in line.split('`').enumerate() {
            if index % 2 == 0 { plain += part } else { ticked.push(part) }
        }
        plain.push('\n');
    }
    (plain, ticked)
}

fn is_flag(ticked: &str) -> bool {
    ticked.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn has_flag(command: &clap::Command, flag: &str) -> bool {
    let name = flag.trim_start_matches("--");
    name == "help" || command.get_arguments().any(|arg| arg.get_long() == Some(name))
}

fn has_flag_anywhere(command: &clap::Command, flag: &str) -> bool {
    has_flag(command, flag) || command.get_subcommands().any(|below| has_flag_anywhere(below, flag))
}

/// The words of a command line; what stands in quotes is one.
fn words_of(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 0 {
            words.extend(part.split_whitespace().map(str::to_owned));
        } else {
            words.push(part.to_owned());
        }
    }
    words
}

/// Whether a command line could be typed: the command exists, and has these flags and so many arguments.
fn check_command(line: &str) -> Result<(), String> {
    let root = command_line();
    let mut command = root;
    let words = words_of(line);
    let mut words = words.iter().map(String::as_str).skip(1).peekable();
    if words.next_if(|word| ["PROFILE", "react"].contains(word)).is_some() {
        return match words.next() {
            Some("init") => Ok(()),
            word => Err(format!("a profile has no command {word:?}")),
        };
    }
    let mut n_arguments = 0;
    let mut globals: Vec<&clap::Arg> = root.get_arguments().collect();
    while let Some(word) = words.next() {
        if let Some(below) = command.find_subcommand(word) {
            command = below;
            globals.extend(command.get_arguments().filter(|arg| arg.is_global_set()));
            n_arguments = 0;
        } else if word.starts_with('-') && word.len() > 1 && word != "--help" {
            let is_it = |arg: &&clap::Arg| {
                arg.get_long().is_some_and(|long| word == format!("--{long}"))
                    || arg.get_short().is_some_and(|short| word == format!("-{short}"))
            };
            let Some(arg) = command.get_arguments().chain(globals.iter().copied()).find(is_it) else {
                return Err(format!("there is no flag {word:?}"));
            };
            if arg.get_action().takes_values() {
                words.next();
            }
        } else if word != "--help" {
            let is_open = |arg: &clap::Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
            if n_arguments >= command.get_positionals().count() && !command.get_positionals().any(is_open) {
                return Err(format!("it does not take {word:?}"));
            }
            n_arguments += 1;
        }
    }
    Ok(())
}

fn is_table(ticked: &str) -> bool {
    ticked.strip_prefix('[').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Whether a table such as `[providers.NAME]` is one of the configuration.
fn is_known_table(ticked: &str) -> bool {
    let name = ticked.trim_start_matches('[').split([']', '.']).next().unwrap_or_default();
    setting_docs()
        .iter()
        .any(|table| table.table.trim_start_matches('[').split([']', '.']).next() == Some(name))
}

#[test]
fn every_error_has_a_code_that_is_documented() {
    let documented = std::fs::read_to_string(workspace().join("docs/src/scripting.md")).unwrap();
    let mut faults = String::new();
    for (error, samples) in samples::all() {
        for (variant, failure) in samples {
            let code = &failure.code;
            let is_name = !code.is_empty() && code.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            if !is_name || &**code == "UNKNOWN" {
                let _ = writeln!(faults, "{error}::{variant} has the code {code:?}");
            }
            if !documented.contains(&format!("`{code}`")) {
                let _ =
                    writeln!(faults, "docs/src/scripting.md does not list `{code}` of {error}::{variant}");
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// A code that is removed or renamed breaks programs: this list only grows.
#[test]
fn the_codes_of_all_errors() {
    let all = samples::all();
    let codes: BTreeSet<&str> =
        all.iter().flat_map(|(_, samples)| samples).map(|(_, failure)| failure.code.as_ref()).collect();
    insta::assert_snapshot!(codes.into_iter().collect::<Vec<_>>().join("\n"), @"
    ADDRESS_INVALID
    ADDRESS_UNUSABLE
    AGENT_NOT_FOUND
    APPLY_CONFLICT
    APPLY_INTERRUPTED
    APPLY_TARGET_INVALID
    APPROVED_FILE_CHANGED
    ARTIFACT_NOT_FOUND
    BRANCH_UNUSABLE
    BUDGET_EXCEEDED
    CHANGED_SINCE_APPLY
    CHECK_NOT_AGREED
    CLIPBOARD_UNAVAILABLE
    COMMENT_NOT_FOUND
    COMMENT_SETTLED
    COMMIT_REFUSED
    COMPONENT_NOT_FOUND
    CONFIG_INVALID
    CONTEXT_STILL_TOO_LARGE
    DATA_LOAD_FAILED
    EDITOR_FAILED
    ENGINE_ABORTED
    ENGINE_PRECONDITION_FAILED
    E_INTERNAL
    E_INVALID_FRONTMATTER
    E_INVALID_TRANSITION
    E_PRECONDITION_FAILED
    E_RESOURCES
    E_SCHEMA_VALIDATION
    FEEDBACK_MISSING
    FILE_EXISTS
    FILE_UNREADABLE
    FILE_UNWRITABLE
    FLOW_EXISTS
    FLOW_INVALID
    FLOW_NAME_INVALID
    FLOW_NEEDS_PROFILE
    FLOW_UNKNOWN
    GATE_CHANGED
    GATE_UNKNOWN
    GIT_UNAVAILABLE
    HANDSHAKE_FAILED
    INPUT_INVALID
    JOURNAL_CHANGED
    JOURNAL_TOO_NEW
    LIMIT_REACHED
    LIMIT_TOO_LOW
    LINES_INVALID
    LLM_AUTH_FAILED
    LLM_BAD_RESPONSE
    LLM_ERROR
    LLM_HTTP_ERROR
    LLM_RATE_LIMITED
    LLM_TIMEOUT
    MANIFEST_INVALID
    NOTHING_APPROVED
    NOTHING_TO_APPLY
    NOT_ADOPTED
    NOT_A_WORKFLOW
    NOT_POSSIBLE_NOW
    NOT_SUPPORTED_CLASSIC_WORKFLOW
    NO_CACHE_DIRECTORY
    NO_CURRENT_DIR
    NO_HOME
    NO_INPUT
    NO_OPEN_SESSION
    NO_PROMPT
    NO_TERMINAL
    OTHER_PHASE
    PACKAGE_CHANGED
    PACKAGE_NOT_FOUND
    PACKAGE_OUTSIDE
    PACKAGE_REFUSED
    PAGE_SERVED
    PARAMS_INVALID
    PERMISSION_DENIED
    PHASE_UNKNOWN
    PRICE_UNKNOWN
    PROFILE_EXISTS
    PROFILE_INVALID
    PROFILE_MISMATCH
    PROFILE_UNKNOWN
    PROJECT_NOT_FOUND
    PROMPT_APPROVED
    PROMPT_EDITED
    PROMPT_INVALID
    PROMPT_NOT_FOUND
    PROMPT_NOT_REBUILDABLE
    PROMPT_NOT_RECORDED
    PROVIDER_UNKNOWN
    PROVIDER_UNTRUSTED
    REPLY_AWAITED
    REPLY_INVALID
    REPLY_NOT_AWAITED
    REQUEST_EMPTY
    REVISION_NOT_FOUND
    ROUND_NOT_FOUND
    RUN_BUSY
    RUN_CANCELLED
    RUN_COMPLETE
    RUN_ID_INVALID
    SELF_RUNNING_FILES
    SERVER_UNTRUSTED
    SESSION_AMBIGUOUS
    SESSION_APPLIED
    SESSION_CANCELLED
    SESSION_EMPTY
    SESSION_EXISTS
    SESSION_KIND
    SESSION_NAME_INVALID
    SESSION_NOT_FOUND
    SESSION_OPEN
    STANDARDS_INVALID
    STATE_CHANGED
    STATE_FILE_NOT_FOUND
    STATE_INIT_FAILED
    TEMPLATE_INVALID
    TEST_NOT_FOUND
    TOKEN_INVALID
    TOOL_NOT_AVAILABLE
    UNEXPECTED_FILES
    UNKNOWN_PROMPT_ID
    UNKNOWN_WORKFLOW
    USAGE
    VALIDATION_FAILED
    WORKFLOW_REF_MISMATCH
    WORKFLOW_REF_REQUIRED
    WORKFLOW_REF_UNKNOWN
    WORKTREE_FAILED
    ");
}

#[test]
fn every_error_type_of_the_workspace_is_listed() {
    let listed: Vec<&str> = samples::all().into_iter().map(|(error, _)| error).collect();
    let mut found = Vec::new();
    error_types(&workspace().join("crates"), &mut found);
    assert!(found.len() > 35, "{found:?}");
    for error in &found {
        assert!(
            listed.contains(&error.as_str()) || INNER.iter().any(|(inner, _)| inner == error),
            "list the variants of `{error}` in failure_samples.rs, or say in `INNER` where its words go"
        );
    }
    for (inner, _) in INNER {
        assert!(found.iter().any(|error| error == inner), "there is no `{inner}` any more");
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of all types that are errors, by a derive or by hand.
fn error_types(directory: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            error_types(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for after in text.split(concat!("thiserror::", "Error")).skip(1) {
                let words = || after.split_whitespace().zip(after.split_whitespace().skip(1));
                let name = words().find(|(word, _)| ["enum", "struct"].contains(word)).unwrap().1;
                found.push(name.split(['(', ';']).next().unwrap().to_owned());
            }
            for after in text.split(concat!("error::", "Error for ")).skip(1) {
                found.push(after.split([' ', '<']).next().unwrap().to_owned());
            }
        }
    }
}
