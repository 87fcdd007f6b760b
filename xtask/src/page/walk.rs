//! The walk through the page: what a person does, and what must be there then.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::web_driver::{Browser, Scripts, text_of};
use crate::failure::Failure;

const PLAN: &str = "# Plan\n\n1. Give `list_items` a flag `as_json`.\n2. Print JSON when it is set.\n\n| file | change |\n|---|---|\n| `src/list.py` | a new argument |\n";
const CODE: &str = "Adds the flag.\n\n<<<EDIT: src/list.py>>>\n<<<<<<< SEARCH\ndef list_items():\n    return []\n=======\ndef list_items(as_json=False):\n    items = []\n    return json.dumps(items) if as_json else items\n>>>>>>> REPLACE\n\n<<<FILE: docs/json.md>>>\n# JSON\n\n`--json` prints one line.\n";
const PASS: &str = "The flag does what the plan says.\n\n<review>PASS</review>\n";
/// What hostile text would do if it were more than text.
const HOSTILE: &str = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> [x](javascript:document.title='owned') ![p](http://192.0.2.1/p.png) <style>body{display:none}</style> \u{1b}[31m \u{202e}txet";
const ACCESSIBLE: &str = include_str!("accessible.js");
const CONTROL: &str = "\u{e009}";
const ENTER: &str = "\u{e007}";

/// A project with its page.
struct Scene<'b> {
    binary: &'b Path,
    directory: tempfile::TempDir,
    page: Child,
    url: String,
    code: String,
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        drop(self.page.kill());
        drop(self.page.wait());
    }
}

/// Every walk; the first surprise ends it.
pub(super) fn all(binary: &Path, pictures: Option<&Path>) -> Result<(), Failure> {
    let scene = Scene::new(binary)?;
    told("a session from its request into the project and back", || walk(&scene, pictures))?;
    told("a decision on bytes that moved", || moved(&scene))?;
    told("a change by another process appears by itself", || live(&scene))?;
    told("comments across versions", || comments(&scene, pictures))?;
    told("keys", || keys(&scene))?;
    told("hostile text in every field", || hostile(&scene))?;
    told("without scripts", || without_scripts(&scene))?;
    told("380 and 2000 pixels wide, dark and light", || shapes(&scene, pictures))
}

fn told(what: &str, walk: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let started_at = Instant::now();
    walk().map_err(|failure| failure.detail(format!("in the walk: {what}")))?;
    println!("   {what}: {:.1} s", started_at.elapsed().as_secs_f64());
    Ok(())
}

impl<'b> Scene<'b> {
    fn new(binary: &'b Path) -> Result<Self, Failure> {
        let io = |error: std::io::Error| Failure::io("make a project", &error);
        let directory = tempfile::tempdir().map_err(io)?;
        let project = directory.path().join("shop");
        std::fs::create_dir_all(project.join("src")).map_err(io)?;
        std::fs::create_dir_all(project.join(".aiwf")).map_err(io)?;
        std::fs::create_dir_all(directory.path().join("home")).map_err(io)?;
        std::fs::write(project.join("src/list.py"), "import json\n\n\ndef list_items():\n    return []\n")
            .map_err(io)?;
        let mut page = command(binary, &directory)
            .args(["ui", "--json", "--no-open"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Failure::io("start `aiwf ui`", &error))?;
        let stdout = page.stdout.take().ok_or_else(|| Failure::new("`aiwf ui` has no output"))?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).map_err(io)?;
        let said: Value = serde_json::from_str(&line)
            .map_err(|error| Failure::new("`aiwf ui --json` printed no JSON").detail(error.to_string()))?;
        let text = |key: &str| text_of(&said, key);
        Ok(Self { binary, directory, page, url: text("url"), code: text("code") })
    }

    /// Runs a command in another process.
    fn aiwf(&self, words: &[&str]) -> Result<Output, Failure> {
        let output = command(self.binary, &self.directory).args(words).output();
        let output = output.map_err(|error| Failure::io("start aiwf", &error))?;
        Ok(output)
    }

    fn base(&self) -> &str {
        self.url.split("/#").next().unwrap_or_default()
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.directory.path().join("shop").join(path)).unwrap_or_default()
    }

    /// A browser that was let in by the address with the secret.
    fn browser(&self, is_dark: bool) -> Result<Browser, Failure> {
        let browser = Browser::start(Scripts::On, is_dark)?;
        browser.open(&self.url)?;
        browser.wait_for("Inbox")?;
        is(!browser.url()?.contains('#'), "the secret is still in the address")?;
        // The first request has no cookie yet, which the browser reports.
        browser.complaints()?;
        Ok(browser)
    }

    /// The id of a new session that waits for the reply of its plan.
    fn begin(&self, request: &str) -> Result<String, Failure> {
        self.aiwf(&["do", request, "--provider", "manual"])?;
        let status = self.aiwf(&["list", "--json"])?;
        let listed: Value = serde_json::from_slice(&status.stdout)
            .map_err(|error| Failure::new("`aiwf list --json` printed no JSON").detail(error.to_string()))?;
        let id = listed.pointer("/sessions/0/session_id").and_then(Value::as_str).unwrap_or_default();
        is(!id.is_empty(), "no session was started")?;
        Ok(id.to_owned())
    }
}

fn command(binary: &Path, directory: &tempfile::TempDir) -> Command {
    let mut command = Command::new(binary);
    command
        .current_dir(directory.path().join("shop"))
        .env_clear()
        .env("HOME", directory.path().join("home"))
        .env("USER", "ann")
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}

