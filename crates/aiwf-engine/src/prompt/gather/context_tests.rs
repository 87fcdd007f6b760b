#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::fs;

use aiwf_config::{Environment, Flags};

use super::*;

struct Project {
    root: tempfile::TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let project = Self { root };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.path().join("project").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self) -> Result<ProjectContext, EngineError> {
        let root = self.root.path().join("project");
        fs::create_dir_all(root.join(".aiwf")).unwrap();
        let home = self.root.path().join("home");
        let environment =
            Environment { current_dir: root.clone(), home: Some(home), ..Environment::default() };
        let settings = Settings::resolve(Some(&root), environment).unwrap();
        let config = Config::load(&settings, &Flags::default()).unwrap();
        project_context(&settings, &config)
    }

    fn paths(&self) -> Vec<String> {
        self.read().unwrap().report().files.into_iter().map(|file| file.path).collect()
    }
}

#[test]
fn the_first_place_counts_and_the_others_are_said_to_be_passed_over() {
    let mut files: Vec<(&str, &str)> =
        PLACES.into_iter().filter(|place| *place != CURSOR_RULES).map(|place| (place, "Text.\n")).collect();
    files.push((".cursor/rules/one.mdc", "One."));
    let project = Project::new(&files);
    for (idx, place) in PLACES.into_iter().enumerate() {
        let report = project.read().unwrap().report();
        let expected = if place == CURSOR_RULES { ".cursor/rules/one.mdc" } else { place };
        assert_eq!(report.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [expected]);
        assert_eq!(report.passed_over, PLACES[idx + 1..]);
        let path = project.root.path().join("project").join(place);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    assert_eq!(project.read().unwrap().report().line(), None);
    assert!(project.read().unwrap().text().starts_with("(No project context is given: there is no"));
}

#[test]
fn blank_files_are_no_context() {
    let project = Project::new(&[("AGENTS.md", " \n"), ("GEMINI.md", "Text.")]);
    assert_eq!(project.paths(), ["GEMINI.md"]);
}

#[test]
fn rules_of_a_directory_come_in_the_order_of_their_names() {
    let project = Project::new(&[
        (".cursor/rules/b.mdc", "---\nglobs: '*.ts'\n---\nB."),
        (".cursor/rules/a.md", "A."),
        (".cursor/rules/web/c.mdc", "C."),
        (".cursor/rules/notes.txt", "no rule"),
    ]);
    assert_eq!(
        project.read().unwrap().text(),
        "### .cursor/rules/a.md\n\nA.\n\n### .cursor/rules/b.mdc\n\n---\nglobs: '*.ts'\n---\nB.\n\n### .cursor/rules/web/c.mdc\n\nC."
    );
}

#[test]
fn the_configuration_chooses_files_in_its_order() {
    let project = Project::new(&[
        (".aiwf/config.toml", "[context]\nfiles = [\"docs/*.md\", \"CLAUDE.md\", \"docs/a.md\"]\n"),
        ("docs/b.md", "B."),
        ("docs/a.md", "A."),
        ("CLAUDE.md", "C."),
        ("AGENTS.md", "not this one"),
    ]);
    assert_eq!(project.paths(), ["docs/a.md", "docs/b.md", "CLAUDE.md"]);
    let report = project.read().unwrap().report();
    assert_eq!(report.passed_over, ["AGENTS.md"]);
    assert_eq!(
        report.line().unwrap(),
        "docs/a.md (2 bytes), docs/b.md (2 bytes), CLAUDE.md (2 bytes); skipped: AGENTS.md"
    );
}

#[test]
fn the_configuration_stays_in_the_project() {
    for pattern in ["../secret.md", "/etc/hostname", "docs/../../secret.md"] {
        let project = Project::new(&[(".aiwf/config.toml", &format!("[context]\nfiles = [{pattern:?}]\n"))]);
        fs::write(project.root.path().join("secret.md"), "secret").unwrap();
        let error = project.read().unwrap_err();
        assert!(matches!(error, EngineError::OutsideProject { .. }), "{pattern}: {error}");
    }
    let project = Project::new(&[(".aiwf/config.toml", "[context]\nfiles = [\"gone.md\"]\n")]);
    assert!(matches!(project.read().unwrap_err(), EngineError::NothingMatches { .. }));
}

#[cfg(unix)]
#[test]
fn links_that_leave_the_project_are_refused() {
    for place in ["AGENTS.md", ".cursor/rules/one.mdc", ".cursor/rules", ".github/copilot-instructions.md"] {
        let project = Project::new(&[]);
        fs::write(project.root.path().join("secret.md"), "secret").unwrap();
        fs::create_dir_all(project.root.path().join("secrets")).unwrap();
        let link = project.root.path().join("project").join(place);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let target = if place == CURSOR_RULES { "secrets" } else { "secret.md" };
        std::os::unix::fs::symlink(project.root.path().join(target), &link).unwrap();
        let error = project.read().unwrap_err();
        assert!(matches!(error, EngineError::LeavesDirectory { .. }), "{place}: {error}");
    }
    let project = Project::new(&[(".aiwf/config.toml", "[context]\nfiles = [\"a.md\"]\n")]);
    fs::write(project.root.path().join("secret.md"), "secret").unwrap();
    std::os::unix::fs::symlink("../secret.md", project.root.path().join("project/a.md")).unwrap();
    assert!(matches!(project.read().unwrap_err(), EngineError::OutsideProject { .. }));
}

#[test]
fn what_is_no_text_and_what_is_too_large_is_named() {
    let project = Project::new(&[]);
    project.write("AGENTS.md", b"a\0b");
    assert_eq!(
        project.read().unwrap_err().to_string(),
        "`AGENTS.md` is not UTF-8 text (first bad byte at offset 1)"
    );
    project.write("AGENTS.md", vec![b'x'; 1024 * 1024 + 1]);
    assert!(matches!(project.read().unwrap_err(), EngineError::TooLarge { .. }));
    let project = Project::new(&[(".aiwf/config.toml", "[context]\nfiles = [\"docs/*\"]\n")]);
    project.write("docs/a.md", "A.");
    project.write("docs/b.png", b"\x89PNG\0");
    let context = project.read().unwrap();
    assert_eq!(context.files.len(), 1);
    assert_eq!(context.problems[0].message, "skipped: binary (5 bytes)");
    project.write("docs/c.md", vec![b'x'; 700_000]);
    project.write("docs/d.md", vec![b'x'; 700_000]);
    assert_eq!(
        project.read().unwrap_err().to_string(),
        "project context is larger than 1 MiB or has more than 200 files, with `docs/d.md`"
    );
}
