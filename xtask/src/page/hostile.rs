//! Text that would do something if it were more than text, in every field and on every page.

use super::scene::{Scene, approve, fill, is, respond, sound};
use super::web_driver::Browser;
use crate::failure::Failure;

/// What hostile text would do if it were more than text.
const HOSTILE: &str = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> [x](javascript:document.title='owned') ![p](http://192.0.2.1/p.png) <style>body{display:none}</style> \u{1b}[31m \u{202e}txet";

pub(super) fn all(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin(HOSTILE)?;
    let browser = scene.browser(false)?;
    let session = format!("{}/s/{id}", scene.base());
    browser.open(&session)?;
    respond(&browser, &format!("# {HOSTILE}\n\n{HOSTILE}\n\n```\n{HOSTILE}\n```\n"))?;
    browser.open(&format!("{session}/v/plan@1?line=3"))?;
    fill(&browser, "comment-text", HOSTILE)?;
    browser.click("form[data-verb=comment] button")?;
    browser.wait("the comment", || Ok(browser.has("[data-comment]")))?;
    views(
        &browser,
        scene,
        &session,
        &["", "/prompt", "/prompt?section=0", "/events", "/v/plan@1", "/v/plan@1?as=source"],
    )?;
    browser.open(&session)?;
    fill(&browser, "text-approve", HOSTILE)?;
    approve(&browser, "Your chat")?;
    // A megabyte in one line, and names that look like markup.
    let long = "x".repeat(1 << 20);
    respond(
        &browser,
        &format!(
            "{HOSTILE}\n\n<<<FILE: src/<img src=x onerror=alert(1)>.py>>>\n{HOSTILE}\n{long}\n<<<FILE: src/\"'>.md>>>\n{HOSTILE}\n"
        ),
    )?;
    browser.wait_for("onerror=alert(1)>.py")?;
    views(
        &browser,
        scene,
        &session,
        &["", "/code", "/code?mode=split", "/code?on=0&line=1", "/a/iteration-1/implement-response.md"],
    )?;
    browser.open(scene.base())?;
    sound(&browser, "hostile inbox")?;
    browser.open(&format!("{}/?q=%3Cscript%3Edocument.title=1%3C/script%3E", scene.base()))?;
    sound(&browser, "a hostile search")?;
    println!("   the browser reported nothing that its policy blocked: 0 reports");
    Ok(())
}

fn views(browser: &Browser, scene: &Scene<'_>, session: &str, paths: &[&str]) -> Result<(), Failure> {
    for path in paths {
        browser.open(&format!("{session}{path}"))?;
        browser.wait_for("aiwf")?;
        sound(browser, &format!("hostile {path}"))?;
        let title = browser.run("return document.title")?;
        is(title != "owned", "hostile text ran")?;
        let loaded = browser.run(
            "return performance.getEntriesByType('resource').map(function (entry) { return entry.name; }).join(' ')",
        )?;
        let is_own = |name: &str| name.starts_with(scene.base());
        is(
            loaded.as_str().unwrap_or_default().split_whitespace().all(is_own),
            "a page loaded something from elsewhere",
        )?;
    }
    Ok(())
}
