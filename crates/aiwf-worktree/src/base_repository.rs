//! The repositories of a worktree: one beside it that holds the base, and one in it for the agent.
//!
//! Both borrow the objects of the project's repository and nothing else: no remote, no hook, no configuration. In both
//! every file is bytes: no line ending is converted and no filter runs, so an object is exactly what is on the disk. What
//! an agent does to its repository does not touch the one beside it.

use std::path::{Path, PathBuf};

use aiwf_process::Stop;
use aiwf_store::{ConfinedDir, Durability, Hashing, create_dir, write_atomic};

use crate::error::WorktreeError;
use crate::git::{Config, Git, joined};
use crate::repository::Repository;
use crate::tree::io_error;

const REPOSITORY: &str = "git";
/// From the objects of the agent's repository to those of the base.
const TO_BASE: &str = "../../../../base/git/objects\n";
/// Files are bytes, whatever the attributes of the project say.
const ATTRIBUTES: &str = "* -text -ident -filter !working-tree-encoding\n";
/// What the agent's git does not do by itself, whatever the user's own configuration says.
const AGENT_CONFIG: &str = "[core]
\tautocrlf = false
\tfsmonitor = false
\thooksPath = /dev/null
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
";
const SETTINGS: [(&str, &str); 10] = [
    ("core.bare", "false"),
    ("core.fileMode", "true"),
    ("core.ignoreCase", "false"),
    // A second of packing buys nothing in a cache.
    ("core.looseCompression", "0"),
    ("core.precomposeUnicode", "false"),
    ("core.protectHFS", "false"),
    ("core.protectNTFS", "false"),
    ("core.symlinks", "true"),
    ("user.email", "aiwf@localhost"),
    ("user.name", "aiwf"),
];
/// The longest list of ignored names, or of the commits where a shallow clone ends, that is accepted.
const MAX_INFO_BYTES: u64 = 4 * 1024 * 1024;

/// The repository that holds the base of a worktree.
#[derive(Debug)]
pub(crate) struct BaseRepository {
    base_dir: PathBuf,
    git_dir: PathBuf,
    top: PathBuf,
}

impl BaseRepository {
    pub(crate) fn beside(base_dir: &Path, top: &Path) -> Self {
        let git_dir = base_dir.join(REPOSITORY);
        Self { base_dir: base_dir.to_owned(), git_dir, top: top.to_owned() }
    }

    /// The ignore rules that are in no file of the project.
    pub(crate) fn exclude_path(&self) -> PathBuf {
        self.git_dir.join("info/exclude")
    }

    /// Records the files of a new worktree and makes the repository in it; returns the commit that is the base.
    pub(crate) fn make(
        &self,
        repository: Option<&Repository>,
        head: Option<&str>,
        files: &[&str],
        brought: &[String],
        stop: &Stop,
    ) -> Result<String, WorktreeError> {
        let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let new = Git {
            directory: &self.base_dir,
            repository: None,
            work_tree: None,
            config: Config::Own,
            settings: &settings,
            stop,
        };
        init(&new, repository, &["--bare", REPOSITORY])?;
        let exclude = repository.map(|repository| info(repository, "info/exclude")).transpose()?.flatten();
        let exclude = exclude.unwrap_or_default();
        let borrowed = repository.map(borrowed_objects).unwrap_or_default();
        write_info(&self.git_dir, repository, &borrowed, &exclude)?;

        let git =
            Git { directory: &self.top, repository: Some(&self.git_dir), work_tree: Some(&self.top), ..new };
        let action = "record the base";
        let paths = joined(files.iter().copied());
        git.output(action, &["update-index", "--add", "-z", "--stdin"], paths)?;
        let tree = text(&git.output(action, &["write-tree"], Vec::new())?);
        let commit = match head {
            Some(head) if tree_of(&git, head)? == tree => head.to_owned(),
            Some(head) => {
                let message = "Changes of the project that are not committed";
                text(&git.output(action, &["commit-tree", &tree, "-p", head, "-m", message], Vec::new())?)
            }
            None => text(&git.output(
                action,
                &["commit-tree", &tree, "-m", "Files of the project"],
                Vec::new(),
            )?),
        };
        self.make_agents(&new, repository, &borrowed, &exclude, brought, &commit)?;
        Ok(commit)
    }

    /// The repository that the agent sees.
    fn make_agents(
        &self,
        new: &Git<'_>,
        repository: Option<&Repository>,
        borrowed: &[u8],
        exclude: &[u8],
        brought: &[String],
        commit: &str,
    ) -> Result<(), WorktreeError> {
        let new = Git { directory: &self.top, ..*new };
        let branch = repository.map(Repository::branch).transpose()?.flatten();
        let branch = format!("--initial-branch={}", branch.as_deref().unwrap_or("main"));
        init(&new, repository, &[&branch])?;
        let git_dir = self.top.join(".git");
        let mut exclude = exclude.to_vec();
        for path in brought {
            // They are ignored in the project, but a link is no directory for a rule such as `node_modules/`.
            exclude.extend(format!("\n/{path}\n").into_bytes());
        }
        let borrowed = [borrowed, TO_BASE.as_bytes()].concat();
        write_info(&git_dir, repository, &borrowed, &exclude)?;
        aiwf_store::append(&git_dir.join("config"), AGENT_CONFIG.as_bytes())?;
        let git = Git { repository: Some(&git_dir), ..new };
        git.output("record the base", &["update-ref", "HEAD", commit], Vec::new())?;
        let open =
            |path: &Path| ConfinedDir::open(path).map_err(|error| io_error("open", path, "", error.into()));
        let copied = open(&self.git_dir)?.copy_file("index", &open(&git_dir)?, Hashing::Nothing);
        // A project without files has no index.
        match copied {
            Ok(_) | Err(aiwf_store::ConfinedError::Missing) => Ok(()),
            Err(error) => Err(io_error("copy", &self.git_dir, "index", error)),
        }
    }

