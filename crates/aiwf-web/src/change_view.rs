//! The files that a session changes: a tree, differences unified or side by side, comments at their lines, the results
//! of the checks, and which files the project changed meanwhile.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use aiwf_engine::{Engine, FileChange, FileChangeKind, SessionPlace};
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::checks::{Check, checks_of};
use crate::comments::{Remark, Remarks};
use crate::diff::{Pair, Row, counts, pairs, rows};
use crate::fields::Fields;
use crate::file_tree::{Branch, tree};
use crate::guard::Visitor;
use crate::session_view::entry_of;
use crate::site::Site;
use crate::words::{in_address, plural, sha256_hex, size};

/// Differences larger than this are collapsed until they are asked for.
const MAX_ROWS: usize = 400;
/// Rows of one file on a page.
const PAGE: usize = 1_500;
/// Rows of all files on a page.
const MAX_PAGE_ROWS: usize = 6_000;
/// Rows of all files on the page of a session, which has more to show.
const MAX_SESSION_ROWS: usize = 1_200;
/// Files whose bytes are compared.
const MAX_DIFFED: usize = 4_000_000;
/// Bytes that are compared on one page; the rest is compared when a file is asked for.
const MAX_PAGE_BYTES: usize = 24_000_000;
/// Files of the tree that are shown.
const MAX_FILES: usize = 2_000;

/// How much a page may show.
#[derive(Debug)]
pub(crate) struct Room {
    n_rows: usize,
    n_bytes: usize,
}

impl Room {
    fn of_page() -> Self {
        Self { n_rows: MAX_PAGE_ROWS, n_bytes: MAX_PAGE_BYTES }
    }

    pub(crate) fn of_session() -> Self {
        Self { n_rows: MAX_SESSION_ROWS, n_bytes: MAX_DIFFED }
    }
}

