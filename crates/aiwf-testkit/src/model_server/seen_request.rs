//! A request as the server saw it, and what it says whichever API it speaks.

use serde_json::Value;

/// The API that a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    Chat,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

/// One HTTP request.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenRequest {
    /// The method, in upper case.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null when it is no JSON.
    pub body: Value,
    /// The bytes of the body.
    pub raw_body: Vec<u8>,
    /// The API when the model is asked; none for checks, lists and anything else.
    pub flavour: Option<Flavour>,
}

/// Who says a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    System,
    User,
    Assistant,
    Tool,
}

impl SeenRequest {
    pub(super) fn new(
        method: String,
        path: String,
        headers: Vec<(String, String)>,
        raw_body: Vec<u8>,
    ) -> Self {
        let body = serde_json::from_slice(&raw_body).unwrap_or_default();
        let flavour = flavour(&method, &path);
        Self { method, path, headers, body, raw_body, flavour }
    }

    /// The value of a header; its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The model that is asked for.
    pub fn model(&self) -> &str {
        if self.flavour == Some(Flavour::Gemini) {
            let name = self.bare_path().rsplit('/').next().unwrap_or_default();
            return name.split(':').next().unwrap_or_default();
        }
        self.body.get("model").and_then(Value::as_str).unwrap_or_default()
    }

    /// The texts of the user, each text part by itself, as they arrived.
    pub fn user_texts(&self) -> Vec<String> {
        self.texts_of(Role::User)
    }

    /// The messages of the user, the text parts of each joined: how a message is cut into parts does not matter.
    pub fn user_messages(&self) -> Vec<String> {
        let key = match self.flavour {
            Some(Flavour::Responses) => "input",
            Some(Flavour::Gemini) => "contents",
            Some(Flavour::Anthropic | Flavour::Chat) | None => "messages",
        };
        if let Some(Value::String(text)) = self.body.get(key) {
            return vec![text.clone()];
        }
        let said_by_user = |message: &Value| {
            let mut texts = Vec::new();
            collect_message(message, &mut texts);
            let is_users = texts.iter().any(|(role, _)| *role == Role::User);
            is_users.then(|| {
                texts.into_iter().filter(|(role, _)| *role == Role::User).map(|(_, text)| text).collect()
            })
        };
        list(self.body.get(key)).iter().filter_map(said_by_user).collect()
    }

    /// The system or developer text, its parts joined by line feeds.
    pub fn system_text(&self) -> String {
        self.texts_of(Role::System).join("\n")
    }

    /// What tools answered; an object as JSON.
    pub fn tool_results(&self) -> Vec<String> {
        self.texts_of(Role::Tool)
    }

    /// Every text part, whoever says it, system first.
    pub fn text_parts(&self) -> Vec<String> {
        self.texts().into_iter().map(|(_, text)| text).collect()
    }

    /// The names of the tools that the model may call.
    pub fn tool_names(&self) -> Vec<String> {
        let name = |tool: &Value| {
            let tool = tool.get("function").unwrap_or(tool);
            tool.get("name").or_else(|| tool.get("type")).and_then(Value::as_str).map(str::to_owned)
        };
        let declared = |tool: &Value| match tool.get("functionDeclarations").and_then(Value::as_array) {
            Some(functions) => functions.iter().filter_map(name).collect(),
            None => name(tool).into_iter().collect::<Vec<_>>(),
        };
        list(self.body.get("tools")).iter().flat_map(declared).collect()
    }

    pub(super) fn bare_path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    pub(super) fn wants_stream(&self) -> bool {
        match self.flavour {
            Some(Flavour::Gemini) => self.bare_path().ends_with(":streamGenerateContent"),
            _ => self.body.get("stream").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    fn texts_of(&self, role: Role) -> Vec<String> {
        self.texts().into_iter().filter(|(own, _)| *own == role).map(|(_, text)| text).collect()
    }

    fn texts(&self) -> Vec<(Role, String)> {
        let mut texts = Vec::new();
        let (system, messages) = match self.flavour {
            Some(Flavour::Responses) => ("instructions", "input"),
            Some(Flavour::Gemini) if self.body.get("system_instruction").is_some() => {
                ("system_instruction", "contents")
            }
            Some(Flavour::Gemini) => ("systemInstruction", "contents"),
            Some(Flavour::Anthropic | Flavour::Chat) | None => ("system", "messages"),
        };
        if let Some(system) = self.body.get(system) {
            collect(Role::System, system.get("parts").unwrap_or(system), &mut texts);
        }
        match self.body.get(messages) {
            Some(Value::String(text)) => texts.push((Role::User, text.clone())),
            messages => list(messages).iter().for_each(|message| collect_message(message, &mut texts)),
        }
        texts
    }
}

fn flavour(method: &str, path: &str) -> Option<Flavour> {
    let path = path.split('?').next().unwrap_or_default();
    if method != "POST" {
        None
    } else if path.ends_with("/responses") {
        Some(Flavour::Responses)
    } else if path.ends_with("/chat/completions") {
        Some(Flavour::Chat)
    } else if path.ends_with("/v1/messages") {
        Some(Flavour::Anthropic)
    } else if path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent") {
        Some(Flavour::Gemini)
    } else {
        None
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn collect_message(message: &Value, texts: &mut Vec<(Role, String)>) {
    let text = |key: &str| message.get(key).and_then(Value::as_str);
    let role = match (text("role"), text("type")) {
        (Some("system" | "developer"), _) => Role::System,
        (Some("assistant" | "model"), _) => Role::Assistant,
        (Some("tool"), _) | (None, Some("function_call_output" | "custom_tool_call_output")) => Role::Tool,
        (Some(_), _) | (None, None) => Role::User,
        // An item that nobody says: reasoning, a call, a list of tools.
        (None, Some(_)) => return,
    };
    for key in ["content", "parts", "output"] {
        if let Some(value) = message.get(key) {
            collect(role, value, texts);
        }
    }
}

/// Adds the texts of a message's value: a string, or parts of which some are text and some what a tool answered.
fn collect(role: Role, value: &Value, texts: &mut Vec<(Role, String)>) {
    match value {
        Value::String(text) => texts.push((role, text.clone())),
        Value::Array(parts) => parts.iter().for_each(|part| collect(role, part, texts)),
        Value::Object(part) => {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                texts.push((role, text.to_owned()));
            } else if let Some(answer) = part.get("functionResponse").and_then(|own| own.get("response")) {
                texts.push((Role::Tool, answer.to_string()));
            } else if part.get("type").and_then(Value::as_str) == Some("tool_result")
                && let Some(answer) = part.get("content")
            {
                collect(Role::Tool, answer, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
