//! Every key, and that none of them acts while somebody types.

use super::scene::{CODE, ENTER, PLAN, Scene, approve, blur, control_enter, focus, is, respond, sound};
use super::web_driver::Browser;
use crate::failure::Failure;

pub(super) fn all(scene: &Scene<'_>) -> Result<(), Failure> {
    lists(scene)?;
    decisions(scene)?;
    changes_and_comments(scene)
}

/// The number of the selected item, or -1.
fn selected(browser: &Browser) -> Result<i64, Failure> {
    let at = browser.run(
        "return Array.prototype.findIndex.call(document.querySelectorAll('[data-item]'), function (item) { return item.classList.contains('here'); })",
    )?;
    Ok(at.as_i64().unwrap_or(-2))
}

/// `?`, `/`, `j`, `k`, Enter and `g i`.
fn lists(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Use the keyboard first")?;
    scene.begin("Use the keyboard again")?;
    let browser = scene.browser(false)?;
    browser.press("?")?;
    is(browser.has("dialog[open]"), "`?` lists no keys")?;
    sound(&browser, "keys")?;
    browser.click("dialog button")?;
    browser.press("/")?;
    browser.wait("focus in the search", || focus(&browser, "q"))?;
    browser.write("#q", &format!("use the keyboard{ENTER}"))?;
    browser.wait("two results", || {
        Ok(browser.run("return document.querySelectorAll('[data-item]').length")? == 2)
    })?;
    blur(&browser)?;
    for (key, at) in [("j", 0), ("j", 1), ("j", 1), ("k", 0), ("k", 0), ("j", 1)] {
        browser.press(key)?;
        is(selected(&browser)? == at, &format!("`{key}` does not select item {at}"))?;
    }
    browser.press(ENTER)?;
    browser.wait("the session", || Ok(browser.url()?.ends_with(&id)))?;
    browser.press("g")?;
    browser.press("i")?;
    browser.wait("the inbox", || Ok(browser.url()?.trim_end_matches('/') == scene.base()))
}

/// `r`, `a` and Ctrl+Enter, with and without open comments.
fn decisions(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Decide by keys")?;
    let browser = scene.browser(false)?;
    let session = format!("{}/s/{id}", scene.base());
    browser.open(&session)?;
    respond(&browser, PLAN)?;
    blur(&browser)?;
    browser.press("r")?;
    browser.wait("focus in the rejection", || focus(&browser, "text-reject"))?;
    browser.write("#text-reject", "a")?;
    is(browser.has("form[data-verb=approve]"), "`a` approved while somebody was typing")?;
    control_enter(&browser)?;
    browser.wait_for("reply rejected by ann: a")?;
    respond(&browser, PLAN)?;
    // With an open comment, Ctrl+Enter sends it instead of approving.
    scene.aiwf(&["comment", &id, "plan:3", "which one?"])?;
    browser.open(&session)?;
    browser.wait_for("1 open comment will be sent")?;
    blur(&browser)?;
    control_enter(&browser)?;
    browser.wait_for("Your chat")?;
    is(
        scene.aiwf(&["status", &id]).is_ok_and(|said| text(&said.stdout).contains("plan")),
        "the plan was approved",
    )?;
    respond(&browser, PLAN)?;
    browser.click("form[action$='decide/resolve'] button")?;
    browser.wait("no open comment", || Ok(!browser.has("form[action$='decide/resolve']")))?;
    // Without one, it approves.
    blur(&browser)?;
    control_enter(&browser)?;
    browser.wait("the next phase", || {
        Ok(browser
            .run("return document.querySelector('#state').textContent")?
            .as_str()
            .is_some_and(|state| state.contains("implement")))
    })?;
    browser.wait_for("Your chat")?;
    respond(&browser, CODE)?;
    blur(&browser)?;
    browser.press("a")?;
    browser.wait("the review", || Ok(browser.has("#chat")))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `n`, `p`, `d`, `c`, `[` and `]` in a change.
fn changes_and_comments(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Read a change by keys")?;
    let browser = scene.browser(false)?;
    let session = format!("{}/s/{id}", scene.base());
    browser.open(&session)?;
    respond(&browser, PLAN)?;
    approve(&browser, "Your chat")?;
    respond(&browser, CODE)?;
    browser.open(&format!("{session}/code"))?;
    browser.wait_for("docs/json.md")?;
    let change = "return Array.prototype.findIndex.call(document.querySelectorAll('[data-change]'), function (item) { return item.classList.contains('here'); })";
    for (key, at) in [("n", 0), ("n", 1), ("p", 0)] {
        browser.press(key)?;
        browser.wait(&format!("change {at} after `{key}`"), || Ok(browser.run(change)? == at))?;
    }
    // A comment on the change that is selected, then a range with Shift.
    browser.press("c")?;
    browser.wait("the form of a comment", || focus(&browser, "comment-text"))?;
    browser.run("var link = document.querySelector(\"form#comment\").closest('.file').querySelector(\"a[aria-label='Line 3']\"); link.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }));")?;
    is(
        browser.run("return document.getElementById('comment-to').value")? == "3",
        "Shift and a click give no range",
    )?;
    browser.write("#comment-text", "one sentence, please")?;
    control_enter(&browser)?;
    browser.wait_for("docs/json.md:1-3")?;
    sound(&browser, "code with a comment")?;
    for path in ["code", "code?mode=split"] {
        browser.open(&format!("{session}/{path}"))?;
        browser.wait_for("one sentence, please")?;
    }
    browser.press("]")?;
    is(browser.has("[data-comment].here"), "`]` goes to no comment")?;
    browser.press("[")?;
    is(browser.has("[data-comment].here"), "`[` goes to no comment")?;
    blur(&browser)?;
    browser.press("d")?;
    browser.wait("the unified view", || Ok(!browser.has("table.split")))?;
    browser.press("d")?;
    browser.wait("the view side by side", || Ok(browser.has("table.split")))
}
