//! Words advice for the command line.

use aiwf_engine::Finding;
use aiwf_engine::advice::{Action, Advice, Subject};

/// A hint: commands in backticks.
pub(crate) fn hint(advice: &Advice) -> String {
    advice.worded(|action, subject| worded(action, subject, "`"))
}

/// The next commands, as the user types them.
pub(crate) fn next(advice: &Advice) -> String {
    advice.worded(|action, subject| worded(action, subject, ""))
}

/// A finding with its hint on a separate line.
pub(crate) fn with_hint(finding: &Finding) -> String {
    match &finding.advice {
        Some(advice) => format!("{}\nhint: {}", finding.message, hint(advice)),
        None => finding.message.clone(),
    }
}

/// A finding with its hint in the same line.
pub(crate) fn in_one_line(finding: &Finding) -> String {
    match &finding.advice {
        Some(advice) => format!("{}; {}", finding.message, hint(advice)),
        None => finding.message.clone(),
    }
}

/// An action as a command, with a preceding step in words where needed.
fn worded(action: &Action, subject: &Subject, mark: &str) -> String {
    let command = command(action, subject);
    let before = if *action == Action::EditReply {
        "edit the reply and "
    } else if *action == Action::RaiseBudget {
        "raise `[budget]` in .aiwf/config.toml, then "
    } else {
        ""
    };
    format!("{before}{mark}{command}{mark}")
}

fn command(action: &Action, subject: &Subject) -> String {
    // Most verbs find the only qualifying session themselves; some require an id.
    let (id, required_id) = match subject {
        Subject::Session(id) => (format!(" {id}"), format!(" {id}")),
        Subject::Unknown | Subject::Package(_) => (String::new(), " ID".to_owned()),
    };
    let package = match subject {
        Subject::Package(path) => path.as_str(),
        Subject::Unknown | Subject::Session(_) => "PATH",
    };
    let or =
        |name: &Option<String>, placeholder: &str| name.clone().unwrap_or_else(|| placeholder.to_owned());
    match action {
        Action::Step => format!("aiwf step{id}"),
        Action::Run | Action::RaiseBudget => format!("aiwf run{id}"),
        Action::Approve | Action::EditReply => format!("aiwf approve{id}"),
        Action::Reject | Action::Reopen => format!("aiwf reject{id} --feedback TEXT"),
        Action::Retry => format!("aiwf retry{id}"),
        Action::Respond => format!("aiwf respond{id} --file REPLY"),
        Action::Accept => format!("aiwf approve{id} --accept"),
        Action::RaiseCap { rounds } => format!("aiwf approve{id} --max-iterations {rounds}"),
        Action::Restore(path) => format!("aiwf restore{required_id} {}", or(path, "FILE")),
        Action::Rebind => format!("aiwf approve{id} --rebind"),
        Action::Apply => format!("aiwf apply{id}"),
        Action::ApplyTo => format!("aiwf apply{id} --to DIR"),
        Action::Undo => format!("aiwf undo{id}"),
        Action::Revise(artifact) => {
            format!("aiwf revise{required_id} {} --reason TEXT", or(artifact, "ARTIFACT"))
        }
        Action::ListComments => format!("aiwf comment list{id}"),
        Action::Cancel => format!("aiwf cancel{id}"),
        Action::Adopt => format!("aiwf adopt{required_id}"),

        Action::Status => format!("aiwf status{id}"),
        Action::StatusJson => format!("aiwf status{id} --json"),
        Action::Show(None) => format!("aiwf show{id}"),
        Action::Show(Some(artifact)) => format!("aiwf show{required_id} {artifact}"),
        Action::PreviewJson => format!("aiwf preview{id} --json"),
        Action::Verify => format!("aiwf verify{id}"),
        Action::ListSessions => "aiwf list".to_owned(),
        Action::ListChanges => "aiwf change list".to_owned(),
        Action::ListRuns => "aiwf list --flow package".to_owned(),

        Action::Init(profile) => format!("aiwf {} init", or(profile, "PROFILE")),
        Action::InitHelp(profile) => format!("aiwf {profile} init --help"),
        Action::NewChange => "aiwf change new NAME TEXT".to_owned(),
        Action::StartFlow(flow) => format!("aiwf flow start {flow} 'add a login'"),
        Action::StartRun => "aiwf workflow run".to_owned(),

        Action::Resume => format!("aiwf workflow resume{id}"),
        Action::Say => format!("aiwf workflow say{required_id} TEXT"),
        Action::Fork => format!("aiwf workflow fork{required_id} --at NODE"),
        Action::Rewind => format!("aiwf workflow rewind{required_id} --to NODE"),

        Action::BuildPrompt => "aiwf prompt build".to_owned(),
        Action::SendPrompt => "aiwf prompt send".to_owned(),
        Action::PromptSchema(recipe) => format!("aiwf prompt schema {recipe}"),
        Action::CheckTemplates => "aiwf template check".to_owned(),

        Action::ListProviders => "aiwf providers".to_owned(),
        Action::ValidateProviders => "aiwf validate providers".to_owned(),
        Action::ListProfiles => "aiwf profiles".to_owned(),
        Action::NewProfile => "aiwf profile new NAME".to_owned(),
        Action::AddProfile => "aiwf profile add DIR".to_owned(),
        Action::ListFlows => "aiwf flow list".to_owned(),
        Action::ShowFlow(flow) => format!("aiwf flow show {}", or(flow, "NAME")),
        Action::NewFlow => "aiwf flow new NAME".to_owned(),
        Action::CheckPackage => format!("aiwf package check {package}"),
        Action::ShowPackage => format!("aiwf package show {package}"),
        Action::NewPackage => "aiwf package new NAME".to_owned(),
        Action::PackPackage => "aiwf package pack DIR".to_owned(),
        Action::ListTools => "aiwf tools list".to_owned(),
        Action::ListToolsJson => "aiwf tools list --json".to_owned(),
        Action::ToolStatus(tool) => format!("aiwf tools status {tool}"),
        Action::PinTool(tool) => format!("aiwf tools pin {tool}"),

        Action::ListTrust => "aiwf trust list".to_owned(),
        Action::Trust { kind, name } => format!("aiwf trust add {kind} {name}"),
        Action::ListChecks => "aiwf checks list".to_owned(),
        Action::AllowChecks => "aiwf checks allow".to_owned(),
        Action::AddCheck => "aiwf checks add NAME COMMAND".to_owned(),
        Action::ConfigOrigins => "aiwf config show --origin".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_the_session_it_is_about() {
        let check = |advice: Advice, expected: &str| assert_eq!(hint(&advice), expected);
        let restore = || Advice::from(Action::Restore(Some("plan.md".to_owned()))).then(" restores it");
        check(restore(), "`aiwf restore ID plan.md` restores it");
        check(restore().about_session("2026-01"), "`aiwf restore 2026-01 plan.md` restores it");
        check(
            Advice::from("ask again with ").then(Action::Reject),
            "ask again with `aiwf reject --feedback TEXT`",
        );
        check(
            Advice::from(Action::Status).then("; ").then(Action::ListSessions).about_session("2026-01"),
            "`aiwf status 2026-01`; `aiwf list`",
        );
    }

    #[test]
    fn what_to_type_next_has_no_backticks() {
        let advice = Advice::any_of([Action::Approve, Action::EditReply]).about_session("2026-01");
        assert_eq!(next(&advice), "aiwf approve 2026-01, or edit the reply and aiwf approve 2026-01");
    }
}
