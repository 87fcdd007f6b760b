//! A provider without a process or a network: it gives scripted answers and keeps every request.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use aiwf_prompt::Role;
use aiwf_provider::{
    Answer, Ask, AskError, Check, Payload, PayloadMessage, Reply, Request, Sink, ToolCall, Turn as Said,
    Usage,
};
use aiwf_testkit::model_server;
use serde_json::Value;

pub(crate) use aiwf_testkit::model_server::{Piece, Turn};

/// The model that answers, as replies name it.
pub(crate) const MODEL: &str = "scripted-model";
/// The header of a status that stands for a usage limit: when it ends, in seconds since 1970.
const LIMIT_UNTIL: &str = "limit-until";
/// How failures call the provider.
const NAME: &str = "model";

type Script = dyn FnMut(&Asked) -> Turn + Send;

/// A usage limit that ends at a time in seconds since 1970.
pub(crate) fn limit_until(at: u64) -> Turn {
    Turn::status_with_body(429, "used up").with_header(LIMIT_UNTIL, at.to_string())
}

/// Answers as its script says; clones share the script and what was asked.
#[derive(Clone)]
pub(crate) struct FakeProvider {
    script: Arc<Mutex<Box<Script>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    usage: Option<Usage>,
    is_free: bool,
}

/// A request as the provider got it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// What the call is: `planning-1`.
    pub(crate) name: String,
    pub(crate) payload: Payload,
    /// The names of the events of the only session or run by then.
    pub(crate) journal: Vec<String>,
}

impl FakeProvider {
    /// Hands out the answers in order; a request after the last one fails with status 400.
    pub(crate) fn script(turns: impl IntoIterator<Item = Turn>) -> Self {
        let mut turns: VecDeque<Turn> = turns.into_iter().collect();
        Self::answering(move |_| {
            let at_its_end = || Turn::status_with_body(400, "the script is at its end");
            turns.pop_front().unwrap_or_else(at_its_end)
        })
    }

    /// Replies with these texts, one after the other.
    pub(crate) fn saying<T: Into<String>>(replies: impl IntoIterator<Item = T>) -> Self {
        Self::script(replies.into_iter().map(Turn::text).collect::<Vec<_>>())
    }

    /// Asks a closure for each answer; one that panics stands for a process that dies during the call.
    pub(crate) fn answering(script: impl FnMut(&Asked) -> Turn + Send + 'static) -> Self {
        let usage = model_server::Usage::default();
        let usage = Usage {
            input_tokens: Some(usage.input()),
            output_tokens: Some(usage.output),
            cached_tokens: Some(usage.cache_read),
            cost: None,
        };
        Self {
            script: Arc::new(Mutex::new(Box::new(script))),
            asked: Arc::default(),
            usage: Some(usage),
            is_free: false,
        }
    }

