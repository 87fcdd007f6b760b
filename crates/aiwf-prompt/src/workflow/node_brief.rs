//! The node brief: the current node, what it reads and leaves behind, and where the run may go from it.

use std::fmt::Write as _;

use super::directive::in_package;
use super::{WorkflowRequest, single_line};
use crate::capability::Capability;
use crate::error::PromptError;
use crate::section::{Section, Source};

pub(super) fn sections(request: &WorkflowRequest, _: &Capability) -> Result<Vec<Section>, PromptError> {
    if !request.has_active_step() {
        return Ok(Vec::new());
    }
    let brief = request.active_node()?;
    let mut text = format!(
        "NODE_BRIEF\n- currentNodeId: {} (type={})\n- stepFile: @pkg/{}",
        single_line(&brief.node_id),
        single_line(&brief.node_type),
        single_line(in_package(&brief.step_file)),
    );
    if let Some(title) = brief.title.as_deref().filter(|title| !title.trim().is_empty()) {
        let _ = write!(text, "\n- title: {}", single_line(title));
    }
    map_lines(&mut text, "inputsMap", &brief.inputs);
    map_lines(&mut text, "outputsMap", &brief.outputs);
    if brief.transitions.is_empty() {
        text.push_str("\n- allowedNext: none");
    } else {
        text.push_str("\n- allowedNext:");
    }
    for transition in &brief.transitions {
        let _ =
            write!(text, "\n  - {} (label={}", single_line(&transition.to), single_line(&transition.label));
        if transition.is_default {
            text.push_str(", default=true");
        }
        if let Some(condition) =
            transition.condition.as_deref().filter(|condition| !condition.trim().is_empty())
        {
            let _ = write!(text, ", conditionText=\"{}\"", single_line(condition).replace('"', "\\\""));
        }
        text.push(')');
    }
    let rules = rules(brief.node_type == "decision", !brief.outputs.is_empty(), &brief.node_type);
    if !rules.is_empty() {
        text.push_str("\n- rules:");
        rules.iter().for_each(|rule| {
            let _ = write!(text, "\n  - {rule}");
        });
    }
    let source = Source::Input(format!("node {}", brief.node_id));
    Ok(vec![Section::new("node-brief", "Node Brief", source, text)])
}

fn map_lines(text: &mut String, key: &str, paths: &[String]) {
    if paths.is_empty() {
        return;
    }
    let _ = write!(text, "\n- {key}:");
    for path in paths {
        let path = single_line(path);
        if path.starts_with('@') {
            let _ = write!(text, "\n  - {path} -> {path}");
        } else {
            let relative = path.trim_start_matches("./").trim_start_matches('/');
            let _ = write!(text, "\n  - {path} -> @project/{relative}");
        }
    }
}

fn rules(is_decision: bool, has_outputs: bool, node_type: &str) -> Vec<&'static str> {
    let mut rules = Vec::new();
    if is_decision {
        rules.push("If what decides is unclear, ask the user; do not guess.");
        rules.push(
            "Then set the variables that decide, and append exactly one decisionLog entry with from, to and label of the edge you take.",
        );
    }
    if has_outputs {
        rules.push("Every output listed above must exist before currentNodeId moves on.");
    }
    if node_type == "end" {
        rules.push(
            "When this node is done, append it to stepsCompleted, leave currentNodeId as it is and set variables.workflowStatus to \"complete\".",
        );
    }
    rules
}
