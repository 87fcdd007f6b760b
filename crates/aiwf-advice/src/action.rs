//! Everything that can be advised, whatever the surface.

/// Something a person can do.
///
/// Actions on a session or run act on the subject of their advice; names in the variants are those of other things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    // Deciding on a session.
    /// Does the next thing that needs no decision.
    Step,
    /// Continues until a decision is needed.
    Run,
    /// Approves what is at the gate.
    Approve,
    /// Rejects it, with feedback.
    Reject,
    /// Edits the reply, then approves it.
    EditReply,
    /// Asks again with the same prompt.
    Retry,
    /// Delivers the reply.
    Respond,
    /// Accepts the files in spite of the verdict.
    Accept,
    /// Allows more rounds.
    RaiseCap {
        /// The smallest cap that helps.
        rounds: u32,
    },
    /// Allows more to be spent.
    RaiseBudget,
    /// Starts again with the first phase.
    Reopen,
    /// Restores the approved bytes of a file; `None` where any of several may be meant.
    Restore(Option<String>),
    /// Accepts the changes of approved files.
    Rebind,
    /// Copies the code into the project.
    Apply,
    /// Copies the code into a directory of the user's choice.
    ApplyTo,
    /// Cancels the session.
    Cancel,
    /// Trusts a session that came with the project.
    Adopt,

    // Looking at a session.
    /// Shows where the session is.
    Status,
    /// Shows where the session is, as JSON.
    StatusJson,
    /// Shows an artifact of the session, or lists all of them.
    Show(Option<String>),
    /// Shows what the next request leaves out, as JSON.
    PreviewJson,
    /// Checks the journal and the approved files.
    Verify,
    /// Lists sessions.
    ListSessions,
    /// Lists changes.
    ListChanges,
    /// Lists runs and conversations.
    ListRuns,

    // Starting.
    /// Starts a session of a profile; `None` where any profile may be meant.
    Init(Option<String>),
    /// Shows the flags for starting a session of this profile.
    InitHelp(String),
    /// Starts a change.
    NewChange,
    /// Starts a session of this flow.
    StartFlow(String),
    /// Starts a run of a package.
    StartRun,

    // Runs and conversations.
    /// Continues a run.
    Resume,
    /// Says something in a run.
    Say,
    /// Continues from an earlier node in a new run.
    Fork,
    /// Goes back to an earlier node.
    Rewind,

    // Prompts.
    /// Prints a prompt without sending it.
    BuildPrompt,
    /// Sends a prompt.
    SendPrompt,
    /// Prints the JSON schema of a recipe's documents.
    PromptSchema(String),
    /// Checks all templates.
    CheckTemplates,

    // Catalog.
    /// Lists providers.
    ListProviders,
    /// Checks the settings of providers.
    ValidateProviders,
    /// Lists profiles.
    ListProfiles,
    /// Writes a new profile.
    NewProfile,
    /// Installs a profile.
    AddProfile,
    /// Lists flows.
    ListFlows,
    /// Shows the phases and roles of a flow.
    ShowFlow(Option<String>),
    /// Writes a new flow.
    NewFlow,
    /// Checks a package.
    CheckPackage,
    /// Lists the workflows and agents of a package.
    ShowPackage,
    /// Writes a new package.
    NewPackage,
    /// Packs a package into an archive.
    PackPackage,
    /// Lists tools.
    ListTools,
    /// Lists tools with their schemas, as JSON.
    ListToolsJson,
    /// Shows what is known of a tool.
    ToolStatus(String),
    /// Approves a tool as it is now.
    PinTool(String),

    // Trust and configuration.
    /// Lists what the user agreed to.
    ListTrust,
    /// Agrees to something that the project brings.
    Trust {
        /// What kind of thing: `provider`, `flow`, …
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// Lists the project's checks.
    ListChecks,
    /// Shows the commands of checks and agrees to them.
    AllowChecks,
    /// Adds a check to the project's configuration.
    AddCheck,
    /// Shows each setting with the file it comes from.
    ConfigOrigins,
}
