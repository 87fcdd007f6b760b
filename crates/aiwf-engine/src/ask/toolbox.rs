//! The tools of a project, from configuration, `.mcp.json`, consents and pins.
//!
//! A [`Toolbox`] runs the servers of a project for the duration of a command. It lists tools, calls one for a person,
//! and creates the [`Policy`] under which a model may call them.

mod server_log;
mod specs;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use aiwf_config::{Config, Flags};
use aiwf_prompt::nearest;
use aiwf_provider::Stop;
use aiwf_session::Access as PhaseAccess;
use aiwf_store::ConsentKind;
use aiwf_tools::{
    Access, CallOptions, Grant, Listed, Offered, PinState, PinsFile, Policy, Progress, ResultsDir, Rules,
    ServerSpec, Servers, ServersOptions, Tool, ToolResult, ToolsError, check_arguments,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Engine;
use crate::ask::providers;
use crate::ask::{CallStyle, PhaseTools, ToolLoop};
use crate::session::session_error::SessionError;
use server_log::ServerLog;

/// Which servers may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Only those that the user agreed to before.
    Remembered,
    /// All that are needed; consent is stored for their exact commands.
    Given,
}

#[derive(Debug, Serialize)]
pub struct ServerTools {
    pub name: String,
    /// The command, or the address.
    pub command: String,
    pub tools: Vec<ToolListing>,
    /// Why some of its tools cannot be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    #[serde(skip)]
    pub error: Option<ToolsError>,
}

/// A tool, for display.
#[derive(Debug, Serialize)]
pub struct ToolListing {
    /// The name for grants and calls.
    pub full_name: String,
    #[serde(flatten)]
    pub tool: Tool,
    pub is_read_only: bool,
    /// `new`, `pinned` or `changed`.
    pub pin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// SHA-256 of the pinned definition.
    pub sha256: String,
}

/// Where complete results are stored, and the path that a model sees.
#[derive(Clone, Debug)]
pub(crate) struct KeptResults {
    path: PathBuf,
    shown: String,
}

impl KeptResults {
    /// A directory of the project; the model sees a path relative to the project.
    pub(crate) fn below(project_root: &Path, path: PathBuf) -> Self {
        let shown = path.strip_prefix(project_root).unwrap_or(&path).display().to_string();
        Self { path, shown }
    }

    /// A directory that the model sees under an alias.
    pub(crate) fn aliased(path: PathBuf, alias: &str) -> Self {
        Self { path, shown: alias.to_owned() }
    }

    pub(crate) fn as_dir(&self) -> ResultsDir<'_> {
        ResultsDir { path: &self.path, shown: &self.shown }
    }
}

/// The servers of a project, for the duration of a command.
#[derive(Debug)]
pub struct Toolbox {
    servers: Servers,
    pins: PinsFile,
    config: Config,
    problems: Vec<String>,
    stop: Stop,
    results: KeptResults,
    _log: ServerLog,
}

