//! The reference pages of the book are made from the program and its code; `cargo xtask docs` writes them anew.

#![expect(clippy::disallowed_methods, reason = "the book's own files are read, and written when asked for")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use aiwf_engine::config::setting_docs;
use serde_json::Value;

use crate::help::every_command;
use crate::{json, project};

/// Compares a page with what the code says, or writes it when `AIWF_BOOK=write`.
#[track_caller]
fn check(page: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference").join(page);
    if std::env::var_os("AIWF_BOOK").is_some_and(|word| word == "write") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, made).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == made, "{page} is not what the code says; `cargo xtask docs` writes it anew");
}

const MADE: &str = "<!-- Made by `cargo xtask docs`; changes here are lost. -->";

#[test]
fn the_page_of_commands() {
    let project = project();
    let mut page = format!("# Commands\n\n{MADE}\n\nWhat `--help` says, command by command.\n");
    for command in every_command(&project) {
        let words = format!("aiwf {command}");
        let help = project.run(&format!("{command} --help")).success().stdout_text();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(page, "\n## {}\n\n```text\n{}\n```\n", words.trim_end(), help.join("\n"));
    }
    check("commands.md", &page);
}

#[test]
fn the_page_of_settings() {
    let mut page = format!(
        "# Configuration\n\n{MADE}\n\n\
         Two files, both optional: `.aiwf/config.toml` of the project and `~/.aiwf/config.toml` of the user. Flags win\n\
         over the project's file, that over the user's, that over the defaults, setting by setting; what names one\n\
         thing wins over what is said for all. `aiwf config show --origin` prints what holds and why, and\n\
         `aiwf validate config` checks both files. Times are written `500ms`, `90s`, `10m` or `1h`.\n"
    );
    for doc in setting_docs() {
        let _ = write!(
            page,
            "\n## `{}`\n\n{}\n\n| key | value | default | what it does | in a project's file |\n|---|---|---|---|---|\n",
            doc.table, doc.about
        );
        for setting in &doc.settings {
            let default =
                if setting.default.is_empty() { String::new() } else { format!("`{}`", setting.default) };
            let _ = writeln!(
                page,
                "| `{}` | {} | {default} | {} | {} |",
                setting.key,
                setting.kind,
                setting.help.trim_end_matches('.'),
                setting.project
            );
        }
    }
    page.push_str("\n## What holds when nothing is set\n\n```text\n");
    page.push_str(&project().run("config show").success().stdout_text());
    page.push_str("```\n");
    check("configuration.md", &page);
}

#[test]
fn the_page_of_formats() {
    let project = project();
    let mut page = format!(
        "# Formats\n\n{MADE}\n\nWhere each file lies is in [Files](../files.md). All of them are text.\n\n"
    );
    page.push_str(
        "## Events of a session or a change\n\n`journal.jsonl` has one line for each event. A line has its number \
         (`seq`), its time (`at`), its own hash (`sha256`),\nthe hash of the line before it (`prev`), and the event with \
         the fields below.\n",
    );
    page.push_str(&events(SESSION_EVENTS, "Event"));
    page.push_str(&runs());
    page.push_str(&payload());
    page.push_str("\n## `profile.toml`\n");
    page.push_str(&tables(&aiwf_engine::profile::manifest_schema()));
    for recipe in ["session", "change", "workflow", "reply"] {
        let _ = write!(
            page,
            "\n## Document of the recipe `{recipe}`\n\n`aiwf prompt schema {recipe}` prints it as JSON Schema.\n"
        );
        let schema = json(&project.run(&format!("prompt schema {recipe} --json")))["schema"].clone();
        page.push_str(&tables(&schema));
    }
    for (file, about) in [
        ("bmad", "`bmad.json`"),
        ("workflow.graph", "`workflow.graph.json`"),
        ("agents", "`agents.json`"),
        ("workflow", "Front matter of `workflow.md`"),
        ("step", "Front matter of a step file"),
    ] {
        let path = format!("../aiwf-package/schemas/{file}.schema.json");
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let _ = write!(page, "\n## {about}\n");
        page.push_str(&tables(&serde_json::from_str(&text).unwrap()));
    }
    check("formats.md", &page);
}

