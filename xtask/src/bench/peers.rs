//! Other programs that pack files into a prompt, to be compared with in the same run.
//!
//! One that is on the search path, or was installed by `--peers`, is measured; the others are passed over.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::lab::Lab;
use crate::failure::Failure;
use crate::workspace;

/// Whether a packer counts tokens while it packs; like is compared with like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    Yes,
    No,
}

/// A packer that was found.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) counting: Counting,
    program: PathBuf,
    known: &'static Known,
}

/// How a packer is installed and called.
#[derive(Debug)]
struct Known {
    name: &'static str,
    counting: Counting,
    /// Where its program lands, below the folder of the peers.
    program: &'static str,
    install: fn(&Lab<'_>, &Path) -> Command,
    /// The words that make it pack the current folder; the output file follows.
    args: &'static [&'static str],
}

const KNOWN: &[Known] = &[
    Known {
        name: "code2prompt",
        counting: Counting::Yes,
        program: "cargo/bin/code2prompt",
        install: |lab, dir| {
            let mut command = lab.cargo();
            command.args(["install", "--locked", "code2prompt", "--root"]).arg(dir.join("cargo"));
            command
        },
        args: &[".", "--quiet", "--encoding", "o200k", "--token-format", "raw", "--output-file"],
    },
    Known {
        name: "repomix",
        counting: Counting::Yes,
        program: "npm/node_modules/.bin/repomix",
        install: |_, dir| {
            let mut command = Command::new("npm");
            command.args(["install", "--no-audit", "--no-fund", "repomix", "--prefix"]).arg(dir.join("npm"));
            command
        },
        args: &[".", "--quiet", "--no-security-check", "--token-count-encoding", "o200k_base", "--output"],
    },
    Known {
        name: "files-to-prompt",
        counting: Counting::No,
        program: "pip/bin/files-to-prompt",
        install: |_, dir| {
            let mut command = Command::new("python3");
            command.args(["-m", "pip", "install", "--quiet", "--upgrade", "files-to-prompt", "--target"]);
            command.arg(dir.join("pip"));
            command
        },
        args: &[".", "--cxml", "--output"],
    },
];

fn peers_dir(lab: &Lab<'_>) -> PathBuf {
    lab.target_dir.join("bench-peers")
}

/// Installs every packer that is not there yet, below the target directory.
pub(super) fn install_all(lab: &Lab<'_>) -> Result<(), Failure> {
    let dir = peers_dir(lab);
    let found = installed(lab);
    for known in KNOWN.iter().filter(|known| !found.iter().any(|peer| peer.name == known.name)) {
        eprintln!("== installing {}", known.name);
        workspace::run(&mut (known.install)(lab, &dir))?;
    }
    Ok(())
}

/// The packers that can be measured here.
pub(super) fn installed(lab: &Lab<'_>) -> Vec<Peer> {
    let dir = peers_dir(lab);
    KNOWN
        .iter()
        .filter_map(|known| {
            let own = dir.join(known.program);
            let program = if own.is_file() {
                own
            } else if workspace::is_installed(known.name) {
                PathBuf::from(known.name)
            } else {
                return None;
            };
            Some(Peer { name: known.name, counting: known.counting, program, known })
        })
        .collect()
}

impl Peer {
    /// The call that packs `root` into `out`.
    pub(super) fn pack(&self, lab: &Lab<'_>, root: &Path, out: &Path) -> Command {
        let mut command = lab.program(&self.program);
        command.current_dir(root).args(self.known.args).arg(out);
        command.env("PYTHONPATH", python_path(&self.program));
        command
    }
}

/// Where a program that pip put into a folder finds its modules: beside its `bin`.
fn python_path(program: &Path) -> OsString {
    program.ancestors().nth(2).map(|dir| dir.as_os_str().to_owned()).unwrap_or_default()
}