impl Engine {
    /// The servers in configuration and `.mcp.json`; starts none.
    ///
    /// `on_start` receives the name and the exact command of each server that the user agrees to now.
    pub fn tools(
        &self,
        consent: Consent,
        on_start: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> Result<Toolbox, SessionError> {
        let settings = self.settings();
        let config = providers::load_config(settings, &Flags::default())?;
        let found = specs::find(&config, settings)?;
        let user_dir = settings.user_dir().ok_or(ToolsError::NoHome)?.join("tools");
        import_old_approvals(settings)?;
        let consents = settings.consents().ok_or(ToolsError::NoHome)?;
        let project = settings.project_root.to_string_lossy().into_owned();
        let (allows_unknown, users_own) = (config.mcp.allow_unknown.value, found.users_own);
        let is_trusted = move |spec: &ServerSpec| {
            if allows_unknown || users_own.contains(&spec.name) {
                return Ok(true);
            }
            if consents.contains(ConsentKind::Server, &spec.key())? {
                return Ok(true);
            }
            if consent == Consent::Given {
                on_start(&spec.name, &spec.shown_command());
                consents.add(agreed_server(spec, &project))?;
            }
            Ok(consent == Consent::Given)
        };
        let log = ServerLog::new(settings.cache_dir.as_ref().map(|dir| dir.join("mcp-logs")));
        let options = ServersOptions {
            lookup: Arc::new(aiwf_config::variable),
            is_trusted: Arc::new(is_trusted),
            log: Some(log.sink()),
            start_timeout: ServersOptions::START_TIMEOUT,
        };
        Ok(Toolbox {
            servers: Servers::new(found.specs, &options),
            pins: PinsFile::at(user_dir.join("pins.json")),
            problems: found.problems,
            stop: self.call_context().stop.clone(),
            results: KeptResults::below(&settings.project_root, settings.project_dir().join("tool-results")),
            config,
            _log: log,
        })
    }
}

impl Engine {
    /// The tools of a phase; empty if nothing is granted, or a person replies.
    ///
    /// Starts the granted servers; a server without consent is an error.
    pub(crate) fn phase_tools(
        &self,
        phase: &str,
        access: PhaseAccess,
        provider: &str,
        is_native: bool,
        config: &Config,
        toolbox: &mut Option<Rc<Toolbox>>,
    ) -> Result<Option<PhaseTools>, SessionError> {
        let is_granted = config.tools.grants.get(phase).is_some_and(|names| !names.value.is_empty());
        if !config.tools.enabled.value || !is_granted || !providers::can_use_tools(provider, config) {
            return Ok(None);
        }
        let toolbox = match toolbox {
            Some(toolbox) => Rc::clone(toolbox),
            None => Rc::clone(toolbox.insert(Rc::new(self.agreed_tools()?))),
        };
        let style = if is_native { CallStyle::Api } else { CallStyle::Text };
        toolbox.phase_tools(phase, access, style).map(Some)
    }

    /// The servers, with the consent of the engine.
    pub(crate) fn agreed_tools(&self) -> Result<Toolbox, SessionError> {
        match self.call_context().agreed.clone() {
            Some(agreed) => self.tools(Consent::Given, move |server, command| agreed(server, command)),
            None => self.tools(Consent::Remembered, |_, _| ()),
        }
    }
}

impl Toolbox {
    /// Servers that cannot be used, with the reason.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// A loop for a program that asks a model itself, with the tools granted to a phase.
    ///
    /// Starts the granted servers. Without `max_rounds`, the configured limit applies.
    pub fn tool_loop(
        self: &Rc<Self>,
        phase: &str,
        access: PhaseAccess,
        style: CallStyle,
        max_rounds: Option<NonZeroU32>,
    ) -> Result<ToolLoop, SessionError> {
        let tools = Rc::new(self.phase_tools(phase, access, style)?);
        Ok(ToolLoop::new(tools, max_rounds.map(NonZeroU32::get), self.results.clone(), &self.stop))
    }

    fn phase_tools(
        self: &Rc<Self>,
        phase: &str,
        access: PhaseAccess,
        style: CallStyle,
    ) -> Result<PhaseTools, SessionError> {
        let (grant, n_list_changes) = (self.grant(phase, access), self.servers.n_list_changes());
        Ok(PhaseTools {
            toolbox: Rc::clone(self),
            policy: self.policy(&Rules::default(), &grant)?,
            grant,
            n_list_changes,
            is_native: style == CallStyle::Api,
        })
    }

    pub(crate) fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Where large results are stored that belong to no session.
    pub(crate) fn results(&self) -> &KeptResults {
        &self.results
    }

    pub fn is_empty(&self) -> bool {
        self.servers.specs().next().is_none()
    }

