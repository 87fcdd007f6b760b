//! The tools: each is one function of the engine and returns the JSON of the corresponding command.

use std::fmt::Write as _;
use std::sync::Arc;

use aiwf_engine::config::Flags;
use aiwf_engine::machine::Resolution;
use aiwf_engine::{
    ApproveOptions, CommentFilter, CommentTarget, Commented, Decided, Engine, NewSession, Performed, Reach,
    SessionReport,
};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Value, json};

use crate::advice_words::worded;
use crate::arguments::{
    ApproveArguments, CommentArguments, ListArguments, ListCommentsArguments, RejectArguments,
    ReplyArguments, ResolveArguments, ReviseArguments, SessionArguments, StartArguments, read,
};
use crate::hidden_paths::without_machine_paths;
use crate::start_schema;
use crate::tool_error::ToolError;

/// Whether clients may approve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approvals {
    /// Only a person approves, elsewhere: a model must not approve its own work.
    #[default]
    Withheld,
    /// The user who started the server allows it.
    Offered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolName {
    ListSessions,
    SessionStatus,
    PreviewPrompt,
    SubmitReply,
    StartSession,
    Comment,
    ListComments,
    Approve,
    Reject,
    ResolveComment,
    Revise,
}

impl ToolName {
    const ALL: [Self; 11] = [
        Self::ListSessions,
        Self::SessionStatus,
        Self::PreviewPrompt,
        Self::SubmitReply,
        Self::StartSession,
        Self::Comment,
        Self::ListComments,
        Self::Approve,
        Self::Reject,
        Self::ResolveComment,
        Self::Revise,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::ListSessions => "list_sessions",
            Self::SessionStatus => "session_status",
            Self::PreviewPrompt => "preview_prompt",
            Self::SubmitReply => "submit_reply",
            Self::StartSession => "start_session",
            Self::Comment => "comment",
            Self::ListComments => "list_comments",
            Self::ResolveComment => "resolve_comment",
            Self::Revise => "revise",
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    fn is_offered(self, approvals: Approvals) -> bool {
        let decides = matches!(self, Self::Approve | Self::Reject | Self::ResolveComment | Self::Revise);
        approvals == Approvals::Offered || !decides
    }

    fn description(self) -> &'static str {
        match self {
            Self::ListSessions => "List the sessions of this project, most recently changed first.",
            Self::SessionStatus => {
                "Show the state of a session: phase, stage, gate, files, problems, and what comes next."
            }
            Self::PreviewPrompt => {
                "Get the next prompt of a session, exactly as it will be sent. If the session is waiting for a reply, \
                 answer this prompt and deliver the answer with `submit_reply`."
            }
            Self::SubmitReply => {
                "Deliver the reply to a session's prompt, in the form that the prompt asks for. The reply is saved \
                 and checked. A person approves it at its gate, unless the project says otherwise."
            }
            Self::StartSession => {
                "Start a session: `profile` is the kind of work, `params` are the parameters of that profile. Writes the \
                 first prompt and stops at its gate."
            }
            Self::Comment => {
                "Comment on lines of an artifact, or of a file that a session changes. The next prompt about it \
                 includes the comment. Commenting does not approve or reject anything."
            }
            Self::ListComments => "List the comments of a session with where their lines are now.",
            Self::ResolveComment => "Resolve or dismiss a comment, so that later prompts leave it out.",
            Self::Revise => {
                "Reopen an approved artifact of a session with a reason. Everything built on it is made again."
            }
            Self::Approve => {
                "Approve the pending prompt or reply of a session as it is on disk, and continue to the next decision."
            }
            Self::Reject => {
                "Reject the pending prompt or reply of a session; the next prompt includes the feedback."
            }
        }
    }

    fn annotations(self) -> ToolAnnotations {
        match self {
            Self::ListSessions | Self::SessionStatus | Self::PreviewPrompt | Self::ListComments => {
                ToolAnnotations::new().read_only(true).open_world(false)
            }
            Self::Comment | Self::ResolveComment => {
                ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(false)
            }
            // After a decision the next step may ask a provider.
            Self::SubmitReply | Self::StartSession | Self::Approve | Self::Reject | Self::Revise => {
                ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(true)
            }
        }
    }

