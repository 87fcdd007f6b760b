//! A project with its page, and what every walk does with them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::visitor::Served;
use super::web_driver::{Browser, Scripts};
use crate::failure::Failure;

pub(super) const PLAN: &str = "# Plan\n\n1. Give `list_items` a flag `as_json`.\n2. Print JSON when it is set.\n\n| file | change |\n|---|---|\n| `src/list.py` | a new argument |\n";
pub(super) const CODE: &str = "Adds the flag.\n\n<<<EDIT: src/list.py>>>\n<<<<<<< SEARCH\ndef list_items():\n    return []\n=======\ndef list_items(as_json=False):\n    items = []\n    return json.dumps(items) if as_json else items\n>>>>>>> REPLACE\n\n<<<FILE: docs/json.md>>>\n# JSON\n\n`--json` prints one line.\n";
pub(super) const PASS: &str = "The flag does what the plan says.\n\n<review>PASS</review>\n";
const ACCESSIBLE: &str = include_str!("accessible.js");
pub(super) const CONTROL: &str = "\u{e009}";
pub(super) const ENTER: &str = "\u{e007}";

/// Providers that answer at once, slowly, and with a question.
const CONFIG: &str = r#"
[workflow]
provider = "asker"

[providers.quick]
type = "command"
argv = ["sh", "-c", "cat > /dev/null; printf '# Quick plan\\n\\nAs asked.\\n'"]
fs_ability = "none"

[providers.slow]
type = "command"
argv = ["sh", "-c", "cat > /dev/null; i=0; while [ $i -lt 3000 ]; do echo \"word $i of a slow reply\"; i=$((i+1)); sleep 0.1; done"]
fs_ability = "none"

[providers.asker]
type = "command"
argv = ["sh", "-c", "if grep -q WIDGET_SUBMIT; then echo 'Thanks, that is all.'; else cat \"$HOME/question.md\"; fi"]
"#;

/// What the provider `asker` says first.
const QUESTION: &str = r#"I need to know more.

<tool_call>
{"name": "ui.ask_user", "arguments": {"widgetId": "facts", "type": "form", "message": "Which release is it?", "schema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "title": "Name"}, "channel": {"type": "string", "enum": ["stable", "beta"], "title": "Channel"}}}}}
</tool_call>
"#;

/// A project with its page.
pub(super) struct Scene<'b> {
    binary: &'b Path,
    directory: tempfile::TempDir,
    pub(super) page: Served,
}

impl<'b> Scene<'b> {
    pub(super) fn new(binary: &'b Path) -> Result<Self, Failure> {
        let io = |error: std::io::Error| Failure::io("make a project", &error);
        let directory = tempfile::tempdir().map_err(io)?;
        let (project, home) = (directory.path().join("shop"), directory.path().join("home"));
        std::fs::create_dir_all(project.join("src")).map_err(io)?;
        std::fs::create_dir_all(project.join(".aiwf")).map_err(io)?;
        std::fs::create_dir_all(home.join(".aiwf")).map_err(io)?;
        let list = "import json\n\n\ndef list_items():\n    return []\n";
        std::fs::write(project.join("src/list.py"), list).map_err(io)?;
        let server =
            format!("\n[mcp.servers.sessions]\ncommand = \"{}\"\nargs = [\"mcp\"]\n", binary.display());
        std::fs::write(home.join(".aiwf/config.toml"), format!("{CONFIG}{server}")).map_err(io)?;
        std::fs::write(home.join("question.md"), QUESTION).map_err(io)?;
        let page = Served::start(command(binary, &directory))?;
        Ok(Self { binary, directory, page })
    }

    /// A page that the user did not ask for.
    pub(super) fn page_of_attacker(&self) -> PathBuf {
        self.directory.path().join("attacker.html")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.directory.path().join("shop")
    }

    /// A call of aiwf in the project, in another process than the page.
    pub(super) fn command(&self) -> Command {
        command(self.binary, &self.directory)
    }

    /// Runs a command in another process.
    pub(super) fn aiwf(&self, words: &[&str]) -> Result<Output, Failure> {
        let output = self.command().args(words).output();
        output.map_err(|error| Failure::io("start aiwf", &error))
    }

    pub(super) fn base(&self) -> &str {
        self.page.url.split("/#").next().unwrap_or_default()
    }

    pub(super) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap_or_default()
    }

    /// A browser that was let in by the address with the secret.
    pub(super) fn browser(&self, is_dark: bool) -> Result<Browser, Failure> {
        let browser = Browser::start(Scripts::On, is_dark)?;
        browser.open(&self.page.url)?;
        browser.wait_for("Inbox")?;
        is(!browser.url()?.contains('#'), "the secret is still in the address")?;
        // The first request has no cookie yet, which the browser reports.
        browser.complaints()?;
        Ok(browser)
    }

    /// The id of a new session that waits for the reply of its plan.
    pub(super) fn begin(&self, request: &str) -> Result<String, Failure> {
        self.aiwf(&["do", request, "--provider", "manual", "--file", "src/**"])?;
        self.newest()
    }

    /// The id of the session that changed last.
    pub(super) fn newest(&self) -> Result<String, Failure> {
        let listed = self.aiwf(&["list", "--json"])?;
        let listed: Value = serde_json::from_slice(&listed.stdout)
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

pub(super) fn is(holds: bool, otherwise: &str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::new(otherwise)) }
}

/// Scans the page, and asks the browser what it blocked.
pub(super) fn sound(browser: &Browser, view: &str) -> Result<(), Failure> {
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

pub(super) fn picture(browser: &Browser, pictures: Option<&Path>, name: &str) -> Result<(), Failure> {
    let Some(directory) = pictures else { return Ok(()) };
    let path = directory.join(format!("page-{name}.png"));
    std::fs::write(&path, browser.screenshot()?).map_err(|error| Failure::io("write a picture", &error))
}

/// Fills in a field at once: typing every character takes long; a paste does not.
pub(super) fn fill(browser: &Browser, id: &str, text: &str) -> Result<(), Failure> {
    browser.wait(&format!("the field `{id}`"), || Ok(browser.has(&format!("#{id}"))))?;
    let text = serde_json::json!(text);
    let script = format!(
        "var field = document.getElementById('{id}'); field.value = {text}; field.dispatchEvent(new Event('input', {{ bubbles: true }}));"
    );
    browser.run(&script).map(drop)
}

/// Writes a reply into its field and sends it.
pub(super) fn respond(browser: &Browser, reply: &str) -> Result<(), Failure> {
    fill(browser, "text-respond", reply)?;
    browser.click("form[data-verb=respond] button.good")?;
    browser.wait("its approval", || {
        Ok(browser.has("form[data-verb=approve] button") && !browser.has("#text-respond"))
    })
}

pub(super) fn approve(browser: &Browser, then: &str) -> Result<(), Failure> {
    browser.click("form[data-verb=approve] button")?;
    browser.wait_for(then)
}

pub(super) fn focus(browser: &Browser, id: &str) -> Result<bool, Failure> {
    Ok(browser.run("return document.activeElement.id")? == id)
}

/// Nothing has the focus but the page itself.
pub(super) fn blur(browser: &Browser) -> Result<(), Failure> {
    browser.run("document.activeElement.blur()").map(drop)
}

pub(super) fn control_enter(browser: &Browser) -> Result<(), Failure> {
    let keys = serde_json::json!([
        { "type": "keyDown", "value": CONTROL }, { "type": "keyDown", "value": ENTER },
        { "type": "keyUp", "value": ENTER }, { "type": "keyUp", "value": CONTROL },
    ]);
    browser.chord(&keys)
}
