use super::*;
use crate::Profile;

#[test]
fn shipped_profiles_have_no_problems_and_no_findings() {
    for (name, _) in built_in_profiles() {
        let profile =
            Profile::load(built_in_profile(name).unwrap()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(profile.name(), *name);
        let findings: Vec<String> = profile.lint().iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "{name}: {findings:#?}");
    }
}
