//! What a call to an agent costs beside the agent, and how much memory a large reply takes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::lab::{Lab, create_dir, write};
use crate::bench::measure::Samples;
use crate::bench::table::{Change, Quantity, Row};
use crate::failure::Failure;

const MEGABYTE: usize = 1_000_000;
/// The reply that must stream, and a tenth of it to compare with.
const LARGE: usize = 100 * MEGABYTE;

/// A project, and an agent for it: a shell that runs `script` with the prompt on its standard input.
fn project(lab: &Lab<'_>, name: &str, script: &str) -> Result<PathBuf, Failure> {
    let root = lab.dir(name)?;
    create_dir(&root.join(".aiwf"))?;
    lab.configure(&format!(
        "[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"-c\", {script:?}]\nmax_reply_bytes = {}\n",
        2 * LARGE
    ))?;
    Ok(root)
}

fn send(lab: &Lab<'_>, root: &Path) -> Result<Command, Failure> {
    let mut command = lab.aiwf()?;
    command.current_dir(root);
    command.args(["prompt", "send", "change", "--provider", "agent", "--instructions", "Say something."]);
    Ok(command)
}

/// A call of a program that answers at once, against the same program started by a shell.
pub(super) fn call(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let root = project(lab, "call", "cat")?;
    write(&root.join("prompt.xml"), "<prompt>Say something.</prompt>\n")?;
    let shell = || {
        let mut command = lab.program("sh");
        command.current_dir(&root).args(["-c", "sh -c cat < prompt.xml > reply.md"]);
        Ok(command)
    };
    let version = || {
        let mut command = lab.aiwf()?;
        command.arg("--version");
        Ok(command)
    };
    let [ours, shell, version] = lab.take_turns(31, [&|| send(lab, &root), &shell, &version])?;
    Ok(vec![
        Row::of_times("aiwf prompt send to a program", &ours, ("the program by a shell", &shell)),
        Row::of_times("aiwf prompt send to a program", &ours, ("aiwf --version", &version)),
    ])
}

/// The memory of a call with a reply of 100 MB, against one of 10 MB: it must not grow with the reply.
pub(super) fn stream(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let peak = |name: &str, n_bytes: usize| -> Result<Option<Samples>, Failure> {
        let script = format!("cat > /dev/null; head -c {n_bytes} /dev/zero | tr '\\0' x");
        let root = project(lab, name, &script)?;
        Ok(lab.usage(&|| send(lab, &root))?.map(|[peak, _]| peak))
    };
    let n_bytes = lab.scaled(LARGE);
    let (small, large) = (peak("stream-10", n_bytes / 10)?, peak("stream-100", n_bytes)?);
    let (Some(small), Some(large)) = (small, large) else { return Ok(Vec::new()) };
    Ok(vec![
        Row::new(
            "peak memory, reply of 100 MB",
            Quantity::Bytes(large.median()),
            ("reply of 10 MB", Quantity::Bytes(small.median())),
            large.median() / small.median(),
        )
        .with_change(Change::of(&large, Quantity::Bytes))
        .at_most(1.5),
    ])
}