/// What is hashed of a request, with the example that the test of the form holds to.
fn payload() -> String {
    let example = CANONICAL.splitn(3, "---\n").nth(2).unwrap().trim_end();
    format!("{PAYLOAD}\n```json\n{example}\n```\n")
}

const PAYLOAD: &str = "
## Canonical form of a payload

`payload_sha256` is the SHA-256 of what a provider gets, in one form for every provider. It has the same value in
`aiwf prompt build`, `aiwf prompt preview` and `aiwf prompt send`, in the previews of sessions, changes and runs, and in
the events `prompt-sent` and `run-asked`. `aiwf preview` prints the form itself, and with `--json` as `payload`.

The form is JSON in UTF-8, indented by two spaces, with no line feed at the end and its keys in this order:

| key | what it is |
|---|---|
| `system` | the system text: a list of texts, one for each block; left out when there is none |
| `files` | files that travel as parts of the request, each with its `path` and the `sha256` of its text; left out when there are none |
| `messages` | the messages, then the turns of the conversation since |
| `tools` | the tools the model may call, each with `name`, `description` and `parameters`; an empty list when there are none |

A message has a `role` (`user`, `assistant`, `tool`, or `system` for system text that follows another message) and its
`content`, a list of texts, one for each block. A block is a section of the prompt with whatever separates it from its
neighbours, so the blocks of a message put together are the whole message. An assistant's message may have `tool_calls` (`id`, `name`, `arguments`); a tool's message has the `id` and `name` of the call,
and `is_error` when it failed.

Cache marks, the model, limits and keys are not part of the form.
";

const CANONICAL: &str = include_str!(
    "../../../aiwf-provider/src/snapshots/aiwf_provider__payload__tests__the_canonical_form_keeps_blocks_apart.snap"
);
const SESSION_EVENTS: &str = include_str!("../../../aiwf-session/src/event.rs");
const CALLS: &str = include_str!("../../../aiwf-session/src/call.rs");
const RUN_EVENTS: &str = include_str!("../../../aiwf-engine/src/run/event.rs");
const RUN_REPORTS: &str = include_str!("../../../aiwf-engine/src/run/report.rs");

/// Runs of workflow packages: their directory, the events of their journal, and the files made from it.
fn runs() -> String {
    let mut made = String::from(
        "\n## A run: `.aiwf/sessions/ID/`\n\nA run of a workflow package is a session whose journal begins with `run-created`; so is a conversation with an agent \
         (`agent-ID`) or a chat (`chat-ID`).\n\n\
         | file | what it is |\n|---|---|\n\
         | `journal.jsonl` | the events, one line each, chained by hashes: the truth |\n\
         | `run.json` | what a list shows of it; made from the journal, and made again when it does not fit it |\n\
         | `state/workflow.md` | where the run stands: the state file, which the model sees as `@state/workflow.md` |\n\
         | `state/logs/execution.jsonl` | one line for each call of a tool; made from the journal |\n\
         | `turn-N.output-K` | what a program or an API sent in the call that line N of the journal began |\n\
         | `objects/` | every state file there was, by its hash |\n\
         | `.lock` | held by the one who writes; a second one is refused |\n\
         \n### Events of a run\n\nLines are numbered, timed and chained as those of a session.\n",
    );
    made += &events(RUN_EVENTS, "RunEvent");
    for (heading, source, name, worded) in [
        ("`setup`", RUN_EVENTS, "RunSetup", snake as fn(&str) -> String),
        ("`package` of a setup", RUN_EVENTS, "RunPackage", snake),
        ("`forked_from` of a setup", RUN_EVENTS, "ForkedFrom", snake),
        ("One of `blocks`", RUN_EVENTS, "Block", snake),
        ("`call`", CALLS, "Call", snake),
        ("`fault`", RUN_EVENTS, "Fault", snake),
        ("`exec`", RUN_EVENTS, "ToolExec", camel),
    ] {
        let _ = write!(made, "\n#### {heading}\n{}", field_table(source, name, worded));
    }
    for (heading, name) in [("`kind`", "RunKind"), ("`layer`", "Layer"), ("`phase`", "RunPhase")] {
        let _ = write!(made, "\n#### Values of {heading}\n{}", value_table(RUN_EVENTS, name));
    }
    made += "\n### `execution.jsonl`\n\nEach line has its time (`ts`), `kind` (always `tool.exec`) and the fields of `exec` \
             above. Contents are told by\nsize and hash, paths by their aliases.\n";
    made += "\n### `run.json`\n\n`version` (1) and `journal_bytes`, the length of the journal it was made from, stand \
             before these:\n";
    made += &field_table(RUN_REPORTS, "RunSummary", snake);
    made
}

