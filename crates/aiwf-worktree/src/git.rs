//! The one way git is started.
//!
//! In: what to ask, whose configuration counts, and the standard input. Out: what git printed, bounded in time and size.
//! A repository may come from a stranger: unless the user asked for a commit, nothing that its configuration, hooks or
//! attributes name is started, nothing is fetched and nobody is asked for a password.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::time::Duration;

use aiwf_process::{CHUNK, Child, ChildError, Environment, Limits, Program, Stderr, Stop};

use crate::error::WorktreeError;

/// How long git may take: longer than anything takes on a slow disk, hooks that run tests included.
const WAIT: Duration = Duration::from_mins(15);
/// How much git may print: the names of two million files.
const MAX_OUTPUT_BYTES: u64 = 256 * 1024 * 1024;
/// How much of what it complains about is told.
const MAX_MESSAGE_BYTES: usize = 2 * 1024;

/// Whose configuration counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Config {
    /// Only that of the repository, which is ours.
    Own,
    /// Everybody's, but nothing of the repository's own is started.
    Looking,
    /// Everybody's, as if the user had typed the command.
    AsUser,
}

/// Where git works, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Git<'a> {
    /// The working directory.
    pub(crate) directory: &'a Path,
    /// The repository; git looks for it above the working directory when it is not named.
    pub(crate) repository: Option<&'a Path>,
    /// The files of the repository.
    pub(crate) work_tree: Option<&'a Path>,
    pub(crate) config: Config,
    /// Settings that win over all others.
    pub(crate) settings: &'a [(String, String)],
    pub(crate) stop: &'a Stop,
}

/// What git printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) code: Option<i32>,
    stderr: String,
}

/// Variables that say which repository is meant, or name programs.
const REMOVED: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ASKPASS",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DEFAULT_HASH",
    "GIT_DEFAULT_REF_FORMAT",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_PROXY_COMMAND",
    "GIT_QUARANTINE_PATH",
    "GIT_REDIRECT_STDERR",
    "GIT_REDIRECT_STDIN",
    "GIT_REDIRECT_STDOUT",
    "GIT_REF_PARANOIA",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GIT_WORK_TREE",
    "SSH_ASKPASS",
];

/// Variables for every call: git never waits for a person.
const ALWAYS: [(&str, &str); 3] =
    [("GIT_TERMINAL_PROMPT", "0"), ("GIT_EDITOR", "false"), ("GIT_PAGER", "cat")];

/// Variables for calls that start nothing and change nothing of the user's.
const CAREFUL: [(&str, &str); 4] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("LC_ALL", "C"),
];

/// Variables for a repository of our own.
const OWN: [(&str, &str); 3] =
    [("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_ATTR_NOSYSTEM", "1")];

