//! The project of a demo: files in a directory that did not exist, and an engine that works there.

use std::path::Path;

use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::{Durability, Engine, EngineError, write_atomic};

use crate::command_error::CommandError;
use crate::failure::Failure;

/// A file of an example: its path there and its bytes.
pub(super) type File = (&'static str, &'static [u8]);

/// The configuration: recordings answer.
pub(super) const CONFIG: &str = "\
# Answers come from recordings. For a real session set `default` to a provider of yours (`aiwf providers`).
[roles]
default = \"recorded\"

[providers.recorded]
type = \"replay\"
dir = \".aiwf/cassette\"
";

/// Writes the files below `directory`, which must not exist, and returns an engine for it.
pub(super) fn make(
    directory: &Path,
    files: impl IntoIterator<Item = (String, &'static [u8])>,
    engine: &Engine,
) -> Result<Engine, Failure> {
    let root = engine.settings().current_dir.join(directory);
    if root.symlink_metadata().is_ok() {
        return Err(CommandError::DemoExists { directory: directory.to_owned() }.into());
    }
    for (path, bytes) in files {
        let path = root.join(path);
        let written = aiwf_engine::create_dir(path.parent().unwrap_or(&root))
            .and_then(|()| write_atomic(&path, Durability::Process, |out| out.write_all(bytes)));
        written.map_err(EngineError::from)?;
    }
    let environment =
        Environment { current_dir: root.clone(), ..Environment::read().map_err(CommandError::NoCurrentDir)? };
    Ok(Engine::new(Settings::resolve(Some(&root), environment)?))
}
