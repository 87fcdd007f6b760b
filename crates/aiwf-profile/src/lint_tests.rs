use std::sync::atomic::{AtomicUsize, Ordering};

use aiwf_prompt::{
    TemplateHost, TemplateSource, check_template_here, render_template_here, set_template_host,
};

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
fn session_paths_do_not_belong_in_a_template() {
    insta::assert_snapshot!(
        findings("Read @.aiwf/sessions/x/plan.md\nand iteration-1/code/A.java\nand iteration-N\nand standards-bundle.md.\nsession.json too"),
        @r"
        templates/plan.md:1: `@.aiwf/sessions/x/plan.md` does not belong in a template: the engine lays sessions out and puts their files into the prompt (session-path)
        templates/plan.md:2: `iteration-1/code/A.java` does not belong in a template: the engine lays sessions out and puts their files into the prompt (session-path)
        templates/plan.md:3: `iteration-N` does not belong in a template: the engine lays sessions out and puts their files into the prompt (session-path)
        templates/plan.md:4: `standards-bundle.md` does not belong in a template: the engine lays sessions out and puts their files into the prompt (session-path)
        templates/plan.md:5: `session.json` does not belong in a template: the engine lays sessions out and puts their files into the prompt (session-path)
        "
    );
}

#[test]
fn response_files_and_save_instructions_do_not_belong_in_a_template() {
    insta::assert_snapshot!(
        findings(
            "Save your complete response to the disk.\nSave as `planning-response.md`.\nWrite your reply to a file.\n\
             Create a downloadable file.\nName your output file x.md"
        ),
        @r"
        templates/plan.md:1: `Save your complete response to` does not belong in a template: the engine says how to deliver a reply (save-instruction)
        templates/plan.md:2: `planning-response.md` does not belong in a template: the engine names the file of a reply (response-file)
        templates/plan.md:3: `Write your reply to` does not belong in a template: the engine says how to deliver a reply (save-instruction)
        templates/plan.md:4: `downloadable file` does not belong in a template: the engine says how to deliver a reply (save-instruction)
        templates/plan.md:5: `Name your output file` does not belong in a template: the engine says how to deliver a reply (save-instruction)
        "
    );
}

#[test]
fn references_to_files_belong_to_the_engine() {
    insta::assert_snapshot!(findings("See @docs/plan.md and mail me@example.com, @Entity and @jakarta.persistence.Id"), @"templates/plan.md:1: `@docs/plan.md` does not belong in a template: the engine decides whether files are referenced or inlined (attachment-reference)");
}

#[test]
fn ordinary_words_are_not_findings() {
    assert_eq!(
        findings(
            "Save the planet. Each iteration counts; save money. The response has a plan. Write the reply in English."
        ),
        ""
    );
}

#[test]
fn errors_in_a_branch_are_found_by_rendering_it() {
    insta::assert_snapshot!(findings("{% if STYLE == 'thorough' %}{{ REQUEST.missing }}{% endif %}x"), @"templates/plan.md:1: variable `REQUEST.missing` does not exist (template)");
}

#[test]
fn unused_parts_are_found() {
    let mut files: Files =
        crate::scaffold("notes").into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    files.insert("templates/old.md".to_owned(), b"old".to_vec());
    files.insert("templates/plan.md".to_owned(), b"Plan {{ REQUEST }}".to_vec());
    let findings = Profile::load(files).unwrap().lint();
    insta::assert_snapshot!(findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), @r"
    profile.toml:19: nothing uses parameter `style` (unused-parameter)
    templates/old.md: no phase uses this template (unused-template)
    ");
}

/// A profile with that many parameters, and the number of findings that are not unused switches.
fn with_switches(n_params: usize) -> (Files, usize) {
    let mut files: Files =
        crate::scaffold("notes").into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    let manifest = files.get_mut("profile.toml").unwrap();
    let n_there = String::from_utf8_lossy(manifest).matches("[params.").count();
    for n in n_there..n_params {
        manifest.extend(format!("[params.p{n}]\nhelp = \"h\"\ntype = \"boolean\"\n").into_bytes());
    }
    (files, n_there)
}

/// Counts the calls it receives.
#[derive(Debug)]
struct CountingHost {
    n_checks: AtomicUsize,
    n_renders: AtomicUsize,
}

impl TemplateHost for CountingHost {
    fn render(
        &self,
        template: &TemplateSource,
        variables: &BTreeMap<String, Value>,
    ) -> Result<String, TemplateError> {
        self.n_renders.fetch_add(1, Ordering::Relaxed);
        render_template_here(template, variables)
    }

    fn check(&self, template: &TemplateSource, defined: &[&str]) -> Result<(), Vec<TemplateError>> {
        self.n_checks.fetch_add(1, Ordering::Relaxed);
        check_template_here(template, defined)
    }
}

#[test]
fn the_work_is_not_quadratic_in_the_parameters() {
    static HOST: CountingHost =
        CountingHost { n_checks: AtomicUsize::new(0), n_renders: AtomicUsize::new(0) };
    set_template_host(&HOST);
    let (mut files, n_there) = with_switches(1_000);
    let plan = files.get_mut("templates/plan.md").unwrap();
    plan.extend_from_slice(b"{% if P500 %}{{ P501 }}{% endif %}\n");
    let profile = Profile::load(files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(profile.params().len(), 1_000);
    let findings = profile.lint();
    let unused = findings.iter().filter(|finding| finding.check == Check::UnusedParameter).count();
    assert_eq!(unused, 1_000 - n_there - 2, "{}", findings[0]);
    assert!(findings.iter().all(|finding| !finding.message.ends_with("`p500`")));
    assert!(findings.iter().all(|finding| finding.line > 0));
    // Loading checks once, linting checks once more, and each of the four phases has a bounded number of trials; other
    // tests of this process may add some.
    let (n_checks, n_renders) =
        (HOST.n_checks.load(Ordering::Relaxed), HOST.n_renders.load(Ordering::Relaxed));
    assert!(n_checks < 100, "{n_checks}");
    assert!(n_renders <= Phase::ALL.len() * (MAX_TRIALS + 1), "{n_renders}");
}

#[test]
fn too_many_values_are_tried_together_and_all_are_covered() {
    let (files, _) = with_switches(150);
    let profile = Profile::load(files).unwrap_or_else(|error| panic!("{error}"));
    let contexts = sample_contexts(&profile);
    assert!(contexts.len() <= MAX_TRIALS + 1, "{}", contexts.len());
    for param in profile.params() {
        for value in sample_values(param) {
            let is_tried = contexts.iter().any(|context| context.get(&param.key()) == Some(&value));
            assert!(is_tried, "{} = {value}", param.name);
        }
    }
}
