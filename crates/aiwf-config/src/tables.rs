//! The tables of `config.toml` whose keys are fixed.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use aiwf_session::{Flow, Phase};

use crate::layer_reader::{LayerReader, TomlEntry};
use crate::mcp_server_config::McpServerConfig;
use crate::origin::Sourced;
use crate::setting::{
    Rule, at_most, more_needs_consent, off_needs_consent, on_needs_consent, settings, user_off_wins,
};
use crate::table_kinds::{Map, Name, Tables};
use crate::value::{
    Count, Dollars, LargeCount, Names, OneOf, Paths, Patterns, ProjectPaths, ProviderName, Switch, Time,
    ToolNames, Words,
};
use crate::vocabulary::{Adopt, Conditions, EditForm, FsAbility};

/// A nonzero default.
const fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(number.saturating_sub(1))
}

/// A nonzero default that may be large.
const fn bytes(number: u64) -> NonZeroU64 {
    NonZeroU64::MIN.saturating_add(number.saturating_sub(1))
}

const KIB: u64 = 1024;

settings! {
    /// How sessions run.
    pub SessionConfig from SessionLayer {
        /// Maximum number of iterations; the first generation counts as 1.
        max_iterations: Sourced<NonZeroU32> = Count [count(5)], at_most();
        /// Whether a prompt edited after its approval counts as changed.
        hash_prompts: Sourced<bool> = Switch [true], off_needs_consent();
        /// Maximum number of tokens in a prompt; the default is the provider's window less its reply limit.
        budget_tokens: Option<Sourced<NonZeroU32>> = Count, at_most();
        /// Memory limit of a template in megabytes, unless it is built in.
        max_template_mb: Sourced<NonZeroU32> = Count [count(64)], at_most();
    }
}

settings! {
    /// Additions of the project to the standards of every profile, besides the files in `.aiwf/standards/`. A file is
    /// identified by its path below its directory.
    pub StandardsConfig from StandardsLayer {
        /// Additional directories of standards; in a project's file, directories of the project.
        dirs: Option<Sourced<Vec<String>>> = Paths;
        /// Files of the profile that project files with the same name replace.
        replace: Option<Sourced<Vec<String>>> = Names;
        /// Files to exclude.
        exclude: Option<Sourced<Vec<String>>> = Names;
    }
}

settings! {
    /// The project context: the files that tell every agent about the project. By default it is the first of
    /// `.aiwf/project.md`, `AGENTS.md`, `CLAUDE.md`, `GEMINI.md`, `.cursor/rules/`, `.cursorrules` and
    /// `.github/copilot-instructions.md` that exists.
    pub ContextConfig from ContextLayer {
        /// The files instead, in this order; they must be inside the project, after links are resolved.
        files: Option<Sourced<Vec<String>>> = Patterns;
    }
}

settings! {
    /// How changes run.
    pub ChangeConfig from ChangeLayer {
        /// The provider of each phase; unnamed phases use `[roles]`.
        agents: BTreeMap<String, Sourced<String>> = Map<ChangePhase, ProviderName>;
        /// Files included in every phase.
        files: Option<Sourced<Vec<String>>> = Patterns;
        /// Maximum number of rounds of each loop.
        max_rounds: Sourced<NonZeroU32> = Count [count(3)], at_most();
        /// Whether the implementing agent may edit the project itself.
        write: Sourced<bool> = Switch [false], on_needs_consent();
    }
}

settings! {
    /// How runs of workflow packages and conversations with their agents work.
    pub WorkflowConfig from WorkflowLayer {
        /// What happens when a run takes an edge whose condition does not hold: a warning or a refusal.
        conditions: Sourced<Conditions> = OneOf<Conditions> [Conditions::Warn], warn_needs_consent();
        /// Maximum number of requests to the model before a run stops.
        max_turns: Sourced<NonZeroU32> = Count [count(50)], at_most();
        /// Maximum number of tokens in a request; the default is the provider's window less its reply limit.
        context_tokens: Option<Sourced<NonZeroU32>> = Count, at_most();
        /// Number of bytes of each tool result kept in the conversation.
        result_preview_bytes: Sourced<NonZeroU64> = LargeCount [bytes(64 * KIB)], at_most();
        /// The provider; the default is `[roles] default`.
        provider: Option<Sourced<String>> = ProviderName;
        /// Maximum number of bytes per read of a file tool; an agent can only lower it.
        max_read_bytes: Sourced<NonZeroU64> = LargeCount [bytes(512 * KIB)], at_most();
        /// Maximum number of bytes per write of a file tool; an agent can only lower it.
        max_write_bytes: Sourced<NonZeroU64> = LargeCount [bytes(2048 * KIB)], at_most();
        /// Whether models get file tools.
        files: Sourced<bool> = Switch [true], user_off_wins();
    }
}

fn warn_needs_consent() -> Rule<Conditions> {
    Rule::ConsentIf {
        is_looser: |found, instead| *found == Conditions::Warn && instead == Some(&Conditions::Enforce),
        doc: "undoing your `enforce` needs consent",
    }
}

settings! {
    /// Limits for one session, change or run. Each call is checked before it is made, with the most it can use. By
    /// default there is no limit.
    pub BudgetConfig from BudgetLayer {
        /// Maximum number of calls.
        max_calls: Option<Sourced<NonZeroU64>> = LargeCount, at_most();
        /// Maximum number of tokens, sent and received.
        max_tokens: Option<Sourced<NonZeroU64>> = LargeCount, at_most();
        /// Maximum cost.
        max_cost: Option<Sourced<f64>> = Dollars, at_most();
    }
}

