//! A project brings its own standards and notes to any profile, shipped ones included.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use aiwf_engine::{EngineError, Finding, SessionError};

use crate::scene::Scene;

fn bundle(scene: &Scene) -> String {
    let id = scene.create().unwrap();
    scene.read(&format!(".aiwf/sessions/{id}/standards-bundle.md"))
}

/// The names of the blocks of a bundle.
fn sources(bundle: &str) -> Vec<&str> {
    bundle.lines().filter_map(|line| line.strip_prefix("--- ")?.strip_suffix(" ---")).collect()
}

fn findings(scene: &Scene) -> Vec<String> {
    let validations = scene.engine.validate_standards();
    let worded = |finding: Finding| {
        let advice = finding.advice.unwrap_or_default();
        format!("{}\n{}", finding.message, advice.worded(|action, _| format!("{action:?}")))
    };
    validations.into_iter().flat_map(|one| one.findings).map(worded).collect()
}

#[test]
fn every_file_of_the_projects_directory_is_in_the_bundle_with_its_source() {
    let scene = Scene::new()
        .file(".aiwf/standards/team.md", "Be kind.\n")
        .file(".aiwf/standards/web/forms.md", "Label every field.")
        .file(".aiwf/standards/.DS_Store", "left by a file manager");
    let bundle = bundle(&scene);
    assert!(bundle.ends_with(
        "--- .aiwf/standards/team.md ---\nBe kind.\n--- .aiwf/standards/web/forms.md ---\nLabel every field.\n"
    ));
    assert_eq!(sources(&bundle)[..2], ["component.md", "accessibility.md"]);
    assert!(scene.prompt().contains("Label every field."));
    assert_eq!(findings(&scene), Vec::<String>::new());
}

#[test]
fn the_configuration_adds_directories_replaces_and_excludes() {
    let config = "[standards]\ndirs = [\"docs/rules\"]\nreplace = [\"styling.md\"]\nexclude = [\"accessibility.md\"]\n";
    let scene = Scene::new()
        .file(".aiwf/config.toml", config)
        .file("docs/rules/styling.md", "Our own styling.\n")
        .file("docs/rules/more.md", "More.\n");
    let bundle = bundle(&scene);
    let expected = ["component.md", "docs/rules/styling.md", "typescript.md", "docs/rules/more.md"];
    assert_eq!(sources(&bundle), expected);
    assert_eq!(findings(&scene), Vec::<String>::new());
}

#[test]
fn directories_of_the_users_own_file_are_relative_to_the_home() {
    let scene = Scene::new();
    let home = scene.home();
    scene.write(&home.join(".aiwf/config.toml").to_string_lossy(), "[standards]\ndirs = [\"rules\"]\n");
    scene.write(&home.join("rules/mine.md").to_string_lossy(), "Mine.\n");
    assert!(bundle(&scene).ends_with("--- rules/mine.md ---\nMine.\n"));
}

#[test]
fn what_is_wrong_is_refused_at_the_start_and_reported_by_validate() {
    let scene = Scene::new()
        .file(".aiwf/config.toml", "[standards]\nreplace = [\"stylimg.md\"]\nexclude = [\"gone.md\"]\n")
        .file(".aiwf/standards/component.md", "Clashes.\n");
    let found = findings(&scene).join("\n");
    for wanted in [
        "no file of a profile's standards is named `stylimg.md`",
        "did you mean `styling.md`?",
        "no file of the standards is named `gone.md`",
        "profile `react-component` has a file `component.md` too",
    ] {
        assert!(found.contains(wanted), "{wanted}\n{found}");
    }
    scene.write(".aiwf/config.toml", "[standards]\nreplace = [\"styling.md\"]\n");
    let error = scene.create().unwrap_err();
    assert!(matches!(error, SessionError::Standards(_)), "{error}");
    scene.write(".aiwf/config.toml", "[standards]\ndirs = [\"nowhere\"]\n");
    let error = scene.create().unwrap_err();
    assert!(matches!(error, SessionError::Engine(EngineError::NoDirectory { .. })), "{error}");
    assert!(findings(&scene)[0].contains("`nowhere`"), "{:?}", findings(&scene));
}

#[cfg(unix)]
#[test]
fn a_checkout_cannot_reach_out_of_itself() {
    let scene = Scene::new();
    let secret = scene.home().join("secret.md");
    scene.write(&secret.to_string_lossy(), "secret");
    let leaves = |scene: &Scene| {
        let error = scene.create().unwrap_err();
        assert!(matches!(error, SessionError::Engine(EngineError::LeavesDirectory { .. })), "{error}");
    };
    for dir in ["../home", &scene.home().to_string_lossy()] {
        scene.write(".aiwf/config.toml", format!("[standards]\ndirs = [{dir:?}]\n"));
        leaves(&scene);
    }
    scene.write(".aiwf/config.toml", "");
    scene.write(".aiwf/standards/a.md", "fine");
    std::os::unix::fs::symlink(&secret, scene.root().join(".aiwf/standards/link.md")).unwrap();
    leaves(&scene);
    std::fs::remove_file(scene.root().join(".aiwf/standards/link.md")).unwrap();
    std::os::unix::fs::symlink(&secret, scene.root().join("AGENTS.md")).unwrap();
    leaves(&scene);
}

#[test]
fn the_first_of_the_projects_notes_is_in_session_prompts() {
    let scene = Scene::new().file("GEMINI.md", "From GEMINI.\n");
    scene.create().unwrap();
    assert!(scene.prompt().contains("\n\n---\n\n## Project Context\n\nFrom GEMINI.\n\n---\n\n"));
    let (sections, _) = scene.engine.explain_session(None::<&str>).unwrap();
    let section = sections.iter().find(|section| section.id == "project-context").unwrap();
    assert_eq!(section.source, "file:GEMINI.md");
    for (name, text) in [
        ("CLAUDE.md", "From CLAUDE."),
        ("AGENTS.md", "From AGENTS."),
        (".aiwf/project.md", "From the project."),
    ] {
        scene.write(name, text);
        let again = Scene { ..Scene::new() };
        for file in ["GEMINI.md", "CLAUDE.md", "AGENTS.md", ".aiwf/project.md"] {
            if scene.root().join(file).is_file() {
                again.write(file, scene.read(file));
            }
        }
        again.create().unwrap();
        let prompt = again.prompt();
        assert!(prompt.contains(&format!("## Project Context\n\n{text}\n")), "{name}: {prompt}");
        assert_eq!(prompt.matches("From ").count(), 1, "{name}");
    }
}

#[test]
fn without_notes_there_is_no_such_section() {
    let scene = Scene::new();
    scene.create().unwrap();
    assert!(!scene.prompt().contains("Project Context"));
}
