#![no_main]

use aiwf_package::{Files, Severity, check, scaffold};
use libfuzzer_sys::fuzz_target;

/// The files that are replaced, one at a time.
const TARGETS: [&str; 5] = ["bmad.json", "agents.json", "workflow.graph.json", "workflow.md", "steps/choose.md"];

fuzz_target!(|input: (u8, &str)| {
    let (which, text) = input;
    let mut files: Files = scaffold("fuzz").unwrap();
    let target = TARGETS[usize::from(which) % TARGETS.len()];
    files.insert(target.to_owned(), text.as_bytes().to_vec());
    let checked = check(files);
    let has_error = checked.findings.iter().any(|finding| finding.severity == Severity::Error);
    assert_eq!(checked.package.is_none(), has_error);
});
