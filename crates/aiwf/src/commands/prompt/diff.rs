//! `aiwf prompt diff`: compares two prompts, and shows where their common prefix ends and what that costs.

use std::fmt::Write as _;
use std::io::Write as _;

use aiwf_engine::prompt::{Tokenizer, Tokens};
use aiwf_engine::{ComparedPrompt, DiffOptions, DiffSide, Engine, PromptDiff, SectionDiff, SectionPlace};
use clap::Args;
use serde::Serialize;

use super::name_parser;
use crate::columns::padded;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// Longer differences of a section are cut; `--json` has them all.
const MAX_LINES: usize = 40;

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// First prompt: a file made with `--json`, or - for stdin; a session; a round `ID:PHASE@ITERATION`; a call `ID@N`.
    #[arg(value_name = "PROMPT")]
    before: String,
    /// Second prompt; not needed with `--at` or `--for`.
    #[arg(value_name = "PROMPT", required_unless_present_any = ["at", "providers"])]
    after: Option<String>,
    /// Compare the prompt as built with the project's files of a git revision with the prompt as it is.
    #[arg(long, value_name = "REV", conflicts_with_all = ["after", "providers"])]
    at: Option<String>,
    /// Build the prompt for two providers, and compare the results.
    #[arg(long = "for", value_name = "PROVIDER,PROVIDER", value_parser = two_providers, conflicts_with = "after")]
    providers: Option<(String, String)>,
    /// Fail if less than this share of the second prompt is in the common prefix: 0.95.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_stable: Option<f64>,
    /// Show the sections without the lines that differ.
    #[arg(long)]
    stat: bool,
    #[command(flatten)]
    counting: CountingArgs,
}

/// What tokens are counted and priced with.
#[derive(Debug, Args)]
pub(crate) struct CountingArgs {
    /// Tokenizer to count with [default: the provider's].
    #[arg(long, value_parser = name_parser(Tokenizer::ALL.map(Tokenizer::as_str), Tokenizer::from_name))]
    tokenizer: Option<Tokenizer>,
    /// Model whose price to use [default: the provider's].
    #[arg(long)]
    model: Option<String>,
}

impl CountingArgs {
    pub(crate) fn options(&self) -> DiffOptions {
        DiffOptions { tokenizer: self.tokenizer, model: self.model.clone() }
    }
}

fn two_providers(text: &str) -> Result<(String, String), String> {
    match text.split_once(',') {
        Some((first, second)) if !first.is_empty() && !second.is_empty() && !second.contains(',') => {
            Ok((first.to_owned(), second.to_owned()))
        }
        _ => Err("expected two providers, such as anthropic,openai".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        Ok(_) | Err(_) => Err("expected a share from 0 to 1, such as 0.95".to_owned()),
    }
}

#[derive(Serialize)]
struct DiffJson<'a> {
    #[serde(flatten)]
    diff: &'a PromptDiff,
    /// Whether the common prefix is large enough, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
}

pub(super) fn run(args: &DiffArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let (before, after) = prompts(args, engine)?;
    let diff = engine.diff_prompts(&before, &after, &args.counting.options())?;
    let passed = args.min_stable.map(|min| diff.stable_share >= min);
    let exit = if passed == Some(false) { Exit::Refused } else { Exit::Done };
    if output.is_json() {
        return output.json(DiffJson { diff: &diff, passed }, exit);
    }
    output::print(|out| out.write_all(shown(&diff, !args.stat).as_bytes()))?;
    if let Some(min) = args.min_stable.filter(|_| exit == Exit::Refused) {
        output::warn(&format!(
            "{} of the second prompt is in the common prefix, less than {}",
            percent(diff.stable_share),
            percent(min)
        ));
    }
    Ok(exit)
}

/// The two prompts that the arguments name.
fn prompts(args: &DiffArgs, engine: &Engine) -> Result<(ComparedPrompt, ComparedPrompt), Failure> {
    let given = args.before.as_str();
    Ok(match (&args.at, &args.providers, &args.after) {
        (Some(revision), _, _) => (engine.prompt_at(given, revision)?, engine.named_prompt(given)?),
        (None, Some((first, second)), _) => {
            (engine.prompt_for(given, first)?, engine.prompt_for(given, second)?)
        }
        (None, None, Some(after)) => (engine.named_prompt(given)?, engine.named_prompt(after)?),
        (None, None, None) => return Err(Failure::bug("the command line let one prompt alone through")),
    })
}

