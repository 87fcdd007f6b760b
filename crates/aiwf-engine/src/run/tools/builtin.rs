//! The built-in tools: their names, descriptions and parameters.

use serde_json::{Value, json};

use super::ask_user;

/// A built-in tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    List,
    Read,
    Search,
    Write,
    ApplyPatch,
    AskUser,
    CompleteNode,
}

impl Builtin {
    /// In the order that a model sees them.
    pub(super) const ALL: [Self; 7] = [
        Self::List,
        Self::Read,
        Self::Search,
        Self::Write,
        Self::ApplyPatch,
        Self::AskUser,
        Self::CompleteNode,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::List => "fs.list",
            Self::Read => "fs.read",
            Self::Search => "fs.search",
            Self::Write => "fs.write",
            Self::ApplyPatch => "fs.apply_patch",
            Self::AskUser => "ui.ask_user",
            Self::CompleteNode => "workflow.complete_node",
        }
    }

    /// A name that every provider accepts: no dots.
    pub(super) fn api_name(self) -> &'static str {
        match self {
            Self::List => "fs_list",
            Self::Read => "fs_read",
            Self::Search => "fs_search",
            Self::Write => "fs_write",
            Self::ApplyPatch => "fs_apply_patch",
            Self::AskUser => "ui_ask_user",
            Self::CompleteNode => "workflow_complete_node",
        }
    }

    /// The tool with this name, in either form.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| name == tool.name() || name == tool.api_name())
    }

    /// The description for the model.
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::List => {
                "Lists the direct children of a directory; directories end in a slash. Hidden entries and links are left out."
            }
            Self::Read => {
                "Reads a UTF-8 text file, or the lines from startLine to endLine of it (counted from 1, both included). \
                 The size and the SHA-256 in the result are those of the whole file."
            }
            Self::Search => {
                "Finds lines in the files below a directory, or in one file. The pattern is plain text, or a regular \
                 expression between slashes: `/todo|fixme/i`. Search first, then read a window of a large file."
            }
            Self::Write => {
                "Writes a whole file under @project or @state, and the directories above it; what was there is replaced. \
                 With ifMatchSha256 it is refused when the file has changed since it was read."
            }
            Self::ApplyPatch => {
                "Changes keys in the front matter of a file under @state, such as @state/workflow.md, and leaves its text \
                 alone. Lists are appended to, single values and variables are set; nothing can be removed."
            }
            Self::AskUser => {
                "Asks the user something in a structured way and ends the turn; the answer is their next message. Use it \
                 instead of writing a form as text."
            }
            Self::CompleteNode => {
                "Marks the current node of the workflow as done and moves on along an edge of the graph. Declared outputs \
                 must exist; a decision is logged. Say `to` or `label` when there is more than one way."
            }
        }
    }

    /// The JSON Schema of its arguments.
    pub(super) fn parameters(self) -> Value {
        let path = |what: &str| json!({ "type": "string", "description": what });
        let count = |what: &str| json!({ "type": "integer", "minimum": 0, "description": what });
        let line = |what: &str| json!({ "type": "integer", "minimum": 1, "description": what });
        let sha256 =
            || json!({ "type": "string", "description": "The SHA-256 that the file must have now." });
        match self {
            Self::List => closed(
                json!({ "path": path("The directory: begins with @project, @pkg or @state.") }),
                &["path"],
            ),
            Self::Read => closed(
                json!({
                    "path": path("The file: begins with @project, @pkg or @state."),
                    "startLine": line("The first line to return."),
                    "endLine": line("The last line to return."),
                }),
                &["path"],
            ),
            Self::Search => closed(
                json!({
                    "path": path("The directory or file: begins with @project, @pkg or @state."),
                    "pattern": { "type": "string", "description": "Plain text, or `/expression/`, or `/expression/i`." },
                    "before": count("Number of lines before a match; the default is 1."),
                    "after": count("Number of lines after a match; the default is 1."),
                    "maxMatches": line("Maximum number of matches; the default is 50."),
                }),
                &["path", "pattern"],
            ),
            Self::Write => closed(
                json!({
                    "path": path("The file: begins with @project or @state."),
                    "content": { "type": "string", "description": "Its complete new content." },
                    "ifMatchSha256": sha256(),
                }),
                &["path", "content"],
            ),
            Self::ApplyPatch => {
                let change = closed(
                    json!({
                        "operation": { "type": "string", "enum": ["updateFrontmatter"] },
                        "update": front_matter_update(),
                        "ifMatchSha256": sha256(),
                    }),
                    &["operation", "update"],
                );
                closed(
                    json!({ "path": path("The file: begins with @state."), "patch": change }),
                    &["path", "patch"],
                )
            }
            Self::AskUser => ask_user::parameters(),
            Self::CompleteNode => closed(
                json!({
                    "nodeId": { "type": "string", "description": "The node that is done: the current one." },
                    "to": { "type": "string", "description": "The node to go to." },
                    "label": { "type": "string", "description": "The label of the edge to take." },
                    "reason": { "type": "string", "description": "The reason, recorded with the decision." },
                    "variables": { "type": "object", "description": "Variables to set." },
                    "artifacts": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "Created files, relative to the project.",
                    },
                }),
                &["nodeId"],
            ),
        }
    }
}

/// A schema of an object with these keys and no others.
#[allow(clippy::needless_pass_by_value, reason = "schemas are written where they are used")]
pub(super) fn closed(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn front_matter_update() -> Value {
    let append = |items: Value| closed(json!({ "append": { "type": "array", "items": items } }), &["append"]);
    let set = |value: Value| closed(json!({ "set": value }), &["set"]);
    let text = || json!({ "type": "string" });
    let decision = closed(
        json!({ "from": text(), "to": text(), "label": text(), "reason": text(), "decidedAt": text() }),
        &["from", "to", "label"],
    );
    closed(
        json!({
            "stepsCompleted": append(text()),
            "currentNodeId": set(text()),
            "variables": set(json!({ "type": "object" })),
            "decisionLog": append(decision),
            "artifacts": append(text()),
            "updatedAt": set(text()),
        }),
        &[],
    )
}
