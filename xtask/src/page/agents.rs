//! Agents that answer at once, slowly and with a question; checks that need consent; tools to pin; versions to reopen.

use std::path::Path;
use std::process::Stdio;

use super::scene::{CODE, PLAN, Scene, approve, fill, is, picture, respond, sound};
use crate::failure::Failure;

pub(super) fn all(scene: &Scene<'_>, root: &Path, pictures: Option<&Path>) -> Result<(), Failure> {
    another_agent(scene)?;
    arriving_words(scene)?;
    stopped(scene)?;
    reopened(scene)?;
    checked(scene, pictures)?;
    package(scene, root, pictures)?;
    pinned(scene)
}

/// A phase is handed to another agent, whose reply waits at the gate.
fn another_agent(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Ask somebody else")?;
    let browser = scene.browser(false)?;
    browser.open(&format!("{}/s/{id}", scene.base()))?;
    browser.wait("the agents", || Ok(browser.has("#provider-retry")))?;
    browser.run("document.getElementById('provider-retry').value = 'quick'")?;
    browser.click("form[data-verb=retry] button")?;
    browser.wait_for("Quick plan")?;
    sound(&browser, "the reply of another agent")?;
    fill(&browser, "text-cancel", "only a test")?;
    browser.click("form[data-verb=cancel] button")?;
    browser.wait_for("cancelled by ann: only a test")?;
    is(!browser.has("form[data-verb=approve]"), "a cancelled session can be approved")
}