/// Settings that name programs, or let git start or fetch something by itself.
const HARMLESS: &[(&str, &str)] = &[
    ("commit.gpgSign", "false"),
    ("core.alternateRefsCommand", "true"),
    ("core.askPass", "false"),
    ("core.editor", "false"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("credential.helper", ""),
    ("gc.auto", "0"),
    ("gpg.program", "false"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

impl Git<'_> {
    /// What git prints; an error unless it succeeds. `action` says what for: `list the files`.
    pub(crate) fn output(
        &self,
        action: &'static str,
        args: &[impl AsRef<OsStr>],
        input: Vec<u8>,
    ) -> Result<Vec<u8>, WorktreeError> {
        let output = self.run(action, args, input)?;
        if output.code == Some(0) { Ok(output.stdout) } else { Err(output.failed(action)) }
    }

    /// One line that git prints, or nothing when it exits with 1: what was asked for is not there.
    pub(crate) fn line(
        &self,
        action: &'static str,
        args: &[impl AsRef<OsStr>],
    ) -> Result<Option<String>, WorktreeError> {
        let output = self.run(action, args, Vec::new())?;
        match output.code {
            Some(0) => {
                let line = String::from_utf8_lossy(&output.stdout);
                Ok(Some(line.strip_suffix('\n').unwrap_or(&line).to_owned()))
            }
            Some(1) => Ok(None),
            _ => Err(output.failed(action)),
        }
    }

    /// Runs git, however it ends.
    pub(crate) fn run(
        &self,
        action: &'static str,
        args: &[impl AsRef<OsStr>],
        input: Vec<u8>,
    ) -> Result<Output, WorktreeError> {
        self.start(action, args, input, Stderr::Tail)
    }

    /// Runs git, and takes what it and its hooks complain about as output, too.
    pub(crate) fn run_merged(
        &self,
        action: &'static str,
        args: &[impl AsRef<OsStr>],
        input: Vec<u8>,
    ) -> Result<Output, WorktreeError> {
        self.start(action, args, input, Stderr::Merged)
    }

    fn start(
        &self,
        action: &'static str,
        args: &[impl AsRef<OsStr>],
        input: Vec<u8>,
        stderr: Stderr,
    ) -> Result<Output, WorktreeError> {
        let args = self.args(args);
        let env = self.env();
        let program = Program {
            environment: Environment::Inherited,
            env: &env,
            env_removed: REMOVED,
            directory: Some(self.directory),
            stderr,
            // Who signs commits may be asked for a pass phrase.
            is_in_front: self.config == Config::AsUser,
            ..Program::new(OsStr::new(program()), &args)
        };
        let limits = Limits { first_byte: WAIT, total: WAIT, max_bytes: MAX_OUTPUT_BYTES };
        let failed = |error| self.child_error(action, error);
        let mut child = Child::start(&program, limits, self.stop).map_err(failed)?;
        child.send(input);
        child.close_stdin();
        let mut stdout = Vec::new();
        let mut buffer = vec![0; CHUNK];
        loop {
            match child.read(&mut buffer).map_err(failed)? {
                0 => break,
                n_read => stdout.extend_from_slice(buffer.get(..n_read).unwrap_or_default()),
            }
        }
        let ended = child.end(Duration::ZERO);
        Ok(Output { stdout, code: ended.code, stderr: ended.stderr })
    }

    fn args(&self, args: &[impl AsRef<OsStr>]) -> Vec<OsString> {
        let mut all: Vec<OsString> = Vec::new();
        let mut set = |name: &str, value: &str| all.extend(["-c".into(), format!("{name}={value}").into()]);
        if self.config != Config::AsUser {
            for (name, value) in HARMLESS {
                set(name, value);
            }
        }
        for (name, value) in self.settings {
            set(name, value);
        }
        let mut place = |option: &str, path: Option<&Path>| {
            if let Some(path) = path {
                let mut argument = OsString::from(option);
                argument.push(path);
                all.push(argument);
            }
        };
        place("--git-dir=", self.repository);
        place("--work-tree=", self.work_tree);
        // It takes paths as they are and refuses to be told so.
        if args.first().is_none_or(|command| command.as_ref() != "check-ignore") {
            all.push("--literal-pathspecs".into());
        }
        all.extend(args.iter().map(|argument| argument.as_ref().to_owned()));
        all
    }

    fn env(&self) -> Vec<(String, String)> {
        let (careful, own): (&[_], &[_]) = match self.config {
            Config::Own => (&CAREFUL, &OWN),
            Config::Looking => (&CAREFUL, &[]),
            Config::AsUser => (&[], &[]),
        };
        let all = ALWAYS.iter().chain(careful).chain(own);
        let all = all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        #[cfg(test)]
        let all = all.chain(crate::testing::env());
        all.collect()
    }

    fn child_error(&self, action: &'static str, error: ChildError) -> WorktreeError {
        match error {
            ChildError::NotStarted(source)
                if source.kind() == io::ErrorKind::NotFound && self.directory.is_dir() =>
            {
                WorktreeError::NoGit
            }
            ChildError::NotStarted(source) | ChildError::Pipe(source) => {
                WorktreeError::Io { action: "run git in", path: self.directory.to_owned(), source }
            }
            ChildError::Stopped => WorktreeError::Stopped,
            ChildError::TimedOut { after, .. } => WorktreeError::TimedOut { action, after },
            ChildError::TooLarge { limit } => WorktreeError::TooLarge { action, limit },
        }
    }
}

impl Output {
    /// The error for a git that did not succeed.
    pub(crate) fn failed(&self, action: &'static str) -> WorktreeError {
        WorktreeError::Git { action, message: self.message() }
    }

    /// What it complained about, or printed where that is all there is.
    pub(crate) fn message(&self) -> String {
        let printed = String::from_utf8_lossy(&self.stdout);
        let text = if self.stderr.trim().is_empty() { printed.trim() } else { self.stderr.trim() };
        let text = ["fatal: ", "error: "].iter().find_map(|start| text.strip_prefix(start)).unwrap_or(text);
        if text.is_empty() {
            return match self.code {
                Some(code) => format!("exit code {code}"),
                None => "it was killed by a signal".to_owned(),
            };
        }
        let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_MESSAGE_BYTES));
        text.get(start..).unwrap_or_default().to_owned()
    }
}

/// Git is looked up as the system does.
#[cfg(not(test))]
fn program() -> &'static str {
    "git"
}

#[cfg(test)]
use crate::testing::program;

/// The pieces of what git prints with `-z`.
pub(crate) fn pieces(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|piece| !piece.is_empty())
}

/// Paths as git reads them with `-z`.
pub(crate) fn joined<'p>(paths: impl IntoIterator<Item = &'p str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_bytes());
        bytes.push(0);
    }
    bytes
}