    /// Whether every object is there that was written for the base, as it was written.
    pub(crate) fn is_whole(&self, stop: &Stop) -> Result<bool, WorktreeError> {
        if !self.git_dir.exists() {
            return Ok(true);
        }
        // The index names every file of the base; the objects of the project are git's own business.
        let args = ["fsck", "--no-full", "--no-dangling", "--no-progress", "--no-reflogs"];
        Ok(self.git(stop).run("check the base", &args, Vec::new())?.code == Some(0))
    }

    fn git<'a>(&'a self, stop: &'a Stop) -> Git<'a> {
        Git {
            directory: &self.base_dir,
            repository: Some(&self.git_dir),
            work_tree: None,
            config: Config::Own,
            settings: &[],
            stop,
        }
    }

    /// The bytes of files as they are in a commit, in their order; `None` for one that is not in it.
    pub(crate) fn read(
        &self,
        commit: &str,
        paths: &[&String],
        stop: &Stop,
    ) -> Result<Vec<Option<Vec<u8>>>, WorktreeError> {
        let git = self.git(stop);
        let action = "read the base";
        let (by_line, others): (Vec<&&String>, Vec<&&String>) =
            paths.iter().partition(|path| !path.contains('\n'));
        let mut found = std::collections::BTreeMap::new();
        if !by_line.is_empty() {
            let names = by_line.iter().flat_map(|path| [commit, ":", path, "\n"]).collect::<String>();
            let printed = git.output(action, &["cat-file", "--batch"], names.into_bytes())?;
            let mut rest = printed.as_slice();
            for path in by_line {
                found.insert(path.as_str(), next_object(&mut rest));
            }
        }
        for path in others {
            let output = git.run(action, &["cat-file", "blob", &format!("{commit}:{path}")], Vec::new())?;
            found.insert(path.as_str(), (output.code == Some(0)).then_some(output.stdout));
        }
        Ok(paths.iter().map(|path| found.get(path.as_str()).cloned().flatten()).collect())
    }
}

/// The files of a commit.
fn tree_of(git: &Git<'_>, commit: &str) -> Result<String, WorktreeError> {
    let tree =
        git.line("record the base", &["rev-parse", "-q", "--verify", &format!("{commit}^{{tree}}")])?;
    tree.ok_or_else(|| WorktreeError::Git {
        action: "record the base",
        message: format!("the commit `{commit}` is gone"),
    })
}

/// Writes what git does not find in a new repository by itself.
fn write_info(
    git_dir: &Path,
    repository: Option<&Repository>,
    borrowed: &[u8],
    exclude: &[u8],
) -> Result<(), WorktreeError> {
    create_dir(&git_dir.join("info"))?;
    write(&git_dir.join("info/attributes"), ATTRIBUTES.as_bytes())?;
    write(&git_dir.join("info/exclude"), exclude)?;
    if !borrowed.is_empty() {
        write(&git_dir.join("objects/info/alternates"), borrowed)?;
    }
    // Where a shallow clone ends.
    if let Some(shallow) = repository.map(|repository| info(repository, "shallow")).transpose()?.flatten() {
        write(&git_dir.join("shallow"), &shallow)?;
    }
    Ok(())
}

/// The next object in the output of `git cat-file --batch`; `None` when there is none of that name.
fn next_object(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (header, after) = (rest.get(..end)?, rest.get(end + 1..)?);
    *rest = after;
    let header = std::str::from_utf8(header).ok()?;
    if header.ends_with(" missing") || header.ends_with(" ambiguous") {
        return None;
    }
    let n_bytes: usize = header.rsplit(' ').next()?.parse().ok()?;
    let bytes = after.get(..n_bytes)?.to_vec();
    *rest = after.get(n_bytes + 1..)?;
    header.contains(" blob ").then_some(bytes)
}

/// Makes a repository with nothing in it that anybody else wrote.
pub(crate) fn init(
    git: &Git<'_>,
    repository: Option<&Repository>,
    args: &[&str],
) -> Result<(), WorktreeError> {
    let mut all = vec!["init".to_owned(), "-q".to_owned(), "--template=".to_owned()];
    if let Some(repository) = repository {
        all.push(format!("--object-format={}", repository.object_format));
    }
    all.extend(args.iter().map(|argument| (*argument).to_owned()));
    // The setting is for repositories that have no files of their own.
    let settings: Vec<(String, String)> =
        git.settings.iter().filter(|(name, _)| name != "core.bare").cloned().collect();
    Git { settings: &settings, ..*git }.output("create a repository", &all, Vec::new())?;
    Ok(())
}

/// The line that lets a repository use the objects of another one.
pub(crate) fn borrowed_objects(repository: &Repository) -> Vec<u8> {
    let mut line = repository.objects_dir.as_os_str().as_encoded_bytes().to_vec();
    line.push(b'\n');
    line
}

/// A file that git keeps in a repository; `None` when it is not there.
pub(crate) fn info(repository: &Repository, name: &str) -> Result<Option<Vec<u8>>, WorktreeError> {
    let path = repository.common_dir.join(name);
    match aiwf_store::read_regular(&path, MAX_INFO_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(aiwf_store::ConfinedError::Missing) => Ok(None),
        Err(error) => Err(io_error("read", &repository.common_dir, name, error)),
    }
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), WorktreeError> {
    Ok(write_atomic(path, Durability::Process, |out| out.write_all(bytes))?)
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim_end().to_owned()
}
