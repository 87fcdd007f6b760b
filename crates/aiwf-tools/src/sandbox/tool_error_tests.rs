//! Every error of the file tools, listed in one place for review: each message says what is wrong and what to do.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::Location;
use std::path::Path;

use super::super::mounts::tests::World;
use super::super::{
    AliasPath, ApplyPatchArgs, FsLimits, ListArgs, Mounts, ReadArgs, SearchArgs, WriteArgs, WriteGate,
    apply_patch, list, read, search, write,
};
use super::*;

/// Allows everything, so that only the tools themselves refuse.
struct NoGate;

impl WriteGate for NoGate {
    fn check(&mut self, _: &AliasPath, _: Option<&[u8]>, _: &[u8]) -> Result<(), ToolError> {
        Ok(())
    }
}

thread_local! {
    /// The source locations, as file and line, that created an error in this thread.
    static PLACES: RefCell<BTreeSet<(String, usize)>> = const { RefCell::new(BTreeSet::new()) };
}

pub(super) fn note_place(place: &Location<'_>) {
    let file = place.file().rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let line = usize::try_from(place.line()).unwrap();
    PLACES.with_borrow_mut(|places| places.insert((file, line)));
}

/// Makes a call that must fail.
fn refused(mounts: &Mounts, tool: &str, args: Value) -> ToolError {
    let limits = FsLimits { max_read_bytes: 10, max_write_bytes: 100 };
    let done = match tool {
        "read" => parse_args::<ReadArgs>(args).and_then(|args| read(mounts, limits, &args)),
        "list" => parse_args::<ListArgs>(args).and_then(|args| list(mounts, &args)),
        "search" => parse_args::<SearchArgs>(args).and_then(|args| search(mounts, limits, &args)),
        "write" => parse_args::<WriteArgs>(args)
            .and_then(|args| write(mounts, limits, &args, &mut NoGate).map(|written| written.result)),
        _ => parse_args::<ApplyPatchArgs>(args)
            .and_then(|args| apply_patch(mounts, limits, &args, &mut NoGate).map(|written| written.result)),
    };
    done.expect_err(tool)
}

#[test]
fn every_refusal_says_what_to_do() {
    let world = World::new()
        .file("project/a.md", "one\ntwo\nthree\nfour\n")
        .file("project/binary", [0xff, 0xfe])
        .file("state/workflow.md", "---\na: [\n---\n")
        .file("state/latin.md", [b'-', 0xff])
        .file("state/large.md", vec![b'a'; 17 * 1024 * 1024]);
    std::os::unix::fs::symlink(world.path("secret"), world.path("project/link")).unwrap();
    let nothing = Mounts::default();
    let path = |path: &str| json!({ "path": path });
    let put = |path: &str| json!({ "path": path, "content": "x" });
    let edit = |path: &str| json!({ "path": path, "patch": { "operation": "updateFrontmatter", "update": { "currentNodeId": { "set": "a" } } } });
    let calls = [
        ("read", json!([])),
        ("read", json!({})),
        ("read", json!({ "path": "@project/a.md", "pth": 1 })),
        ("read", path("a.md")),
        ("read", path("@home/a.md")),
        ("read", path("/etc/passwd")),
        ("read", path("~/a.md")),
        ("read", path("c:/a.md")),
        ("read", path("@project/~/a.md")),
        ("read", path("@project/../a.md")),
        ("read", path("@project/a:b")),
        ("read", path("@project/nul\0")),
        ("read", path(&format!("@project/{}", "x/".repeat(5000)))),
        ("read", path("@project/none.md")),
        ("read", path("@project/link")),
        ("read", path("@project")),
        ("read", path("@project/a.md/b.md")),
        ("read", path("@project/.git/config")),
        ("read", path("@project/binary")),
        ("read", json!({ "path": "@project/a.md", "startLine": 0 })),
        ("read", json!({ "path": "@project/a.md", "startLine": 3, "endLine": 2 })),
        ("read", json!({ "path": "@project/a.md", "startLine": 9 })),
        ("read", json!({ "path": "@project/a.md", "startLine": 2, "endLine": 4 })),
        ("list", path("@project/a.md")),
        ("list", path("@project/none")),
        ("search", json!({ "path": "@project", "pattern": "" })),
        ("search", json!({ "path": "@project", "pattern": "/(/" })),
        ("search", json!({ "path": "@project", "pattern": "x", "maxMatches": 0 })),
        ("write", put("@pkg/a.md")),
        ("write", put("@state/logs/a.md")),
        ("write", put("@state/Workflow.md")),
        ("write", put("@state/large.md")),
        ("write", json!({ "path": "@project/b.md", "content": "x".repeat(101) })),
        ("write", json!({ "path": "@project/b.md", "content": "x", "ifMatchSha256": "1f" })),
        ("write", json!({ "path": "@project/a.md", "content": "x", "ifMatchSha256": "1f" })),
        ("patch", edit("@project/a.md")),
        ("patch", edit("@state/none.md")),
        ("patch", edit("@state/latin.md")),
        ("patch", edit("@state/workflow.md")),
    ];
    let mut page = String::new();
    let mut faults = Vec::new();
    let errors = calls.into_iter().map(|(tool, args)| (tool, refused(&world.mounts, tool, args)));
    for (tool, error) in errors.chain([("read", refused(&nothing, "read", path("@project/a.md")))]) {
        let _ = writeln!(page, "{tool} {}: {}", error.code, error.message);
        let is_plain = !error.message.contains('\n') && !error.message.ends_with('.');
        if !is_plain || !error.message.contains(": ") {
            faults.push(error.message);
        }
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("refused", page);
    });
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(unread(), UNREACHABLE.map(str::to_owned), "add calls that are refused there");
}

/// Errors that only a broken system triggers, or only the engine's own files.
const UNREACHABLE: [&str; 5] = ["mounts.rs", "mounts.rs", "mounts.rs", "read.rs", "write.rs"];

/// The source locations of errors that no call above has triggered, by file.
fn unread() -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sandbox");
    let mut unread = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() || file.ends_with("_tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let places = text.lines().enumerate().filter(|(_, line)| line.contains("ToolError::new("));
        let met = |idx: usize| PLACES.with_borrow(|places| places.contains(&(file.clone(), idx + 1)));
        unread.extend(places.filter(|(idx, _)| !met(*idx)).map(|_| file.clone()));
    }
    unread.sort();
    unread
}
