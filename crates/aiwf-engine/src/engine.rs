//! The engine of one project: its settings and the options of every call.
//!
//! The rooms of this crate add what it can do, each in an `impl Engine` of its own.

use std::path::PathBuf;
use std::sync::Arc;

use aiwf_config::Settings;
use aiwf_prompt::FsAbility;
use aiwf_provider::Stop;
use aiwf_session::Surface;

use crate::ask::watch::{CallContext, CallEvent};
use crate::session::SeenGate;

/// Builds prompts and runs sessions for one project.
#[derive(Clone, Debug)]
pub struct Engine {
    settings: Settings,
    call_context: CallContext,
}

impl Engine {
    pub fn new(settings: Settings) -> Self {
        Self { settings, call_context: CallContext::default() }
    }

    /// Reports calls to a watcher.
    #[must_use]
    pub fn watched_by(mut self, watcher: impl Fn(CallEvent<'_>) + Send + Sync + 'static) -> Self {
        self.call_context.watcher = Some(Arc::new(watcher));
        self
    }

    /// Ends calls when `stop` is set.
    #[must_use]
    pub fn stopped_by(mut self, stop: Stop) -> Self {
        self.call_context.stop = stop;
        self
    }

    /// Records every request and its reply in a directory, for a provider of type `replay`.
    #[must_use]
    pub fn recording_to(mut self, directory: Option<PathBuf>) -> Self {
        self.call_context.record = directory.map(|directory| self.settings.current_dir.join(directory));
        self
    }

    /// Sets the model for runs and conversations, overriding the configuration.
    #[must_use]
    pub fn with_model(mut self, model: Option<String>) -> Self {
        self.call_context.model = model;
        self
    }

    /// Sets the model of one provider, overriding the configuration.
    #[must_use]
    pub fn with_model_of(mut self, provider: impl Into<String>, model: impl Into<String>) -> Self {
        self.settings.models.insert(provider.into(), model.into());
        self
    }

    /// Limits the cost of each session, in millionths of a dollar, overriding the configuration.
    #[must_use]
    pub fn with_max_cost(mut self, micros: Option<u64>) -> Self {
        self.settings.max_cost_micros = micros.or(self.settings.max_cost_micros);
        self
    }

    /// Starts tool servers that the user has not agreed to yet, and stores the consent to their exact commands.
    /// `on_start` receives the name and the command of each.
    #[must_use]
    pub fn agreeing_to_servers(mut self, on_start: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.call_context.agreed = Some(Arc::new(on_start));
        self
    }

    /// Decides on this gate, and refuses the decision if another one is open.
    #[must_use]
    pub fn deciding_on(mut self, seen: SeenGate) -> Self {
        self.call_context.seen = Some(seen);
        self
    }

    /// Refuses decisions if the hash of the gate does not start with this.
    #[must_use]
    pub fn expecting(mut self, sha256: Option<String>) -> Self {
        self.call_context.expected = sha256;
        self
    }

    /// Skips the gates of sessions that it continues.
    #[must_use]
    pub fn skipping_gates(mut self, skips_gates: bool) -> Self {
        self.call_context.skips_gates = skips_gates;
        self
    }

    /// Records decisions as made on this surface.
    #[must_use]
    pub fn on_surface(mut self, surface: Surface) -> Self {
        self.call_context.surface = Some(surface);
        self
    }

    /// Adopts foreign sessions, changes and runs when a command acts on one. `on_adopt` receives its kind and id.
    #[must_use]
    pub fn adopting(mut self, on_adopt: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.call_context.adopt = Some(Arc::new(on_adopt));
        self
    }

    pub(crate) fn call_context(&self) -> &CallContext {
        &self.call_context
    }

    pub(crate) fn call_context_mut(&mut self) -> &mut CallContext {
        &mut self.call_context
    }

    pub(crate) fn add_embedded(&mut self, name: &str) {
        self.settings.embedded_providers.insert(name.to_owned());
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Sets the file access of receivers for new prompts.
    #[must_use]
    pub fn with_fs_ability(mut self, fs_ability: Option<FsAbility>) -> Self {
        self.call_context.fs_ability = fs_ability;
        self
    }
}
