//! The result of a parser, as in the output of `aiwf reply parse --json`.

use aiwf_reply::{
    Edit, EditKind, FileBlock, MetaVerdict, Parsed, Parser, Problem, TaskStatus, Verdict, parse_edits,
    parse_fenced_files, parse_file_markers, parse_front_matter, parse_review_meta, parse_task_status,
    parse_tool_calls, parse_verdict_tag,
};
use serde_json::{Value, json};

/// Runs a parser; returns the value and the problems separately.
pub(crate) fn parse(parser: Parser, text: &str) -> (Value, Vec<Problem>) {
    match parser {
        Parser::FileMarkers => of(parse_file_markers(text), |files| files_json(&files)),
        Parser::FencedFiles => of(parse_fenced_files(text), |files| files_json(&files)),
        Parser::Edits => {
            of(parse_edits(text), |edits| json!({ "edits": edits.iter().map(edit_json).collect::<Vec<_>>() }))
        }
        Parser::ReviewMeta => of(parse_review_meta(text), |meta| {
            json!({
                "verdict": meta.verdict.map(MetaVerdict::as_str),
                "issues_total": meta.issues_total,
                "issues_critical": meta.issues_critical,
                "missing_inputs": meta.missing_inputs,
            })
        }),
        Parser::VerdictTag => {
            of(parse_verdict_tag(text), |verdict| json!({ "verdict": verdict.map(Verdict::as_str) }))
        }
        Parser::TaskStatus => of(parse_task_status(text), |tasks| {
            let task = |task: &TaskStatus| json!({ "id": task.id, "status": task.status.as_str() });
            json!({ "tasks": tasks.iter().map(task).collect::<Vec<_>>() })
        }),
        Parser::ToolCalls => of(parse_tool_calls(text), |calls| {
            let list = calls
                .calls
                .iter()
                .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.arguments }));
            json!({ "calls": list.collect::<Vec<_>>(), "message": calls.message })
        }),
        Parser::FrontMatter => {
            of(parse_front_matter(text), |matter| json!({ "data": matter.data, "body": matter.body }))
        }
    }
}

fn of<T>(parsed: Parsed<T>, to_json: impl FnOnce(T) -> Value) -> (Value, Vec<Problem>) {
    (to_json(parsed.value), parsed.problems)
}

fn files_json(files: &[FileBlock]) -> Value {
    let file = |file: &FileBlock| json!({ "path": file.path, "content": file.content });
    json!({ "files": files.iter().map(file).collect::<Vec<_>>() })
}

fn edit_json(edit: &Edit) -> Value {
    match &edit.kind {
        EditKind::Write(file) => json!({ "line": edit.line, "write": file.path, "content": file.content }),
        EditKind::Change { path, hunks } => {
            let hunks = hunks.iter().map(|hunk| {
                json!({ "line": hunk.line, "search": hunk.search, "replace": hunk.replace, "at": hunk.at })
            });
            json!({ "line": edit.line, "change": path, "hunks": hunks.collect::<Vec<_>>() })
        }
        EditKind::Delete { path } => json!({ "line": edit.line, "delete": path }),
        EditKind::Rename { from, to } => json!({ "line": edit.line, "rename": from, "to": to }),
    }
}
