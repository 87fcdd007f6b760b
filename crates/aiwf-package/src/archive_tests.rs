use super::*;

/// An entry of a hand-made archive.
#[derive(Clone)]
struct Made {
    name: Vec<u8>,
    local_name: Option<Vec<u8>>,
    content: Vec<u8>,
    size: Option<u32>,
    flags: u16,
    method: u16,
    mode: u32,
    offset: Option<u32>,
}

fn file(name: &str, content: &str) -> Made {
    Made {
        name: name.as_bytes().to_vec(),
        local_name: None,
        content: content.as_bytes().to_vec(),
        size: None,
        flags: 0x800,
        method: 0,
        mode: 0o100_644,
        offset: None,
    }
}

/// An archive with stored entries, valid or malicious.
fn zip(entries: &[Made]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let offset = entry.offset.unwrap_or(u32::try_from(bytes.len()).unwrap());
        let size = u32::try_from(entry.content.len()).unwrap();
        let mut fields = Vec::new();
        for short in [20, entry.flags, entry.method, 0, 0x21] {
            fields.extend(short.to_le_bytes());
        }
        for long in [crc(&entry.content), size, entry.size.unwrap_or(size)] {
            fields.extend(long.to_le_bytes());
        }
        let local_name = entry.local_name.as_ref().unwrap_or(&entry.name);
        bytes.extend(LOCAL_ENTRY);
        bytes.extend(&fields);
        bytes.extend(u16::try_from(local_name.len()).unwrap().to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(local_name);
        bytes.extend(&entry.content);
        directory.extend(DIRECTORY_ENTRY);
        directory.extend([20, 3]);
        directory.extend(&fields);
        directory.extend(u16::try_from(entry.name.len()).unwrap().to_le_bytes());
        directory.extend([0; 8]);
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(&entry.name);
    }
    let start = u32::try_from(bytes.len()).unwrap();
    let n_entries = u16::try_from(entries.len()).unwrap();
    let length = u32::try_from(directory.len()).unwrap();
    bytes.extend(directory);
    bytes.extend(DIRECTORY_END);
    bytes.extend([0; 4]);
    bytes.extend(n_entries.to_le_bytes());
    bytes.extend(n_entries.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

fn crc(content: &[u8]) -> u32 {
    !content.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[track_caller]
fn check_refused(entries: &[Made], reasons: &[&str]) {
    assert_eq!(read_archive(&zip(entries)).unwrap_err().reasons, reasons);
}

#[test]
fn a_plain_archive_gives_its_files_without_hidden_ones() {
    let bytes = zip(&[
        file("steps/", ""),
        file("steps/a.md", "a"),
        file("bmad.json", "{}"),
        file(".DS_Store", "x"),
        file("__MACOSX/._a", "x"),
        file("artifacts/out.md", "x"),
    ]);
    let files = read_archive(&bytes).unwrap();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["bmad.json", "steps/a.md"]);
    assert_eq!(files["steps/a.md"], b"a");
}

#[test]
fn names_that_leave_the_package_are_refused() {
    for (name, reason) in [
        ("../x", "leaves the package: it contains `..`"),
        ("a/../../x", "leaves the package: it contains `..`"),
        ("/etc/x", "is absolute"),
        ("C:/x", "names a drive"),
        ("c:x", "names a drive"),
        ("~/x", "names a home directory"),
        ("a\\..\\x", "contains a backslash"),
        ("a/./x", "contains `.`"),
        ("a//x", "has an empty part between slashes"),
        ("", "is empty"),
        ("nul.txt", "is not a portable name"),
        ("a.", "is not a portable name"),
        ("ab:c", "is not a portable name"),
        ("a\u{200b}", "is not a portable name"),
    ] {
        let shown = name.escape_debug();
        check_refused(&[file(name, "")], &[&format!("`{shown}` {reason}")]);
    }
    check_refused(&[file("a\0b", "")], &["`a\\0b` contains a NUL"]);
    check_refused(&[Made { name: b"\xff".to_vec(), ..file("", "") }], &["`\u{fffd}` is not a UTF-8 name"]);
    check_refused(
        &[file(&"a/".repeat(20), "")],
        &["`a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/` is nested too deeply"],
    );
}

#[test]
fn links_devices_and_secrets_are_refused() {
    check_refused(&[Made { mode: 0o120_777, ..file("a", "/etc/passwd") }], &["`a` is a link"]);
    check_refused(&[Made { mode: 0o010_644, ..file("a", "") }], &["`a` is neither a file nor a directory"]);
    check_refused(&[Made { mode: 0o040_755, ..file("a", "") }], &["`a` is neither a file nor a directory"]);
    check_refused(&[Made { flags: 1, ..file("a", "") }], &["`a` is encrypted"]);
    check_refused(&[Made { method: 12, ..file("a", "") }], &["`a` uses an unsupported compression method"]);
    check_refused(&[file("a/", "content")], &["`a/` is a directory with content"]);
}

#[test]
fn two_names_for_one_file_are_refused() {
    check_refused(&[file("a", "1"), file("a", "2")], &["`a` occurs twice"]);
    check_refused(
        &[file("Steps/A.md", ""), file("steps/a.md", "")],
        &["`steps/a.md` is the same file as `Steps/A.md` on some systems"],
    );
    check_refused(
        &[file("caf\u{e9}", ""), file("cafe\u{301}", "")],
        &["`cafe\u{301}` is the same file as `caf\u{e9}` on some systems"],
    );
    check_refused(&[file("a", ""), file("a/b", "")], &["`a/b` needs a directory, but `a` is a file"]);
    check_refused(
        &[Made { local_name: Some(b"other".to_vec()), ..file("a", "") }],
        &["`a` has a different name in its local header"],
    );
}

#[test]
fn archives_that_expand_too_much_are_refused() {
    check_refused(&[Made { size: Some(20 * 1024 * 1024), ..file("a", "x") }], &["`a` is too large"]);
    check_refused(
        &[Made { size: Some(2 * 1024 * 1024), ..file("a", "x") }],
        &["`a` expands too much when it is unpacked"],
    );
    let many: Vec<Made> = (0..9)
        .map(|n| Made { size: Some(16 * 1024 * 1024), ..file(&n.to_string(), &"x".repeat(90_000)) })
        .collect();
    check_refused(&many, &["its files have 150994944 bytes in total, more than 134217728"]);
    check_refused(
        &[
            file("a", "content"),
            Made { local_name: Some(b"b".to_vec()), offset: Some(0), ..file("b", "content") },
        ],
        &["`b` has a different name in its local header", "its entries overlap"],
    );
    let crowd: Vec<Made> = (0..=MAX_FILES).map(|n| file(&n.to_string(), "")).collect();
    check_refused(&crowd, &["it has 10001 entries, more than 10000"]);
}

#[test]
fn a_real_bomb_is_refused_while_it_is_unpacked() {
    use std::io::Write as _;
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    archive.start_file("a", options).unwrap();
    archive.write_all(&vec![0; 8 * 1024 * 1024]).unwrap();
    let mut bytes = archive.finish().unwrap().into_inner();
    assert_eq!(read_archive(&bytes).unwrap_err().reasons, ["`a` expands too much when it is unpacked"]);
    // The same with a wrong size.
    let at = bytes.windows(4).position(|window| window == DIRECTORY_ENTRY).unwrap();
    bytes[at + 24..at + 28].copy_from_slice(&100_u32.to_le_bytes());
    assert_eq!(
        read_archive(&bytes).unwrap_err().reasons,
        ["`a` cannot be unpacked: File is larger than its declared uncompressed size"]
    );
}

#[test]
fn all_reasons_are_reported_at_once() {
    check_refused(
        &[file("../x", ""), Made { mode: 0o120_777, ..file("b", "") }, file("ok", "")],
        &["`../x` leaves the package: it contains `..`", "`b` is a link"],
    );
}

#[test]
fn other_bytes_are_not_an_archive() {
    for (bytes, reason) in [
        (b"".to_vec(), "it is not a zip archive"),
        (b"PK\x05\x06".to_vec(), "it is not a zip archive"),
        (b"hello world, this is not an archive".to_vec(), "it is not a zip archive"),
        ([b"#!/bin/sh\n".to_vec(), zip(&[file("a", "")])].concat(), "its central directory is misplaced"),
        ([zip(&[file("a", "")]), b"more".to_vec()].concat(), "it is not a zip archive"),
    ] {
        assert_eq!(read_archive(&bytes).unwrap_err().reasons, [reason]);
    }
    let mut broken = zip(&[file("a", "content")]);
    let at = broken.windows(7).position(|window| window == b"content").unwrap();
    broken[at] = b'C';
    assert!(read_archive(&broken).unwrap_err().reasons[0].starts_with("`a` cannot be unpacked"));
}

proptest::proptest! {
    #[test]
    fn no_bytes_crash_the_reader(noise in proptest::collection::vec(proptest::prelude::any::<(usize, u8)>(), 0..6)) {
        let mut bytes = zip(&[file("bmad.json", "{}"), file("steps/a.md", "text")]);
        for (at, byte) in noise {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if let Ok(files) = read_archive(&bytes) {
            proptest::prop_assert!(files.keys().all(|name| name_fault(name).is_none()));
        }
    }
}
