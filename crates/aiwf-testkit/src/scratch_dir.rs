//! A directory for one test, in memory where the machine has room for it.

use rustix::fs::{StatVfsMountFlags, statvfs};
use tempfile::TempDir;

/// A file system in memory that Linux offers to everybody.
const MEMORY: &str = "/dev/shm";
/// With less room than this, many tests at once could fill it: a container has 64 MiB by default.
const ROOM_BYTES: u64 = 1 << 30;

/// A temporary directory, gone with the value.
///
/// The program syncs whatever it writes, and a busy disk takes seconds for that; in memory it costs nothing.
///
/// # Panics
///
/// When it cannot be made.
#[must_use]
pub fn scratch_dir() -> TempDir {
    let in_memory = has_room().then(|| TempDir::new_in(MEMORY).ok()).flatten();
    in_memory.unwrap_or_else(|| TempDir::new().expect("a test needs a temporary directory"))
}

/// Whether the file system in memory has room and lets programs run: tests write scripts.
fn has_room() -> bool {
    statvfs(MEMORY).is_ok_and(|found| {
        found.f_bavail.saturating_mul(found.f_frsize) >= ROOM_BYTES
            && !found.f_flag.contains(StatVfsMountFlags::NOEXEC)
            && !found.f_flag.contains(StatVfsMountFlags::RDONLY)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_in_memory_is_used_only_when_there_is_room() {
        let directory = scratch_dir();
        assert_eq!(directory.path().starts_with(MEMORY), has_room());
        assert!(directory.path().is_dir());
    }
}
