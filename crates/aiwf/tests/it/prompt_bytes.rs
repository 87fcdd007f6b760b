//! `prompt build`, `preview`, `--out` and `--json` print the same bytes; the engine's property test takes any request.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::project;

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

const SESSION: &str =
    r#"{"session_dir": "s", "phase": "reviewing", "iteration": 1, "profile_prompt": "Review <it> & say"}"#;
const CHANGE: &str =
    r#"{"instructions": "a ]]> b", "context": [{"type": "thought", "name": "t", "content": "<>"}]}"#;

#[test]
fn build_preview_out_and_json_are_the_same_bytes() {
    let project = project().file("s/plan.md", "# Plan").file("s/iteration-1/code/a.rs", "fn a() {}");
    for (recipe, input, format) in [("session", SESSION, "text"), ("change", CHANGE, "xml")] {
        let run = |verb: &str, flags: &str| {
            let line = format!("prompt {verb} {recipe} --input - --format {format} {flags}");
            project.run_with_input(&line, input).success()
        };
        let built = run("build", "").stdout;
        assert_eq!(run("preview", "").stdout, built);
        assert_eq!(run("build", "--out prompt.txt").stdout, b"");
        assert_eq!(project.read("prompt.txt"), built);
        let built_json: Value = serde_json::from_slice(&run("build", "--json").stdout).unwrap();
        assert_eq!(built_json["full_prompt"].as_str().unwrap().as_bytes(), built);
        let preview: Value = serde_json::from_slice(&run("preview", "--json").stdout).unwrap();
        assert_eq!(preview["prompt"].as_str().unwrap().as_bytes(), built);
        assert_eq!(built_json["metadata"]["sha256"].as_str().unwrap(), hex(&Sha256::digest(&built)));
        assert_eq!(preview["metadata"], built_json["metadata"]);
    }
}

#[test]
fn no_bytes_on_the_standard_input_make_it_panic() {
    let inputs: [&[u8]; 4] =
        [b"", b"\xff\xfe", b"{\"instructions\": 1}", "\u{feff}<<<FILE: a>>>\n\0".as_bytes()];
    for input in inputs {
        for command in ["prompt build change --input - --json", "reply parse --as file-markers --json"] {
            let outcome = project().run_with_input(command, input);
            assert!(matches!(outcome.code, Some(0..=2)), "aiwf {command}\n{outcome}");
            let json: Value = serde_json::from_slice(&outcome.stdout).unwrap();
            assert_eq!(json["exit_code"].as_i64(), outcome.code.map(i64::from));
        }
    }
}