    /// The tools of the servers that `target` selects: all, one, or the one with a given tool.
    ///
    /// Pins nothing. A server that cannot be reached is listed with the reason.
    pub fn list(&self, target: Option<&str>) -> Result<Vec<ServerTools>, SessionError> {
        let target = self.target(target)?;
        let pins = self.pins.read()?;
        let mut listed = Vec::new();
        for spec in self.specs_of(&target) {
            let (Listed { tools, problems }, error) = match self.servers.tools(&spec.name, &self.stopped()) {
                Ok(found) => (found, None),
                Err(error @ ToolsError::Stopped { .. }) => return Err(error.into()),
                Err(error) => (Listed::default(), Some(error)),
            };
            let key = spec.key();
            let wanted = |tool: &Tool| target.tool.as_deref().is_none_or(|name| name == tool.name);
            let tools: Vec<ToolListing> = tools
                .into_iter()
                .filter(wanted)
                .map(|tool| listing(offered(spec, tool, |tool| pins.state(&key, tool))))
                .collect();
            if let (Some(name), true, None) = (&target.tool, tools.is_empty(), &error) {
                return Err(self.unknown_tool(&spec.name, name).into());
            }
            let command = spec.shown_command();
            listed.push(ServerTools { name: spec.name.clone(), command, tools, problems, error });
        }
        Ok(listed)
    }

    /// Calls a tool for a person: pins it at its first use, refuses it if it changed, checks the arguments.
    pub fn call(
        &self,
        full_name: &str,
        arguments: &Map<String, Value>,
        on_progress: &(dyn Fn(&Progress) + Sync),
    ) -> Result<ToolResult, SessionError> {
        let target = self.target(Some(full_name))?;
        let (Some(server), Some(name)) = (&target.server, &target.tool) else {
            return Err(ToolsError::UnknownTool {
                tool: full_name.to_owned(),
                near: None,
                known: Vec::new(),
            }
            .into());
        };
        let spec = self.servers.spec(server)?;
        let listed = self.servers.tools(server, &self.stopped())?;
        let tool = listed.tools.into_iter().find(|tool| tool.name == *name);
        let tool = tool.ok_or_else(|| self.unknown_tool(server, name))?;
        check_arguments(&tool, arguments)?;
        let states = self.pins.admit(&spec.key(), std::slice::from_ref(&tool))?;
        if let Some(PinState::Changed(changed)) = states.into_iter().next() {
            return Err(ToolsError::Changed { tool: tool.full_name(), changed }.into());
        }
        let options = CallOptions {
            timeout: self.config.tools.timeout.as_ref().map(|timeout| timeout.value),
            // A person gets the complete result.
            max_result_bytes: u64::MAX,
            results: self.results.as_dir(),
            is_stopped: &self.stopped(),
            on_progress,
        };
        Ok(self.servers.call(&tool, arguments, &options)?)
    }

    /// Pins tools as they are now; returns their full names.
    pub fn pin(&self, target: Option<&str>) -> Result<Vec<String>, SessionError> {
        let target = self.target(target)?;
        let mut names = Vec::new();
        for spec in self.specs_of(&target) {
            let mut tools = self.servers.tools(&spec.name, &self.stopped())?.tools;
            if let Some(name) = &target.tool {
                tools.retain(|tool| tool.name == *name);
                if tools.is_empty() {
                    return Err(self.unknown_tool(&spec.name, name).into());
                }
            }
            self.pins.pin(&spec.key(), &tools)?;
            names.extend(tools.iter().map(Tool::full_name));
        }
        Ok(names)
    }

    /// Removes pins without starting a server; returns the full names.
    pub fn unpin(&self, target: Option<&str>) -> Result<Vec<String>, SessionError> {
        let target = self.target(target)?;
        let pins = self.pins.read()?;
        let mut names = Vec::new();
        for spec in self.specs_of(&target) {
            let mut pinned = pins.names(&spec.key());
            pinned.retain(|name| target.tool.as_deref().is_none_or(|wanted| wanted == name));
            self.pins.unpin(&spec.key(), Some(&pinned))?;
            names.extend(pinned.iter().map(|name| format!("{}__{name}", spec.name)));
        }
        Ok(names)
    }

