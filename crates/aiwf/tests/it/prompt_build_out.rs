//! `--out` of `aiwf prompt build`: all or nothing.

use insta::assert_snapshot;

use crate::{json, project};

const BUILD: &str = "prompt build change --instructions 'Add login'";
const PROMPT: &[u8] = b"<prompt>\n<instructions>Add login</instructions>\n</prompt>";

#[test]
fn the_file_holds_the_bytes_that_would_be_printed() {
    let project = project();
    assert_eq!(project.run(BUILD).success().stdout, PROMPT);
    let outcome = project.run(&format!("{BUILD} --out prompt.xml"));
    assert_snapshot!(outcome, @"--- exit code 0");
    assert_eq!(project.read("prompt.xml"), PROMPT);
    assert_eq!(project.names_in(""), ["prompt.xml"]);
}

#[test]
fn an_existing_file_is_replaced_as_a_whole() {
    let project = project().file("prompt.xml", "x".repeat(10_000));
    let outcome = project.run(&format!("{BUILD} --out prompt.xml")).success();
    assert_eq!(outcome.stdout, b"");
    assert_eq!(project.read("prompt.xml"), PROMPT);
}

#[test]
fn an_existing_file_is_kept_when_the_prompt_cannot_be_built() {
    let project = project().file("prompt.xml", "kept");
    for flags in ["--phase nowhere", "--budget 1", "--file nothing", "--artifact a=nothing"] {
        let outcome = project.run(&format!("{BUILD} --out prompt.xml {flags}"));
        assert_eq!(outcome.exit_code(), 1, "{outcome}");
        assert_eq!(project.read("prompt.xml"), b"kept", "{flags}");
        assert_eq!(project.names_in(""), ["prompt.xml"], "{flags}");
    }
}

#[test]
fn json_and_the_anatomy_are_printed_beside_the_file() {
    let project = project();
    let outcome = project.run(&format!("{BUILD} --out a.xml --json")).success();
    assert_eq!(json(&outcome)["full_prompt"].as_str().unwrap().as_bytes(), PROMPT);
    let outcome = project.run(&format!("{BUILD} --out b.xml --explain")).success();
    assert_eq!(outcome.stdout, b"");
    assert!(outcome.first_error_line().starts_with("change prompt as xml: "), "{outcome}");
    assert_eq!(project.read("a.xml"), PROMPT);
    assert_eq!(project.read("b.xml"), PROMPT);
}

#[test]
fn a_dash_is_the_standard_output() {
    let project = project();
    assert_eq!(project.run(&format!("{BUILD} --out -")).success().stdout, PROMPT);
    assert_eq!(project.names_in(""), [""; 0]);
}

#[test]
fn a_directory_is_no_file() {
    let project = project().dir("prompts");
    assert_snapshot!(project.run(&format!("{BUILD} --out prompts")), @"
    --- stderr
    error: could not write `prompts`
      caused by: is a directory

    hint: name a file: `prompts` is a directory
    --- exit code 1
    ");
    assert_eq!(project.names_in("prompts"), [""; 0]);
}

#[test]
fn a_missing_directory_is_not_made() {
    let project = project();
    assert_snapshot!(project.run(&format!("{BUILD} --out no/such/prompt.xml")), @"
    --- stderr
    error: could not write `no/such/prompt.xml`
      caused by: no such file or directory

    hint: create the directory `no/such` first
    --- exit code 1
    ");
    assert_eq!(project.names_in(""), [""; 0]);
}

#[test]
fn a_file_is_no_directory() {
    let project = project().file("notes.md", "kept");
    assert_snapshot!(project.run(&format!("{BUILD} --out notes.md/prompt.xml")), @"
    --- stderr
    error: could not write `notes.md/prompt.xml`
      caused by: not a directory

    hint: check that `notes.md/prompt.xml` is writable, then try again
    --- exit code 1
    ");
    assert_eq!(project.read("notes.md"), b"kept");
}

#[test]
fn a_full_device_is_an_error() {
    assert_snapshot!(project().run(&format!("{BUILD} --out /dev/full")), @"
    --- stderr
    error: could not write `/dev/full`
      caused by: no space left on device

    hint: free some disk space, then try again
    --- exit code 1
    ");
}

#[test]
fn a_place_that_takes_no_files_is_an_error() {
    // Nobody may write there, whoever runs the tests.
    let outcome = project().run(&format!("{BUILD} --out /sys/aiwf-prompt.xml"));
    assert_eq!(outcome.first_error_line(), "error: could not write `/sys/aiwf-prompt.xml`");
    assert_eq!(outcome.exit_code(), 1);
}

#[test]
fn a_link_stays_a_link() {
    let project = project().file("real.xml", "old").link("link.xml", "real.xml");
    project.run(&format!("{BUILD} --out link.xml")).success().exit_code();
    assert_eq!(project.read("real.xml"), PROMPT);
    assert!(project.path("link.xml").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_failure_to_write_is_one_line_of_json_on_request() {
    let project = project().dir("prompts");
    assert_snapshot!(project.run(&format!("{BUILD} --out prompts --json")), @r#"
    --- stdout
    {"schema_version":1,"command":"prompt build","exit_code":1,"error":{"code":"FILE_UNWRITABLE","message":"could not write `prompts`: is a directory","hint":"name a file: `prompts` is a directory"}}
    --- exit code 1
    "#);
}
