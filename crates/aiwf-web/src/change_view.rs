//! The files that a session changes: a tree, differences unified or side by side, check results; and what an apply does.

use std::sync::Arc;

use aiwf_engine::{ApplyChange, ApplyOptions, ApplyReport, Engine, FileChange, FileChangeKind};
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::diff::{Pair, Row, counts, pairs, rows};
use crate::fields::Fields;
use crate::guard::Visitor;
use crate::session_view::entry_of;
use crate::site::Site;
use crate::words::{Refusal, hex, in_address, plural, size, thousands};

/// Differences larger than this are collapsed until they are asked for.
const MAX_ROWS: usize = 400;
/// Rows of one file on a page.
const PAGE: usize = 1_500;
/// Rows of all files on a page.
const MAX_PAGE_ROWS: usize = 6_000;
/// Files whose bytes are compared.
const MAX_DIFFED: usize = 4_000_000;
/// Files of the tree that are shown.
const MAX_FILES: usize = 2_000;

#[derive(Debug, Serialize)]
pub(crate) struct File {
    number: usize,
    path: String,
    from: Option<String>,
    /// `added`, `changed`, `deleted`, `renamed`, `conflict`, `merged` or `same`.
    kind: &'static str,
    n_added: usize,
    n_deleted: usize,
    note: Option<String>,
    run_by: Option<&'static str>,
    mode: Option<&'static str>,
    rows: Vec<Row>,
    pairs: Vec<Pair>,
    /// Why the rows are not shown.
    collapsed: Option<String>,
    previous: Option<usize>,
    next: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Code {
    id: String,
    base: String,
    files: Vec<File>,
    n_files: usize,
    n_added: usize,
    n_deleted: usize,
    is_split: bool,
    only: Option<usize>,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = Fields::of_query(query.as_deref());
    match site.read(move |engine| code(engine, &id, &fields)).await {
        Ok(code) => site.page(&visitor, "code.html", "Code", context! { code => Serde(&code) }),
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

fn code(engine: &Engine, id: &str, fields: &Fields) -> Result<Code, Refusal> {
    let place = entry_of(engine, id)?;
    let changes = engine.file_changes(Some(place.id.as_str()))?;
    let is_split = fields.text("mode") == "split";
    let only = fields.number("file").filter(|number| *number < changes.len());
    let from = fields.number("from").unwrap_or_default();
    let n_files = changes.len();
    let mut budget = MAX_PAGE_ROWS;
    let files: Vec<File> = changes
        .iter()
        .enumerate()
        .take(MAX_FILES)
        .map(|(number, change)| file(number, change, is_split, only, from, &mut budget))
        .collect();
    Ok(Code {
        base: format!("/s/{}", in_address(&place.id)),
        id: place.id,
        n_added: files.iter().map(|file| file.n_added).sum(),
        n_deleted: files.iter().map(|file| file.n_deleted).sum(),
        files,
        n_files,
        is_split,
        only,
    })
}

fn file(
    number: usize,
    change: &FileChange,
    is_split: bool,
    only: Option<usize>,
    from: usize,
    budget: &mut usize,
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
        rows: Vec::new(),
        pairs: Vec::new(),
        collapsed: None,
        previous: None,
        next: None,
    };
    let text = |bytes: &Option<Vec<u8>>| match bytes {
        None => Some(String::new()),
        Some(bytes) => String::from_utf8(bytes.clone()).ok(),
    };
    let n_bytes = change.before.as_ref().map_or(0, Vec::len) + change.after.as_ref().map_or(0, Vec::len);
    let (Some(before), Some(after)) = (text(&change.before), text(&change.after)) else {
        file.note = Some(format!("binary, {}", size(change.after.as_ref().map_or(0, Vec::len) as u64)));
        return file;
    };
    if n_bytes > MAX_DIFFED {
        file.note = Some(format!("too large to compare, {}", size(n_bytes as u64)));
        return file;
    }
    let all = rows(&before, &after);
    (file.n_added, file.n_deleted) = counts(&all);
    fill(&mut file, all, is_split, only, from, budget);
    file
}

/// Puts in the rows, as far as the page has room for them.
fn fill(
    file: &mut File,
    all: Vec<Row>,
    is_split: bool,
    only: Option<usize>,
    from: usize,
    budget: &mut usize,
) {
    let is_asked_for = only == Some(file.number);
    let n_lines = file.n_added + file.n_deleted;
    let is_large = all.len() > MAX_ROWS || all.len() > *budget;
    let is_other = only.is_some() && !is_asked_for;
    if !is_asked_for && (is_other || is_large || is_lock_file(&file.path)) && !all.is_empty() {
        file.collapsed = Some(format!("{}, show", plural(n_lines as u64, "changed line")));
        return;
    }
    let n_rows = all.len();
    let from = if is_asked_for { from.min(n_rows.saturating_sub(1)) / PAGE * PAGE } else { 0 };
    let shown: Vec<Row> = all.into_iter().skip(from).take(PAGE).collect();
    *budget = budget.saturating_sub(shown.len());
    file.previous = (from > 0).then(|| from.saturating_sub(PAGE));
    file.next = (from + PAGE < n_rows).then_some(from + PAGE);
    if is_split {
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

/// What identifies an apply that was shown.
pub(crate) fn apply_hash(report: &ApplyReport) -> String {
    let mut hash = Sha256::new();
    for file in &report.files {
        for part in [&file.name, &file.target, &format!("{:?}", file.change), &file.diff] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    hex(&hash.finalize())
}

pub(crate) fn apply_options(fields: &Fields) -> ApplyOptions {
    ApplyOptions { merges: fields.has("merge"), is_dry_run: true, ..ApplyOptions::default() }
}

#[derive(Debug, Serialize)]
struct Applied {
    id: String,
    base: String,
    targets: Vec<Target>,
    n_conflicts: usize,
    hash: String,
    merges: bool,
    n_changing: String,
    outdated: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Target {
    path: String,
    kind: &'static str,
    words: &'static str,
    run_by: Option<&'static str>,
    lines: Vec<DiffLine>,
    is_cut: bool,
}

#[derive(Debug, Serialize)]
struct DiffLine {
    tone: &'static str,
    text: String,
}

/// What an apply would do, with the button that does exactly that.
pub(crate) async fn dry_run(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = Fields::of_query(query.as_deref());
    let read = site.read(move |engine| {
        let place = entry_of(engine, &id)?;
        let report = engine.apply(Some(place.id.as_str()), &apply_options(&fields))?;
        Ok((place.id, fields.has("merge"), report))
    });
    match read.await {
        Ok((id, merges, report)) => {
            let applied = applied(&id, merges, &report);
            site.page(&visitor, "apply.html", "Apply", context! { applied => Serde(&applied) })
        }
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

fn applied(id: &str, merges: bool, report: &ApplyReport) -> Applied {
    let n_changing = report.files.iter().filter(|file| file.change != ApplyChange::Same).count();
    let target = |file: &aiwf_engine::ApplyFile| {
        let (kind, words) = match file.change {
            ApplyChange::New => ("added", "new"),
            ApplyChange::Changed => ("changed", "changed"),
            ApplyChange::Same => ("same", "unchanged"),
            ApplyChange::Deleted => ("deleted", "deleted"),
            ApplyChange::Merged => ("merged", "merged with changes made since"),
            ApplyChange::Conflict => ("conflict", "conflict: the file changed since"),
        };
        let tone = |line: &str| match line.as_bytes().first() {
            Some(b'+') => "added",
            Some(b'-') => "deleted",
            Some(b'@') => "gap",
            _ => "",
        };
        let all = file.diff.lines();
        let lines: Vec<DiffLine> = all
            .take(MAX_ROWS)
            .map(|line| DiffLine { tone: tone(line), text: crate::diff::cut(line) })
            .collect();
        Target {
            path: file.target.clone(),
            kind,
            words,
            run_by: file.run_by,
            is_cut: file.diff.lines().count() > lines.len(),
            lines,
        }
    };
    Applied {
        id: id.to_owned(),
        base: format!("/s/{}", in_address(id)),
        n_conflicts: report.conflicts().count(),
        hash: apply_hash(report),
        merges,
        n_changing: format!(
            "{} {}",
            thousands(n_changing as u64),
            if n_changing == 1 { "file" } else { "files" }
        ),
        outdated: report.outdated.clone(),
        targets: report.files.iter().map(target).collect(),
    }
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
        }
    }

    fn lines(n_lines: usize) -> String {
        (0..n_lines).fold(String::new(), |text, number| text + &format!("line {number}\n"))
    }

    #[test]
    fn large_and_lock_files_are_collapsed_until_asked_for() {
        let large = change("big.txt", "", &lines(50_000));
        let mut budget = MAX_PAGE_ROWS;
        let shut = file(0, &large, false, None, 0, &mut budget);
        assert_eq!(shut.collapsed.as_deref(), Some("50,000 changed lines, show"));
        assert_eq!((shut.rows.len(), budget), (0, MAX_PAGE_ROWS));
        let open = file(0, &large, false, Some(0), 3_100, &mut budget);
        assert_eq!((open.rows.len(), open.rows[0].new), (PAGE, Some(3_001)));
        assert_eq!((open.previous, open.next), (Some(1_500), Some(4_500)));
        let lock = file(1, &change("Cargo.lock", "a\n", "b\n"), false, None, 0, &mut budget);
        assert_eq!(lock.collapsed.as_deref(), Some("2 changed lines, show"));
    }

    #[test]
    fn a_page_has_an_end_however_many_files_change() {
        let mut budget = MAX_PAGE_ROWS;
        let changes: Vec<FileChange> =
            (0..100).map(|n| change(&format!("{n}.txt"), "", &lines(300))).collect();
        let files: Vec<File> = changes
            .iter()
            .enumerate()
            .map(|(number, change)| file(number, change, true, None, 0, &mut budget))
            .collect();
        let shown: usize = files.iter().map(|file| file.pairs.len()).sum();
        assert!(shown <= MAX_PAGE_ROWS && shown > 0, "{shown}");
        assert!(files.last().is_some_and(|file| file.collapsed.is_some()));
    }

    #[test]
    fn bytes_that_are_no_text_are_named() {
        let mut binary = change("a.png", "", "");
        binary.after = Some(vec![0xff; 2_048]);
        let shown = file(0, &binary, false, None, 0, &mut 10);
        assert_eq!(shown.note.as_deref(), Some("binary, 2.0 KB"));
    }
}
