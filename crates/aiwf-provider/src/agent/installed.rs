//! Whether an agent's program is installed and new enough.
//!
//! Agents publish no list of which version has which option, so aiwf does not guess. Instead it searches the program's
//! help text for the options that it passes. A help text without any of them, such as that of a wrapper script, proves
//! nothing, and the program is assumed to work.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{agent_output, not_started, private_dir};
use crate::ask::Check;
use crate::provider_setting::ProviderSetting;
use aiwf_process::{CHUNK, ChildError, Ended, Limits, Program, Stop};

/// A program that runs on Node needs several seconds to print its version or help.
const WAIT: Duration = Duration::from_secs(20);

/// The supported release of an agent.
#[derive(Debug)]
pub(crate) struct Release {
    /// Its npm package.
    pub(crate) package: &'static str,
    /// The version that aiwf is tested with. Hints name it, because without a version npm may install an older one that
    /// fits the installed Node.
    pub(crate) version: &'static str,
    /// The oldest major version of Node with which npm installs a working copy of that version.
    pub(crate) min_node: u32,
    /// The arguments that print its options.
    pub(crate) help: &'static [&'static str],
    /// The options that aiwf passes and the help text lists.
    pub(crate) options: &'static [&'static str],
}

/// Claude Code declares Node 22, but is a native program: this version was installed and run with Node 20.
pub(crate) const CLAUDE_CODE: Release = Release {
    package: "@anthropic-ai/claude-code",
    version: "2.1.325",
    min_node: 20,
    help: &["--help"],
    // The options for files with the system prompt work but are not listed.
    options: &[
        "--restricted",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--no-session-persistence",
        "--input-format",
        "--output-format",
        "--permission-mode",
        "--tools",
        "--allowedTools",
    ],
};

pub(crate) const CODEX: Release = Release {
    package: "@openai/codex",
    version: "0.166.0",
    min_node: 16,
    help: &["exec", "--help"],
    options: &["--json", "--ephemeral", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules"],
};

pub(crate) const GEMINI_CLI: Release = Release {
    package: "@google/gemini-cli",
    version: "0.61.0",
    min_node: 20,
    help: &["--help"],
    options: &["--acp", "--extensions", "--allowed-mcp-server-names", "--policy"],
};

impl Release {
    fn npm_install(&self) -> String {
        format!("npm install -g {}@{}", self.package, self.version)
    }

    /// The hint for a version that lacks an option.
    pub(crate) fn update_hint(&self) -> String {
        format!("install the version that aiwf is tested with: `{}`", self.npm_install())
    }

    /// The hint if the program is not installed, depending on the installed Node.
    pub(crate) fn install_hint(&self, setting: &ProviderSetting) -> String {
        let Self { min_node, .. } = *self;
        let install = self.npm_install();
        let or_set = format!("or set `program` in `[providers.{}]`", setting.name);
        match node_major(setting) {
            Some(major) if major >= min_node => format!("install it with `{install}`, {or_set}"),
            Some(major) => format!(
                "install node {min_node} or newer (node {major} is too old for it), then run `{install}`; {or_set}"
            ),
            None => {
                format!(
                    "install node {min_node} or newer (it is not installed), then run `{install}`; {or_set}"
                )
            }
        }
    }
}

/// An agent's program on this machine.
#[derive(Clone, Debug, Default)]
pub struct InstalledProgram {
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    pub tested_version: Option<&'static str>,
    /// The result of the check.
    pub check: Option<Check>,
}

/// Finds a program without running it.
pub(crate) fn look_up(
    program: &OsStr,
    setting: &ProviderSetting,
    hint: impl FnOnce() -> String,
) -> InstalledProgram {
    let shown = program.to_string_lossy();
    let path = find(Path::new(program), setting);
    let check = match &path {
        Some(_) => Check::ok("program", format!("`{shown}` is installed")),
        None => not_there(&shown, hint()),
    };
    InstalledProgram { path, check: Some(check), ..InstalledProgram::default() }
}

/// How thoroughly a program is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Only finds it.
    Presence,
    /// Runs it for its version: enough to know that it starts.
    Version,
    /// Also runs it for its options.
    Options,
}