/// Words of a call that another process makes appear in the inbox and on the session's page.
fn arriving_words(scene: &Scene<'_>) -> Result<(), Failure> {
    let browser = scene.browser(false)?;
    let mut child = scene
        .command()
        .args(["do", "Answer slowly", "--provider", "slow"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Failure::io("start aiwf", &error))?;
    let watched = (|| {
        let line = "return (document.querySelector('[data-line]') || {}).textContent || ''";
        let word = |wanted: &str| {
            Ok(browser.run(line)?.as_str().is_some_and(|line| line.starts_with("word ") && line != wanted))
        };
        browser.wait("a live line in the inbox", || word(""))?;
        let first = browser.run(line)?.as_str().unwrap_or_default().to_owned();
        browser.wait("the next live line", || word(&first))?;
        is(!browser.text()?.contains("the call failed"), "a running session waits for a retry")?;
        sound(&browser, "an inbox with a running session")?;
        browser.open(&format!("{}/s/{}", scene.base(), scene.newest()?))?;
        browser.wait_for("of a slow reply")?;
        browser.wait_for("aiwf is working on it")?;
        sound(&browser, "a session while words arrive")
    })();
    drop(child.kill());
    drop(child.wait());
    watched?;
    // The call was interrupted: only a person starts it again.
    browser.open(&format!("{}/s/{}", scene.base(), scene.newest()?))?;
    browser.wait("the way to try again", || Ok(browser.has("form[data-verb=retry] button")))?;
    fill(&browser, "text-cancel", "too slow")?;
    browser.click("form[data-verb=cancel] button")?;
    browser.wait_for("cancelled by ann: too slow")
}

/// A call that the page itself makes can be stopped there.
fn stopped(scene: &Scene<'_>) -> Result<(), Failure> {
    let browser = scene.browser(false)?;
    browser.open(scene.base())?;
    browser.run("document.getElementById('new').open = true")?;
    fill(&browser, "request", "Stop me on the page")?;
    browser.run("document.getElementById('provider').value = 'slow'")?;
    browser.click("form[action='/new'] button")?;
    browser.wait("a session", || Ok(browser.url()?.contains("/s/")))?;
    if !browser.has("form[data-verb=stop]") {
        browser.wait("the button that starts it", || {
            Ok(browser.has("form[data-verb=continue] button")
                || browser.has("form[data-verb=approve] button"))
        })?;
        browser.run("(document.querySelector('form[data-verb=continue] button') || document.querySelector('form[data-verb=approve] button')).click()")?;
    }
    browser.wait_for("of a slow reply")?;
    sound(&browser, "a call of the page")?;
    browser.click("form[data-verb=stop] button")?;
    browser.wait("the way to try again", || Ok(browser.has("form[data-verb=retry] button")))
}

/// An approval with a note, and a plan that is reopened with a reason.
fn reopened(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Think again")?;
    let browser = scene.browser(false)?;
    browser.open(&format!("{}/s/{id}", scene.base()))?;
    respond(&browser, PLAN)?;
    fill(&browser, "text-approve", "keep it small")?;
    approve(&browser, "keep it small")?;
    browser.wait("the form that reopens", || Ok(browser.has("form[data-verb=revise]")))?;
    browser.run("document.querySelector('form[data-verb=revise]').closest('details').open = true")?;
    fill(&browser, "text-revise", "the requirements changed")?;
    browser.click("form[data-verb=revise] button")?;
    browser.wait("the reason in the timeline", || {
        Ok(browser
            .run("return document.querySelector('#timeline').textContent")?
            .as_str()
            .is_some_and(|text| text.contains("plan reopened by ann: the requirements changed")))
    })?;
    sound(&browser, "a reopened plan")
}

/// Commands of the project run after consent, and their results stand beside the code.
fn checked(scene: &Scene<'_>, pictures: Option<&Path>) -> Result<(), Failure> {
    let config = scene.project().join(".aiwf/config.toml");
    let io = |error: std::io::Error| Failure::io("configure a check", &error);
    std::fs::write(&config, "[[checks]]\nname = \"words\"\nrun = \"echo 12 words checked\"\n").map_err(io)?;
    let id = scene.begin("Check this change")?;
    let browser = scene.browser(false)?;
    let session = format!("{}/s/{id}", scene.base());
    browser.open(&session)?;
    respond(&browser, PLAN)?;
    approve(&browser, "Your chat")?;
    fill(&browser, "text-respond", CODE)?;
    browser.click("form[data-verb=respond] button.good")?;
    browser.wait("what is at the gate", || {
        Ok(browser.has("form[data-verb=allow-checks] button")
            || browser.has("form[data-verb=approve] button"))
    })?;
    if !browser.has("form[data-verb=allow-checks]") {
        browser.click("form[data-verb=approve] button")?;
    }
    browser.wait_for("echo 12 words checked")?;
    sound(&browser, "checks that wait for consent")?;
    browser.click("form[data-verb=allow-checks] button")?;
    browser.wait("the review's prompt", || Ok(browser.has("#chat")))?;
    browser.open(&format!("{session}/code"))?;
    browser.wait_for("words")?;
    is(browser.has(".tree .check"), "the results of the checks are not beside the code")?;
    // The project changes a file meanwhile: the code says so before anybody applies it.
    let list = scene.project().join("src/list.py");
    let before = std::fs::read(&list).map_err(io)?;
    std::fs::write(&list, "import json\n\n\ndef list_items():\n    return [1]\n").map_err(io)?;
    browser.open(&format!("{session}/code"))?;
    browser.wait_for("changed in the project since")?;
    sound(&browser, "code with checks and a conflict")?;
    picture(&browser, pictures, "checks")?;
    std::fs::write(&list, before).map_err(io)?;
    std::fs::remove_file(&config).map_err(io)
}

/// A run of a package: its graph, a question as a form, its answer, and words after it.
fn package(scene: &Scene<'_>, root: &Path, pictures: Option<&Path>) -> Result<(), Failure> {
    let package = root.join("examples/packages/bug-triage");
    scene.aiwf(&["workflow", "run", &package.display().to_string(), "--input", "The list is empty."])?;
    let run = format!("{}/s/{}", scene.base(), scene.newest()?);
    let browser = scene.browser(false)?;
    browser.open(&run)?;
    browser.wait_for("Which release is it?")?;
    is(browser.has("svg.graph .node.current"), "the graph shows no current node")?;
    is(browser.has("svg.graph text.condition"), "the graph shows no condition")?;
    is(!browser.text()?.contains("<tool_call>"), "a tool call stands in the conversation as text")?;
    sound(&browser, "a run with a question")?;
    picture(&browser, pictures, "run")?;
    fill(&browser, "f-1", "2.0")?;
    browser.click("#question button.good")?;
    browser.wait_for("Thanks, that is all.")?;
    browser.wait("the end of the question", || Ok(!browser.has("#question")))?;
    fill(&browser, "say-text", "Anything else?")?;
    browser.click("#say button.good")?;
    browser.wait("the words in the conversation", || {
        Ok(browser
            .run("return document.querySelector('#conversation').textContent")?
            .as_str()
            .is_some_and(|talk| talk.contains("Anything else?")))
    })?;
    sound(&browser, "a conversation")?;
    // An item of the agent's menu is said for the user.
    browser.click("#menu li[value='2'] button")?;
    browser.wait("the item in the conversation", || {
        Ok(browser
            .run("return document.querySelector('#conversation').textContent")?
            .as_str()
            .is_some_and(|talk| talk.contains("Explain in plain words")))
    })?;
    browser.click("#say button.bad")?;
    browser.wait("the end of the run", || Ok(!browser.has("#say")))
}

/// A tool of a server is pinned on the project's page.
fn pinned(scene: &Scene<'_>) -> Result<(), Failure> {
    scene.aiwf(&["tools", "list", "--trust-servers"])?;
    let browser = scene.browser(false)?;
    browser.open(&format!("{}/project?tools=1", scene.base()))?;
    browser.wait_for("sessions")?;
    sound(&browser, "the tools of the project")?;
    let n_unpinned =
        || browser.run("return document.querySelectorAll(\"form[action='/project/pin']\").length");
    let before = n_unpinned()?.as_u64().unwrap_or_default();
    if before > 0 {
        browser.click("form[action='/project/pin'] button")?;
        browser.wait("the pin", || Ok(n_unpinned()?.as_u64().unwrap_or_default() < before))?;
    }
    is(browser.has("#tools .badge.complete"), "no tool is pinned")
}
