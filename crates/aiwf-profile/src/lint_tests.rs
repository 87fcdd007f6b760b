use super::*;
use crate::profile::Files;

/// The findings of a profile whose planning template is `plan`, one per line.
fn findings(plan: &str) -> String {
    let mut files: Files =
        crate::scaffold("notes").into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    files.insert(
        "templates/plan.md".to_owned(),
        format!("{plan}\n{{{{ NOTES_TEXT }}}}{{{{ STYLE }}}}").into_bytes(),
    );
    let profile = Profile::load(files).unwrap_or_else(|error| panic!("{error}"));
    profile.lint().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_expressions_compile() {
    for (check, expression, _) in ENGINE_CONCERNS {
        assert!(Regex::new(expression).is_ok(), "{check:?}");
    }
}

#[test]
fn session_paths_do_not_belong_into_a_template() {
    insta::assert_snapshot!(
        findings("Read @.aiwf/sessions/x/plan.md\nand iteration-1/code/A.java\nand iteration-N\nand standards-bundle.md.\nsession.json too"),
        @r"
        templates/plan.md:1: `@.aiwf/sessions/x/plan.md` is not a template's business: the engine lays sessions out and puts their files into the prompt (session-path)
        templates/plan.md:2: `iteration-1/code/A.java` is not a template's business: the engine lays sessions out and puts their files into the prompt (session-path)
        templates/plan.md:3: `iteration-N` is not a template's business: the engine lays sessions out and puts their files into the prompt (session-path)
        templates/plan.md:4: `standards-bundle.md` is not a template's business: the engine lays sessions out and puts their files into the prompt (session-path)
        templates/plan.md:5: `session.json` is not a template's business: the engine lays sessions out and puts their files into the prompt (session-path)
        "
    );
}

#[test]
fn response_files_and_save_instructions_do_not_belong_into_a_template() {
    insta::assert_snapshot!(
        findings(
            "Save your complete response to the disk.\nSave as `planning-response.md`.\nWrite your reply to a file.\n\
             Create a downloadable file.\nName your output file x.md"
        ),
        @r"
        templates/plan.md:1: `Save your complete response to` is not a template's business: the engine says how a reply is handed over (save-instruction)
        templates/plan.md:2: `planning-response.md` is not a template's business: the engine names the file of a reply (response-file)
        templates/plan.md:3: `Write your reply to` is not a template's business: the engine says how a reply is handed over (save-instruction)
        templates/plan.md:4: `downloadable file` is not a template's business: the engine says how a reply is handed over (save-instruction)
        templates/plan.md:5: `Name your output file` is not a template's business: the engine says how a reply is handed over (save-instruction)
        "
    );
}

#[test]
fn references_to_files_are_the_engines() {
    insta::assert_snapshot!(findings("See @docs/plan.md and mail me@example.com, @Entity and @jakarta.persistence.Id"), @"templates/plan.md:1: `@docs/plan.md` is not a template's business: the engine decides whether files are referenced or inlined (attachment-reference)");
}

#[test]
fn ordinary_words_are_no_findings() {
    assert_eq!(
        findings(
            "Save the planet. Each iteration counts; save money. The response has a plan. Write the reply in English."
        ),
        ""
    );
}

#[test]
fn faults_in_a_branch_are_found_by_trying_it() {
    insta::assert_snapshot!(findings("{% if STYLE == 'thorough' %}{{ TOPIC.missing }}{% endif %}x"), @"templates/plan.md:1: variable `TOPIC.missing` does not exist (template)");
}

#[test]
fn parts_that_nothing_uses_are_found() {
    let mut files: Files =
        crate::scaffold("notes").into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    files.insert("templates/old.md".to_owned(), b"old".to_vec());
    files.insert("templates/plan.md".to_owned(), b"Plan {{ TOPIC }}".to_vec());
    let findings = Profile::load(files).unwrap().lint();
    insta::assert_snapshot!(findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), @r"
    profile.toml:13: nothing uses parameter `style` (unused-parameter)
    templates/old.md: no phase uses this template (unused-template)
    ");
}
