use super::*;
use crate::ProjectRule;
use crate::apply_target::ApplyTarget;

fn files(entries: &[(&str, &str)]) -> Files {
    entries.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

const MANIFEST_TEXT: &str = r#"
name = "notes"
description = "Notes"
[params.topic]
type = "string"
required = true
[phases]
planning = {template = "plan.md", parser = "plain"}
generating = {template = "write.md", parser = "file-markers"}
reviewing = {template = "review.md", parser = "review-meta"}
revising = {template = "write.md", parser = "file-markers"}
"#;

fn good() -> Files {
    files(&[
        ("profile.toml", MANIFEST_TEXT),
        ("plan.md", "Plan {{ TOPIC }}"),
        ("write.md", "Write {{ TOPIC }}"),
        ("review.md", "Review {{ TOPIC }}"),
    ])
}

fn error(files: Files) -> String {
    let error = Profile::load(files).unwrap_err();
    format!("{error}\nhint: {}", error.hint())
}

#[test]
fn a_profile_is_checked_again_only_when_it_changed() {
    let known = Profile::load(good()).unwrap().hash().to_string();
    let again = Profile::load_again(good(), &known).unwrap();
    assert_eq!((again.name(), again.hash().to_string()), ("notes", known.clone()));
    let mut broken = good();
    broken.insert("plan.md".to_owned(), b"Plan {{ NOBODY }}".to_vec());
    let message = Profile::load_again(broken.clone(), &known).unwrap_err().to_string();
    assert_eq!(message, Profile::load(broken).unwrap_err().to_string());
}

#[test]
fn a_profile_without_standards_and_commands_is_a_profile() {
    let profile = Profile::load(good()).unwrap();
    assert_eq!((profile.name(), profile.version()), ("notes", None));
    assert_eq!(profile.standards(&Map::new(), &ProjectStandards::default()).unwrap(), None);
    assert_eq!(profile.manifest.apply, ApplyTarget::Flat { root: String::new() });
    assert_eq!(profile.template(Phase::Planning), ("plan.md", "Plan {{ TOPIC }}"));
}

#[test]
fn invalid_profiles_are_reported() {
    insta::assert_snapshot!(error(Files::new()), @"
    profile has 1 problem
      profile.toml: there is no `profile.toml`
    hint: `aiwf profile new NAME` creates a profile to start from
    ");
    insta::assert_snapshot!(error(BTreeMap::from([("profile.toml".to_owned(), vec![0xff])])), @"
    profile has 1 problem
      profile.toml: not UTF-8 text
    hint: save the file as UTF-8
    ");
    insta::assert_snapshot!(error(files(&[("profile.toml", "")])), @"
    profile has 3 problems
      profile.toml:1: the manifest has no `name`
      profile.toml:1: the manifest has no `description`
      profile.toml:1: the manifest has no `phases`
    hint: start with the first: add `name`
    ");
}

#[test]
fn templates_must_exist_and_compile_with_variables_that_exist() {
    let mut broken = good();
    broken.insert("plan.md".to_owned(), b"Plan {{ TOPIK }}\n\n{{ SESSION_ID }}".to_vec());
    broken.insert("write.md".to_owned(), b"{% if %}".to_vec());
    broken.remove("review.md");
    insta::assert_snapshot!(error(broken), @"
    profile `notes` has 4 problems
      plan.md:1: variable `TOPIK` does not exist
      plan.md:3: variable `SESSION_ID` does not exist
      profile.toml:10: template `review.md` of phase reviewing does not exist
      write.md:1: not a template: unexpected end of block
    hint: start with the first: did you mean `TOPIC`? defined here: `FENCE`, `TOPIC`
    ");
    let mut odd = good();
    odd.insert("plan.md".to_owned(), b" \n".to_vec());
    odd.insert("review.md".to_owned(), vec![b'a', 0xff]);
    insta::assert_snapshot!(error(odd), @"
    profile `notes` has 2 problems
      plan.md:1: the template is empty
      review.md: not UTF-8 text
    hint: start with the first: write the instructions of the phase
    ");
}

#[test]
fn sizes_and_paths_are_bounded() {
    let mut large = good();
    large.insert("big.bin".to_owned(), vec![0; MAX_FILE_BYTES + 1]);
    large.insert("../x".to_owned(), Vec::new());
    insta::assert_snapshot!(error(large), @"
    profile has 2 problems
      big.bin: the file has 1048577 bytes, more than 1048576
      profile.toml: path `../x` leaves its directory
    hint: start with the first: shorten the files, or remove those that the profile does not need
    ");
    let many: Files = (0..=MAX_FILES).map(|idx| (format!("f{idx}"), Vec::new())).collect();
    insta::assert_snapshot!(error(many), @"
    profile has 1 problem
      profile.toml: the profile has 501 files, more than 500
    hint: remove the files that the profile does not need
    ");
}

#[test]
fn the_hash_covers_paths_and_contents() {
    let hash = |files: Files| Profile::load(files).unwrap().hash();
    let base = hash(good());
    assert_eq!(base, hash(good()));
    let mut changed = good();
    changed.insert("plan.md".to_owned(), b"Plan {{ TOPIC }}!".to_vec());
    let mut added = good();
    added.insert("README.md".to_owned(), Vec::new());
    let mut renamed = good();
    renamed.insert("readme.md".to_owned(), Vec::new());
    let all = [base, hash(changed), hash(added), hash(renamed)];
    let distinct: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}

#[test]
fn a_project_adds_replaces_and_excludes_standards() {
    let mut with_standards = good();
    let manifest = format!(
        "{MANIFEST_TEXT}[standards]\nprovider = \"scoped-layer-fs\"\n[standards.layers]\n_universal = [\"a.md\"]\n"
    );
    with_standards.insert("profile.toml".to_owned(), manifest.into_bytes());
    with_standards.insert("standards/a.md".to_owned(), b"of the profile".to_vec());
    let profile = Profile::load(with_standards).unwrap();
    assert_eq!(
        profile.standards(&Map::new(), &ProjectStandards::default()).unwrap().unwrap(),
        "--- a.md ---\nof the profile\n"
    );
    let rule = |name: &str, text: &str| ProjectRule {
        name: name.to_owned(),
        source: format!(".aiwf/standards/{name}"),
        text: text.to_owned(),
    };
    let mut project = ProjectStandards {
        files: vec![rule("a.md", "of the project\n"), rule("team.md", "of the team")],
        ..ProjectStandards::default()
    };
    let bundle = |project: &ProjectStandards| profile.standards(&Map::new(), project);
    // Without `replace`, the project's file is added to the profile's.
    insta::assert_snapshot!(bundle(&project).unwrap().unwrap(), @r"
    --- a.md ---
    of the profile
    --- .aiwf/standards/a.md ---
    of the project
    --- .aiwf/standards/team.md ---
    of the team
    ");
    project.replace = vec!["a.md".to_owned()];
    insta::assert_snapshot!(bundle(&project).unwrap().unwrap(), @r"
    --- .aiwf/standards/a.md ---
    of the project
    --- .aiwf/standards/team.md ---
    of the team
    ");
    project.exclude = vec!["team.md".to_owned()];
    assert_eq!(bundle(&project).unwrap().unwrap(), "--- .aiwf/standards/a.md ---\nof the project\n");
    project.exclude = vec!["a.md".to_owned()];
    project.replace = Vec::new();
    assert_eq!(bundle(&project).unwrap().unwrap(), "--- .aiwf/standards/team.md ---\nof the team\n");
    project.replace = vec!["a.md".to_owned()];
    insta::assert_snapshot!(bundle(&project).unwrap_err(), @r"
    standards have 1 problem
      [standards] replace: `a.md` is to be replaced, but the project has no such file
    ");
    // A profile without standards gets the project's.
    let plain = Profile::load(good()).unwrap();
    project.replace = Vec::new();
    let bundle = plain.standards(&Map::new(), &project).unwrap().unwrap();
    assert_eq!(bundle, "--- .aiwf/standards/team.md ---\nof the team\n");
}

#[test]
fn a_prompt_with_an_undefined_attribute_is_an_error_with_its_place() {
    let mut odd = good();
    odd.insert("plan.md".to_owned(), b"Plan\n{{ TOPIC.name }}".to_vec());
    let profile = Profile::load(odd).unwrap();
    let context = serde_json::json!({"topic": "x"});
    let error = profile.prompt(Phase::Planning, context.as_object().unwrap(), &BTreeMap::new()).unwrap_err();
    insta::assert_snapshot!(error, @r"
    variable `TOPIC.name` is not defined
     --> notes/plan.md:2:4
      |
    2 | {{ TOPIC.name }}
      |    ^^^^^^^^^^
    ");
}

#[test]
fn hostile_files_are_refused_not_crashed_on() {
    let with_manifest = |text: String| BTreeMap::from([("profile.toml".to_owned(), text.into_bytes())]);
    assert!(Profile::load(with_manifest(format!("name = {}", "[".repeat(200_000)))).is_err());
    assert!(Profile::load(with_manifest(format!("{}x = 1", "a.".repeat(100_000)))).is_err());
    assert!(Profile::load(with_manifest(format!("[{}x]", "a.".repeat(100_000)))).is_err());
    assert!(Profile::load(with_manifest(format!("name = {}", "{a = ".repeat(100_000)))).is_err());
    for template in [
        format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000)),
        "{% if TOPIC %}".repeat(50_000),
        format!("{{{{ {} 1 }}}}", "not ".repeat(100_000)),
        format!("{{{{ {} 1 }}}}", "- ".repeat(100_000)),
        format!("{{{{ 1{} }}}}", " + 1".repeat(100_000)),
        format!("{{{{ TOPIC{} }}}}", ".a".repeat(100_000)),
        format!("{{{{ TOPIC{} }}}}", "|upper".repeat(50_000)),
        format!("{{{{ {}1{} }}}}", "[".repeat(100_000), "]".repeat(100_000)),
    ] {
        let mut files = good();
        files.insert("plan.md".to_owned(), template.into_bytes());
        // Whether it is valid does not matter, as long as there is a result.
        let loaded = Profile::load(files);
        drop(loaded);
    }
}
