//! What a person looks at before deciding: files with their bytes, a prompt's sections, problems of a reply.

use aiwf_engine::config::Flags;
use aiwf_engine::{ApproveOptions, FileChangeKind, NewRequest, PageTaken};

use crate::scene::Scene;

const LIST: &str = "def list_items():\n    return []\n";
const REPLY: &str = "Adds it.\n\n<<<EDIT: src/list.py>>>\n<<<<<<< SEARCH\ndef list_items():\n=======\ndef list_items(as_json=False):\n>>>>>>> REPLACE\n\n<<<DELETE: old.py>>>\n\n<<<RENAME: run.sh -> bin/run.sh>>>\n\n<<<FILE: docs/json.md>>>\n# JSON\n";

/// A session of a person whose code waits for its reply.
fn at_code(scene: &Scene) -> String {
    let new = NewRequest {
        flow: "do".to_owned(),
        request: "Add a --json flag".to_owned(),
        provider: Some("manual".to_owned()),
        flags: Flags::default(),
        ..NewRequest::default()
    };
    let id = scene.engine.begin_flow(&new).unwrap().id;
    let which = Some(id.as_str());
    let options = ApproveOptions::default();
    scene.engine.approve(which, &options).unwrap();
    scene.engine.respond(which, "# Plan\n", None).unwrap();
    scene.engine.approve(which, &options).unwrap();
    id
}

fn scene() -> Scene {
    Scene::new().file("src/list.py", LIST).file("old.py", "old\n").file("run.sh", "echo hi\n")
}

#[test]
fn the_files_of_a_reply_are_told_with_what_becomes_of_them() {
    let scene = scene();
    let id = at_code(&scene);
    let which = Some(id.as_str());
    assert!(scene.engine.file_changes(which).unwrap().is_empty());
    scene.engine.respond(which, REPLY, None).unwrap();
    let changes = scene.engine.file_changes(which).unwrap();
    let told: Vec<_> =
        changes.iter().map(|file| (file.path.as_str(), file.kind, file.from.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("bin/run.sh", FileChangeKind::Renamed, Some("run.sh")),
            ("docs/json.md", FileChangeKind::Added, None),
            ("old.py", FileChangeKind::Deleted, None),
            ("src/list.py", FileChangeKind::Changed, None),
        ]
    );
    let list = changes.last().unwrap();
    assert_eq!(list.before.as_deref(), Some(LIST.as_bytes()));
    assert!(list.after.as_deref().unwrap().starts_with(b"def list_items(as_json=False):"));
}

#[test]
fn the_problems_of_a_reply_are_told_without_taking_it() {
    let scene = scene();
    let id = at_code(&scene);
    let which = Some(id.as_str());
    let before = scene.engine.session_events(which).unwrap().len();
    assert_eq!(scene.engine.reply_problems(which, REPLY).unwrap(), Vec::<String>::new());
    let broken = REPLY.replace("def list_items():\n=======", "def other():\n=======");
    let problems = scene.engine.reply_problems(which, &broken).unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("src/list.py"), "{problems:?}");
    assert_eq!(scene.engine.session_events(which).unwrap().len(), before);
}

#[test]
fn the_texts_of_a_prompt_are_the_prompt() {
    let scene = scene();
    let id = at_code(&scene);
    let which = Some(id.as_str());
    let anatomy = scene.engine.prompt_anatomy(which).unwrap();
    let texts: String = anatomy.texts.iter().map(|text| text.text.as_str()).collect();
    assert_eq!(texts, scene.engine.preview_session(which).unwrap().prompt);
    for text in &anatomy.texts {
        assert!(anatomy.sections.iter().any(|section| section.id == text.section), "{}", text.section);
    }
}

#[test]
fn stored_bytes_are_found_by_their_hash_only() {
    let scene = scene();
    let id = at_code(&scene);
    let which = Some(id.as_str());
    let plan = scene.engine.session_report(which).unwrap().versions[0].sha256.clone();
    assert_eq!(scene.engine.stored_bytes(which, &plan).unwrap().as_deref(), Some(b"# Plan\n".as_slice()));
    for wrong in ["", "../journal.jsonl", plan.get(1..).unwrap(), &"0".repeat(64)] {
        assert_eq!(scene.engine.stored_bytes(which, wrong).unwrap(), None, "{wrong}");
    }
}

#[test]
fn nothing_is_live_while_nobody_works_on_a_session() {
    let scene = scene();
    let id = at_code(&scene);
    assert_eq!(scene.engine.live_text(Some(id.as_str()), 1_000).unwrap(), None);
    assert!(!scene.engine.is_session_busy(Some(id.as_str())).unwrap());
    let place = scene.engine.session_place(&id).unwrap();
    assert_eq!((place.id.as_str(), place.directory), (id.as_str(), format!(".aiwf/sessions/{id}")));
    let before = scene.engine.journal_bytes(&id).unwrap();
    scene.engine.cancel(Some(id.as_str()), None).unwrap();
    assert!(scene.engine.journal_bytes(&id).unwrap() > before);
}

#[test]
fn a_project_has_one_page_at_a_time() {
    let scene = Scene::new();
    let first = scene.engine.claim_page().unwrap();
    first.record("http://127.0.0.1:8765/").unwrap();
    match scene.fresh_engine().claim_page() {
        Err(PageTaken::Served { address }) => assert_eq!(address, "http://127.0.0.1:8765/"),
        other => panic!("{other:?}"),
    }
    scene.other_user().claim_page().unwrap();
    drop(first);
    scene.fresh_engine().claim_page().unwrap();
}
