//! The actions a user can take next, independent of the surface that shows them.

/// An action the user can take.
///
/// Actions on a session or run apply to the subject of their advice; names inside variants refer to other things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    // Decisions about a session.
    /// Performs the next step that needs no decision.
    Step,
    /// Continues until a decision is needed.
    Run,
    /// Approves the pending prompt or reply.
    Approve,
    /// Rejects it, with feedback.
    Reject,
    /// Edits the reply, then approves it.
    EditReply,
    /// Asks again with the same prompt.
    Retry,
    /// Delivers a reply by hand.
    Respond,
    /// Accepts the files despite the verdict.
    Accept,
    /// Allows more rounds.
    RaiseCap {
        /// The smallest limit that helps.
        rounds: u32,
    },
    /// Raises the spending limit.
    RaiseBudget,
    /// Starts again from the first phase.
    Reopen,
    /// Restores the approved bytes of a file; `None` if it could be any of several.
    Restore(Option<String>),
    /// Accepts edits to approved files.
    Rebind,
    /// Copies the code into the project.
    Apply,
    /// Copies the code into a directory the user names.
    ApplyTo,
    /// Takes back what the last apply changed.
    Undo,
    /// Reopens an approved artifact; `None` if it could be any.
    Revise(Option<String>),
    /// Lists the comments.
    ListComments,
    Cancel,
    /// Trusts a session that came with the project.
    Adopt,

    // Viewing a session.
    /// Shows the state of the session.
    Status,
    /// Shows the state of the session as JSON.
    StatusJson,
    /// Shows an artifact of the session; `None` lists all of them.
    Show(Option<String>),
    /// Shows what the next request leaves out, as JSON.
    PreviewJson,
    /// Checks the journal and the approved files.
    Verify,
    ListSessions,
    ListChanges,
    ListRuns,

    // Creating sessions.
    /// Starts a session of a profile; `None` if it could be any profile.
    Init(Option<String>),
    /// Shows the flags that start a session of this profile.
    InitHelp(String),
    NewChange,
    /// Starts a session of this flow.
    StartFlow(String),
    StartRun,

    // Runs and conversations.
    Resume,
    /// Sends a message to a run.
    Say,
    /// Starts a new run from an earlier node.
    Fork,
    /// Returns to an earlier node.
    Rewind,

    // Prompts.
    /// Prints a prompt without sending it.
    BuildPrompt,
    SendPrompt,
    /// Prints the JSON schema of a recipe's documents.
    PromptSchema(String),
    CheckTemplates,

    // Catalog.
    ListProviders,
    ValidateProviders,
    ListProfiles,
    /// Creates a profile.
    NewProfile,
    AddProfile,
    ListFlows,
    /// Shows the phases and roles of a flow.
    ShowFlow(Option<String>),
    /// Creates a flow.
    NewFlow,
    CheckPackage,
    /// Lists the workflows and agents of a package.
    ShowPackage,
    /// Creates a package.
    NewPackage,
    PackPackage,
    ListTools,
    /// Lists tools with their schemas, as JSON.
    ListToolsJson,
    /// Shows the recorded definition of a tool.
    ToolStatus(String),
    /// Approves the current definition of a tool.
    PinTool(String),

    // Trust and configuration.
    /// Lists the user's consents.
    ListTrust,
    /// Consents to something the project brings.
    Trust {
        /// The kind: `provider`, `flow`, …
        kind: &'static str,
        name: String,
    },
    ListChecks,
    /// Shows the commands of the project's checks, for consent.
    AllowChecks,
    /// Adds a check to the project's configuration.
    AddCheck,
    /// Shows each setting and the file it comes from.
    ConfigOrigins,
}
