//! Words advice for the page: the button that does it, or the command for what the page does not do.

use aiwf_engine::advice::{Action, Advice};

pub(crate) fn worded(advice: &Advice) -> String {
    advice.worded(|action, _| words(action))
}

fn words(action: &Action) -> String {
    let or = |name: &Option<String>, otherwise: &str| name.clone().unwrap_or_else(|| otherwise.to_owned());
    let button_or_command = match action {
        Action::Step | Action::Run | Action::Resume => "Continue",
        Action::Approve => "Approve",
        Action::Reject => "Reject",
        Action::Reopen => "Reopen",
        Action::Respond => "Respond",
        Action::EditReply => "edit the reply, then Approve",
        Action::Retry => "Retry",
        Action::Revise(_) => "Revise",
        Action::ListComments => "look at the comments",
        Action::Accept => "Accept",
        Action::RaiseCap { rounds } => return format!("Allow {rounds} rounds"),
        Action::RaiseBudget => "raise `[budget]` in .aiwf/config.toml, then Continue",
        Action::Restore(path) => return format!("Restore {}", or(path, "the approved file")),
        Action::Rebind => "Accept the edits",
        Action::Apply => "Apply",
        Action::Cancel => "Cancel",
        Action::Undo => "Undo",
        Action::Say => "answer below",
        Action::AllowChecks => "Allow these checks",
        Action::Status | Action::StatusJson => "look at the session",
        Action::ListSessions | Action::ListChanges | Action::ListRuns => "the inbox",
        Action::Show(artifact) => return format!("look at {}", or(artifact, "its files")),
        Action::BuildPrompt | Action::PreviewJson => "look at the prompt",
        Action::ApplyTo => "`aiwf apply ID --to DIR`",
        Action::Adopt => "`aiwf adopt ID`",
        Action::Verify => "`aiwf verify ID`",
        Action::Init(_) | Action::InitHelp(_) => "`aiwf PROFILE init`",
        Action::NewChange => "`aiwf change new NAME TEXT`",
        Action::StartFlow(flow) => return format!("`aiwf flow start {flow} TEXT`"),
        Action::StartRun => "`aiwf workflow run`",
        Action::Fork => "`aiwf workflow fork ID --at NODE`",
        Action::Rewind => "`aiwf workflow rewind ID --to NODE`",
        Action::SendPrompt => "`aiwf prompt send`",
        Action::PromptSchema(recipe) => return format!("`aiwf prompt schema {recipe}`"),
        Action::CheckTemplates => "`aiwf template check`",
        Action::ListProviders => "`aiwf providers`",
        Action::ValidateProviders => "`aiwf validate providers`",
        Action::ListProfiles => "`aiwf profiles`",
        Action::NewProfile => "`aiwf profile new NAME`",
        Action::AddProfile => "`aiwf profile add DIR`",
        Action::ListFlows => "`aiwf flow list`",
        Action::ShowFlow(flow) => return format!("`aiwf flow show {}`", or(flow, "NAME")),
        Action::NewFlow => "`aiwf flow new NAME`",
        Action::CheckPackage => "`aiwf package check PATH`",
        Action::ShowPackage => "`aiwf package show PATH`",
        Action::NewPackage => "`aiwf package new NAME`",
        Action::PackPackage => "`aiwf package pack DIR`",
        Action::ListTools | Action::ListToolsJson => "`aiwf tools list`",
        Action::ToolStatus(tool) => return format!("`aiwf tools status {tool}`"),
        Action::PinTool(tool) => return format!("`aiwf tools pin {tool}`"),
        Action::ListTrust => "`aiwf trust list`",
        Action::Trust { kind, name } => return format!("`aiwf trust add {kind} {name}`"),
        Action::ListChecks => "`aiwf checks list`",
        Action::AddCheck => "`aiwf checks add NAME COMMAND`",
        Action::ConfigOrigins => "`aiwf config show --origin`",
    };
    button_or_command.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_buttons_of_the_page() {
        let advice = Advice::from("save the reply, then ").then(Action::Approve).about_session("2026-01");
        assert_eq!(worded(&advice), "save the reply, then Approve");
        assert_eq!(worded(&Advice::from(Action::Adopt)), "`aiwf adopt ID`");
    }
}
