//! The same executable in another role: a separate process for work that must be isolated from aiwf.
//!
//! A program that embeds the engine calls [`serve_if_asked`] first in its `main`, as `aiwf` does. Started with one of
//! the hidden arguments, it then plays that role; otherwise the engine knows that it may start its own executable as a
//! helper. Without this call, agents have no supervisor, and templates of a checkout render in the program itself, with
//! limits on steps and output but not on memory.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use aiwf_process::{detached, supervisor};

use crate::prompt::template_process::{self, TemplateProcess};

static TEMPLATES: OnceLock<TemplateProcess> = OnceLock::new();

/// Plays the role that the arguments request; `None` if they request none.
///
/// `arguments` are those of the process, starting with the program's name.
pub fn serve_if_asked(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    match arguments.next().as_deref().and_then(|argument| argument.to_str()) {
        Some(supervisor::ARGUMENT) => Some(supervisor::supervise(arguments)),
        Some(detached::ARGUMENT) => Some(detached::serve(arguments)),
        Some(template_process::ARGUMENT) => Some(template_process::serve()),
        _ => {
            if let Some(executable) = executable() {
                supervisor::supervise_with(&executable);
                aiwf_tools::supervise_with(&executable, supervisor::ARGUMENT);
                aiwf_prompt::set_template_host(TEMPLATES.get_or_init(|| TemplateProcess::new(executable)));
            }
            None
        }
    }
}

/// Sets the memory limit of templates that are not built in.
///
/// The helper serves the whole process: with several engines, the limit of the configuration that was read last
/// applies. None of them exceeds the user's own limit.
pub(crate) fn set_template_memory(megabytes: NonZeroU32) {
    if let Some(templates) = TEMPLATES.get() {
        templates.set_memory(u64::from(megabytes.get()) * 1024 * 1024);
    }
}

/// This executable, under a name that stays valid when a newer version is installed in its place.
fn executable() -> Option<PathBuf> {
    let own = Path::new("/proc/self/exe");
    if own.exists() { Some(own.to_owned()) } else { std::env::current_exe().ok() }
}