fn snake(name: &str) -> String {
    name.to_owned()
}

fn camel(name: &str) -> String {
    let mut is_first = false;
    let letters = name.chars().filter_map(|letter| {
        let starts_word = std::mem::replace(&mut is_first, letter == '_');
        let letter = if starts_word { letter.to_ascii_uppercase() } else { letter };
        (letter != '_').then_some(letter)
    });
    letters.collect()
}

/// The fields of a struct, as they are written.
fn field_table(source: &str, name: &str, worded: fn(&str) -> String) -> String {
    let fields = fields_of(source, name);
    assert!(!fields.is_empty(), "{name} has no fields");
    let mut made = String::from("\n| field | what it is |\n|---|---|\n");
    for (field, about) in fields {
        let _ = writeln!(made, "| `{}` | {about} |", worded(&field));
    }
    made
}

/// The values of an enum without data, as they are written.
fn value_table(source: &str, name: &str) -> String {
    let body = source.split(&format!("pub enum {name} {{\n")).nth(1).unwrap();
    let mut made = String::from("\n| value | what it means |\n|---|---|\n");
    let mut about = String::new();
    for line in body.split("\n}\n").next().unwrap().lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("/// ") {
            about = joined(&about, comment);
        } else if let Some(value) = line.strip_suffix(',') {
            let _ = writeln!(made, "| `{}` | {} |", kebab(value), lower(&std::mem::take(&mut about)));
        }
    }
    made
}

/// The events with their fields, from the types that write them.
fn events(source: &str, name: &str) -> String {
    let body = source.split(&format!("pub enum {name} {{\n")).nth(1).unwrap().split("\n}\n").next().unwrap();
    let mut made = String::from("\n| event | what happened | fields |\n|---|---|---|\n");
    let mut about = String::new();
    let mut row: Option<(String, String, Vec<String>)> = None;
    let is_told = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    for line in body.lines().filter(is_told) {
        let depth = line.len() - line.trim_start().len();
        let text = line.trim();
        if let Some(comment) = text.strip_prefix("/// ") {
            about = joined(&about, comment);
        } else if depth == 4 && text.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            let name: String = text.chars().take_while(char::is_ascii_alphanumeric).collect();
            let of_struct = text.split_once("(Box<").and_then(|(_, rest)| rest.split_once('>'));
            let fields = of_struct.map_or_else(Vec::new, |(name, _)| fields_of(CALLS, name));
            let fields = fields.into_iter().map(|(field, about)| format!("`{field}`: {about}")).collect();
            row = Some((kebab(&name), std::mem::take(&mut about), fields));
            if !text.ends_with('{') {
                made += &shown(row.take());
            }
        } else if let Some((field, _)) = text.split_once(':') {
            if let Some((_, _, fields)) = &mut row {
                fields.push(format!("`{field}`: {}", lower(&std::mem::take(&mut about))));
            }
        } else if depth == 4 {
            made += &shown(row.take());
        }
    }
    made
}

