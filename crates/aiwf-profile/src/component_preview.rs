//! Shows a generated React component: its highlighted source and its props.
//!
//! In: the generated files. Out: the component's file and its props, read from its types, its `propTypes` or its
//! parameters; as text or as a page that needs no network. The source is parsed, never run.

mod lexer;
mod page;
mod props;

use std::fmt::Write as _;

use serde::Serialize;

pub use lexer::{TokenKind, highlight};

use crate::problem::excerpt;
use crate::relative_path::file_name;
use crate::text_table::text_table;

/// A generated component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComponentPreview {
    pub component: String,
    /// The path of its file, as generated.
    pub file: String,
    pub source: String,
    pub props: Vec<Prop>,
    /// Types whose props it also accepts.
    pub also_takes: Vec<String>,
    /// The other generated files, as (path, content).
    pub other_files: Vec<(String, String)>,
}

/// A prop of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prop {
    pub name: String,
    /// The type as written in the source; empty if unknown.
    #[serde(rename = "type")]
    pub type_text: String,
    pub is_required: bool,
    /// The default, as written in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The comment about it in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Why there is no component to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no component{}{}", shown_name(.component.as_deref()), shown_files(.files))]
pub struct NoComponent {
    pub component: Option<String>,
    /// The files that were searched.
    pub files: Vec<String>,
}

impl NoComponent {
    pub fn hint(&self) -> &'static str {
        if self.files.is_empty() {
            "approve a reply with code first; `aiwf status` shows what the session is waiting for"
        } else if self.component.is_some() {
            "omit the name to see the first component"
        } else {
            "reject the reply and ask for a component: `aiwf reject --feedback TEXT`"
        }
    }
}

fn shown_name(component: Option<&str>) -> String {
    component.map_or_else(String::new, |name| format!(" `{}`", excerpt(name)))
}

fn shown_files(files: &[String]) -> String {
    match files {
        [] => ", because no file was generated".to_owned(),
        files => format!(" in {}", crate::problem::ticked(files.iter().map(String::as_str))),
    }
}

/// Finds the component in generated files, given as (path, content).
pub fn component_preview(
    files: &[(&str, &str)],
    component: Option<&str>,
) -> Result<ComponentPreview, NoComponent> {
    let sources: Vec<&(&str, &str)> = files.iter().filter(|(path, _)| is_component_file(path)).collect();
    let named = |name: &str| sources.iter().find(|(path, _)| stem(path) == name).copied();
    let holding = |name: &str| sources.iter().find(|(_, source)| props::declares(source, name)).copied();
    let found = match component {
        Some(name) => named(name).or_else(|| holding(name)).map(|file| (name.to_owned(), file)),
        None => sources.iter().find_map(|file| Some((props::exported_component(file.1)?, *file))),
    };
    let Some((name, (path, source))) = found else {
        let files = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        return Err(NoComponent { component: component.map(str::to_owned), files });
    };
    let (props, also_takes) = props::read_props(source, &name);
    let other_files = files
        .iter()
        .filter(|(other, _)| other != path)
        .map(|(path, content)| ((*path).to_owned(), (*content).to_owned()))
        .collect();
    Ok(ComponentPreview {
        component: name,
        file: (*path).to_owned(),
        source: (*source).to_owned(),
        props,
        also_takes,
        other_files,
    })
}

impl ComponentPreview {
    /// The name and props of the component as text.
    pub(crate) fn summary(&self) -> String {
        let mut text = format!("{} ({})\n", self.component, self.file);
        if self.props.is_empty() {
            text.push_str("  no own props\n");
        } else {
            let header = ["prop", "type", "required", "default", ""].map(str::to_owned).to_vec();
            let rows = self.props.iter().map(|prop| {
                let required = if prop.is_required { "yes" } else { "no" };
                let default = prop.default.clone().unwrap_or_default();
                let help = prop.help.clone().unwrap_or_default();
                vec![prop.name.clone(), prop.type_text.clone(), required.to_owned(), default, help]
            });
            text.push_str(&text_table(std::iter::once(header).chain(rows).collect(), "  "));
        }
        for other in &self.also_takes {
            let _ = writeln!(text, "  and the props of {other}");
        }
        text
    }

    /// The summary and the source.
    pub fn text(&self) -> String {
        let end = if self.source.ends_with('\n') { "" } else { "\n" };
        format!("{}\n{}{end}", self.summary(), self.source)
    }

    /// A standalone page with props and highlighted source; it loads nothing and runs nothing.
    pub fn html(&self) -> String {
        page::page(self)
    }
}

fn is_component_file(path: &str) -> bool {
    let name = file_name(path);
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let is_other =
        [".test", ".spec", ".stories", ".d"].iter().any(|end| stem.ends_with(end)) || stem == "index";
    matches!(extension, "tsx" | "jsx" | "ts" | "js") && !is_other
}

fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
#[path = "component_preview_tests.rs"]
mod tests;