    fn schema(self, engine: &Engine) -> JsonObject {
        match self {
            Self::ListSessions => object(
                json!({
                    "profile": { "type": "string", "description": "Filter by profile." },
                    "status": {
                        "type": "string",
                        "enum": aiwf_engine::SessionStatus::ALL,
                        "description": "Filter by status.",
                    },
                    "limit": { "type": "integer", "minimum": 1, "default": 50, "description": "Maximum number of sessions to list." },
                }),
                &[],
            ),
            Self::SessionStatus | Self::PreviewPrompt => {
                object(json!({ "session": session() }), &["session"])
            }
            Self::Approve => object(
                json!({
                    "session": session(),
                    "note": { "type": "string", "description": "What the phases that read the reply should know." },
                    "expect": expect(),
                }),
                &["session"],
            ),
            Self::Comment => object(
                json!({
                    "session": session(),
                    "place": {
                        "type": "string",
                        "description": "What to comment on: `plan`, `plan:12`, `plan@1:12-14`, or `PATH:LINES` for a changed file.",
                    },
                    "text": { "type": "string", "description": "The comment." },
                }),
                &["session", "place", "text"],
            ),
            Self::ListComments => object(
                json!({
                    "session": session(),
                    "open": { "type": "boolean", "default": false, "description": "List only open comments." },
                }),
                &["session"],
            ),
            Self::ResolveComment => object(
                json!({
                    "session": session(),
                    "number": { "type": "integer", "minimum": 1, "description": "The number of the comment." },
                    "dismiss": { "type": "boolean", "default": false, "description": "Dismiss it: nothing will be done about it." },
                }),
                &["session", "number"],
            ),
            Self::Revise => object(
                json!({
                    "session": session(),
                    "artifact": { "type": "string", "description": "The approved artifact, such as `plan`." },
                    "reason": { "type": "string", "description": "What should change." },
                    "expect": expect(),
                }),
                &["session", "artifact", "reason"],
            ),
            Self::SubmitReply => object(
                json!({
                    "session": session(),
                    "reply": { "type": "string", "description": "The whole reply." },
                    "expect": expect(),
                }),
                &["session", "reply"],
            ),
            Self::Reject => object(
                json!({
                    "session": session(),
                    "feedback": {
                        "type": "string",
                        "description": "What should change. Optional if there are open comments.",
                    },
                    "expect": expect(),
                }),
                &["session"],
            ),
            Self::StartSession => {
                let profiles: Vec<_> =
                    engine.profiles().into_iter().filter_map(|found| found.profile.ok()).collect();
                start_schema::schema(&profiles)
            }
        }
    }
}

fn session() -> Value {
    json!({ "type": "string", "description": "The session: its id, a unique prefix of it, or `latest`." })
}

fn expect() -> Value {
    json!({
        "type": "string",
        "minLength": 8,
        "description": "Decide only if the `sha256` of the gate, as shown by `session_status`, starts with this.",
    })
}

fn object(properties: Value, required: &[&str]) -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// The available tools.
pub(crate) fn list(engine: &Engine, approvals: Approvals) -> Vec<Tool> {
    ToolName::ALL
        .into_iter()
        .filter(|tool| tool.is_offered(approvals))
        .map(|tool| {
            Tool::new(tool.as_str(), tool.description(), Arc::new(tool.schema(engine)))
                .with_annotations(tool.annotations())
        })
        .collect()
}

/// Runs a tool; an error is a result too.
pub(crate) fn call(
    engine: &Engine,
    approvals: Approvals,
    tool: ToolName,
    given: Option<JsonObject>,
) -> CallToolResult {
    let outcome = if tool.is_offered(approvals) {
        run(engine, tool, given)
    } else {
        Err(ToolError::new(
            "NOT_OFFERED",
            format!(
                "`{}` is not available: a person decides at the gates of this server's sessions",
                tool.as_str()
            ),
            format!(
                "ask the person to run `aiwf {0} ID`, or to start the server with `--allow-approve`",
                tool.as_str()
            ),
        ))
    };
    outcome.unwrap_or_else(|error| error.into_result(engine.settings()))
}

