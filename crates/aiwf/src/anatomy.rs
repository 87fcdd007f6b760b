//! The anatomy of a prompt: a line for each section, with its share, its source and why it is not there.

use std::fmt::Write as _;

use aiwf_engine::prompt::{Metadata, PartReport, SectionReport, Stability, Tokens};

use crate::escape::escaped_line;

const BAR_WIDTH: usize = 16;
/// Longer lists are summed up; `--json` has them all.
const MAX_KEPT_PARTS: usize = 12;
const MAX_CUT_NAMES: usize = 5;

/// The anatomy as text.
pub(crate) fn anatomy(title: &str, sections: &[SectionReport], metadata: &Metadata) -> String {
    let total = metadata.token_estimate;
    let counted =
        if metadata.is_exact { format!("exact, {}", metadata.tokenizer) } else { metadata.tokenizer.clone() };
    let mut text = format!("{title}: {total} tokens ({counted}), sha256 {}\n", metadata.sha256);
    let shown_parts = |section: &SectionReport| section.parts.len().min(MAX_KEPT_PARTS + 1);
    let width = sections
        .iter()
        .flat_map(|section| {
            let parts =
                section.parts.iter().take(shown_parts(section)).map(|part| part.id.chars().count() + 2);
            parts.chain([section.id.chars().count()])
        })
        .max()
        .unwrap_or(0)
        .min(44);
    for section in sections {
        let line = Line {
            indent: "",
            name: &section.id,
            tokens: section.tokens.filter(|_| section.is_kept),
            source: &section.source,
            reason: section.reason.as_deref(),
        };
        line.write(&mut text, width, total);
        write_parts(&mut text, &section.parts, width, total);
    }
    let stable: Vec<&SectionReport> = sections
        .iter()
        .filter(|section| section.is_kept)
        .take_while(|section| section.stability == Stability::Stable)
        .collect();
    if let Some(last) = stable.last() {
        let tokens: Tokens = stable.iter().filter_map(|section| section.tokens).sum();
        let _ = writeln!(text, "  the stable prefix ends after `{}` ({tokens} tokens)", last.id);
    }
    text
}

/// Where marks for the provider's cache stand.
pub(crate) fn cache_line(sections: &[String]) -> String {
    if sections.is_empty() {
        return "  no cache breakpoint: the prompt does not start with a stable section\n".to_owned();
    }
    let names: Vec<String> = sections.iter().map(|section| format!("`{}`", escaped_line(section))).collect();
    let noun = if names.len() == 1 { "breakpoint" } else { "breakpoints" };
    format!("  cache {noun} after {}\n", names.join(", "))
}

/// The parts that stay, the largest first, and a line for each reason why others do not.
fn write_parts(text: &mut String, parts: &[PartReport], width: usize, total: Tokens) {
    let mut kept: Vec<&PartReport> = parts.iter().filter(|part| part.is_kept).collect();
    kept.sort_by_key(|part| std::cmp::Reverse(part.tokens));
    // One more line is no shorter than the line that sums it up.
    let n_shown = if kept.len() <= MAX_KEPT_PARTS + 1 { kept.len() } else { MAX_KEPT_PARTS };
    for part in kept.iter().take(n_shown) {
        let line =
            Line { indent: "  ", name: &part.id, tokens: part.tokens, source: &part.source, reason: None };
        line.write(text, width, total);
    }
    if kept.len() > n_shown {
        let _ = writeln!(text, "    … and {} more kept; `--json` lists them all", kept.len() - n_shown);
    }
    let mut cut: Vec<&PartReport> = parts.iter().filter(|part| !part.is_kept).collect();
    cut.sort_by_key(|part| std::cmp::Reverse(part.cut_tokens));
    let mut reasons: Vec<&str> = cut.iter().filter_map(|part| part.reason.as_deref()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let of_reason: Vec<&PartReport> =
            cut.iter().copied().filter(|part| part.reason.as_deref() == Some(reason)).collect();
        let tokens: Tokens = of_reason.iter().filter_map(|part| part.cut_tokens).sum();
        let names: Vec<String> = of_reason
            .iter()
            .take(MAX_CUT_NAMES)
            .map(|part| format!("{} ({})", escaped_line(&part.id), part.cut_tokens.unwrap_or_default()))
            .collect();
        let n_more = of_reason.len().saturating_sub(MAX_CUT_NAMES);
        let more =
            if n_more > 0 { format!(" and {n_more} more; `--json` lists them all") } else { String::new() };
        let noun = if of_reason.len() == 1 { "part" } else { "parts" };
        let _ = writeln!(
            text,
            "    {} {noun}, {tokens} tokens, {reason}: {}{more}",
            of_reason.len(),
            names.join(", ")
        );
    }
}

struct Line<'a> {
    indent: &'static str,
    name: &'a str,
    tokens: Option<Tokens>,
    source: &'a str,
    reason: Option<&'a str>,
}

impl Line<'_> {
    fn write(&self, text: &mut String, width: usize, total: Tokens) {
        let name = shortened(&format!("{}{}", self.indent, escaped_line(self.name)), width);
        let source = escaped_line(self.source);
        let _ = write!(text, "  {name:width$}  ");
        match self.tokens {
            Some(tokens) => {
                let share = tokens.0.saturating_mul(1000).checked_div(total.0).unwrap_or(0);
                let n_filled = usize::try_from(share).unwrap_or(0) * BAR_WIDTH / 1000;
                let n_filled = if tokens.0 > 0 { n_filled.max(1) } else { 0 };
                let bar: String = "█".repeat(n_filled) + &"·".repeat(BAR_WIDTH.saturating_sub(n_filled));
                let _ = write!(
                    text,
                    "{bar} {:>10} {:>3}.{}%  {}",
                    tokens.to_string(),
                    share / 10,
                    share % 10,
                    source
                );
            }
            None => {
                let _ = write!(text, "{} {:>10}         {source}", "·".repeat(BAR_WIDTH), "cut");
            }
        }
        if let Some(reason) = self.reason {
            let _ = write!(text, " — {reason}");
        }
        text.push('\n');
    }
}

/// A name that fits, with its end: that is where paths differ.
fn shortened(name: &str, width: usize) -> String {
    let n_characters = name.chars().count();
    if n_characters <= width {
        return name.to_owned();
    }
    let tail: String = name.chars().skip(n_characters - width.saturating_sub(1)).collect();
    format!("…{tail}")
}
