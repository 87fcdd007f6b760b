//! The node brief: the current node, its inputs and outputs, and its edges.

use std::fmt::Write as _;

use super::directive::in_package;
use super::redact::{Roots, alias_roots};
use super::{NodeType, WorkflowRequest, quoted, single_line, single_value};
use crate::capability::Capability;
use crate::error::PromptError;
use crate::section::{Section, Source};

pub(super) fn sections(request: &WorkflowRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    if !request.has_active_step() {
        return Ok(Vec::new());
    }
    let brief = request.active_node()?;
    let mut text = format!(
        "NODE_BRIEF\n- currentNodeId: {} (type={})\n- stepFile: {}",
        single_line(&brief.node_id),
        single_value(&alias_roots(brief.node_type.as_str(), &request.roots)),
        in_package(&brief.step_file, &request.roots),
    );
    if let Some(title) = brief.title.as_deref().filter(|title| !title.trim().is_empty()) {
        let _ = write!(text, "\n- title: {}", single_line(title));
    }
    map_lines(&mut text, "inputsMap", &brief.inputs, &request.roots);
    map_lines(&mut text, "outputsMap", &brief.outputs, &request.roots);
    if brief.transitions.is_empty() {
        text.push_str("\n- allowedNext: none");
    } else {
        text.push_str("\n- allowedNext:");
    }
    for transition in &brief.transitions {
        // Aliased before quoting, because quoting changes the spelling of a path.
        let aliased = |value: &str| alias_roots(value, &request.roots).into_owned();
        let (to, label) = (aliased(&transition.to), aliased(&transition.label));
        let _ = write!(text, "\n  - {} (label={}", single_value(&to), single_value(&label));
        if transition.is_default {
            text.push_str(", default=true");
        }
        if let Some(condition) =
            transition.condition.as_deref().filter(|condition| !condition.trim().is_empty())
        {
            let _ = write!(text, ", conditionText={}", quoted(&aliased(condition)));
        }
        text.push(')');
    }
    let rules = rules(&brief.node_type, !brief.outputs.is_empty());
    if !rules.is_empty() {
        text.push_str("\n- rules:");
        for rule in rules {
            let _ = write!(text, "\n  - {rule}");
        }
    }
    let source = Source::Input(format!("node {}", brief.node_id));
    Ok(vec![Section::new("node-brief", "Node Brief", source, text)])
}

fn map_lines(text: &mut String, key: &str, paths: &[String], roots: &Roots) {
    if paths.is_empty() {
        return;
    }
    let _ = write!(text, "\n- {key}:");
    for path in paths {
        // Aliased first: without its leading slash a root would not be recognized.
        let path = single_line(&alias_roots(path, roots));
        if path.starts_with(['@', '~']) {
            let _ = write!(text, "\n  - {path} -> {path}");
        } else {
            let relative = path.trim_start_matches("./").trim_start_matches('/');
            let _ = write!(text, "\n  - {path} -> @project/{relative}");
        }
    }
}

fn rules(node_type: &NodeType, has_outputs: bool) -> Vec<&'static str> {
    let mut rules = Vec::new();
    if *node_type == NodeType::Decision {
        rules.push("If the decision is unclear, ask the user; do not guess.");
        rules.push(
            "Then finish the node with `workflow.complete_node`: the edge you take, the variables behind the decision, and the reason. It appends the one decisionLog entry; without that tool, append it yourself with from, to and label.",
        );
    }
    if has_outputs {
        rules.push("Every output listed above must exist before currentNodeId moves on.");
    }
    if *node_type == NodeType::End {
        rules.push(
            "When this node is done, finish it with `workflow.complete_node` and no edge: it is appended to stepsCompleted, currentNodeId stays and variables.workflowStatus becomes \"complete\". Without that tool, set these yourself.",
        );
    }
    rules
}
