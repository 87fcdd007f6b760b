//! A tool of a server.

use aiwf_store::sha256_hex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The longest name of a tool that MCP allows.
const MAX_NAME: usize = 128;
/// The longest name that model APIs allow.
const MAX_API_NAME: usize = 64;

/// What a server declares about the behaviour of a tool. These are hints: only pinned ones count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It interacts with the outside world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tool {
    pub server: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of its structured results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The behaviour that the server declares.
    pub annotations: Annotations,
}

/// The parts of a tool that a pin covers, as hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) description: String,
    pub(crate) schema: String,
    pub(crate) annotations: String,
}

impl Tool {
    /// The name used in grants and calls.
    pub fn full_name(&self) -> String {
        full_name(&self.server, &self.name)
    }

    /// The name for model APIs: letters, digits, `_` and `-`, at most 64.
    ///
    /// It is only shown to a model; names that come back are looked up, never parsed.
    pub fn api_name(&self) -> String {
        let full = self.full_name();
        let is_fine = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
        if full.len() <= MAX_API_NAME && full.chars().all(is_fine) {
            return full;
        }
        let plain: String =
            full.chars().map(|character| if is_fine(character) { character } else { '_' }).collect();
        let hash: String = sha256_hex(full.as_bytes()).chars().take(8).collect();
        let start: String = plain.chars().take(MAX_API_NAME - 9).collect();
        format!("{start}_{hash}")
    }

    /// SHA-256 of its name, description, schemas and annotations.
    pub fn sha256(&self) -> String {
        let Parts { description, schema, annotations } = self.parts();
        sha256_hex(json!([self.name, description, schema, annotations]).to_string().as_bytes())
    }

    pub(crate) fn parts(&self) -> Parts {
        let hash = |value: Value| sha256_hex(canonical(&value).to_string().as_bytes());
        Parts {
            description: hash(json!([self.title, self.description])),
            schema: hash(json!([self.input_schema, self.output_schema])),
            annotations: hash(json!(self.annotations)),
        }
    }
}

pub(crate) fn full_name(server: &str, tool: &str) -> String {
    format!("{server}__{tool}")
}

/// Whether a name is valid for a tool, by the characters in MCP's specification.
pub(crate) fn is_tool_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
}

/// The value with sorted keys: servers and models may change the order every time.
pub fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), canonical(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn tool(server: &str, name: &str) -> Tool {
        Tool {
            server: server.to_owned(),
            name: name.to_owned(),
            title: None,
            description: Some("Does it.".to_owned()),
            input_schema: json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            output_schema: None,
            annotations: Annotations::default(),
        }
    }

    #[test]
    fn the_order_of_keys_does_not_count_and_everything_else_does() {
        let one = tool("s", "t");
        let mut other = one.clone();
        other.input_schema = json!({"properties": {"a": {"type": "string"}}, "type": "object"});
        assert_eq!(one.sha256(), other.sha256());
        let changes: [fn(&mut Tool); 6] = [
            |tool| tool.name = "u".to_owned(),
            |tool| tool.title = Some("T".to_owned()),
            |tool| tool.description = Some("Does it and tells on you.".to_owned()),
            |tool| tool.input_schema = json!({"type": "object"}),
            |tool| tool.output_schema = Some(json!({})),
            |tool| tool.annotations.read_only_hint = Some(true),
        ];
        for change in changes {
            let mut different = one.clone();
            change(&mut different);
            assert_ne!(one.sha256(), different.sha256(), "{different:?}");
        }
    }

    #[test]
    fn a_model_api_gets_a_name_it_takes() {
        assert_eq!(tool("s", "read_file").api_name(), "s__read_file");
        let odd = tool("s", "a.b/c").api_name();
        assert!(odd.starts_with("s__a_b_c_") && odd.len() == 17, "{odd}");
        assert_ne!(odd, tool("s", "a/b.c").api_name());
        assert_eq!(tool("s", &"x".repeat(120)).api_name().len(), MAX_API_NAME);
    }

    #[test]
    fn names_have_the_characters_of_the_specification() {
        assert!(is_tool_name("get-tiny_image.v2/x"));
        for name in ["", "a b", "a\n", "ä", &"x".repeat(129)] {
            assert!(!is_tool_name(name), "{name}");
        }
    }
}
