use super::*;

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn writes_a_new_file_and_leaves_nothing_else() {
    let directory = directory();
    let path = directory.path().join("out.md");
    write_atomic(&path, Durability::PowerLoss, |out| out.write_all(b"hello")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"hello");
    assert_eq!(names(directory.path()), ["out.md"]);
}

#[test]
fn keeps_the_old_bytes_when_writing_fails_half_way() {
    let directory = directory();
    let path = directory.path().join("out.md");
    fs::write(&path, "old").unwrap();
    let error = write_atomic(&path, Durability::PowerLoss, |out| {
        out.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    })
    .unwrap_err();
    assert_eq!(error.hint(), "free some disk space, then try again");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(directory.path()), ["out.md"]);
}

#[test]
fn follows_a_link_and_keeps_it() {
    let directory = directory();
    let real = directory.path().join("real.md");
    let link = directory.path().join("link.md");
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_atomic(&link, Durability::PowerLoss, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&real).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn writes_to_a_device_without_replacing_it() {
    write_atomic(Path::new("/dev/null"), Durability::PowerLoss, |out| out.write_all(b"x")).unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn refuses_a_directory_and_a_missing_one() {
    let directory = directory();
    let error = write_atomic(directory.path(), Durability::PowerLoss, |_| Ok(())).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::IsADirectory);
    let error =
        write_atomic(&directory.path().join("no/such/file"), Durability::PowerLoss, |_| Ok(())).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
}

#[test]
fn keeps_the_permissions_of_a_file_it_replaces() {
    let directory = directory();
    let path = directory.path().join("out.md");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write_atomic(&path, Durability::PowerLoss, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn creates_missing_directories_and_names_what_blocks_them() {
    let directory = directory();
    let deep = directory.path().join("a/b/c");
    for _ in 0..2 {
        create_dir(&deep).unwrap();
        assert!(deep.is_dir());
    }
    fs::write(directory.path().join("file"), "x").unwrap();
    let error = create_dir(&directory.path().join("file/below")).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::NotADirectory);
    assert_eq!(
        create_dir(&directory.path().join("file")).unwrap_err().source.kind(),
        io::ErrorKind::AlreadyExists
    );
}