settings! {
    /// Settings for every provider that does not set its own.
    pub DefaultsConfig from DefaultsLayer {
        /// What a provider can do with files.
        fs_ability: Option<Sourced<FsAbility>> = OneOf<FsAbility>, writing_needs_consent();
        /// The form that prompts ask for when a provider changes files in its reply. Every form is accepted.
        edit_form: Sourced<EditForm> = OneOf<EditForm> [EditForm::SearchReplace];
    }
}

pub(crate) fn writing_needs_consent() -> Rule<FsAbility> {
    Rule::ConsentIf {
        is_looser: |found, instead| {
            let writes = |ability: FsAbility| matches!(ability, FsAbility::LocalWrite | FsAbility::WriteOnly);
            writes(*found) && instead.is_some_and(|instead| !writes(*instead))
        },
        doc: "writing where you allow none needs consent",
    }
}

settings! {
    /// MCP servers.
    pub McpConfig from McpLayer {
        /// Whether servers start without your consent.
        allow_unknown: Sourced<bool> = Switch [false], Rule::UserOnly;
        /// The servers; see the next table.
        servers: BTreeMap<String, McpServerConfig> = Tables<McpServerConfig>;
    }
}

settings! {
    /// How models use tools.
    pub ToolsConfig from ToolsLayer {
        /// Whether models get tools.
        enabled: Sourced<bool> = Switch [true], user_off_wins();
        /// Maximum number of rounds of tool calls.
        max_rounds: Sourced<NonZeroU32> = Count [count(10)], at_most();
        /// Number of bytes of each result shown to a model.
        max_result_bytes: Sourced<NonZeroU64> = LargeCount [bytes(32 * KIB)], at_most();
        /// Time limit of a call, unless its server has its own `timeout`.
        timeout: Option<Sourced<Duration>> = Time, at_most();
        /// The tools that each phase may use; see the next table.
        grants as "grant": BTreeMap<String, Sourced<Vec<String>>> = Map<GrantPhase, ToolNames>, more_needs_consent();
    }
}

settings! {
    /// The copy of the project that an agent works in. Files ignored by git are missing unless they are listed here.
    pub WorktreeConfig from WorktreeLayer {
        /// Files and directories to copy into it, such as `node_modules` and `.venv`.
        copy: Option<Sourced<Vec<String>>> = ProjectPaths;
        /// Files and directories to link into it; the agent then works on the originals.
        link: Option<Sourced<Vec<String>>> = ProjectPaths, Rule::UserOnly;
    }
}

settings! {
    /// Notifications when a session waits for you or ends.
    pub NotifyConfig from NotifyLayer {
        /// The program to run, with its arguments. It gets `AIWF_EVENT`, `AIWF_SESSION` and `AIWF_TITLE` in its
        /// environment and JSON on stdin, and has 10 seconds.
        run: Option<Sourced<Vec<String>>> = Words, Rule::UserOnly;
    }
}

settings! {
    /// Which sessions are trusted.
    pub TrustConfig from TrustLayer {
        /// What to do with a session that you did not create: `always` allows every command on it, for CI and
        /// containers with a fresh home directory.
        adopt: Sourced<Adopt> = OneOf<Adopt> [Adopt::Ask], Rule::UserOnly;
    }
}

/// A phase of the flow `change`.
pub(crate) struct ChangePhase;

impl Name for ChangePhase {
    type Key = String;
    const LABEL: &'static str = "phase";

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<String> {
        let flow = Flow::find_built_in(Flow::CHANGE);
        let phases: Vec<Phase> = flow.iter().flat_map(|flow| flow.names()).collect();
        let names: Vec<&str> = phases.iter().map(Phase::as_str).collect();
        if !names.contains(&entry.key) {
            reader.unknown(entry, &names);
            return None;
        }
        Some(entry.key.to_owned())
    }

    fn show(key: &String) -> String {
        key.clone()
    }
}

/// A target for tool grants: a phase of any flow, a reply, or a mode of working with a package.
pub(crate) struct GrantPhase;

impl Name for GrantPhase {
    type Key = String;
    const LABEL: &'static str = "phase";
    const ABOUT: Option<&'static str> = Some(
        "The tools that each phase may use, by their full names `SERVER__TOOL`. An unnamed phase gets none; \
         phases of your own flows can be listed too.",
    );
    const KNOWN: &'static [(&'static str, &'static str)] = &[
        ("planning", "Sessions: the plan"),
        ("generating", "Sessions: the code"),
        ("reviewing", "Sessions: the review"),
        ("revising", "Sessions: the revision"),
        ("plan", "Changes: the plan"),
        ("challenge", "Changes: the objections to the plan"),
        ("implement", "Changes: the code"),
        ("review", "Changes: the review"),
        ("archive", "Changes: the record"),
        ("reply", "A prompt of the recipe `reply`"),
        ("workflow", "Runs of packages"),
        ("agent", "Conversations with agents of packages"),
        ("chat", "Conversations without a package"),
    ];

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<String> {
        let names: Vec<&str> = Self::KNOWN.iter().map(|(name, _)| *name).collect();
        // Flows have their own phases; a name close to a standard one is a mistake.
        let is_slip = |known: &&str| strsim::damerau_levenshtein(entry.key, known) <= 2;
        let is_phase = || Phase::from_name(entry.key).is_some() && !names.iter().any(is_slip);
        if !names.contains(&entry.key) && !is_phase() {
            reader.unknown(entry, &names);
            return None;
        }
        Some(entry.key.to_owned())
    }

    fn show(key: &String) -> String {
        key.clone()
    }
}

#[cfg(test)]
#[path = "tables_tests.rs"]
mod tests;
