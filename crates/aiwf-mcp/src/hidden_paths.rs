//! Hides the machine's paths from clients: paths in the project become relative, others are replaced.

use aiwf_engine::config::Settings;
use aiwf_engine::prompt::{Roots, alias_roots, redact_paths};

/// The project alias in the prompt crate.
const ALIAS: &str = "@project";

/// `text` with project paths made relative, the home directory as `~`, and other absolute paths replaced.
pub(crate) fn without_machine_paths(text: &str, settings: &Settings) -> String {
    let real_root = settings.project_root.canonicalize().ok();
    let mut text = text.to_owned();
    for root in real_root.iter().chain([&settings.project_root]) {
        let roots = Roots {
            project: Some(root.to_string_lossy().into_owned()),
            home: settings.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
            ..Roots::default()
        };
        text = alias_roots(&text, &roots).into_owned();
    }
    let text = text.replace(&format!("{ALIAS}/"), "").replace(ALIAS, ".");
    redact_paths(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_project_are_shown() {
        let settings = Settings {
            current_dir: "/srv/shop".into(),
            shell_dir: None,
            project_root: "/srv/shop".into(),
            home: Some("/people/ada".into()),
            cache_dir: None,
            user: None,
            embedded_providers: std::collections::BTreeSet::new(),
            max_cost_micros: None,
            models: std::collections::BTreeMap::new(),
        };
        let check = |text: &str, expected: &str| assert_eq!(without_machine_paths(text, &settings), expected);
        check("could not read `/srv/shop/.aiwf/a.md`", "could not read `.aiwf/a.md`");
        check("in `/srv/shop`", "in `.`");
        check("`/people/ada/.aiwf/config.toml` line 3", "`~/.aiwf/config.toml` line 3");
        check("`/srv/shopping/a.md`", "`[path]`");
        check("`.aiwf/sessions/x/plan.md` is gone", "`.aiwf/sessions/x/plan.md` is gone");
    }
}
