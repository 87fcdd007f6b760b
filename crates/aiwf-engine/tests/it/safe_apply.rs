//! Code on its way into the project: what somebody does meanwhile, and replies of absurd size.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;

use aiwf_engine::{ApplyOptions, ApproveOptions};

use crate::scene::{REVIEW_PASS, Scene};

const FILES: &str = "<<<FILE: a.ts>>>\na\n\n<<<FILE: b.ts>>>\nb\n\n<<<FILE: c.ts>>>\nc\n";

/// A session whose code is approved.
fn complete(reply: &str) -> (Scene, String) {
    let scene = Scene::new();
    let id = scene.create().unwrap();
    scene.reply("# Plan\n");
    scene.approve();
    scene.reply(reply);
    scene.approve();
    scene.reply(REVIEW_PASS);
    scene.approve();
    (scene, id)
}

/// Where the profile puts a file.
fn targets(scene: &Scene, id: &str) -> Vec<String> {
    let dry = ApplyOptions { is_dry_run: true, ..ApplyOptions::default() };
    let report = scene.engine.apply(Some(id), &dry).unwrap();
    report.files.into_iter().map(|file| file.target).collect()
}

#[test]
fn a_file_created_during_an_apply_stays_and_the_rest_is_rolled_back() {
    let (scene, id) = complete(FILES);
    let targets = targets(&scene, &id);
    let meanwhile = |target: &str| {
        if target == targets[1] {
            fs::write(scene.root().join(target), "mine").unwrap();
        }
    };
    let error =
        scene.engine.apply_watched(Some(id.as_str()), &ApplyOptions::default(), &meanwhile).unwrap_err();
    assert!(error.to_string().contains("was changed while the code was being copied"), "{error}");
    assert_eq!(scene.read(&targets[1]), "mine");
    assert!(!scene.root().join(&targets[0]).exists() && !scene.root().join(&targets[2]).exists());
}

#[test]
fn a_file_edited_during_an_apply_is_not_replaced() {
    let (scene, id) = complete(FILES);
    let targets = targets(&scene, &id);
    scene.write(&targets[1], "old");
    let forced = ApplyOptions { is_forced: true, ..ApplyOptions::default() };
    let meanwhile = |target: &str| {
        if target == targets[1] {
            fs::write(scene.root().join(target), "edited").unwrap();
        }
    };
    scene.engine.apply_watched(Some(id.as_str()), &forced, &meanwhile).unwrap_err();
    assert_eq!(scene.read(&targets[1]), "edited");
    assert!(!scene.root().join(&targets[0]).exists());
}

#[test]
fn a_forced_copy_that_is_run_again_makes_no_second_backup() {
    let (scene, id) = complete(FILES);
    let targets = targets(&scene, &id);
    scene.write(&targets[0], "old");
    scene.write(&targets[2], "older");
    let forced = ApplyOptions { is_forced: true, ..ApplyOptions::default() };
    let meanwhile = |target: &str| {
        if target == targets[2] {
            fs::write(scene.root().join(target), "edited").unwrap();
        }
    };
    scene.engine.apply_watched(Some(id.as_str()), &forced, &meanwhile).unwrap_err();
    assert_eq!(scene.read(&targets[0]), "old");
    scene.engine.apply(Some(id.as_str()), &forced).unwrap();
    assert_eq!(scene.read(&format!("{}.orig", targets[0])), "old");
    assert!(!scene.root().join(format!("{}.orig-2", targets[0])).exists());
}

#[test]
fn two_hundred_thousand_problems_are_counted_and_not_listed() {
    let scene = Scene::new();
    let id = scene.create().unwrap();
    scene.reply("# Plan\n");
    scene.approve();
    let reply: String = (0..200_000)
        .flat_map(|n| ["<<<FILE: ../", if n % 2 == 0 { "x" } else { "y" }, ">>>\nx\n\n"])
        .collect();
    scene.reply(&reply);
    let error = scene.engine.approve(Some(id.as_str()), &ApproveOptions::default()).unwrap_err();
    assert!(error.to_string().len() < 100_000);
    let report = scene.engine.session_report(Some(id.as_str())).unwrap();
    assert!((2..=101).contains(&report.problems.len()), "{}", report.problems.len());
    let last = report.problems.last().unwrap();
    assert!(last.starts_with("and ") && last.ends_with(" more"), "{last}");
    let journal = fs::metadata(scene.root().join(format!(".aiwf/sessions/{id}/journal.jsonl"))).unwrap();
    assert!(journal.len() < 1_000_000, "{}", journal.len());
}

#[test]
fn five_hundred_files_five_hundred_directories_deep_are_taken() {
    let scene = Scene::new();
    let id = scene.create().unwrap();
    scene.reply("# Plan\n");
    scene.approve();
    let deep = "d/".repeat(480);
    let files: Vec<String> = (0..500).map(|n| format!("<<<FILE: {deep}f{n}.ts>>>\nx\n\n")).collect();
    let reply = files.concat();
    scene.reply(&reply);
    scene.approve();
    assert!(scene.root().join(format!(".aiwf/sessions/{id}/iteration-1/code/{deep}f499.ts")).is_file());
}
