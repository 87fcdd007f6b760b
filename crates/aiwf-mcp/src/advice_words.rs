//! Words advice for a client's model: a tool if there is one, otherwise what to ask a person for.

use aiwf_engine::advice::{Action, Advice, Subject};

pub(crate) fn worded(advice: &Advice) -> String {
    advice.worded(|action, subject| {
        let words = words(action);
        match subject {
            Subject::Session(id) if words.starts_with('`') => format!("{words} with session `{id}`"),
            Subject::Session(_) | Subject::Package(_) | Subject::Unknown => words,
        }
    })
}

fn words(action: &Action) -> String {
    let or = |name: &Option<String>, otherwise: &str| name.clone().unwrap_or_else(|| otherwise.to_owned());
    let tool_or_person = match action {
        Action::Step | Action::Run | Action::Resume => "continuing the session",
        Action::Approve => "`approve`",
        Action::Reject | Action::Reopen => "`reject`",
        Action::Respond => "`submit_reply`",
        Action::Status | Action::StatusJson => "`session_status`",
        Action::ListSessions | Action::ListChanges | Action::ListRuns => "`list_sessions`",
        Action::Init(_) | Action::InitHelp(_) => "`start_session`",
        Action::BuildPrompt | Action::PreviewJson => "`preview_prompt`",
        Action::EditReply => "editing the reply and approving it",
        Action::Retry => "asking the provider again",
        Action::Accept => "accepting the files despite the verdict",
        Action::RaiseCap { rounds } => return format!("allowing {rounds} rounds"),
        Action::RaiseBudget => "raising `[budget]` in .aiwf/config.toml",
        Action::Restore(path) => return format!("restoring {}", or(path, "the approved file")),
        Action::Rebind => "accepting edits to approved files",
        Action::Apply | Action::ApplyTo => "applying the code",
        Action::Undo => "undoing the apply",
        Action::Revise(_) => "`revise`",
        Action::ListComments => "`list_comments`",
        Action::Cancel => "cancelling the session",
        Action::Adopt => "adopting the session",
        Action::Show(artifact) => return format!("reading {}", or(artifact, "its artifacts")),
        Action::Verify => "verifying the session",
        Action::NewChange => "starting a change",
        Action::StartFlow(flow) => return format!("starting the flow `{flow}`"),
        Action::StartRun => "starting a run",
        Action::Say => "a message in the run",
        Action::Fork => "forking the run",
        Action::Rewind => "rewinding the run",
        Action::SendPrompt => "sending the prompt again",
        Action::PromptSchema(recipe) => return format!("the schema of `{recipe}` documents"),
        Action::CheckTemplates => "a check of the templates",
        Action::ListProviders => "the list of providers",
        Action::ValidateProviders => "a check of the providers",
        Action::ListProfiles => "the list of profiles",
        Action::NewProfile => "a new profile",
        Action::AddProfile => "adding the profile",
        Action::ListFlows => "the list of flows",
        Action::ShowFlow(flow) => return format!("the description of {}", or(flow, "the flow")),
        Action::NewFlow => "a new flow",
        Action::CheckPackage => "a check of the package",
        Action::ShowPackage => "the description of the package",
        Action::NewPackage => "a new package",
        Action::PackPackage => "packing the package",
        Action::ListTools | Action::ListToolsJson => "the list of tools",
        Action::ToolStatus(tool) => return format!("the status of tool `{tool}`"),
        Action::PinTool(tool) => return format!("pinning tool `{tool}`"),
        Action::ListTrust => "the list of what the user agreed to",
        Action::Trust { kind, name } => return format!("the user's consent to {kind} `{name}`"),
        Action::ListChecks => "the list of checks",
        Action::AllowChecks => "the user's consent to the checks",
        Action::AddCheck => "a new check in the configuration",
        Action::ConfigOrigins => "the settings with their origins",
    };
    tool_or_person.to_owned()
}
