//! What an apply would do to the project, with the button that does exactly that.

use std::sync::Arc;

use aiwf_engine::{ApplyChange, ApplyOptions, ApplyReport};
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::fields::Fields;
use crate::guard::Visitor;
use crate::session_view::entry_of;
use crate::site::Site;
use crate::words::{hex, in_address, thousands};

/// Lines of one file that are shown.
const MAX_LINES: usize = 400;

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
            .take(MAX_LINES)
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