/// The difference as text.
fn shown(diff: &PromptDiff, with_lines: bool) -> String {
    let mut text = String::new();
    let counted = if diff.exact { diff.tokenizer.clone() } else { format!("{}, not exact", diff.tokenizer) };
    let mut side = |name: &str, side: &DiffSide| {
        let provider = side.provider.as_ref().map(|name| format!(" for {name}")).unwrap_or_default();
        let _ = writeln!(
            text,
            "{name:6}  {}{}: {} tokens, {} bytes",
            escaped_line(&side.name),
            escaped_line(&provider),
            Tokens(side.tokens),
            Tokens(side.bytes as u64)
        );
    };
    side("before", &diff.before);
    side("after", &diff.after);
    let _ = writeln!(text, "counted with {counted}\n");
    let width = diff.sections.iter().map(|section| section.id.chars().count()).max().unwrap_or(0).min(44);
    for section in &diff.sections {
        let _ = writeln!(text, "{}", section_line(section, width));
    }
    if with_lines {
        for section in &diff.sections {
            if let Some(lines) = &section.diff {
                let _ = write!(text, "\n~ {}\n{}", escaped_line(&section.id), cut_lines(lines));
            }
        }
    }
    text.push('\n');
    text.push_str(&summary(diff));
    text
}

/// A section: a mark, its name, its size, and where it moved.
fn section_line(section: &SectionDiff, width: usize) -> String {
    let mark = match section.change {
        "added" => '+',
        "removed" => '-',
        "changed" => '~',
        _ if section.moved => '>',
        _ if section.role_before.is_some() => '~',
        _ => '=',
    };
    let tokens = |place: &SectionPlace| Tokens(place.tokens).to_string();
    let size = match (&section.before, &section.after) {
        (Some(before), Some(after)) if before.tokens != after.tokens => {
            format!("{} -> {}", tokens(before), tokens(after))
        }
        (_, Some(place)) | (Some(place), None) => tokens(place),
        (None, None) => String::new(),
    };
    let mut line = format!("{mark} {}  {size:>18} tokens", padded(&escaped_line(&section.id), width));
    if let (true, Some(before), Some(after)) = (section.moved, &section.before, &section.after) {
        let _ = write!(line, "  moved from {} to {}", before.position, after.position);
    } else if let Some(before) = section.role_before {
        let _ = write!(line, "  {before} text is now {} text", section.role);
    } else if !section.source.is_empty() {
        let _ = write!(line, "  {}", escaped_line(&section.source));
    }
    line
}

fn cut_lines(lines: &str) -> String {
    let n_lines = lines.lines().count();
    if n_lines <= MAX_LINES {
        return lines.to_owned();
    }
    let mut kept: String = lines.split_inclusive('\n').take(MAX_LINES).collect();
    let _ = writeln!(kept, "… and {} more lines; `--json` has them all", n_lines - MAX_LINES);
    kept
}

fn summary(diff: &PromptDiff) -> String {
    let mut text = String::new();
    if diff.same {
        return "both prompts are the same\n".to_owned();
    }
    let prefix = &diff.prefix;
    let end = prefix.ends_in.as_ref().map_or_else(String::new, |end| {
        format!("; it ends in `{}`, line {}, byte {}", escaped_line(&end.section), end.line, end.byte)
    });
    let _ = writeln!(
        text,
        "common prefix  {} of {} tokens ({}), {} bytes{end}",
        Tokens(prefix.tokens),
        Tokens(diff.after.tokens),
        percent(diff.stable_share),
        Tokens(prefix.bytes as u64)
    );
    let _ = writeln!(
        text,
        "unchanged      {} tokens, {} of them in the common prefix",
        Tokens(diff.unchanged_tokens),
        percent(diff.unchanged_share)
    );
    let miss = &diff.miss;
    let _ = write!(text, "cache misses   {} tokens per call", Tokens(miss.tokens));
    let model = miss.model.as_deref().map(escaped_line);
    match (&model, miss.cost, miss.cost_if_cached) {
        (Some(model), Some(cost), Some(cached)) => {
            let (cost, cached) = (dollars(cost.as_f64()), dollars(cached.as_f64()));
            let _ = writeln!(text, ", {cost} with `{model}`; {cached} if they were cached");
        }
        (Some(model), _, _) => {
            let _ = writeln!(text, "; the price of `{model}` is not known");
        }
        (None, _, _) => text.push('\n'),
    }
    text
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

pub(crate) fn dollars(amount: f64) -> String {
    format!("${amount:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_number_from_0_to_1() {
        assert_eq!(share("0.95"), Ok(0.95));
        assert_eq!(share("1"), Ok(1.0));
        for wrong in ["1.1", "-0.1", "95", "NaN", "much"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn long_differences_are_cut() {
        let lines = "+ line\n".repeat(50);
        assert!(cut_lines(&lines).ends_with("… and 10 more lines; `--json` has them all\n"));
        assert_eq!(cut_lines("+ a\n"), "+ a\n");
    }
}