/// The fields of a struct, each with what it is.
fn fields_of(source: &str, name: &str) -> Vec<(String, String)> {
    let Some(body) = source.split(&format!("pub struct {name} {{\n")).nth(1) else { return Vec::new() };
    let mut about = String::new();
    let mut fields = Vec::new();
    for line in body.split("\n}\n").next().unwrap_or_default().lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("/// ") {
            about = joined(&about, comment);
        } else if let Some((field, _)) = line.strip_prefix("pub ").and_then(|line| line.split_once(':')) {
            fields.push((field.to_owned(), lower(&std::mem::take(&mut about))));
        }
    }
    fields
}

fn shown(row: Option<(String, String, Vec<String>)>) -> String {
    row.map_or_else(String::new, |(name, about, fields)| {
        format!("| `{name}` | {} | {} |\n", lower(&about), fields.join("; "))
    })
}

/// A comment with its next line, without the final period.
fn joined(about: &str, line: &str) -> String {
    format!("{about} {line}").trim().trim_end_matches('.').to_owned()
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    // A name in capitals stays.
    if text.starts_with("SHA") { text.to_owned() } else { first + letters.as_str() }
}

fn kebab(name: &str) -> String {
    let mut made = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !made.is_empty() {
            made.push('-');
        }
        made.push(letter.to_ascii_lowercase());
    }
    made
}

/// A table for each object of a JSON Schema.
fn tables(schema: &Value) -> String {
    let mut made = String::new();
    let defs = schema.get("$defs").or_else(|| schema.get("definitions")).and_then(Value::as_object);
    let mut objects = vec![(String::new(), schema)];
    objects.extend(defs.into_iter().flatten().map(|(name, def)| (name.clone(), def)));
    for (name, object) in objects {
        let about = object.get("description").and_then(Value::as_str).unwrap_or_default();
        let Some(properties) = object.get("properties").and_then(Value::as_object) else { continue };
        if !name.is_empty() {
            let _ = write!(made, "\n### {name}\n");
        }
        if !about.is_empty() {
            let _ = write!(made, "\n{}\n", one_line(about));
        }
        made.push_str("\n| name | value | what it is |\n|---|---|---|\n");
        let required = object.get("required").and_then(Value::as_array);
        for (key, property) in properties {
            let is_required = required.is_some_and(|names| names.iter().any(|name| name == key));
            let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
            let mark = if is_required { ", required" } else { "" };
            let _ = writeln!(made, "| `{key}` | {}{mark} | {} |", kind(property), one_line(about));
        }
    }
    made
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn kind(property: &Value) -> String {
    if let Some(target) = property.get("$ref").and_then(Value::as_str) {
        return target.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(value) = property.get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let values = values.iter().filter(|value| !value.is_null());
        return values.map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
    }
    for several in ["anyOf", "oneOf", "allOf"] {
        if let Some(kinds) = property.get(several).and_then(Value::as_array) {
            let is_value = |kind: &&Value| kind.get("type").is_none_or(|name| name != "null");
            let kinds: Vec<String> = kinds.iter().filter(is_value).map(kind).collect();
            return kinds.join(" or ");
        }
    }
    let names: Vec<&str> = match property.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let worded = |name: &&str| match *name {
        "string" => "text".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => {
            let item = property.get("items").map(kind).filter(|kind| kind != "anything");
            item.map_or_else(|| "list".to_owned(), |item| format!("list of {item}"))
        }
        "object" => "table".to_owned(),
        other => other.to_owned(),
    };
    let names: Vec<String> = names.iter().filter(|name| **name != "null").map(worded).collect();
    if names.is_empty() { "anything".to_owned() } else { names.join(" or ") }
}
