//! A prompt's anatomy: a bar of its sections by tokens, each with owner, source, hash and reason; what was cut; and the
//! difference to the prompt that the phase had before.

use std::sync::Arc;

use aiwf_engine::machine::Event;
use aiwf_engine::prompt::{Need, PartReport, SectionReport, Stability};
use aiwf_engine::{Engine, JournalLine, PromptAnatomy};
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::artifact_view::download;
use crate::diff::{Row, counts, cut, rows};
use crate::fields::Fields;
use crate::guard::Visitor;
use crate::session_view::entry_of;
use crate::site::Site;
use crate::words::{Refusal, in_address, size, thousands};

/// The bar, in the units of its drawing.
const BAR: u64 = 1_000;
/// Lines of a section on one page.
const PAGE: usize = 800;
/// Rows of the difference to the prompt before.
const MAX_ROWS: usize = 1_500;
/// Characters that are shown on either side of the first byte that differs.
const MAX_MISS: usize = 60;
/// Prompts larger than this are not compared line by line.
const MAX_COMPARED: usize = 4_000_000;

#[derive(Debug, Serialize)]
struct Section {
    number: usize,
    id: String,
    title: String,
    source: String,
    /// Whose text it is; several if its parts are of several owners.
    owners: Vec<&'static str>,
    role: &'static str,
    tokens: Option<String>,
    share: String,
    bytes: String,
    sha256: String,
    is_stable: bool,
    is_kept: bool,
    need: &'static str,
    reason: String,
    parts: Vec<Part>,
}

/// A stretch of the bar: a section, or a part of it with an owner of its own.
#[derive(Debug, Serialize)]
struct Segment {
    section: usize,
    owner: &'static str,
    label: String,
    tokens: String,
    x: u64,
    width: u64,
}