fn is(holds: bool, otherwise: &str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::new(otherwise)) }
}

/// Scans the page, and asks the browser what it blocked.
fn sound(browser: &Browser, view: &str) -> Result<(), Failure> {
    let found = browser.run(ACCESSIBLE)?;
    let found: Vec<&str> = found.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !found.is_empty() {
        let failure = Failure::new(format!("the view `{view}` is not accessible"));
        return Err(found.iter().take(12).fold(failure, |failure, line| failure.detail(*line)));
    }
    let complaints = browser.complaints()?;
    let of_policy: Vec<&String> = complaints.iter().filter(|line| !line.contains("status of 4")).collect();
    match of_policy.first() {
        None => Ok(()),
        Some(first) => {
            Err(Failure::new(format!("the browser complains about `{view}`")).detail(first.as_str()))
        }
    }
}

fn picture(browser: &Browser, pictures: Option<&Path>, name: &str) -> Result<(), Failure> {
    let Some(directory) = pictures else { return Ok(()) };
    let path = directory.join(format!("page-{name}.png"));
    std::fs::write(&path, browser.screenshot()?).map_err(|error| Failure::io("write a picture", &error))
}

/// Writes a reply into its field and sends it.
fn respond(browser: &Browser, reply: &str) -> Result<(), Failure> {
    browser.wait("the field for the reply", || Ok(browser.has("#text-respond")))?;
    // Typing every character takes long; a paste does not.
    let reply = serde_json::json!(reply);
    browser.run(&format!(
        "var field = document.getElementById('text-respond'); field.value = {reply}; field.dispatchEvent(new Event('input', {{ bubbles: true }}));"
    ))?;
    browser.click("form[data-verb=respond] button.good")?;
    browser.wait("its approval", || Ok(browser.has("form[data-verb=approve] button")))
}

fn approve(browser: &Browser, then: &str) -> Result<(), Failure> {
    browser.click("form[data-verb=approve] button")?;
    browser.wait_for(then)
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
    let file = scene.directory.path().join("shop").join(&path);
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

fn keys(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Use the keyboard")?;
    let browser = scene.browser(false)?;
    browser.press("?")?;
    is(browser.has("dialog[open]"), "`?` lists no keys")?;
    sound(&browser, "keys")?;
    browser.click("dialog button")?;
    browser.press("/")?;
    browser.wait("focus in the search", || focus(&browser, "q"))?;
    browser.write("#q", "keyboard\u{e007}")?;
    browser.wait("one result", || {
        Ok(browser.run("return document.querySelectorAll('[data-item]').length")? == 1)
    })?;
    browser.run("document.activeElement.blur()")?;
    browser.press("j")?;
    is(browser.has("[data-item].here"), "`j` selects nothing")?;
    browser.press(ENTER)?;
    browser.wait("the session", || Ok(browser.url()?.ends_with(&id)))?;
    respond(&browser, PLAN)?;
    browser.run("document.activeElement.blur()")?;
    browser.press("r")?;
    browser.wait("focus in the rejection", || focus(&browser, "text-reject"))?;
    browser.write("#text-reject", "a")?;
    is(browser.has("form[data-verb=approve]"), "`a` approved while somebody was typing")?;
    let keys = serde_json::json!([
        { "type": "keyDown", "value": CONTROL }, { "type": "keyDown", "value": ENTER },
        { "type": "keyUp", "value": ENTER }, { "type": "keyUp", "value": CONTROL },
    ]);
    browser.chord(&keys)?;
    browser.wait_for("reply rejected by ann: a")?;
    browser.press("g")?;
    browser.press("i")?;
    browser.wait("the inbox", || Ok(browser.url()?.trim_end_matches('/') == scene.base()))
}

fn focus(browser: &Browser, id: &str) -> Result<bool, Failure> {
    Ok(browser.run("return document.activeElement.id")? == id)
}

fn hostile(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin(HOSTILE)?;
    let browser = scene.browser(false)?;
    let session = format!("{}/s/{id}", scene.base());
    browser.open(&session)?;
    respond(&browser, &format!("# {HOSTILE}\n\n{HOSTILE}\n\n```\n{HOSTILE}\n```\n"))?;
    for path in [
        "",
        "/prompt",
        "/prompt?section=0",
        "/events",
        "/code",
        "/a/iteration-1/plan-response.md",
        "/a/iteration-1/plan-response.md?as=source",
    ] {
        browser.open(&format!("{session}{path}"))?;
        browser.wait_for("aiwf")?;
        sound(&browser, &format!("hostile {path}"))?;
        let title = browser.run("return document.title")?;
        is(title != "owned", "hostile text ran")?;
    }
    browser.open(scene.base())?;
    sound(&browser, "hostile inbox")
}

fn without_scripts(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Read and decide without scripts")?;
    let browser = Browser::start(Scripts::Off, false)?;
    browser.open(&format!("{}/s/{id}", scene.base()))?;
    browser.write("#code", &scene.code)?;
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
    for is_dark in [false, true] {
        let browser = scene.browser(is_dark)?;
        for (width, height) in [(380, 800), (2_000, 1_200), (1_280, 900)] {
            browser.resize(width, height)?;
            for path in ["/".to_owned(), format!("/s/{id}"), format!("/s/{id}/prompt"), "/project".to_owned()]
            {
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