/// What is said at a line.
#[derive(Debug, Default, Serialize)]
struct Talk {
    comments: Vec<Remark>,
    /// Whether a comment is being written here.
    is_commented: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct File {
    number: usize,
    path: String,
    from: Option<String>,
    /// `added`, `changed`, `deleted` or `renamed`.
    kind: &'static str,
    n_added: usize,
    n_deleted: usize,
    note: Option<String>,
    run_by: Option<&'static str>,
    mode: Option<&'static str>,
    is_outdated: bool,
    rows: Vec<Row>,
    pairs: Vec<Pair>,
    /// Why the rows are not shown.
    collapsed: Option<String>,
    previous: Option<usize>,
    next: Option<usize>,
    /// The hash of the new text, which a comment is made on.
    sha256: Option<String>,
    /// The address of a line's form, without the line.
    line_href: String,
    /// Where the page is when a comment was made.
    back: String,
    talk: BTreeMap<usize, Talk>,
    /// Comments on all of it, or on lines that are not shown.
    general: Vec<Remark>,
    commented: Option<(usize, usize)>,
}

/// A code view, on its own page or on that of a session.
#[derive(Debug, Serialize)]
pub(crate) struct Code {
    id: String,
    base: String,
    here: String,
    tree: Vec<Branch>,
    files: Vec<File>,
    pub(crate) n_files: usize,
    n_hidden: usize,
    n_added: usize,
    n_deleted: usize,
    n_outdated: usize,
    is_split: bool,
    only: Option<usize>,
    checks: Vec<Check>,
    n_open_comments: usize,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = Fields::of_query(query.as_deref());
    let read = site.look(move |engine| {
        let place = entry_of(engine, &id)?;
        let changes = engine.file_changes(Some(place.id.as_str()))?;
        let mut code = code(engine, &place, &changes, &fields, Room::of_page());
        let report = engine.session_report(Some(place.id.as_str()))?;
        code.checks = checks_of(engine, &place, &report.checks);
        code.n_open_comments = report.open_comments;
        Ok(code)
    });
    match read.await {
        Ok(code) => site.page(&visitor, "code.html", "Code", context! { code => Serde(&code) }),
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

/// What the query of a code view asks for.
struct Asked {
    is_split: bool,
    only: Option<usize>,
    from: usize,
    /// The file and the lines that a comment is being written on.
    commented: Option<(usize, usize, usize)>,
    /// The address of the view with what it keeps between clicks.
    kept: String,
}

impl Asked {
    fn of(fields: &Fields, here: &str, n_files: usize) -> Self {
        let is_split = fields.text("mode") == "split";
        let only = fields.number("file").filter(|number| *number < n_files);
        let from = fields.number("from").unwrap_or_default();
        let lines = fields.number("on").zip(fields.number("line"));
        let commented = lines.map(|(file, line)| {
            let to = fields.number("to").unwrap_or(line);
            (file, line.min(to), line.max(to))
        });
        let mut kept = format!("{here}?");
        if is_split {
            kept.push_str("mode=split&");
        }
        if let Some(only) = only {
            // Writing to a string cannot fail.
            let _ = write!(kept, "file={only}&from={from}&");
        }
        Self { is_split, only, from, commented, kept }
    }
}

pub(crate) fn code(
    engine: &Engine,
    place: &SessionPlace,
    changes: &[FileChange],
    fields: &Fields,
    mut room: Room,
) -> Code {
    let base = format!("/s/{}", in_address(&place.id));
    let here = format!("{base}/code");
    let asked = Asked::of(fields, &here, changes.len());
    let remarks = Remarks::of(engine, &place.id);
    let shown = || changes.iter().enumerate().take(MAX_FILES);
    let files: Vec<File> = shown()
        .map(|(number, change)| file(number, change, &asked, &mut room, remarks.on(&change.path)))
        .collect();
    Code {
        id: place.id.clone(),
        tree: tree(shown().map(|(number, change)| (number, change.path.as_str()))),
        n_added: files.iter().map(|file| file.n_added).sum(),
        n_deleted: files.iter().map(|file| file.n_deleted).sum(),
        n_outdated: files.iter().filter(|file| file.is_outdated).count(),
        n_files: changes.len(),
        n_hidden: changes.len() - files.len(),
        files,
        is_split: asked.is_split,
        only: asked.only,
        checks: Vec::new(),
        n_open_comments: 0,
        base,
        here,
    }
}

fn file(
    number: usize,
    change: &FileChange,
    asked: &Asked,
    room: &mut Room,
    remarks: Vec<(usize, Remark)>,
) -> File {
    let kind = match change.kind {
        FileChangeKind::Added => "added",
        FileChangeKind::Changed => "changed",
        FileChangeKind::Deleted => "deleted",
        FileChangeKind::Renamed => "renamed",
    };
    let mut file = File {
        number,
        path: change.path.clone(),
        from: change.from.clone(),
        kind,
        n_added: 0,
        n_deleted: 0,
        note: None,
        run_by: change.run_by,
        mode: change.executable.map(|is| if is { "becomes executable" } else { "is no longer executable" }),
        is_outdated: change.is_outdated,
        rows: Vec::new(),
        pairs: Vec::new(),
        collapsed: None,
        previous: None,
        next: None,
        sha256: None,
        line_href: format!("{}on={number}&line=", asked.kept),
        back: format!("{}#file-{number}", asked.kept.trim_end_matches(['&', '?'])),
        talk: BTreeMap::new(),
        general: Vec::new(),
        commented: asked.commented.filter(|(of, ..)| *of == number).map(|(_, from, to)| (from, to)),
    };
    let text = |bytes: &Option<Vec<u8>>| match bytes {
        None => Some(String::new()),
        Some(bytes) => String::from_utf8(bytes.clone()).ok(),
    };
    let n_bytes = change.before.as_ref().map_or(0, Vec::len) + change.after.as_ref().map_or(0, Vec::len);
    let (Some(before), Some(after)) = (text(&change.before), text(&change.after)) else {
        file.note = Some(format!("binary, {}", size(change.after.as_ref().map_or(0, Vec::len) as u64)));
        file.general = remarks.into_iter().map(|(_, remark)| remark).collect();
        return file;
    };
    if n_bytes > MAX_DIFFED {
        file.note = Some(format!("too large to compare, {}", size(n_bytes as u64)));
    } else if n_bytes > room.n_bytes && asked.only != Some(number) {
        file.collapsed = Some(format!("{}, show", size(n_bytes as u64)));
    } else {
        room.n_bytes = room.n_bytes.saturating_sub(n_bytes);
        file.sha256 = change.after.as_ref().map(|_| sha256_hex(&after));
        let all = rows(&before, &after);
        (file.n_added, file.n_deleted) = counts(&all);
        fill(&mut file, all, asked, room);
    }
    talk(&mut file, remarks);
    file
}

/// Puts the comments at the lines that are shown, and the form where one is being written.
fn talk(file: &mut File, remarks: Vec<(usize, Remark)>) {
    let mut shown: BTreeMap<usize, Talk> = BTreeMap::new();
    let rights = file.pairs.iter().filter_map(|pair| pair.right.as_ref());
    for row in file.rows.iter().chain(rights) {
        if let Some(line) = row.new {
            shown.insert(line, Talk::default());
        }
    }
    for (line, remark) in remarks {
        match shown.get_mut(&line) {
            Some(talk) => talk.comments.push(remark),
            None => file.general.push(remark),
        }
    }
    if let Some(talk) = file.commented.and_then(|(_, to)| shown.get_mut(&to)) {
        talk.is_commented = true;
    } else {
        file.commented = None;
    }
    shown.retain(|_, talk| talk.is_commented || !talk.comments.is_empty());
    file.talk = shown;
}

/// Puts in the rows, as far as the page has room for them.
fn fill(file: &mut File, all: Vec<Row>, asked: &Asked, room: &mut Room) {
    let is_asked_for = asked.only == Some(file.number);
    let n_lines = file.n_added + file.n_deleted;
    let is_large = all.len() > MAX_ROWS || all.len() > room.n_rows;
    let is_other = asked.only.is_some() && !is_asked_for;
    if !is_asked_for && (is_other || is_large || is_lock_file(&file.path)) && !all.is_empty() {
        file.collapsed = Some(format!("{}, show", plural(n_lines as u64, "changed line")));
        return;
    }
    let n_rows = all.len();
    let from = if is_asked_for { asked.from.min(n_rows.saturating_sub(1)) / PAGE * PAGE } else { 0 };
    let shown: Vec<Row> = all.into_iter().skip(from).take(PAGE).collect();
    room.n_rows = room.n_rows.saturating_sub(shown.len());
    file.previous = (from > 0).then(|| from.saturating_sub(PAGE));
    file.next = (from + PAGE < n_rows).then_some(from + PAGE);
    if asked.is_split {
        file.pairs = pairs(&shown);
    } else {
        file.rows = shown;
    }
}

/// Files that tools write and nobody reads line by line.
fn is_lock_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let known =
        ["package-lock.json", "pnpm-lock.yaml", "go.sum", "composer.lock", "Gemfile.lock", "flake.lock"];
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    known.contains(&name) || extension.eq_ignore_ascii_case("lock") || name.ends_with(".min.js")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: &str, after: &str) -> FileChange {
        FileChange {
            path: path.to_owned(),
            kind: FileChangeKind::Changed,
            from: None,
            before: Some(before.into()),
            after: Some(after.into()),
            executable: None,
            run_by: None,
            is_outdated: false,
        }
    }

