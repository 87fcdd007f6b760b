//! Checks of agents that a schema cannot express.

use std::collections::BTreeMap;

use super::Check;
use crate::agent::AgentDefinition;
use crate::finding::Finding;
use crate::finding_code::FindingCode;
use crate::manifest::Manifest;
use crate::menu::{self, MenuError};
use crate::package::Workflow;
use crate::schema::short;

impl Check<'_> {
    pub(super) fn duplicate_agents(&mut self, path: &str, agents: &[AgentDefinition]) {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (idx, agent) in agents.iter().enumerate() {
            if let Some(first) = seen.get(agent.id.as_str()) {
                let message = format!("agent id `{}` occurs twice: first at /agents/{first}", agent.id);
                self.add(Finding::new(
                    FindingCode::DuplicateAgent,
                    path,
                    format!("/agents/{idx}/id"),
                    message,
                ));
            } else {
                seen.insert(&agent.id, idx);
            }
            let mut prompts: BTreeMap<&str, usize> = BTreeMap::new();
            for (n, prompt) in agent.prompts.iter().enumerate() {
                if let Some(first) = prompts.insert(&prompt.id, n) {
                    let first = format!("/agents/{idx}/prompts/{first}");
                    let message = format!("prompt id `{}` occurs twice: first at {first}", short(&prompt.id));
                    let pointer = format!("/agents/{idx}/prompts/{n}/id");
                    self.add(Finding::new(FindingCode::DuplicatePrompt, path, pointer, message));
                }
            }
        }
    }

    /// Menu items that refer to missing things.
    pub(super) fn menus(&mut self, manifest: &Manifest, agents: &[AgentDefinition], workflows: &[Workflow]) {
        let path = &manifest.entry.agents;
        for (idx, agent) in agents.iter().enumerate() {
            for (n, item) in agent.menu.iter().enumerate() {
                let pointer = |key: &str| format!("/agents/{idx}/menu/{n}{key}");
                if item.ide_only && item.web_only {
                    let message = "is both `ide-only` and `web-only`, so it is never shown";
                    self.add(Finding::new(FindingCode::MenuHidden, path, pointer(""), message));
                }
                let workflow = item.workflow.as_deref().map(str::trim).filter(|name| !name.is_empty());
                if let Some(name) = workflow
                    && let Err(error) = menu::find_workflow(workflows, name)
                {
                    let message = if let MenuError::ClassicWorkflow { .. } = error {
                        error.to_string()
                    } else {
                        format!("workflow `{}` is not in the package", short(name))
                    };
                    let finding =
                        Finding::new(FindingCode::MenuUnknownWorkflow, path, pointer("/workflow"), message);
                    self.add(finding.with_hint(error.hint()));
                }
                let exec = item.exec.as_deref().map(str::trim).filter(|exec| !exec.is_empty());
                if let Some(Err(error)) = exec.map(|exec| menu::script(self.files, workflows, exec)) {
                    self.add(
                        Finding::new(FindingCode::MenuExec, path, pointer("/exec"), error.to_string())
                            .with_hint(error.hint()),
                    );
                }
                let data = item.data.as_deref().map(str::trim).filter(|data| !data.is_empty());
                if let Some(Err(error)) = data.map(|data| menu::data(self.files, data)) {
                    self.add(
                        Finding::new(FindingCode::MenuData, path, pointer("/data"), error.to_string())
                            .with_hint(error.hint()),
                    );
                }
                for fault in menu::trigger_faults(item) {
                    self.add(Finding::new(FindingCode::MenuTrigger, path, pointer("/triggers"), fault));
                }
                if let Some(id) = item.action.as_deref().and_then(|action| action.trim().strip_prefix('#'))
                    && !agent.prompts.iter().any(|prompt| prompt.id == id)
                {
                    let message = format!("the agent has no prompt `{}`", short(id));
                    self.add(Finding::new(FindingCode::MenuUnknownPrompt, path, pointer("/action"), message));
                }
            }
        }
    }
}
