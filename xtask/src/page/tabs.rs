//! What stays when a page is left, hidden or brought up to date.

use super::scene::{PLAN, Scene, fill, is, respond};
use crate::failure::Failure;

/// Lets the page believe that its tab is hidden, or shown again.
const HIDE: &str = "Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'));";
const SHOW: &str = "Object.defineProperty(document, 'hidden', { value: false, configurable: true }); document.dispatchEvent(new Event('visibilitychange'));";

pub(super) fn all(scene: &Scene<'_>) -> Result<(), Failure> {
    drafts(scene)?;
    hidden(scene)
}

/// What was typed is there again after another page, and is gone once it was sent.
fn drafts(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Keep a draft")?;
    let browser = scene.browser(false)?;
    let session = format!("{}/s/{id}", scene.base());
    browser.open(&session)?;
    respond(&browser, PLAN)?;
    fill(&browser, "text-reject", "half of a thought")?;
    browser.open(&format!("{session}/v/plan@1?line=3"))?;
    fill(&browser, "comment-text", "half of a comment")?;
    browser.open(scene.base())?;
    let value = |id: &str| browser.run(&format!("return document.getElementById('{id}').value"));
    browser.open(&format!("{session}/v/plan@1?line=3"))?;
    is(value("comment-text")? == "half of a comment", "the draft of a comment is gone")?;
    browser.open(&session)?;
    is(value("text-reject")? == "half of a thought", "the draft of a rejection is gone")?;
    browser.click("form[data-verb=reject] button")?;
    browser.wait_for("half of a thought")?;
    respond(&browser, PLAN)?;
    is(value("text-reject")? == "", "what was sent is still a draft")
}

/// A hidden tab is told nothing, and is brought up to date when it is shown.
fn hidden(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Hide the tab")?;
    let address = format!("{}/s/{id}", scene.base());
    let (browser, other) = (scene.browser(false)?, scene.browser(false)?);
    other.open(&address)?;
    respond(&other, PLAN)?;
    for browser in [&browser, &other] {
        browser.open(&address)?;
        browser.wait("the field of its end", || Ok(browser.has("#text-cancel")))?;
    }
    browser.run(HIDE)?;
    scene.aiwf(&["comment", &id, "plan@1:3", "said while nobody looked"])?;
    // A tab that is shown has it, so a stream would have told the hidden one as well.
    other.wait_for("said while nobody looked")?;
    is(!browser.text()?.contains("said while nobody looked"), "a hidden tab was brought up to date")?;
    browser.run(SHOW)?;
    browser.wait_for("said while nobody looked")
}
