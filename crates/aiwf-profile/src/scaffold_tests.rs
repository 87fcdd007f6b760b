use super::*;
use crate::{Phase, Profile};

#[test]
fn a_new_profile_works_and_has_no_findings() {
    let files = scaffold("garden-notes").into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    let profile = Profile::load(files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(profile.name(), "garden-notes");
    assert_eq!(profile.lint(), []);
    let given = serde_json::json!({"request": "winter"});
    let settled = profile.settle(given.as_object().unwrap(), &BTreeMap::new(), &BTreeMap::new()).unwrap();
    for phase in Phase::ALL {
        assert!(profile.prompt(phase, &settled.context, &settled.inputs).unwrap().contains("winter"));
    }
    insta::assert_snapshot!(profile.standards(&settled.context, &crate::ProjectStandards::default()).unwrap().unwrap(), @"
    --- general.md ---
    # General

    - The code reads like the code around it.
    - Every error is handled or passed on with its cause.
    - What is new is tested; no test is weakened.
    ");
    assert!(profile.gives_edits(Phase::Generating) && profile.gives_edits(Phase::Revising));
}

#[test]
fn an_invalid_name_is_refused_when_the_profile_is_loaded() {
    let files = scaffold("list").into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    insta::assert_snapshot!(Profile::load(files).unwrap_err(), @r"
    profile `list` has 1 problem
      profile.toml:3: `list` is a command of aiwf and cannot name a profile
    ");
}
