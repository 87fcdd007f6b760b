//! The walk through the page: what a person does, and what must be there then.

use std::path::Path;
use std::time::Instant;

use super::scene::{CODE, PASS, PLAN, Scene, approve, is, picture, respond, sound};
use super::web_driver::{Browser, Scripts};
use super::{agents, attacks, hostile, keys, tabs};
use crate::failure::Failure;

/// Every walk; the first surprise ends it.
pub(super) fn all(root: &Path, binary: &Path, pictures: Option<&Path>) -> Result<(), Failure> {
    let scene = Scene::new(binary)?;
    told("a session from its request into the project and back", || walk(&scene, pictures))?;
    told("a decision on bytes that moved", || moved(&scene))?;
    told("a change by another process appears by itself", || live(&scene))?;
    told("comments across versions", || comments(&scene, pictures))?;
    told("drafts and tabs", || tabs::all(&scene))?;
    told("every key", || keys::all(&scene))?;
    told("agents that answer, fail and ask", || agents::all(&scene, root, pictures))?;
    told("hostile text in every field", || hostile::all(&scene))?;
    told("requests that are not from the page", || attacks::all(&scene))?;
    told("without scripts", || without_scripts(&scene))?;
    told("380 and 2000 pixels wide, dark and light", || shapes(&scene, pictures))
}

fn told(what: &str, walk: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let started_at = Instant::now();
    walk().map_err(|failure| failure.detail(format!("in the walk: {what}")))?;
    println!("   {what}: {:.1} s", started_at.elapsed().as_secs_f64());
    Ok(())
}

fn walk(scene: &Scene<'_>, pictures: Option<&Path>) -> Result<(), Failure> {
    let browser = scene.browser(false)?;
    sound(&browser, "empty inbox")?;
    browser.write("#request", "Add a --json flag to the list command")?;
    browser.run("document.getElementById('provider').value = 'manual'; document.getElementById('files').value = 'src/**';")?;
    browser.click("form[action='/new'] button")?;
    browser.wait_for("Add a --json flag to the list command")?;
    let id = browser.url()?.rsplit('/').next().unwrap_or_default().to_owned();
    let session = format!("{}/s/{id}", scene.base());
    for (reply, name) in [(PLAN, "plan"), (CODE, "code"), (PASS, "review")] {
        if browser.has("form[data-verb=continue] button") {
            browser.click("form[data-verb=continue] button")?;
        } else if browser.has("form[data-verb=approve] button") && !browser.has("#text-respond") {
            approve(&browser, "a reply from your chat")?;
        }
        browser.wait_for("Your chat")?;
        sound(&browser, "chat")?;
        if name == "plan" {
            browser.click("[data-copy]")?;
            picture(&browser, pictures, "chat")?;
            browser.open(&format!("{session}/prompt"))?;
            browser.wait_for("Sections by tokens")?;
            sound(&browser, "prompt anatomy")?;
            browser.open(&format!("{session}/prompt?section=0"))?;
            sound(&browser, "a section of a prompt")?;
            picture(&browser, pictures, "prompt")?;
            browser.open(&session)?;
        }
        respond(&browser, reply)?;
        sound(&browser, "session at its gate")?;
        match name {
            "plan" => picture(&browser, pictures, "session")?,
            "code" => {
                for mode in ["", "?mode=split"] {
                    browser.open(&format!("{session}/code{mode}"))?;
                    browser.wait_for("src/list.py")?;
                    browser.wait_for("docs/json.md")?;
                    sound(&browser, "code")?;
                    is(browser.has("mark"), "no words are marked inside of a changed line")?;
                }
                picture(&browser, pictures, "code")?;
                browser.press("n")?;
                is(browser.has("tr[data-change].here"), "`n` goes to no change")?;
                browser.open(&session)?;
            }
            _ => {}
        }
        browser.click("form[data-verb=approve] button")?;
        browser.wait("the next step", || {
            Ok(!browser.has("form[data-verb=approve] button") || browser.has("#chat"))
        })?;
    }
    browser.wait_for("Apply to the project")?;
    browser.open(&format!("{session}/a/plan.md"))?;
    browser.wait("a link for each line", || Ok(browser.has("[aria-label='Line 3']")))?;
    sound(&browser, "plan")?;
    picture(&browser, pictures, "plan")?;
    browser.open(&format!("{session}/events"))?;
    sound(&browser, "journal")?;
    browser.open(&format!("{session}/apply"))?;
    browser.wait_for("Nothing has been written yet")?;
    sound(&browser, "apply")?;
    is(!scene.read("src/list.py").contains("as_json"), "a dry run wrote into the project")?;
    browser.click("button.good")?;
    browser.wait("the button that undoes it", || Ok(browser.has("form[data-verb=undo] button")))?;
    is(scene.read("src/list.py").contains("as_json"), "the code is not in the project")?;
    browser.click("form[data-verb=undo] button")?;
    browser.wait("the end of the undo", || Ok(!scene.read("src/list.py").contains("as_json")))?;
    browser.open(&format!("{}/project", scene.base()))?;
    browser.wait_for("Validation")?;
    sound(&browser, "project")?;
    picture(&browser, pictures, "project")
}