    /// The whole text of every request so far, the system's first.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let text = |asked: &Asked| {
            let messages = asked.payload.messages.iter().map(PayloadMessage::text);
            std::iter::once(asked.system_text()).chain(messages).collect()
        };
        self.asks().iter().map(text).collect()
    }

    /// Every request so far.
    pub(crate) fn asks(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Ask for FakeProvider {
    fn is_free(&self) -> bool {
        self.is_free
    }

    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        let asked = Asked {
            name: request.name.to_owned(),
            payload: request.payload.clone(),
            journal: journal(request.directory),
        };
        let number = {
            let mut all = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(asked.clone());
            all.len()
        };
        // A script that panicked stands for a process that died; the next one asks the same provider.
        let turn = (self.script.lock().unwrap_or_else(PoisonError::into_inner))(&asked);
        let usage = self.usage.clone();
        let pieces = match turn {
            Turn::Text(text) => vec![Piece::Text(text)],
            Turn::ToolCall { name, args } => vec![Piece::ToolCall { name, args }],
            Turn::Pieces(pieces) => pieces,
            Turn::CutAfter { text, n_bytes } => {
                sink.text(text.get(..n_bytes).unwrap_or(&text)).map_err(AskError::Sink)?;
                let message = "the connection broke".to_owned();
                return Err(AskError::Cut { provider: NAME.to_owned(), message, usage: usage.map(Box::new) });
            }
            Turn::Status { headers, body, .. } if headers.iter().any(|(name, _)| name == LIMIT_UNTIL) => {
                let until = headers.iter().find(|(name, _)| name == LIMIT_UNTIL);
                let until = until.map(|(_, at)| at.parse().unwrap());
                return Err(AskError::LimitReached {
                    provider: NAME.to_owned(),
                    until,
                    message: body,
                    usage: None,
                });
            }
            Turn::Status { code, body, .. } => {
                let message = if body.is_empty() { format!("scripted status {code}") } else { body };
                return Err(AskError::Status { provider: NAME.to_owned(), status: code, message });
            }
            Turn::Hang(_) | Turn::Raw(_) | Turn::TextSlowly { .. } => {
                unreachable!("only a server can do that: {turn:?}")
            }
        };
        let mut tool_calls = Vec::new();
        let mut is_empty = true;
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    is_empty &= text.is_empty();
                    sink.text(&text).map_err(AskError::Sink)?;
                }
                Piece::Chunks(chunks) => {
                    for chunk in chunks {
                        is_empty &= chunk.is_empty();
                        sink.text(&chunk).map_err(AskError::Sink)?;
                    }
                }
                Piece::ToolCall { name, args } => {
                    let id = format!("call-{number}-{}", tool_calls.len() + 1);
                    tool_calls.push(ToolCall { id, name, arguments: args, signature: None });
                }
            }
        }
        if is_empty && tool_calls.is_empty() {
            return Err(AskError::Empty { provider: NAME.to_owned(), usage: usage.map(Box::new) });
        }
        let model = Some(MODEL.to_owned());
        Ok(Answer::Reply(Reply { usage, model, tool_calls, n_attempts: 1, ..Reply::default() }))
    }

    fn check(&self) -> Vec<Check> {
        Vec::new()
    }
}

impl Asked {
    /// The system text.
    pub(crate) fn system_text(&self) -> String {
        self.payload.system_text().unwrap_or_default()
    }

    /// The texts of the user, each block by itself.
    pub(crate) fn user_texts(&self) -> Vec<String> {
        let of_user = self.payload.messages.iter().filter(|message| message.role == Role::User);
        let mut texts: Vec<String> = of_user.flat_map(|message| message.blocks.iter().cloned()).collect();
        texts.extend(self.payload.turns.iter().filter_map(|turn| match turn {
            Said::User { content } => Some(content.to_string()),
            Said::Assistant { .. } | Said::Tool { .. } => None,
        }));
        texts
    }

    /// The messages of the user, the blocks of each joined.
    pub(crate) fn user_messages(&self) -> Vec<String> {
        let of_user = self.payload.messages.iter().filter(|message| message.role == Role::User);
        of_user.map(PayloadMessage::text).collect()
    }

    /// What tools answered.
    pub(crate) fn tool_results(&self) -> Vec<String> {
        let result = |turn: &Said| match turn {
            Said::Tool { content, .. } => Some(content.to_string()),
            Said::Assistant { .. } | Said::User { .. } => None,
        };
        self.payload.turns.iter().filter_map(result).collect()
    }

    /// The names of the tools that the model may call.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.payload.tools.iter().map(|tool| tool.name.clone()).collect()
    }

    /// What an agent reads, which gets all in one text.
    pub(crate) fn as_prompt(&self) -> String {
        let messages = self.payload.messages.iter().map(PayloadMessage::text);
        let turns = self.payload.turns.iter().map(|turn| turn.content().to_owned());
        messages.chain(turns).collect::<Vec<String>>().join("\n\n")
    }

    /// Everything that was sent, as one text.
    pub(crate) fn whole(&self) -> String {
        self.payload.canonical()
    }
}

/// The names of the events of the only session or run of a project.
pub(crate) fn journal(root: &Path) -> Vec<String> {
    let ledgers = ["sessions", "runs"].map(|kind| std::fs::read_dir(root.join(".aiwf").join(kind)).ok());
    let text: String = ledgers
        .into_iter()
        .flatten()
        .flat_map(Iterator::flatten)
        .filter_map(|ledger| std::fs::read_to_string(ledger.path().join("journal.jsonl")).ok())
        .collect();
    let name = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["event"]["event"].as_str().unwrap().to_owned()
    };
    text.lines().map(name).collect()
}