/// Finds an agent's program, and checks its version and options.
pub(crate) fn inspect(
    release: &Release,
    program: &OsStr,
    setting: &ProviderSetting,
    depth: Depth,
) -> InstalledProgram {
    let mut installed = look_up(program, setting, || release.install_hint(setting));
    installed.tested_version = Some(release.version);
    let Some(path) = installed.path.as_ref().filter(|_| depth != Depth::Presence) else { return installed };
    let shown = program.to_string_lossy();
    let retry = || format!("run `{shown} --version` yourself to see what is wrong");
    let check = match run(path.as_os_str(), &["--version"], setting) {
        Ok((printed, ended)) if ended.code == Some(0) => {
            let line = agent_output::shown(printed.lines().next().unwrap_or_default());
            installed.version = version_in(&line).map(str::to_owned);
            let missing = (depth == Depth::Options).then(|| missing_option(release, path, setting)).flatten();
            match missing {
                None => Check::ok("program", format!("`{shown}` {line}")),
                Some(option) => Check::bad(
                    "program",
                    format!("`{shown}` {line} is too old: it has no option `{option}`"),
                    release.update_hint(),
                ),
            }
        }
        Ok((_, ended)) => {
            let words = agent_output::shown(&ended.stderr);
            Check::bad("program", format!("`{shown} --version` failed: {words}"), retry())
        }
        Err(ChildError::NotStarted(error)) => Check::bad(
            "program",
            format!("`{shown}`: {}", not_started(&error)),
            release.install_hint(setting),
        ),
        Err(_) => Check::bad(
            "program",
            format!("`{shown} --version` did not answer within {} s", WAIT.as_secs()),
            retry(),
        ),
    };
    installed.check = Some(check);
    installed
}

fn not_there(shown: &str, hint: String) -> Check {
    let error = io::Error::from(io::ErrorKind::NotFound);
    Check::bad("program", format!("`{shown}`: {}", not_started(&error)), hint)
}

/// The first option that the help text should list and does not.
fn missing_option(release: &Release, path: &Path, setting: &ProviderSetting) -> Option<&'static str> {
    let (printed, ended) = run(path.as_os_str(), release.help, setting).ok()?;
    let is_listed = |option: &&&str| lists(&printed, option);
    if ended.code != Some(0) || !release.options.iter().any(|option| is_listed(&option)) {
        return None;
    }
    release.options.iter().find(|option| !is_listed(option)).copied()
}

/// Whether a help text lists exactly this option, not only a longer one.
fn lists(help: &str, option: &str) -> bool {
    let continues = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    help.match_indices(option).any(|(at, _)| {
        let before = help.get(..at).and_then(|text| text.chars().next_back());
        let after = help.get(at + option.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(continues) && !after.is_some_and(continues)
    })
}

/// The version in the output of a program: `2.1.325 (Claude Code)`, `codex-cli 0.166.0`.
fn version_in(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().map(|word| word.trim_start_matches('v'));
    words.find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()) && word.contains('.'))
}

/// The major version of the Node that npm would install for.
fn node_major(setting: &ProviderSetting) -> Option<u32> {
    let node = find(Path::new("node"), setting)?;
    let (printed, _) = run(node.as_os_str(), &["--version"], setting).ok()?;
    version_in(printed.trim())?.split('.').next()?.parse().ok()
}

/// Runs a program in an empty directory, so that no project affects it.
fn run(path: &OsStr, args: &[&str], setting: &ProviderSetting) -> Result<(String, Ended), ChildError> {
    let private_dir = private_dir().map_err(ChildError::NotStarted)?;
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let env: Vec<_> = setting.env.clone().into_iter().collect();
    let program = Program { env: &env, directory: Some(private_dir.path()), ..Program::new(path, &args) };
    let limits = Limits { first_byte: WAIT, total: WAIT, max_bytes: CHUNK as u64 };
    let (printed, ended) = aiwf_process::output(&program, limits, &Stop::default())?;
    Ok((String::from_utf8_lossy(&printed).into_owned(), ended))
}

/// The path that a program would be started with.
fn find(program: &Path, setting: &ProviderSetting) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let absolute = |path: PathBuf| std::path::absolute(path).ok().filter(is_program);
    if program.components().count() > 1 {
        return absolute(program.to_owned());
    }
    #[expect(clippy::disallowed_methods, reason = "a program is looked up the way the system looks it up")]
    let search_path = || std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let search_path = setting.env.get("PATH").map_or_else(search_path, OsString::from);
    std::env::split_paths(&search_path).find_map(|directory| absolute(directory.join(program)))
}

#[cfg(test)]
mod tests {
    use super::{CLAUDE_CODE, CODEX, GEMINI_CLI, lists, version_in};

    #[test]
    fn hints_name_the_versions_that_the_suite_of_real_agents_installs() {
        let suite = include_str!("../../../../xtask/src/agents.rs");
        for release in [CLAUDE_CODE, CODEX, GEMINI_CLI] {
            let package = format!("name: \"{}\", version: \"{}\"", release.package, release.version);
            assert!(suite.contains(&package), "{package}");
        }
    }

    #[test]
    fn versions_are_found_in_what_programs_print() {
        assert_eq!(version_in("2.1.325 (Claude Code)"), Some("2.1.325"));
        assert_eq!(version_in("codex-cli 0.166.0"), Some("0.166.0"));
        assert_eq!(version_in("v20.20.2"), Some("20.20.2"));
        assert_eq!(version_in("wrapper of 2 programs"), None);
    }

    #[test]
    fn an_option_is_not_found_in_a_longer_one() {
        assert!(lists("  -e, --extensions  Extensions", "--extensions"));
        assert!(lists("--policy=<file>", "--policy"));
        assert!(!lists("--list-extensions --extensions-dir", "--extensions"));
    }
}