fn moved(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Move the bytes")?;
    let browser = scene.browser(false)?;
    browser.open(&format!("{}/s/{id}", scene.base()))?;
    respond(&browser, PLAN)?;
    // A page that is not told of changes: one that is would show the new bytes before the click.
    browser.run("dispatchEvent(new Event('pagehide'))")?;
    browser.open(&format!("{}/s/{id}", scene.base()))?;
    browser.run("dispatchEvent(new Event('pagehide'))")?;
    browser.wait("a quiet page", || Ok(browser.run("return document.readyState")? == "complete"))?;
    let path = format!(".aiwf/sessions/{id}/iteration-1/plan-response.md");
    let file = scene.project().join(&path);
    std::fs::write(&file, "# Other\n\nDrop the tables.\n")
        .map_err(|error| Failure::io("write a reply", &error))?;
    // What was on the screen is what the form decides on, whatever is there by now.
    browser.click("form[data-verb=approve] button")?;
    browser.wait_for("Drop the tables.")?;
    is(browser.has("[role=alert]"), "no alert says that the reply changed")?;
    sound(&browser, "a refused decision")
}

fn live(scene: &Scene<'_>) -> Result<(), Failure> {
    let browser = scene.browser(false)?;
    let id = scene.begin("Watch this session")?;
    browser.wait_for("Watch this session")?;
    browser.open(&format!("{}/s/{id}", scene.base()))?;
    browser.wait("the field of its end", || Ok(browser.has("#text-cancel")))?;
    let started_at = Instant::now();
    scene.aiwf(&["cancel", &id])?;
    browser.wait_for("cancelled")?;
    println!("   from the start of `aiwf cancel` to the screen: {} ms", started_at.elapsed().as_millis());
    // What a person types stays while the page is brought up to date.
    let id = scene.begin("Keep my words")?;
    browser.open(&format!("{}/s/{id}", scene.base()))?;
    browser.write("#text-cancel", "half a sentence")?;
    scene.aiwf(&["cancel", &id])?;
    browser.wait_for("has changed while you were writing")?;
    let kept = browser.run("return document.getElementById('text-cancel').value")?;
    is(kept == "half a sentence", "what was typed is gone")
}

fn comments(scene: &Scene<'_>, pictures: Option<&Path>) -> Result<(), Failure> {
    let id = scene.begin("Comment on the plan")?;
    let browser = scene.browser(false)?;
    let session = format!("{}/s/{id}", scene.base());
    browser.open(&session)?;
    respond(&browser, PLAN)?;
    browser.open(&format!("{session}/v/plan@1"))?;
    browser.click("[aria-label='Line 4']")?;
    browser.wait("the form of the comment", || Ok(browser.has("#comment-text")))?;
    sound(&browser, "the form of a comment")?;
    browser.write("#comment-text", "one line per item?")?;
    browser.click("form[data-verb=comment] button")?;
    browser.wait_for("one line per item?")?;
    sound(&browser, "a plan with a comment")?;
    picture(&browser, pictures, "comment")?;
    browser.press("]")?;
    is(browser.has("[data-comment].here"), "`]` goes to no comment")?;
    browser.open(&session)?;
    browser.click("form[data-verb=reject] button")?;
    browser.wait_for("Your chat")?;
    respond(&browser, &PLAN.replace("1. Give", "0. Read it.\n1. Give"))?;
    browser.open(&format!("{session}/v/plan@2"))?;
    browser.wait_for("one line per item?")?;
    browser.wait_for("now plan@2:5")?;
    browser.open(&format!("{session}/v/plan@2?diff=1"))?;
    browser.wait_for("Differences from the previous version")?;
    sound(&browser, "the difference of two versions")?;
    browser.click("form[action$='decide/resolve'] button")?;
    browser.wait_for("resolved")
}

fn without_scripts(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Read and decide without scripts")?;
    let browser = Browser::start(Scripts::Off, false)?;
    browser.open(&format!("{}/s/{id}", scene.base()))?;
    browser.write("#code", &scene.page.code)?;
    browser.click("button")?;
    browser.wait_for("Read and decide without scripts")?;
    browser.write("#text-respond", "# Plan without scripts")?;
    browser.click("form[data-verb=respond] button.good")?;
    browser.wait("its approval", || Ok(browser.has("form[data-verb=approve] button")))?;
    browser.write("#text-reject", "more detail")?;
    browser.click("form[data-verb=reject] button")?;
    browser.wait_for("more detail")
}

fn shapes(scene: &Scene<'_>, pictures: Option<&Path>) -> Result<(), Failure> {
    let id = scene.begin("Show the list in every shape")?;
    let with_code = scene.begin("Show a change in every shape")?;
    {
        let browser = scene.browser(false)?;
        browser.open(&format!("{}/s/{with_code}", scene.base()))?;
        respond(&browser, PLAN)?;
        approve(&browser, "Your chat")?;
        respond(&browser, CODE)?;
    }
    scene.aiwf(&["comment", &with_code, "src/list.py:5", "and an empty list?"])?;
    let paths = [
        "/".to_owned(),
        format!("/s/{id}"),
        format!("/s/{id}/prompt"),
        format!("/s/{with_code}"),
        format!("/s/{with_code}/code"),
        format!("/s/{with_code}/code?mode=split&on=1&line=5"),
        format!("/s/{with_code}/v/plan@1?line=3"),
        "/project".to_owned(),
    ];
    for is_dark in [false, true] {
        let browser = scene.browser(is_dark)?;
        for (width, height) in [(380, 800), (2_000, 1_200), (1_280, 900)] {
            browser.resize(width, height)?;
            for path in &paths {
                browser.open(&format!("{}{path}", scene.base()))?;
                browser.wait_for("aiwf")?;
                sound(&browser, &format!("{path} at {width}, {}", if is_dark { "dark" } else { "light" }))?;
            }
        }
        browser.open(scene.base())?;
        picture(&browser, pictures, if is_dark { "inbox-dark" } else { "inbox" })?;
    }
    Ok(())
}