    fn shown(number: usize, change: &FileChange, query: &str, room: &mut Room) -> File {
        let asked = Asked::of(&Fields::of_query(Some(query)), "/s/one/code", 200);
        file(number, change, &asked, room, Vec::new())
    }

    fn lines(n_lines: usize) -> String {
        (0..n_lines).fold(String::new(), |text, number| text + &format!("line {number}\n"))
    }

    #[test]
    fn large_and_lock_files_are_collapsed_until_asked_for() {
        let large = change("big.txt", "", &lines(50_000));
        let mut room = Room::of_page();
        let shut = shown(0, &large, "", &mut room);
        assert_eq!(shut.collapsed.as_deref(), Some("50,000 changed lines, show"));
        assert_eq!((shut.rows.len(), room.n_rows), (0, MAX_PAGE_ROWS));
        let open = shown(0, &large, "file=0&from=3100", &mut room);
        assert_eq!((open.rows.len(), open.rows[0].new), (PAGE, Some(3_001)));
        assert_eq!((open.previous, open.next), (Some(1_500), Some(4_500)));
        let lock = shown(1, &change("Cargo.lock", "a\n", "b\n"), "", &mut room);
        assert_eq!(lock.collapsed.as_deref(), Some("2 changed lines, show"));
    }

    #[test]
    fn a_page_has_an_end_however_many_files_change() {
        let mut room = Room::of_page();
        let changes: Vec<FileChange> =
            (0..100).map(|n| change(&format!("{n}.txt"), "", &lines(300))).collect();
        let files: Vec<File> = changes
            .iter()
            .enumerate()
            .map(|(number, change)| shown(number, change, "mode=split", &mut room))
            .collect();
        let n_shown: usize = files.iter().map(|file| file.pairs.len()).sum();
        assert!(n_shown <= MAX_PAGE_ROWS && n_shown > 0, "{n_shown}");
        assert!(files.last().is_some_and(|file| file.collapsed.is_some()));
    }

    #[test]
    fn bytes_that_are_no_text_are_named() {
        let mut binary = change("a.png", "", "");
        binary.after = Some(vec![0xff; 2_048]);
        let file = shown(0, &binary, "", &mut Room::of_page());
        assert_eq!(file.note.as_deref(), Some("binary, 2.0 KB"));
    }

    #[test]
    fn a_page_compares_no_more_bytes_than_it_has_room_for() {
        let mut room = Room { n_rows: MAX_PAGE_ROWS, n_bytes: 10 };
        let large = change("a.txt", "", "12345678901\n");
        assert_eq!(shown(0, &large, "", &mut room).collapsed.as_deref(), Some("12 bytes, show"));
        assert_eq!(shown(0, &large, "file=0", &mut room).rows.len(), 1);
    }

    #[test]
    fn the_form_of_a_comment_stands_at_its_line_and_links_keep_the_view() {
        let change = change("a.txt", "one\ntwo\n", "one\n2\n3\n");
        let file = shown(4, &change, "mode=split&file=4&on=4&line=3&to=2", &mut Room::of_page());
        assert_eq!((file.commented, file.talk[&3].is_commented), (Some((2, 3)), true));
        assert_eq!(file.line_href, "/s/one/code?mode=split&file=4&from=0&on=4&line=");
        assert_eq!(file.back, "/s/one/code?mode=split&file=4&from=0#file-4");
        let other = shown(5, &change, "on=4&line=3", &mut Room::of_page());
        assert!(other.commented.is_none() && other.talk.is_empty());
    }
}
