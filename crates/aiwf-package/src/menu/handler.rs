//! What a selected item does.

use aiwf_reply::parse_front_matter;
use serde_json::{Map, Value};

use super::alias_path::{data, expand, extension};
use super::{MenuCommand, MenuError, Mount, alias_path, names};
use crate::agent::{AgentDefinition, MenuItem};
use crate::files::Files;
use crate::package::{Package, Workflow};
use crate::schema::short;

/// The action of an item or of one of its triggers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handler<'a> {
    workflow: Option<&'a str>,
    exec: Option<&'a str>,
    action: Option<&'a str>,
    data: Option<&'a str>,
    validate_workflow: Option<&'a str>,
}

/// The action of the item itself; if it has none and exactly one trigger has one, that of the trigger.
pub(super) fn own(item: &MenuItem) -> Handler<'_> {
    let own = Handler {
        workflow: filled(item.workflow.as_deref()),
        exec: filled(item.exec.as_deref()),
        action: filled(item.action.as_deref()),
        data: filled(item.data.as_deref()),
        validate_workflow: filled(item.validate_workflow.as_deref()),
    };
    if own.workflow.or(own.exec).or(own.action).is_some() {
        return own;
    }
    let mut handlers = names::handlers(item);
    match (handlers.next(), handlers.next()) {
        (Some(only), None) => of_trigger(only),
        _ => own,
    }
}

/// The action of a trigger with a handler. It inherits the data file of its item.
pub(super) fn of_trigger(trigger: &Map<String, Value>) -> Handler<'_> {
    let text = |key: &str| filled(trigger.get(key).and_then(Value::as_str));
    Handler {
        workflow: text("workflow"),
        exec: text("exec"),
        action: text("action"),
        data: text("data"),
        validate_workflow: text("validate-workflow"),
    }
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

impl Handler<'_> {
    /// The command, with everything it needs from the package.
    pub(super) fn command(
        self,
        package: &Package,
        agent: &AgentDefinition,
        item: &MenuItem,
    ) -> Result<MenuCommand, MenuError> {
        let data = self.data.map(|written| data(&package.files, written)).transpose()?;
        if let Some(name) = self.workflow {
            let workflow = find_workflow(&package.workflows, name)?;
            return self.start(package, workflow, data);
        }
        if let Some(written) = self.exec {
            let (path, content) = match script(&package.files, &package.workflows, written)? {
                Script::Workflow(workflow) => return self.start(package, workflow, data),
                Script::Text(path, content) => (path, content.map(str::to_owned)),
            };
            return Ok(MenuCommand::ExecScript { path, content, data });
        }
        let Some(action) = self.action else {
            // An item with only a description sends that description.
            return Ok(MenuCommand::RunAction { text: item.description.clone(), data });
        };
        if let Some(id) = action.strip_prefix('#').map(str::trim) {
            let prompt = agent.prompts.iter().find(|prompt| prompt.id == id);
            let prompt = prompt.ok_or_else(|| MenuError::UnknownPrompt {
                id: short(id),
                agent: agent.id.clone(),
                known: agent.prompts.iter().map(|prompt| prompt.id.clone()).collect(),
            })?;
            return Ok(MenuCommand::RunAction { text: expand(&prompt.content), data });
        }
        Ok(match action {
            "menu.show" => MenuCommand::ShowMenu,
            "agent.dismiss" => MenuCommand::DismissAgent,
            "run.resume" => MenuCommand::ResumeRun,
            text => MenuCommand::RunAction { text: expand(text), data },
        })
    }

    fn start(
        self,
        package: &Package,
        workflow: &Workflow,
        data: Option<super::MenuData>,
    ) -> Result<MenuCommand, MenuError> {
        let mut problems = Vec::new();
        let mut validate = Vec::new();
        for written in self
            .validate_workflow
            .into_iter()
            .flat_map(|list| list.split(','))
            .filter_map(|one| filled(Some(one)))
        {
            if package.workflows.iter().any(|workflow| workflow.id == written) {
                continue;
            }
            let path = alias_path(written)?;
            match path.mount {
                Mount::Project | Mount::State => validate.push(path.shown()),
                Mount::Package if package.files.contains_key(&path.relative) => {}
                Mount::Package => problems.push(format!("`{}` is not in the package", short(&path.shown()))),
            }
        }
        if problems.is_empty() {
            Ok(MenuCommand::StartWorkflow { workflow: workflow.id.clone(), data, validate })
        } else {
            Err(MenuError::NotValid { problems })
        }
    }
}

/// The workflow that a menu refers to, by id or by document.
pub(crate) fn find_workflow<'a>(workflows: &'a [Workflow], name: &str) -> Result<&'a Workflow, MenuError> {
    if let Some(workflow) = workflows.iter().find(|workflow| workflow.id == name) {
        return Ok(workflow);
    }
    match extension(name).as_deref() {
        Some("yaml" | "yml" | "xml") => Err(MenuError::ClassicWorkflow { path: short(name) }),
        Some("md") => {
            let path = alias_path(name)?;
            let of_path = |workflow: &&Workflow| {
                path.mount == Mount::Package && workflow.workflow_path == path.relative
            };
            workflows.iter().find(of_path).ok_or_else(|| unknown_workflow(workflows, name))
        }
        _ => Err(unknown_workflow(workflows, name)),
    }
}

fn unknown_workflow(workflows: &[Workflow], name: &str) -> MenuError {
    let known = workflows.iter().map(|workflow| workflow.id.clone()).collect();
    MenuError::UnknownWorkflow { name: short(name), known }
}

/// The meaning of a file that a menu runs.
pub(crate) enum Script<'a> {
    /// The document of a workflow.
    Workflow(&'a Workflow),
    /// A text: the file by alias, and its content if it is in the package.
    Text(String, Option<&'a str>),
}

/// The file that a menu runs.
pub(crate) fn script<'a>(
    files: &'a Files,
    workflows: &'a [Workflow],
    written: &str,
) -> Result<Script<'a>, MenuError> {
    match extension(written).as_deref() {
        Some("md") => {}
        Some("yaml" | "yml" | "xml") => return Err(MenuError::ClassicWorkflow { path: short(written) }),
        _ => {
            let problem = format!("`{}` is not Markdown, so it cannot be run", short(written));
            return Err(MenuError::NotValid { problems: vec![problem] });
        }
    }
    let path = alias_path(written)?;
    if path.name().eq_ignore_ascii_case("workflow.md") {
        return find_workflow(workflows, written).map(Script::Workflow);
    }
    let content = path.text(files)?;
    if content.is_some_and(is_workflow) {
        return find_workflow(workflows, written).map(Script::Workflow);
    }
    Ok(Script::Text(path.shown(), content))
}

/// Whether a text has the front matter of a workflow document.
fn is_workflow(text: &str) -> bool {
    let data = parse_front_matter(text).value.data;
    ["workflowType", "stepsCompleted", "currentNodeId"].iter().all(|key| data.get(key).is_some())
}
