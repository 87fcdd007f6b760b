#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use super::*;
use crate::fixture::Fixture;

#[test]
fn a_directory_gives_its_files_and_refuses_links() {
    let world = tempfile::tempdir().unwrap();
    let root = world.path();
    fs::create_dir_all(root.join("steps")).unwrap();
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::write(root.join("steps/a.md"), "a").unwrap();
    fs::write(root.join(".git/config"), "x").unwrap();
    assert_eq!(read_files(root).unwrap().keys().collect::<Vec<_>>(), ["steps/a.md"]);
    std::os::unix::fs::symlink("a.md", root.join("steps/b.md")).unwrap();
    fs::write(root.join("nul"), "").unwrap();
    let error = read_files(root).unwrap_err();
    assert_eq!(error.reasons(), ["`nul` is not a portable name", "`steps/b.md` is a link"]);
    assert!(matches!(read_files(&root.join("none")), Err(SourceError::Unreadable { .. })));
}

#[test]
fn the_hash_covers_names_and_contents() {
    let files = |pairs: &[(&str, &str)]| -> Files {
        pairs.iter().map(|(name, content)| ((*name).to_owned(), content.as_bytes().to_vec())).collect()
    };
    let hash = hash_of(&files(&[("a", "bc"), ("d", "")]));
    assert_eq!(hash, hash_of(&files(&[("d", ""), ("a", "bc")])));
    for other in [&[("ab", "c"), ("d", "")][..], &[("a", "b"), ("cd", "")], &[("a", "bc")]] {
        assert_ne!(hash, hash_of(&files(other)));
    }
}

#[test]
fn unpacking_is_all_or_nothing_and_replaces_a_changed_copy() {
    let world = tempfile::tempdir().unwrap();
    let cache = world.path().join("cache");
    let files = Fixture::new().files;
    let target = extract(&files, &hash_of(&files), &cache).unwrap();
    assert_eq!(read_files(&target).unwrap(), files);
    fs::write(target.join("workflow.md"), "changed").unwrap();
    assert_eq!(extract(&files, &hash_of(&files), &cache).unwrap(), target);
    assert_eq!(read_files(&target).unwrap(), files);

    let refused = Files::from([("ok.md".to_owned(), vec![]), ("assets/session.json".to_owned(), vec![])]);
    assert!(matches!(extract(&refused, &hash_of(&refused), &cache), Err(ExtractError::Names(_))));
    assert!(!cache.join(hash_of(&refused)).exists());
}
