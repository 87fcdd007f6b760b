//! Everything that a prompt leaves out: one list for all reasons.

use aiwf_prompt::{Problem, Prompt, Tokens};
use aiwf_session::{LeftOut, LeftOutKind};

/// Maximum number of recorded entries; the last one counts the rest.
pub(crate) const MAX_RECORDED: usize = 200;
/// The same for each request of a run.
const MAX_RECORDED_IN_RUN: usize = 20;

/// What gathering left out.
pub(crate) fn from_problems(problems: &[Problem]) -> Vec<LeftOut> {
    problems
        .iter()
        .filter_map(|problem| {
            let left_out = problem.left_out.as_ref()?;
            Some(LeftOut {
                id: id_of(&problem.source.to_string()),
                bytes: left_out.bytes,
                tokens: None,
                kind: match left_out.why {
                    aiwf_prompt::WhyLeftOut::SizeCap => LeftOutKind::SizeCap,
                    aiwf_prompt::WhyLeftOut::Encoding => LeftOutKind::Encoding,
                    aiwf_prompt::WhyLeftOut::Missing => LeftOutKind::Missing,
                    aiwf_prompt::WhyLeftOut::Unreadable => LeftOutKind::Unreadable,
                },
                reason: problem.message.clone(),
            })
        })
        .collect()
}

/// What the prompt left out: parts that do not fit, and characters that its format cannot contain.
pub(crate) fn from_prompt(prompt: &Prompt, limit: Option<(Tokens, LeftOutKind)>) -> Vec<LeftOut> {
    let mut left_out = from_problems(prompt.problems());
    let Some((limit, kind)) = limit else { return left_out };
    let reason = does_not_fit(limit, kind);
    let cut = |id: &str, bytes: usize, tokens: Tokens| LeftOut {
        id: id.to_owned(),
        bytes: Some(bytes as u64),
        tokens: Some(tokens.0),
        kind,
        reason: reason.clone(),
    };
    for section in prompt.sections() {
        if let Some(tokens) = section.cut_tokens {
            left_out.push(cut(&section.id, section.bytes, tokens));
        }
        let parts = section.parts.iter();
        left_out.extend(parts.filter_map(|part| Some(cut(&part.id, part.bytes, part.cut_tokens?))));
    }
    left_out
}

/// The reason for a part that exceeds what is left of a limit.
pub(crate) fn does_not_fit(limit: Tokens, kind: LeftOutKind) -> String {
    if kind == LeftOutKind::Window {
        format!("does not fit the {limit} tokens of the provider's context window")
    } else {
        format!("does not fit the budget of {limit} tokens")
    }
}

/// The list as a session's journal stores it.
pub(crate) fn recorded(left_out: Vec<LeftOut>) -> Vec<LeftOut> {
    shortened(left_out, MAX_RECORDED, "`aiwf preview --json` lists them all")
}

/// The list as a run's journal stores it: shorter, because there is one for each request.
pub(crate) fn recorded_in_run(left_out: &[LeftOut]) -> Vec<LeftOut> {
    shortened(left_out.to_vec(), MAX_RECORDED_IN_RUN, "`aiwf preview --json` lists them all")
}

/// Cuts a long list; the last entry says so.
fn shortened(mut left_out: Vec<LeftOut>, max: usize, hint: &str) -> Vec<LeftOut> {
    let n_more = left_out.len().saturating_sub(max);
    if n_more > 0 {
        let rest = left_out.split_off(max);
        left_out.extend(rest.first().map(|first| LeftOut {
            id: format!("… and {n_more} more"),
            bytes: Some(rest.iter().filter_map(|left_out| left_out.bytes).sum()),
            tokens: Some(rest.iter().filter_map(|left_out| left_out.tokens).sum()),
            kind: first.kind,
            reason: hint.to_owned(),
        }));
    }
    left_out
}

/// One line for each reason, with the largest entries first and at most a few names.
pub fn left_out_lines(left_out: &[LeftOut]) -> Vec<String> {
    const MAX_NAMES: usize = 5;
    let mut reasons: Vec<(LeftOutKind, &str)> =
        left_out.iter().map(|entry| (entry.kind, entry.reason.as_str())).collect();
    reasons.sort_unstable();
    reasons.dedup();
    reasons
        .into_iter()
        .map(|(kind, reason)| {
            let mut entries: Vec<&LeftOut> = left_out
                .iter()
                .filter(|entry| (entry.kind, entry.reason.as_str()) == (kind, reason))
                .collect();
            entries.sort_by_key(|entry| std::cmp::Reverse((entry.tokens, entry.bytes)));
            let names: Vec<String> = entries.iter().take(MAX_NAMES).map(|entry| shown(entry)).collect();
            let more = entries.len().saturating_sub(MAX_NAMES);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            format!("left out ({}): {}{more}: {reason}", kind.as_str(), names.join(", "))
        })
        .collect()
}

fn shown(entry: &LeftOut) -> String {
    match (entry.tokens, entry.bytes) {
        (Some(tokens), Some(bytes)) => format!("`{}` ({bytes} bytes, {tokens} tokens)", entry.id),
        (None, Some(bytes)) => format!("`{}` ({bytes} bytes)", entry.id),
        (_, None) => format!("`{}`", entry.id),
    }
}

/// The name without its kind.
fn id_of(source: &str) -> String {
    source.split_once(':').map_or(source, |(_, name)| name).to_owned()
}
