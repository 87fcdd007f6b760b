//! Adds our entry to the text of a file and takes it out again; everything else of the text stays.
//!
//! Pure: text in, text out. JSON may have comments and trailing commas, as agents allow them.

use aiwf_provider::{INTEGRATION_COMMAND, INTEGRATION_NAME, IntegrationContent};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edited {
    Text(String),
    /// It is as it should be already.
    Same,
    /// An entry of our name starts something else.
    Foreign(String),
}

impl Edited {
    pub(super) fn text_or(self, same: &str) -> String {
        match self {
            Self::Text(text) => text,
            Self::Same | Self::Foreign(_) => same.to_owned(),
        }
    }
}

pub(super) fn add(text: &str, content: IntegrationContent) -> Result<Edited, String> {
    match content {
        IntegrationContent::JsonServer { servers, has_type } => add_json(text, servers, has_type),
        IntegrationContent::TomlServer { servers } => add_toml(text, servers),
        IntegrationContent::Own(own) => Ok(Edited::Text(own.to_owned())),
    }
}

/// `made_servers` says that we made the object of servers as well: empty, it goes with the entry.
pub(super) fn remove(text: &str, content: IntegrationContent, made_servers: bool) -> Result<Edited, String> {
    match content {
        IntegrationContent::JsonServer { servers, .. } => remove_json(text, servers, made_servers),
        IntegrationContent::TomlServer { servers } => remove_toml(text, servers),
        IntegrationContent::Own(_) => Ok(Edited::Same),
    }
}

/// Whether an entry starts `aiwf mcp`, with whatever flags.
fn is_ours(command: &str, first_argument: Option<&str>) -> bool {
    let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let program = program.strip_suffix(".exe").unwrap_or(program);
    program == INTEGRATION_COMMAND.0 && first_argument == INTEGRATION_COMMAND.1.first().copied()
}

fn parsed(text: &str) -> Result<(CstRootNode, CstObject), String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root = CstRootNode::parse(text, &options).map_err(|error| error.to_string())?;
    let object = root.object_value_or_create().ok_or("it is not a JSON object")?;
    Ok((root, object))
}

/// The command of a JSON entry, and whether it is ours.
fn json_entry(servers: &CstObject) -> Option<(String, bool)> {
    let entry = servers.get(INTEGRATION_NAME)?;
    let value = entry.to_serde_value().unwrap_or(Value::Null);
    let command = value.get("command").and_then(Value::as_str).unwrap_or_default();
    let arguments = value.get("args").and_then(Value::as_array);
    let first = arguments.and_then(|arguments| arguments.first()?.as_str());
    let shown = std::iter::once(command)
        .chain(arguments.into_iter().flatten().filter_map(Value::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    Some((shown, is_ours(command, first)))
}

fn add_json(text: &str, servers: &str, has_type: bool) -> Result<Edited, String> {
    let is_new = text.trim().is_empty();
    let (root, object) = parsed(text)?;
    let servers =
        object.object_value_or_create(servers).ok_or_else(|| format!("`{servers}` is not an object"))?;
    match json_entry(&servers) {
        Some((_, true)) => return Ok(Edited::Same),
        Some((found, false)) => return Ok(Edited::Foreign(found)),
        None => {}
    }
    let text_value = |text: &str| CstInputValue::String(text.to_owned());
    let (command, arguments) = INTEGRATION_COMMAND;
    let mut entry: Vec<(String, CstInputValue)> = Vec::new();
    if has_type {
        entry.push(("type".to_owned(), text_value("stdio")));
    }
    entry.push(("command".to_owned(), text_value(command)));
    let arguments = arguments.iter().map(|argument| text_value(argument)).collect();
    entry.push(("args".to_owned(), CstInputValue::Array(arguments)));
    servers.append(INTEGRATION_NAME, CstInputValue::Object(entry));
    let made = root.to_string();
    Ok(Edited::Text(if is_new { made.trim_end().to_owned() + "\n" } else { made }))
}

fn remove_json(text: &str, servers_name: &str, made_servers: bool) -> Result<Edited, String> {
    let (root, object) = parsed(text)?;
    let Some(servers) = object.object_value(servers_name) else { return Ok(Edited::Same) };
    match json_entry(&servers) {
        None => return Ok(Edited::Same),
        Some((found, false)) => return Ok(Edited::Foreign(found)),
        Some((_, true)) => {}
    }
    if let Some(entry) = servers.get(INTEGRATION_NAME) {
        entry.remove();
    }
    if made_servers
        && servers.properties().is_empty()
        && let Some(property) = object.get(servers_name)
    {
        property.remove();
    }
    Ok(Edited::Text(root.to_string()))
}

fn toml_document(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| error.message().replace('\n', " "))
}

/// The command of a TOML entry, and whether it is ours.
fn toml_entry(document: &DocumentMut, servers: &str) -> Option<(String, bool)> {
    let entry = document.get(servers)?.as_table_like()?.get(INTEGRATION_NAME)?;
    let table = entry.as_table_like();
    let command = table.and_then(|table| table.get("command")?.as_str()).unwrap_or_default();
    let arguments: Vec<&str> = table
        .and_then(|table| table.get("args")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(toml_edit::Value::as_str)
        .collect();
    let shown = std::iter::once(command).chain(arguments.iter().copied()).collect::<Vec<_>>().join(" ");
    Some((shown, is_ours(command, arguments.first().copied())))
}

/// Appends a table: nothing of the file is written anew.
fn add_toml(text: &str, servers: &str) -> Result<Edited, String> {
    let document = toml_document(text)?;
    match toml_entry(&document, servers) {
        Some((_, true)) => return Ok(Edited::Same),
        Some((found, false)) => return Ok(Edited::Foreign(found)),
        None => {}
    }
    let (command, arguments) = INTEGRATION_COMMAND;
    let arguments: Vec<String> = arguments.iter().map(|argument| format!("\"{argument}\"")).collect();
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let made = format!(
        "{text}{gap}[{servers}.{INTEGRATION_NAME}]\ncommand = \"{command}\"\nargs = [{}]\n",
        arguments.join(", ")
    );
    // Where the table of servers is written in another form, a table cannot be appended.
    match toml_document(&made).map(|document| toml_entry(&document, servers)) {
        Ok(Some((_, true))) => Ok(Edited::Text(made)),
        Ok(_) | Err(_) => Err(format!("`{servers}` is not written as tables, so no table can be added")),
    }
}

fn remove_toml(text: &str, servers: &str) -> Result<Edited, String> {
    let mut document = toml_document(text)?;
    match toml_entry(&document, servers) {
        None => return Ok(Edited::Same),
        Some((found, false)) => return Ok(Edited::Foreign(found)),
        Some((_, true)) => {}
    }
    if let Some(table) = document.get_mut(servers).and_then(Item::as_table_like_mut) {
        let table: &mut dyn TableLike = table;
        // Comments above the entry are the user's.
        let kept = comments_above(table.get(INTEGRATION_NAME));
        table.remove(INTEGRATION_NAME);
        if !kept.is_empty() {
            let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(format!("{kept}{trailing}"));
        }
    }
    Ok(Edited::Text(document.to_string()))
}

fn comments_above(entry: Option<&Item>) -> String {
    let prefix =
        entry.and_then(Item::as_table).and_then(|table| table.decor().prefix()?.as_str()).unwrap_or_default();
    if prefix.trim().is_empty() { String::new() } else { prefix.to_owned() }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