    /// The configured rules for all phases: one side of a policy.
    pub(crate) fn rules(&self) -> Rules {
        let tools = &self.config.tools;
        Rules {
            is_enabled: Some(tools.enabled.value),
            servers: None,
            max_rounds: Some(tools.max_rounds.value.get()),
            max_result_bytes: Some(tools.max_result_bytes.value.get()),
            timeout: tools.timeout.as_ref().map(|timeout| timeout.value),
        }
    }

    /// The configured grant of a phase.
    ///
    /// Phases that plan or judge get only read-only tools.
    pub(crate) fn grant(&self, phase: &str, access: PhaseAccess) -> Grant {
        let names = self.config.tools.grants.get(phase);
        Grant {
            access: match access {
                PhaseAccess::Read => Access::ReadOnly,
                PhaseAccess::Write => Access::Full,
            },
            names: names.into_iter().flat_map(|names| names.value.iter().cloned()).collect(),
        }
    }

    /// The tools of a grant under merged rules. Starts only the granted servers.
    ///
    /// Pins tools at their first use here, because from now on a model reads their descriptions.
    pub(crate) fn policy(&self, rules: &Rules, grant: &Grant) -> Result<Policy, SessionError> {
        self.policy_or(rules, grant, &mut |error| Err(error.into()))
    }

    /// Like [`Self::policy`], without servers that fail; returns the reason for each.
    pub(crate) fn policy_skipping_failed_servers(
        &self,
        rules: &Rules,
        grant: &Grant,
    ) -> Result<(Policy, Vec<String>), SessionError> {
        let mut problems = Vec::new();
        let policy = self.policy_or(rules, grant, &mut |error| {
            // Missing consent and an interrupt are not skipped.
            if matches!(error, ToolsError::Untrusted { .. } | ToolsError::Stopped { .. }) {
                return Err(error.into());
            }
            problems.push(error.to_string());
            Ok(())
        })?;
        Ok((policy, problems))
    }

    fn policy_or(
        &self,
        rules: &Rules,
        grant: &Grant,
        unusable: &mut dyn FnMut(ToolsError) -> Result<(), SessionError>,
    ) -> Result<Policy, SessionError> {
        let rules = self.rules().and(rules);
        let mut all = Vec::new();
        if rules.is_enabled != Some(false) {
            let wanted: BTreeSet<&str> =
                grant.names.iter().filter_map(|name| Some(name.split_once("__")?.0)).collect();
            for spec in self.servers.specs().filter(|spec| wanted.contains(spec.name.as_str())) {
                if rules.servers.as_ref().is_some_and(|servers| !servers.contains(&spec.name)) {
                    continue;
                }
                let tools = match self.servers.tools(&spec.name, &self.stopped()) {
                    Ok(listed) => listed.tools,
                    Err(error) => {
                        unusable(error)?;
                        continue;
                    }
                };
                let (granted, others): (Vec<Tool>, Vec<Tool>) =
                    tools.into_iter().partition(|tool| grant.names.contains(&tool.full_name()));
                let states = self.pins.admit(&spec.key(), &granted)?;
                for (tool, state) in granted.into_iter().zip(states) {
                    // New tools were pinned above.
                    let state = if state == PinState::New { PinState::Same } else { state };
                    all.push(offered(spec, tool, |_| state.clone()));
                }
                all.extend(others.into_iter().map(|tool| offered(spec, tool, |_| PinState::New)));
            }
        }
        Ok(Policy::new(rules, grant, &all))
    }

    fn stopped(&self) -> impl Fn() -> bool + Sync {
        let stop = self.stop.clone();
        move || stop.is_raised()
    }

    fn specs_of<'a>(&'a self, target: &'a Target) -> impl Iterator<Item = &'a ServerSpec> {
        self.servers.specs().filter(|spec| target.server.as_deref().is_none_or(|name| name == spec.name))
    }