#[derive(Debug, Serialize)]
struct Part {
    id: String,
    owner: &'static str,
    source: String,
    tokens: Option<String>,
    bytes: String,
    is_kept: bool,
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct Opened {
    number: usize,
    id: String,
    lines: Vec<String>,
    first: usize,
    n_lines: usize,
    previous: Option<usize>,
    next: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Previous {
    path: String,
    /// The first byte that differs.
    first_byte: Option<usize>,
    first_line: usize,
    /// The end of what is the same, and what follows it in either prompt.
    same: String,
    was: String,
    is: String,
    common: String,
    rows: Vec<Row>,
    n_added: usize,
    n_deleted: usize,
    is_cut: bool,
}

#[derive(Debug, Serialize)]
struct Anatomy {
    id: String,
    base: String,
    phase: String,
    provider: String,
    fs_ability: &'static str,
    tokens: String,
    is_exact: bool,
    tokenizer: String,
    payload_sha256: String,
    sections: Vec<Section>,
    segments: Vec<Segment>,
    stable_x: u64,
    stable_tokens: String,
    left_out: Vec<String>,
    warnings: Vec<String>,
    opened: Option<Opened>,
    previous: Option<Previous>,
    messages: Vec<Message>,
    tools: Vec<String>,
    files: Vec<String>,
    is_edited: bool,
}

#[derive(Debug, Serialize)]
struct Message {
    role: &'static str,
    size: String,
    start: String,
    is_cut: bool,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = Fields::of_query(query.as_deref());
    match site.look(move |engine| anatomy(engine, &id, &fields)).await {
        Ok(anatomy) => site.page(&visitor, "anatomy.html", "Prompt", context! { anatomy => Serde(&anatomy) }),
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

/// The prompt as a file, exactly as it is pasted into a chat.
pub(crate) async fn as_file(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let read = site.read(move |engine| {
        let place = entry_of(engine, &id)?;
        Ok((engine.preview_session(Some(place.id.as_str()))?.text(), place.id))
    });
    match read.await {
        Ok((text, id)) => download(&format!("prompt-{id}.md"), text),
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

fn anatomy(engine: &Engine, id: &str, fields: &Fields) -> Result<Anatomy, Refusal> {
    let place = entry_of(engine, id)?;
    let which = Some(place.id.as_str());
    let preview = engine.preview_session(which)?;
    let built = engine.prompt_anatomy(which)?;
    let lines = engine.session_events(which)?;
    let report = engine.session_report(which)?;
    let total = built.metadata.token_estimate.0.max(1);
    let of = Ownership { directory: &place.directory, has_profile: !report.profile.is_empty() };
    let (mut sections, mut segments) = (Vec::new(), Vec::new());
    let (mut sum, mut stable_sum, mut is_prefix) = (0, 0, true);
    for (number, section) in built.sections.iter().enumerate() {
        let tokens = section.tokens.filter(|_| section.is_kept).map_or(0, |tokens| tokens.0);
        let mut rest = tokens;
        let kept = section.parts.iter().filter(|part| part.is_kept && section.is_kept);
        for (owner, label, of_part) in kept
            .map(|part| (of.part(part), part.id.as_str(), part.tokens.map_or(0, |tokens| tokens.0)))
            .chain(std::iter::once((of.section(section), section.id.as_str(), u64::MAX)))
        {
            // What no part has is the section's own: its frame, or all of it.
            let of_part = of_part.min(rest);
            rest -= of_part;
            if of_part > 0 {
                let (x, end) = (sum * BAR / total, (sum + of_part) * BAR / total);
                let (label, width) = (label.to_owned(), end.saturating_sub(x).max(1));
                segments.push(Segment {
                    section: number,
                    owner,
                    label,
                    tokens: thousands(of_part),
                    x,
                    width,
                });
            }
            sum += of_part;
        }
        if section.is_kept {
            is_prefix = is_prefix && section.stability == Stability::Stable;
            if is_prefix {
                stable_sum = sum;
            }
        }
        sections.push(section_of(number, section, &of, tokens, total));
    }
    let built_text: String = built.texts.iter().map(|text| text.text.as_str()).collect();
    let sent_text: String = preview.messages.iter().map(|message| message.content.as_str()).collect();
    let opened = fields.number("section").and_then(|number| opened(&built, number, fields.number("from")));
    let previous = previous(engine, &place.id, &lines, &preview.prompt);
    Ok(Anatomy {
        base: format!("/s/{}", in_address(&place.id)),
        id: place.id,
        phase: preview.metadata.phase.to_string(),
        provider: preview.metadata.provider.clone(),
        fs_ability: preview.metadata.fs_ability,
        tokens: thousands(built.metadata.token_estimate.0),
        is_exact: built.metadata.is_exact,
        tokenizer: built.metadata.tokenizer.clone(),
        payload_sha256: preview.metadata.payload_sha256.clone(),
        sections,
        segments,
        stable_x: stable_sum * BAR / total,
        stable_tokens: thousands(stable_sum),
        left_out: aiwf_engine::left_out_lines(&preview.left_out),
        warnings: preview.warnings.clone(),
        opened,
        previous,
        messages: preview.messages.iter().map(|message| message_of(message.role, &message.content)).collect(),
        tools: preview
            .tools
            .iter()
            .map(|tool| serde_json::to_string_pretty(tool).unwrap_or_default())
            .collect(),
        files: preview
            .files
            .iter()
            .map(|file| format!("{} ({}, sha256 {})", file.path, size(file.bytes as u64), file.sha256))
            .collect(),
        is_edited: built_text != sent_text,
    })
}

fn section_of(
    number: usize,
    section: &SectionReport,
    of: &Ownership<'_>,
    tokens: u64,
    total: u64,
) -> Section {
    let mut owners: Vec<&'static str> = section.parts.iter().map(|part| of.part(part)).collect();
    owners.sort_unstable();
    owners.dedup();
    if owners.is_empty() {
        owners.push(of.section(section));
    }
    let per_mille = tokens * 1_000 / total;
    Section {
        number,
        id: section.id.clone(),
        title: section.title.clone(),
        source: section.source.clone(),
        owners,
        role: section.role.as_str(),
        tokens: section.tokens.filter(|_| section.is_kept).map(|tokens| thousands(tokens.0)),
        share: format!("{}.{} %", per_mille / 10, per_mille % 10),
        bytes: size(section.bytes as u64),
        sha256: section.sha256.to_string(),
        is_stable: section.stability == Stability::Stable,
        is_kept: section.is_kept,
        need: match section.need {
            Need::Required => "required",
            Need::Optional(_) => "optional",
        },
        reason: section.reason.clone().unwrap_or_else(|| format!("made by `{}`", section.name)),
        parts: section
            .parts
            .iter()
            .take(200)
            .map(|part| Part {
                owner: of.part(part),
                id: part.id.clone(),
                source: part.source.clone(),
                tokens: part.tokens.filter(|_| part.is_kept).map(|tokens| thousands(tokens.0)),
                bytes: size(part.bytes as u64),
                is_kept: part.is_kept,
                reason: part.reason.clone(),
            })
            .collect(),
    }
}

/// Whose text something is.
struct Ownership<'a> {
    /// That of the session, relative to the project.
    directory: &'a str,
    has_profile: bool,
}

impl Ownership<'_> {
    fn section(&self, section: &SectionReport) -> &'static str {
        self.of(&section.id, &section.source)
    }

    fn part(&self, part: &PartReport) -> &'static str {
        self.of(&part.id, &part.source)
    }

    fn of(&self, id: &str, source: &str) -> &'static str {
        let (kind, name) = source.split_once(':').unwrap_or(("", source));
        let is_about = |words: &[&str]| words.iter().any(|word| id.contains(word));
        let is_of_session = name.starts_with(self.directory);
        let is_result = ["plan.md", "review.md"].contains(&name);
        let is_plain = kind == "file" && !is_of_session && !is_result && name.contains(['/', '.']);
        // A file of the project may have any name.
        if is_plain && !name.contains("standards") {
            return "project";
        }
        match kind {
            _ if is_about(&["tool", "check"]) => "tool",
            _ if is_about(&["comment", "note", "feedback"]) => "person",
            "template" if self.has_profile => "profile",
            "template" if name.contains(".aiwf/") => "project",
            "engine" | "template" | "component" => "engine",
            "input" => "person",
            "file" if name.contains("standards") => "profile",
            "file" => "model",
            _ => "project",
        }
    }
}

fn opened(built: &PromptAnatomy, number: usize, from: Option<usize>) -> Option<Opened> {
    let section = built.sections.get(number)?;
    let of_section = built.texts.iter().filter(|text| text.section == section.id);
    let text: String = of_section.map(|text| text.text.as_str()).collect();
    let n_lines = text.lines().count();
    let from = from.unwrap_or_default().min(n_lines.saturating_sub(1)) / PAGE * PAGE;
    Some(Opened {
        number,
        id: section.id.clone(),
        lines: text.lines().skip(from).take(PAGE).map(cut).collect(),
        first: from + 1,
        n_lines,
        previous: (from > 0).then(|| from.saturating_sub(PAGE)),
        next: (from + PAGE < n_lines).then_some(from + PAGE),
    })
}

/// The difference to the prompt that the phase had in the round before.
#[expect(clippy::wildcard_enum_match_arm, reason = "only prompts are compared")]
fn previous(engine: &Engine, id: &str, lines: &[JournalLine], prompt: &str) -> Option<Previous> {
    let mut written = lines.iter().rev().filter_map(|line| match &line.event {
        Event::PromptWritten { phase, prompt, .. } => Some((*phase, prompt)),
        _ => None,
    });
    let (phase, current) = written.next()?;
    let (_, before) = written.find(|(of, file)| *of == phase && file.sha256 != current.sha256)?;
    let stored = engine.stored_bytes(Some(id), &before.sha256).ok().flatten();
    let text = match stored {
        Some(bytes) => String::from_utf8(bytes).ok()?,
        None if before.path != current.path => engine.session_file(Some(id), &before.path).ok()?.1,
        None => return None,
    };
    let n_common = text.bytes().zip(prompt.bytes()).take_while(|(old, new)| old == new).count();
    let is_same = n_common == text.len() && n_common == prompt.len();
    // A character may differ in its last bytes only.
    let shown_from =
        (0..=n_common).rev().find(|at| prompt.is_char_boundary(*at) && text.is_char_boundary(*at));
    let shown_from = shown_from.unwrap_or_default();
    let line_end = |text: &str| -> String {
        let line = text.get(shown_from..).unwrap_or_default().lines().next().unwrap_or_default();
        line.chars().take(MAX_MISS).collect()
    };
    let same = prompt.get(..shown_from).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let same: String = same.chars().skip(same.chars().count().saturating_sub(MAX_MISS)).collect();
    let mut all = if text.len() + prompt.len() > MAX_COMPARED { Vec::new() } else { rows(&text, prompt) };
    let (n_added, n_deleted) = counts(&all);
    let is_cut = all.len() > MAX_ROWS;
    all.truncate(MAX_ROWS);
    Some(Previous {
        path: before.path.clone(),
        first_byte: (!is_same).then_some(n_common),
        first_line: prompt.bytes().take(n_common).filter(|byte| *byte == b'\n').count() + 1,
        same,
        was: line_end(&text),
        is: line_end(prompt),
        common: size(n_common as u64),
        rows: all,
        n_added,
        n_deleted,
        is_cut,
    })
}

fn message_of(role: &'static str, content: &str) -> Message {
    const START: usize = 20_000;
    let start = match content.char_indices().find(|(at, _)| *at >= START) {
        Some((end, _)) => content.get(..end).unwrap_or_default(),
        None => content,
    };
    Message {
        role,
        size: size(content.len() as u64),
        is_cut: start.len() < content.len(),
        start: start.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_an_owner() {
        let check = |id: &str, source: &str, has_profile: bool, owner: &str| {
            let of = Ownership { directory: ".aiwf/sessions/one", has_profile };
            assert_eq!(of.of(id, source), owner, "{id} {source}");
        };
        check("system-template", "template:flows/do/plan.md", false, "engine");
        check("system-template", "template:.aiwf/flows/mine/plan.md", false, "project");
        check("profile-prompt", "template:planning.md", true, "profile");
        check("standards", "file:standards-bundle.md", true, "profile");
        check("src/list.py", "file:src/list.py", false, "project");
        check("src/tool_check.py", "file:src/tool_check.py", false, "project");
        check("plan", "file:.aiwf/sessions/one/plan.md", false, "model");
        check("plan", "file:plan.md", true, "model");
        check("comments", "file:.aiwf/sessions/one/journal.jsonl", false, "person");
        check("checks", "file:.aiwf/sessions/one/iteration-1/checks.md", false, "tool");
        check("tools", "engine:tools", false, "tool");
        check("output", "engine:output", true, "engine");
        check("instructions", "input:instructions", false, "person");
    }
}
