//! Folds the journal of a run into its conversation and status.
//!
//! In: events. Out: their fold. Pure: reads no file, so it does not know the position in the workflow, only the state
//! files that the journal names.

use aiwf_provider::{SharedText, ToolCall};
use aiwf_session::{LeftOut, SentParts, Total};
use serde_json::Value;

use super::event::{Block, Fault, Layer, RunEvent, RunKind, RunPhase, RunSetup, StateWriter};

/// In characters; enough to recognize a conversation.
const MAX_FIRST_WORDS: usize = 200;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    /// A message from the engine or the user.
    Block {
        block: Block,
        /// Whether there was a current node.
        has_node: bool,
    },
    /// A message from the model, with text, calls or both.
    Assistant { text: SharedText, calls: Vec<ToolCall> },
    /// The result of a tool call.
    Result {
        id: String,
        /// The tool's name as the model wrote it.
        name: String,
        content: SharedText,
        is_error: bool,
        /// The part of the result that the model does not see.
        left_out: Option<Box<LeftOut>>,
    },
}

/// The state files that the journal knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownState {
    /// What caused the last write; `None` before the first.
    pub(crate) by: Option<StateWriter>,
    /// The hash before the last write.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) setup: Option<RunSetup>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) phase: Option<RunPhase>,
    pub(crate) fault: Option<Fault>,
    pub(crate) question: Option<Value>,
    /// The model's last message.
    pub(crate) reply: Option<SharedText>,
    /// Whether it contains calls, which a model without native tools writes into its text.
    pub(crate) is_reply_with_calls: bool,
    pub(crate) state: Option<KnownState>,
    /// Calls of the last reply without a result.
    pub(crate) open_calls: Vec<ToolCall>,
    /// The node and agent that the model was last told about.
    pub(crate) announced: Option<(Option<String>, Option<String>)>,
    pub(crate) total: Total,
    /// Whether a request has no reply yet.
    pub(crate) is_asking: bool,
    pub(crate) provider: Option<String>,
    pub(crate) n_tool_calls: u64,
    /// Parts that the last request left out.
    pub(crate) left_out: Vec<LeftOut>,
    /// Rules and tools of the last request.
    pub(crate) parts: Option<SentParts>,
}

impl Record {
    /// The model's last message without the calls in its text.
    pub(crate) fn reply_in_words(&self) -> Option<String> {
        let reply = self.reply.as_ref()?;
        if !self.is_reply_with_calls {
            return Some(reply.to_string());
        }
        let parsed = aiwf_reply::parse_tool_calls(reply).value;
        if parsed.calls.is_empty() { Some(reply.to_string()) } else { parsed.message }
    }

    pub(crate) fn fold<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Self {
        let mut record = Self::default();
        for event in events {
            record.evolve(event);
        }
        record
    }

    pub(crate) fn kind(&self) -> RunKind {
        self.setup.as_ref().map_or(RunKind::Run, |setup| setup.kind)
    }

    pub(crate) fn package_name(&self) -> Option<String> {
        Some(self.setup.as_ref()?.package.as_ref()?.name.clone())
    }

    pub(crate) fn workflow_id(&self) -> Option<String> {
        self.setup.as_ref()?.workflow.clone()
    }

    /// The user's first message.
    pub(crate) fn first_words(&self) -> Option<String> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Block { block, .. } if block.layer == Layer::UserInput => {
                Some(block.text.chars().take(MAX_FIRST_WORDS).collect())
            }
            Entry::Block { .. } | Entry::Assistant { .. } | Entry::Result { .. } => None,
        })
    }

    /// The status; `running` if the journal does not say how the turn ended.
    pub(crate) fn phase(&self) -> RunPhase {
        self.phase.unwrap_or(RunPhase::Running)
    }

    pub(crate) fn evolve(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunCreated { setup } => {
                let sha256 = setup.state_sha256.clone();
                self.state = sha256.map(|after| KnownState { by: None, before: None, after });
                self.phase = Some(RunPhase::WaitingUser);
                self.provider = Some(setup.provider.clone());
                self.setup = Some((**setup).clone());
            }
            RunEvent::Said { blocks, node, agent, .. } => {
                // An earlier answer does not answer a new question.
                if self.phase() != RunPhase::Running {
                    self.reply = None;
                }
                let has_node = node.is_some();
                self.entries
                    .extend(blocks.iter().map(|block| Entry::Block { block: block.clone(), has_node }));
                self.announced = Some((node.clone(), agent.clone()));
                self.begin();
            }
            RunEvent::RunAsked { provider, left_out, parts, .. } => {
                self.left_out.clone_from(left_out);
                if let Some(parts) = parts {
                    self.parts = Some((**parts).clone());
                }
                // A request without a reply may have cost something.
                if self.is_asking {
                    self.total = self.total.with(None);
                }
                self.is_asking = true;
                self.provider = Some(provider.clone());
                self.begin();
            }
            RunEvent::RunReplied { text, tool_calls, call } => {
                self.add_usage(call.usage.as_ref());
                self.entries.push(Entry::Assistant { text: text.clone(), calls: tool_calls.clone() });
                self.open_calls.clone_from(tool_calls);
                if !text.trim().is_empty() {
                    self.reply = Some(text.clone());
                    self.is_reply_with_calls = !tool_calls.is_empty();
                }
            }
            RunEvent::RunAskFailed { fault, text, call } => {
                self.add_usage(call.usage.as_ref());
                // Partial text stays in the conversation, marked, so that the model can continue from it.
                if !text.trim().is_empty() {
                    let text = format!("{text}\n\nLLM_ERROR\n- code: {}", fault.code);
                    self.entries.push(Entry::Assistant { text: text.into(), calls: Vec::new() });
                }
            }
            RunEvent::StateIntended { by, before, after } => {
                let (by, before) = (Some(by.clone()), Some(before.clone()));
                self.state = Some(KnownState { by, before, after: after.clone() });
            }
            RunEvent::ToolRan { exec, content, is_error, left_out } => {
                self.n_tool_calls += 1;
                let id = &exec.tool_call_id;
                let position = self.open_calls.iter().position(|call| call.id == *id);
                let name = position.map(|position| self.open_calls.remove(position).name);
                self.entries.push(Entry::Result {
                    id: id.clone(),
                    name: name.unwrap_or_else(|| exec.tool_name.clone()),
                    content: content.clone(),
                    is_error: *is_error,
                    left_out: left_out.clone(),
                });
            }
            RunEvent::RunStopped { phase, fault, question } => {
                self.phase = Some(*phase);
                self.fault.clone_from(fault);
                self.question.clone_from(question);
            }
            RunEvent::Rewound { .. } => {
                self.phase = Some(RunPhase::WaitingUser);
                self.fault = None;
                self.question = None;
                self.announced = None;
            }
            RunEvent::RunCancelled { .. } => {
                self.phase = Some(RunPhase::Cancelled);
                self.question = None;
            }
        }
    }

    fn begin(&mut self) {
        self.phase = Some(RunPhase::Running);
        self.fault = None;
        self.question = None;
    }

    fn add_usage(&mut self, usage: Option<&aiwf_session::Usage>) {
        self.is_asking = false;
        self.total = self.total.with(usage);
    }
}