    /// Parses `SERVER`, `SERVER__TOOL`, or nothing for everything. A server's name has no `__`, so there is only one
    /// reading.
    fn target(&self, words: Option<&str>) -> Result<Target, ToolsError> {
        let Some(words) = words else { return Ok(Target { server: None, tool: None }) };
        let (server, tool) = match words.split_once("__") {
            Some((server, tool)) => (server, Some(tool.to_owned())),
            None => (words, None),
        };
        self.servers.spec(server)?;
        Ok(Target { server: Some(server.to_owned()), tool })
    }

    fn unknown_tool(&self, server: &str, name: &str) -> ToolsError {
        let full_name = |tool: &str| format!("{server}__{tool}");
        let tools =
            self.servers.tools(server, &self.stopped()).map(|listed| listed.tools).unwrap_or_default();
        let near = nearest(name, tools.iter().map(|tool| tool.name.as_str())).map(full_name);
        let known = tools.iter().map(Tool::full_name).collect();
        ToolsError::UnknownTool { tool: full_name(name), near, known }
    }
}

/// The server of a name that needs consent; `None` if the user's own file defines it or it does not exist.
pub(crate) fn find_server(
    config: &Config,
    settings: &aiwf_config::Settings,
    name: &str,
) -> Result<Option<ServerSpec>, SessionError> {
    let found = specs::find(config, settings)?;
    let is_users = found.users_own.contains(name);
    Ok(found.specs.into_iter().find(|spec| spec.name == name && !is_users))
}

fn agreed_server(spec: &ServerSpec, project: &str) -> aiwf_store::Consent {
    aiwf_store::Consent {
        kind: ConsentKind::Server,
        name: spec.name.clone(),
        sha256: spec.key(),
        shown: spec.shown_command(),
        project: project.to_owned(),
    }
}

/// Imports the approvals of version 0.1 into the consents.
pub(crate) fn import_old_approvals(settings: &aiwf_config::Settings) -> Result<(), SessionError> {
    #[derive(serde::Deserialize)]
    struct OldApprovals {
        #[serde(default)]
        servers: std::collections::BTreeMap<String, String>,
    }
    let (Some(user_dir), Some(consents)) = (settings.user_dir(), settings.consents()) else { return Ok(()) };
    let path = user_dir.join("tools/trusted.json");
    if !path.is_file() {
        return Ok(());
    }
    // An unreadable file is left alone; the user is asked again.
    let Ok(old) = serde_json::from_slice::<OldApprovals>(&crate::prompt::read::read_bytes(&path)?) else {
        return Ok(());
    };
    for (sha256, shown) in old.servers {
        let (kind, name, project) = (ConsentKind::Server, String::new(), String::new());
        let consent = aiwf_store::Consent { kind, name, sha256, shown, project };
        consents.add(consent).map_err(crate::trust::trust_error::TrustError::from)?;
    }
    Ok(aiwf_store::remove(&path)?)
}

/// The selection of a command.
struct Target {
    server: Option<String>,
    tool: Option<String>,
}

fn offered(spec: &ServerSpec, tool: Tool, state: impl Fn(&Tool) -> PinState) -> Offered {
    Offered { pin: state(&tool), is_marked_read_only: spec.read_only.contains(&tool.name), tool }
}

fn listing(mut offered: Offered) -> ToolListing {
    // New tools are pinned at their first use.
    let pin = offered.pin.as_str();
    if offered.pin == PinState::New {
        offered.pin = PinState::Same;
    }
    let is_read_only = offered.is_read_only();
    ToolListing {
        full_name: offered.tool.full_name(),
        is_read_only,
        pin,
        sha256: offered.tool.sha256(),
        changed: match offered.pin {
            PinState::Changed(parts) => Some(parts),
            PinState::New | PinState::Same => None,
        },
        tool: offered.tool,
    }
}

#[cfg(test)]
#[path = "toolbox_tests.rs"]
mod tests;
