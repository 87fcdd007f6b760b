#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::*;
use crate::objects::sha256_hex;

fn pair() -> (tempfile::TempDir, ConfinedDir, ConfinedDir) {
    let directory = tempfile::tempdir().unwrap();
    for name in ["from", "to"] {
        fs::create_dir(directory.path().join(name)).unwrap();
    }
    let open = |name| ConfinedDir::open(&directory.path().join(name)).unwrap();
    let (from, to) = (open("from"), open("to"));
    (directory, from, to)
}

#[test]
fn a_copy_has_the_bytes_permissions_and_times_of_the_file() {
    for n_bytes in [0, 5, 1024 * 1024] {
        let (directory, from, to) = pair();
        let bytes = vec![b'x'; n_bytes];
        let path = directory.path().join("from/run.sh");
        fs::write(&path, &bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o555)).unwrap();
        let file = File::options().read(true).open(&path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000)).unwrap();
        let (look, sha256) = from.copy_file("run.sh", &to, Hashing::Sha256).unwrap();
        let copy = directory.path().join("to/run.sh");
        assert_eq!(fs::read(&copy).unwrap(), bytes);
        assert_eq!(sha256, Some(sha256_hex(&bytes)));
        let metadata = fs::metadata(&copy).unwrap();
        assert_eq!((metadata.mode() & 0o777, metadata.mtime()), (0o755, 1_000));
        assert_eq!(to.look("run.sh").unwrap(), Some(look));
        assert!(look.is_executable);
    }
}

#[test]
fn a_copy_replaces_nothing_and_follows_no_link() {
    let (directory, from, to) = pair();
    fs::write(directory.path().join("secret"), "secret").unwrap();
    symlink("../secret", directory.path().join("from/link")).unwrap();
    assert!(matches!(from.copy_file("link", &to, Hashing::Nothing), Err(ConfinedError::Link)));
    fs::write(directory.path().join("from/file"), "new").unwrap();
    symlink("../secret", directory.path().join("to/file")).unwrap();
    from.copy_file("file", &to, Hashing::Nothing).unwrap_err();
    assert_eq!(fs::read(directory.path().join("secret")).unwrap(), b"secret");
    assert_eq!(from.link_target("link").unwrap(), "../secret");
    assert_eq!(from.look("link").unwrap().unwrap().kind, EntryKind::Link);
    assert_eq!(from.look("nothing").unwrap(), None);
}

#[test]
fn a_tree_is_removed_whatever_its_permissions() {
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    fs::create_dir_all(tree.join("a/b")).unwrap();
    fs::write(tree.join("a/b/file"), "x").unwrap();
    let kept = directory.path().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o500)).unwrap();
    symlink(&kept, tree.join("a/link")).unwrap();
    for name in ["a/b", "a"] {
        fs::set_permissions(tree.join(name), fs::Permissions::from_mode(0o500)).unwrap();
    }
    make_writable(CWD, tree.as_path()).unwrap();
    for name in ["a/b", "a"] {
        assert_eq!(fs::metadata(tree.join(name)).unwrap().mode() & 0o777, 0o700, "{name}");
    }
    assert_eq!(fs::metadata(&kept).unwrap().mode() & 0o777, 0o500);
    remove_tree(&tree).unwrap();
    remove_tree(&tree).unwrap();
    assert!(!tree.exists() && kept.exists());
}
