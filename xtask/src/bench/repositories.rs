//! What `aiwf do` costs in a repository, beyond the time of its agent.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::corpus::write_corpus;
use crate::bench::lab::{Lab, write};
use crate::bench::table::Row;
use crate::failure::Failure;
use crate::workspace;

const N_FILES: usize = 10_000;
const FILE_BYTES: usize = 20_000;
const CONFIG: &str = "[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"-c\", \"exec sh \\\"$HOME/agent.sh\\\"\"]\nwrite = true\n";
/// Takes no time worth mentioning, so all that is measured is aiwf; every run writes something else.
const AGENT: &str = r#"prompt=$(cat)
case $prompt in
*"You implement"*) printf '%s\n' "$$" > written.txt; echo 'Done.';;
*"<review>"*) echo '<review>PASS</review>';;
*) echo '# Plan';;
esac
"#;

/// A whole `aiwf do`, from the request to the file in the project, against a clone of the repository and a look at it.
pub(super) fn whole(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let root = lab.dir("repository")?;
    let n_files = lab.scaled(N_FILES);
    let corpus = write_corpus(&root, n_files, |_| FILE_BYTES)?;
    let git = |args: &[&str]| -> Result<(), Failure> {
        let mut git = lab.program("git");
        workspace::run(
            git.current_dir(&root).args(["-c", "user.name=A", "-c", "user.email=a@example.com"]).args(args),
        )
    };
    git(&["init", "-q", "-b", "main"])?;
    git(&["add", "."])?;
    git(&["commit", "-q", "-m", "First"])?;
    lab.configure(CONFIG)?;
    write(&lab.path("home/agent.sh"), AGENT)?;
    if lab.is_comparing() {
        write(&lab.path("other-home/agent.sh"), AGENT)?;
    }
    let ours = || -> Result<Command, Failure> {
        let mut command = lab.aiwf()?;
        command.current_dir(&root).args(["do", "Write a number", "--agent", "agent", "--yes"]);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    };
    let clone = lab.path("clone");
    let reference = || clone_and_look(lab, &root, &clone);
    let [ours, reference] = lab.take_turns(5, [&ours, &reference])?;
    let what = format!("aiwf do, {n_files} files / {} MB", corpus.n_bytes / 1_000_000);
    Ok(vec![Row::of_times(what, &ours, ("git clone --shared + git status", &reference)).at_most(1.5)])
}

fn clone_and_look(lab: &Lab<'_>, root: &Path, clone: &Path) -> Result<Command, Failure> {
    if clone.exists() {
        fs::remove_dir_all(clone).map_err(|error| Failure::io("remove the clone", &error))?;
    }
    let mut command = lab.program("sh");
    let script = "git clone --shared -q \"$1\" \"$2\" && git -C \"$2\" status --porcelain";
    command.args(["-c", script, "sh"]).arg(root).arg(clone);
    Ok(command)
}
