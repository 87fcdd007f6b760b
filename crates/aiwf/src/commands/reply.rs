//! `aiwf reply`: parses the reply of an agent.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aiwf_engine::reply::{
    Edit, EditKind, FileBlock, FrontMatter, Hunk, MetaVerdict, Parsed, Parser, Problem, ReviewMeta,
    TaskOutcome, TaskStatus, ToolCalls, Verdict, parse_edits, parse_fenced_files, parse_file_markers,
    parse_front_matter, parse_review_meta, parse_task_status, parse_tool_calls, parse_verdict_tag,
};
use aiwf_engine::{Engine, read_stdin, read_text};
use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::prompt::name_parser;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum ReplyCommand {
    /// Parse a reply; print what could be read even if there are problems.
    #[command(after_help = "Example: aiwf reply parse --as file-markers reply.md")]
    Parse {
        /// Format to parse.
        #[arg(long = "as", value_name = "PARSER", value_parser = name_parser(Parser::ALL.map(Parser::as_str), Parser::from_name))]
        parser: Parser,
        /// File with the reply, or - for stdin.
        #[arg(value_name = "FILE|-", default_value = "-")]
        file: PathBuf,
    },
}

impl ReplyCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Parse { .. } => "reply parse",
        }
    }
}

pub(crate) fn run(command: &ReplyCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let ReplyCommand::Parse { parser, file } = command;
    let text = if file == Path::new("-") {
        output::note_waiting_for_input();
        read_stdin()?
    } else {
        read_text(&engine.settings().current_dir.join(file)).map_err(|error| error.about(file))?
    };
    let read = Read::parse(*parser, &text);
    let exit = if read.problems.is_empty() { Exit::Done } else { Exit::Refused };
    if output.is_json() {
        let mut result = read.json;
        let problems: Vec<Value> = read
            .problems
            .iter()
            .map(|problem| {
                json!({ "line": problem.line, "column": problem.column, "message": problem.message })
            })
            .collect();
        result.insert("problems".to_owned(), problems.into());
        return output.json(result, exit);
    }
    output::print(|out| out.write_all(read.text.as_bytes()))?;
    for problem in &read.problems {
        output::note(&format!("{problem}\n"));
    }
    Ok(exit)
}

/// A parsed reply, as JSON and as text.
struct Read {
    json: Map<String, Value>,
    text: String,
    problems: Vec<Problem>,
}

impl Read {
    fn parse(parser: Parser, text: &str) -> Self {
        match parser {
            Parser::FileMarkers => Self::of(parse_file_markers(text), |files| show_files(&files)),
            Parser::FencedFiles => Self::of(parse_fenced_files(text), |files| show_files(&files)),
            Parser::Edits => Self::of(parse_edits(text), |edits| show_edits(&edits)),
            Parser::ReviewMeta => Self::of(parse_review_meta(text), |meta| show_meta(&meta)),
            Parser::VerdictTag => Self::of(parse_verdict_tag(text), show_verdict),
            Parser::TaskStatus => Self::of(parse_task_status(text), |tasks| show_tasks(&tasks)),
            Parser::ToolCalls => Self::of(parse_tool_calls(text), show_calls),
            Parser::FrontMatter => {
                Self::of(parse_front_matter(text), |front_matter| show_front_matter(&front_matter))
            }
        }
    }

    fn of<T>(parsed: Parsed<T>, show: impl FnOnce(T) -> (Value, String)) -> Self {
        let (json, text) = show(parsed.value);
        let json = match json {
            Value::Object(map) => map.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Map::new()
            }
        };
        Self { json, text, problems: parsed.problems }
    }
}

fn show_files(files: &[FileBlock]) -> (Value, String) {
    let json: Vec<Value> =
        files.iter().map(|file| json!({ "path": file.path, "content": file.content })).collect();
    let text = lines(files.iter().map(|file| format!("{} ({} bytes)", file.path, file.content.len())));
    (json!({ "files": json }), text)
}

fn show_edits(edits: &[Edit]) -> (Value, String) {
    let json = |edit: &Edit| match &edit.kind {
        EditKind::Write(file) => {
            json!({ "kind": "write", "path": file.path, "content": file.content, "line": edit.line })
        }
        EditKind::Change { path, hunks } => {
            let hunk =
                |hunk: &Hunk| json!({ "search": hunk.search, "replace": hunk.replace, "line": hunk.line });
            let hunks: Vec<Value> = hunks.iter().map(hunk).collect();
            json!({ "kind": "change", "path": path, "hunks": hunks, "line": edit.line })
        }
        EditKind::Delete { path } => json!({ "kind": "delete", "path": path, "line": edit.line }),
        EditKind::Rename { from, to } => {
            json!({ "kind": "rename", "path": from, "to": to, "line": edit.line })
        }
    };
    let words = |edit: &Edit| match &edit.kind {
        EditKind::Write(file) => format!("write {} ({} bytes)", file.path, file.content.len()),
        EditKind::Change { path, hunks } => match hunks.len() {
            1 => format!("change {path} (1 hunk)"),
            n_hunks => format!("change {path} ({n_hunks} hunks)"),
        },
        EditKind::Delete { path } => format!("delete {path}"),
        EditKind::Rename { from, to } => format!("rename {from} -> {to}"),
    };
    let text = lines(edits.iter().map(words));
    (json!({ "edits": edits.iter().map(json).collect::<Vec<_>>() }), text)
}

fn show_meta(meta: &ReviewMeta) -> (Value, String) {
    let verdict = meta.verdict.map(MetaVerdict::as_str);
    let json = json!({
        "verdict": verdict,
        "issues_total": meta.issues_total,
        "issues_critical": meta.issues_critical,
        "missing_inputs": meta.missing_inputs,
    });
    let number = |number: Option<u32>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let text = format!(
        "verdict: {}\nissues_total: {}\nissues_critical: {}\nmissing_inputs: {}\n",
        verdict.unwrap_or("?"),
        number(meta.issues_total),
        number(meta.issues_critical),
        number(meta.missing_inputs),
    );
    (json, text)
}

fn show_verdict(verdict: Option<Verdict>) -> (Value, String) {
    let verdict = verdict.map(Verdict::as_str);
    (json!({ "verdict": verdict }), verdict.map_or_else(String::new, |verdict| format!("{verdict}\n")))
}

fn show_tasks(tasks: &[TaskStatus]) -> (Value, String) {
    let outcome = |task: &TaskStatus| TaskOutcome::as_str(task.status);
    let json: Vec<Value> =
        tasks.iter().map(|task| json!({ "id": task.id, "status": outcome(task) })).collect();
    let text = lines(tasks.iter().map(|task| format!("{} {}", task.id, outcome(task))));
    (json!({ "tasks": json }), text)
}

fn show_calls(calls: ToolCalls) -> (Value, String) {
    let mut shown = Vec::new();
    let mut list = Vec::new();
    for call in calls.calls {
        let arguments = Value::Object(call.arguments);
        shown.push(format!("{} {arguments}", call.name));
        let mut json = Map::new();
        if let Some(id) = call.id {
            json.insert("id".to_owned(), id.into());
        }
        json.insert("name".to_owned(), call.name.into());
        json.insert("arguments".to_owned(), arguments);
        list.push(Value::Object(json));
    }
    shown.extend(calls.message.clone());
    (json!({ "calls": list, "message": calls.message }), lines(shown))
}

fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
}

fn show_front_matter(front_matter: &FrontMatter) -> (Value, String) {
    let text = format!("{:#}\n", front_matter.data);
    (json!({ "data": front_matter.data, "body": front_matter.body }), text)
}
