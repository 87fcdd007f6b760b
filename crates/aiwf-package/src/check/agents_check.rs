//! What no schema says about agents.

use std::collections::BTreeMap;

use super::Check;
use crate::agent::AgentDefinition;
use crate::finding::Finding;
use crate::manifest::Manifest;
use crate::package::Workflow;
use crate::schema::short;

impl Check<'_> {
    pub(super) fn duplicate_agents(&mut self, path: &str, agents: &[AgentDefinition]) {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (idx, agent) in agents.iter().enumerate() {
            if let Some(first) = seen.get(agent.id.as_str()) {
                let message = format!("agent id `{}` is given twice: first at /agents/{first}", agent.id);
                self.add(Finding::error("duplicate-agent", path, format!("/agents/{idx}/id"), message));
            } else {
                seen.insert(&agent.id, idx);
            }
            let mut prompts: BTreeMap<&str, usize> = BTreeMap::new();
            for (n, prompt) in agent.prompts.iter().enumerate() {
                if prompts.insert(&prompt.id, n).is_some() {
                    let message = format!("prompt id `{}` is given twice", short(&prompt.id));
                    let pointer = format!("/agents/{idx}/prompts/{n}/id");
                    self.add(Finding::warning("duplicate-prompt", path, pointer, message));
                }
            }
        }
    }

    /// Menu items that lead nowhere.
    pub(super) fn menus(&mut self, manifest: &Manifest, agents: &[AgentDefinition], workflows: &[Workflow]) {
        let path = &manifest.entry.agents;
        for (idx, agent) in agents.iter().enumerate() {
            for (n, item) in agent.menu.iter().enumerate() {
                let pointer = |key: &str| format!("/agents/{idx}/menu/{n}{key}");
                if item.ide_only && item.web_only {
                    let message = "is both `ide-only` and `web-only`: nobody will see it";
                    self.add(Finding::warning("menu-hidden", path, pointer(""), message));
                }
                if let Some(name) = item.workflow.as_deref().filter(|name| !name.trim().is_empty()) {
                    let is_known = workflows.iter().any(|workflow| {
                        workflow.id == name
                            || workflow.workflow_path == name.trim_start_matches("{package-root}/")
                    });
                    if !is_known {
                        let message = format!("workflow `{}` is not in the package", short(name));
                        self.add(Finding::warning(
                            "menu-unknown-workflow",
                            path,
                            pointer("/workflow"),
                            message,
                        ));
                    }
                }
                if let Some(id) = item.action.as_deref().and_then(|action| action.trim().strip_prefix('#'))
                    && !agent.prompts.iter().any(|prompt| prompt.id == id)
                {
                    let message = format!("prompt `{}` is not one of the agent's", short(id));
                    self.add(Finding::warning("menu-unknown-prompt", path, pointer("/action"), message));
                }
            }
        }
    }
}