fn run(engine: &Engine, tool: ToolName, given: Option<JsonObject>) -> Result<CallToolResult, ToolError> {
    let name = tool.as_str();
    match tool {
        ToolName::ListSessions => list_sessions(engine, &read(name, given)?),
        ToolName::SessionStatus => {
            let SessionArguments { session } = read(name, given)?;
            status_result(engine, &engine.session_report(Some(&session))?, &[])
        }
        ToolName::PreviewPrompt => {
            let SessionArguments { session } = read(name, given)?;
            let preview = engine.preview_session(Some(&session))?;
            let mut result = structured(&preview)?;
            result.content = vec![ContentBlock::text(preview.text())];
            Ok(result)
        }
        ToolName::SubmitReply => {
            let ReplyArguments { session, reply, expect } = read(name, given)?;
            let taken = engine.clone().expecting(expect).respond(Some(&session), &reply, None)?;
            // No client tool continues a session, so steps that need no decision run at once.
            let gone_on = engine.run_session(Some(&taken.report.session_id));
            let mut decided =
                gone_on.map_err(|error| ToolError::from(error).after("the reply is in place"))?;
            decided.performed.splice(0..0, taken.performed);
            decision(engine, &decided)
        }
        ToolName::StartSession => {
            let StartArguments { profile, params } = read(name, given)?;
            let new = engine.new_session(&profile, params, &Flags::default())?;
            let created = engine.create_session(NewSession { reach: Reach::Project, ..new })?;
            let report = engine.session_report(Some(&created.id))?;
            status_result(engine, &report, &created.performed)
        }
        ToolName::Approve => {
            let ApproveArguments { session, expect, note } = read(name, given)?;
            let deciding = engine.clone().expecting(expect);
            let options = ApproveOptions { note, ..ApproveOptions::default() };
            decision(engine, &deciding.approve(Some(&session), &options)?)
        }
        ToolName::Comment => {
            let CommentArguments { session, place, text } = read(name, given)?;
            let target = CommentTarget::parse(&place)?;
            commented(&engine.add_comment(Some(&session), &target, &text)?)
        }
        ToolName::ListComments => {
            let ListCommentsArguments { session, open } = read(name, given)?;
            let filter = if open { CommentFilter::Open } else { CommentFilter::All };
            structured(&json!({ "comments": engine.comments(Some(&session), filter)? }))
        }
        ToolName::ResolveComment => {
            let ResolveArguments { session, number, dismiss } = read(name, given)?;
            let how = if dismiss { Resolution::Dismissed } else { Resolution::Resolved };
            commented(&engine.resolve_comment(Some(&session), number, how)?)
        }
        ToolName::Revise => {
            let ReviseArguments { session, artifact, reason, expect } = read(name, given)?;
            let deciding = engine.clone().expecting(expect);
            decision(engine, &deciding.revise(Some(&session), &artifact, &reason)?)
        }
        ToolName::Reject => {
            let RejectArguments { session, feedback, expect } = read(name, given)?;
            decision(engine, &engine.clone().expecting(expect).reject(Some(&session), &feedback)?)
        }
    }
}

fn commented(done: &Commented) -> Result<CallToolResult, ToolError> {
    structured(&json!({ "comment": done.comment, "prompt_rewritten": done.is_prompt_rewritten }))
}

fn list_sessions(engine: &Engine, arguments: &ListArguments) -> Result<CallToolResult, ToolError> {
    let mut sessions = engine.list_all()?;
    engine.mark_overlaps(&mut sessions);
    sessions.retain(|session| arguments.profile.is_none() || arguments.profile == session.profile);
    sessions.retain(|session| arguments.status.is_none_or(|status| status == session.status));
    let total = sessions.len();
    sessions.truncate(arguments.limit);
    engine.mark_foreign(&mut sessions);
    for session in &mut sessions {
        session.error = session.error.as_deref().map(|error| without_machine_paths(error, engine.settings()));
    }
    structured(&json!({ "sessions": sessions, "total": total }))
}

/// A session report for clients, with the next actions in words.
#[derive(Serialize)]
struct StatusResult<'a> {
    #[serde(flatten)]
    report: &'a SessionReport,
    next: String,
}

fn decision(engine: &Engine, decided: &Decided) -> Result<CallToolResult, ToolError> {
    status_result(engine, &decided.report, &decided.performed)
}

/// The state of a session, with the performed steps as a separate text.
fn status_result(
    engine: &Engine,
    report: &SessionReport,
    performed: &[Performed],
) -> Result<CallToolResult, ToolError> {
    let mut result = structured(&StatusResult { report, next: worded(&report.next) })?;
    if !performed.is_empty() {
        let done = performed.iter().fold(String::new(), |mut text, done| {
            let _ = writeln!(text, "{done}");
            text
        });
        result.content.push(ContentBlock::text(without_machine_paths(&done, engine.settings())));
    }
    Ok(result)
}

/// A result as JSON, and as text for clients that read only text.
fn structured(result: &impl Serialize) -> Result<CallToolResult, ToolError> {
    let value = serde_json::to_value(result).map_err(|error| {
        ToolError::new(
            "E_INTERNAL",
            error.to_string(),
            "this is a bug in aiwf: please report it with the request",
        )
    })?;
    Ok(CallToolResult::structured(value))
}
