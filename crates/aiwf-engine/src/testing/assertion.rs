//! The assertions: their names, and what each takes.
//!
//! In: an assertion as it is written. Out: a checked one, or a message that says what to write. `not_` in front of any
//! type negates it.

use std::time::Duration;

use aiwf_prompt::nearest;
use aiwf_reply::{MetaVerdict, Parser};
use regex_automata::meta::Regex;
use serde_json::Value;

use super::case_file::{AssertToml, OneOrMany, json_of, unknown};
use super::lint::LintRule;

/// One thing that must hold.
#[derive(Clone, Debug)]
pub(crate) struct Assertion {
    /// The type as it is written, with `not_`.
    pub(crate) name: String,
    /// Starting at 1.
    pub(crate) line: usize,
    pub(crate) is_negated: bool,
    pub(crate) kind: AssertionKind,
}

#[derive(Clone, Debug)]
pub(crate) enum AssertionKind {
    Prompt(PromptCheck),
    Reply(ReplyCheck),
}

/// What must hold for a prompt.
#[derive(Clone, Debug)]
pub(crate) enum PromptCheck {
    /// The whole prompt, or one section, is the stored text.
    Golden {
        section: Option<String>,
    },
    Present(Vec<String>),
    Absent(Vec<String>),
    /// These sections are in the prompt, in this order; others may stand between them.
    Order(Vec<String>),
    Source {
        section: String,
        pattern: String,
    },
    /// Every text is in the section, or in the prompt.
    Contains {
        section: Option<String>,
        texts: Vec<String>,
    },
    /// One of the texts is there: what `not_section.contains` denies.
    ContainsAny {
        section: Option<String>,
        texts: Vec<String>,
    },
    Matches {
        section: Option<String>,
        regex: Pattern,
    },
    MaxTokens {
        section: String,
        max: u64,
    },
    Share {
        section: String,
        max: f64,
    },
    TokensMax(u64),
    TokensExact(u64),
    StablePrefix(f64),
    NoPaths,
    Cost {
        max: f64,
        model: String,
    },
    Lint(Vec<LintRule>),
    EqualsPreview,
}

/// What must hold for a reply.
#[derive(Clone, Debug)]
pub(crate) enum ReplyCheck {
    Contains(Vec<TextFrom>),
    IContains(Vec<TextFrom>),
    /// What `not_icontains` denies.
    IContainsAny(Vec<TextFrom>),
    ContainsAny(Vec<TextFrom>),
    Matches(Pattern),
    Equals(TextFrom),
    StartsWith(TextFrom),
    IsJson,
    JsonSchema(SchemaFrom),
    ParsesAs {
        parser: Parser,
        max_problems: u64,
    },
    Verdict(String),
    /// Every glob matches a file that the reply writes.
    Files(Vec<String>),
    Applies,
    /// The project's checks with these names pass on the result; all of them by default.
    Checks(Vec<String>),
    /// Maximum number of tokens in the reply.
    Tokens(u64),
    /// In dollars.
    Cost(f64),
    Latency(Duration),
    Similar {
        to: TextFrom,
        threshold: f64,
    },
    Rubric {
        rubric: String,
        judge: Option<String>,
        threshold: f64,
    },
    Run {
        command: RunCommand,
        timeout: Duration,
    },
}

/// An expected text: written in the case, or in a file beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextFrom {
    Case(String),
    File(String),
}

#[derive(Clone, Debug)]
pub(crate) enum SchemaFrom {
    Case(Value),
    File(String),
}

/// The program of an assertion: a shell line, or words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunCommand {
    Shell(String),
    Argv(Vec<String>),
}

/// A regular expression that matches in time linear in the text.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) text: String,
    regex: Regex,
}

/// The largest compiled pattern.
const MAX_PATTERN_BYTES: usize = 1024 * 1024;

impl Pattern {
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        let config = Regex::config().nfa_size_limit(Some(MAX_PATTERN_BYTES)).onepass(false);
        let regex = Regex::builder().configure(config).build(text);
        let regex = regex.map_err(|error| {
            let why = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
            format!("`{text}` is not a regular expression: {}", why.lines().last().unwrap_or_default().trim())
        })?;
        Ok(Self { text: text.to_owned(), regex })
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// The types of assertions on prompts, in the order of the documentation.
const PROMPT_TYPES: [&str; 16] = [
    "golden",
    "section.present",
    "section.absent",
    "section.order",
    "section.source",
    "section.contains",
    "section.regex",
    "section.max_tokens",
    "section.share",
    "tokens.max",
    "tokens.exact",
    "stable_prefix.min",
    "no_paths",
    "cost.max",
    "lint",
    "equals_preview",
];

/// The types of assertions on replies.
const REPLY_TYPES: [&str; 19] = [
    "contains",
    "icontains",
    "contains_any",
    "regex",
    "equals",
    "starts_with",
    "is_json",
    "json_schema",
    "parses_as",
    "verdict",
    "files",
    "applies",
    "checks",
    "tokens",
    "cost",
    "latency",
    "similar",
    "rubric",
    "run",
];

const DEFAULT_SIMILARITY: f64 = 0.8;
const DEFAULT_SCORE: f64 = 0.7;
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
const MAX_TIMEOUT: Duration = Duration::from_mins(30);

impl Assertion {
    /// Checks an assertion; the error says what is wrong with it.
    pub(super) fn parse(toml: AssertToml, line: usize) -> Result<Self, String> {
        let name = toml.kind.get_ref().clone();
        let (kind, is_negated) = match name.strip_prefix("not_") {
            Some(kind) => (kind.to_owned(), true),
            None => (name.clone(), false),
        };
        if !PROMPT_TYPES.contains(&kind.as_str()) && !REPLY_TYPES.contains(&kind.as_str()) {
            let all: Vec<&str> = PROMPT_TYPES.into_iter().chain(REPLY_TYPES).collect();
            let near = nearest(&kind, all).map(|near| format!("; did you mean `{near}`?"));
            return Err(format!("unknown assertion `{name}`{}", near.unwrap_or_default()));
        }
        let mut fields = Fields { kind: &kind, toml };
        let kind = match fields.prompt_check()? {
            Some(check) => AssertionKind::Prompt(check),
            None => AssertionKind::Reply(fields.reply_check()?),
        };
        fields.refuse_rest()?;
        let kind = if is_negated { denied(kind) } else { kind };
        Ok(Self { name, line, is_negated, kind })
    }

    pub(crate) fn is_about_reply(&self) -> bool {
        matches!(self.kind, AssertionKind::Reply(_))
    }

    /// Whether the size of the prompt in tokens matters to it.
    pub(crate) fn needs_tokens(&self) -> bool {
        matches!(
            &self.kind,
            AssertionKind::Prompt(
                PromptCheck::MaxTokens { .. }
                    | PromptCheck::Share { .. }
                    | PromptCheck::TokensMax(_)
                    | PromptCheck::TokensExact(_)
                    | PromptCheck::StablePrefix(_)
                    | PromptCheck::Cost { .. }
            )
        )
    }

    pub(crate) fn needs_preview(&self) -> bool {
        matches!(&self.kind, AssertionKind::Prompt(PromptCheck::EqualsPreview))
    }
}

/// What `not_` denies: of several texts, none may occur.
fn denied(kind: AssertionKind) -> AssertionKind {
    match kind {
        AssertionKind::Reply(ReplyCheck::Contains(texts)) => {
            AssertionKind::Reply(ReplyCheck::ContainsAny(texts))
        }
        AssertionKind::Reply(ReplyCheck::IContains(texts)) => {
            AssertionKind::Reply(ReplyCheck::IContainsAny(texts))
        }
        AssertionKind::Prompt(PromptCheck::Contains { section, texts }) => {
            AssertionKind::Prompt(PromptCheck::ContainsAny { section, texts })
        }
        other @ (AssertionKind::Reply(_) | AssertionKind::Prompt(_)) => other,
    }
}

/// The fields of an assertion; each is taken by the type that knows it.
struct Fields<'a> {
    kind: &'a str,
    toml: AssertToml,
}

impl Fields<'_> {
    fn prompt_check(&mut self) -> Result<Option<PromptCheck>, String> {
        Ok(Some(match self.kind {
            "golden" => PromptCheck::Golden { section: self.optional_section()? },
            "section.present" => PromptCheck::Present(self.sections()?),
            "section.absent" => PromptCheck::Absent(self.sections()?),
            "section.order" => {
                let order = self.texts()?;
                if order.len() < 2 {
                    return Err("`section.order` takes a `value` with at least two sections".to_owned());
                }
                PromptCheck::Order(order)
            }
            "section.source" => PromptCheck::Source { section: self.section()?, pattern: self.text()? },
            "section.contains" => {
                PromptCheck::Contains { section: self.optional_section()?, texts: self.texts()? }
            }
            "section.regex" => {
                let section = self.optional_section()?;
                PromptCheck::Matches { section, regex: Pattern::compile(&self.text()?)? }
            }
            "section.max_tokens" => PromptCheck::MaxTokens { section: self.section()?, max: self.count()? },
            "section.share" => PromptCheck::Share { section: self.section()?, max: self.share()? },
            "tokens.max" => PromptCheck::TokensMax(self.count()?),
            "tokens.exact" => PromptCheck::TokensExact(self.count()?),
            "stable_prefix.min" => PromptCheck::StablePrefix(self.share()?),
            "no_paths" => PromptCheck::NoPaths,
            "cost.max" => {
                let model = self.toml.model.take();
                let model = model.ok_or("`cost.max` needs `model`, which sets the price")?;
                PromptCheck::Cost { max: self.dollars()?, model }
            }
            "lint" => {
                let named = if self.toml.value.is_some() { self.texts()? } else { Vec::new() };
                let rules = named.iter().map(|name| {
                    let known = LintRule::ALL.map(LintRule::as_str);
                    LintRule::from_name(name).ok_or_else(|| unknown("rule", name, &known))
                });
                let rules: Vec<LintRule> = rules.collect::<Result<_, String>>()?;
                PromptCheck::Lint(if rules.is_empty() { LintRule::ALL.to_vec() } else { rules })
            }
            "equals_preview" => PromptCheck::EqualsPreview,
            _ => return Ok(None),
        }))
    }

    fn reply_check(&mut self) -> Result<ReplyCheck, String> {
        Ok(match self.kind {
            "contains" => ReplyCheck::Contains(self.texts_from()?),
            "icontains" => ReplyCheck::IContains(self.texts_from()?),
            "contains_any" => ReplyCheck::ContainsAny(self.texts_from()?),
            "regex" => ReplyCheck::Matches(Pattern::compile(&self.text()?)?),
            "equals" => ReplyCheck::Equals(self.text_from()?),
            "starts_with" => ReplyCheck::StartsWith(self.text_from()?),
            "is_json" => ReplyCheck::IsJson,
            "json_schema" => ReplyCheck::JsonSchema(match (self.toml.value.take(), self.toml.file.take()) {
                (Some(toml::Value::String(file)), None) | (None, Some(file)) => SchemaFrom::File(file),
                (Some(schema @ toml::Value::Table(_)), None) => SchemaFrom::Case(json_of(schema)),
                _ => return Err("`json_schema` takes a file or a table as `value`".to_owned()),
            }),
            "parses_as" => {
                let name = self.text()?;
                let known = Parser::ALL.map(Parser::as_str);
                let parser = Parser::from_name(&name).ok_or_else(|| unknown("parser", &name, &known))?;
                let max_problems = self.toml.problems.take().map_or(0, |problems| problems.max);
                ReplyCheck::ParsesAs { parser, max_problems }
            }
            "verdict" => {
                let word = self.text()?;
                let known: Vec<&str> = [MetaVerdict::Fail.as_str()]
                    .into_iter()
                    .chain(aiwf_reply::Verdict::ALL.map(aiwf_reply::Verdict::as_str))
                    .collect();
                if !known.iter().any(|known| known.eq_ignore_ascii_case(&word)) {
                    return Err(unknown("verdict", &word, &known));
                }
                ReplyCheck::Verdict(word)
            }
            "files" => {
                let globs = self.texts()?;
                for glob in &globs {
                    globset::Glob::new(glob)
                        .map_err(|error| format!("`{glob}` is not a pattern: {error}"))?;
                }
                ReplyCheck::Files(globs)
            }
            "applies" => ReplyCheck::Applies,
            "checks" => {
                ReplyCheck::Checks(if self.toml.value.is_some() { self.texts()? } else { Vec::new() })
            }
            "tokens" => ReplyCheck::Tokens(self.count()?),
            "cost" => ReplyCheck::Cost(self.dollars()?),
            "latency" => ReplyCheck::Latency(duration(&self.text()?)?),
            "similar" => {
                let threshold = self.threshold(DEFAULT_SIMILARITY)?;
                ReplyCheck::Similar { to: self.text_from()?, threshold }
            }
            "rubric" => {
                let threshold = self.threshold(DEFAULT_SCORE)?;
                ReplyCheck::Rubric { rubric: self.text()?, judge: self.toml.provider.take(), threshold }
            }
            "run" => {
                let timeout = self.toml.timeout.take().map(|text| duration(&text)).transpose()?;
                let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT).min(MAX_TIMEOUT);
                let command = match self.toml.value.take() {
                    Some(toml::Value::String(line)) if !line.trim().is_empty() => RunCommand::Shell(line),
                    Some(value @ toml::Value::Array(_)) => {
                        let words = strings(value).filter(|words| !words.is_empty());
                        RunCommand::Argv(words.ok_or("`run` takes a command as `value`")?)
                    }
                    _ => return Err("`run` takes a command as `value`".to_owned()),
                };
                ReplyCheck::Run { command, timeout }
            }
            other => return Err(format!("unknown assertion `{other}`")),
        })
    }

    /// Refuses a field that the type does not take, so that nothing is silently ignored.
    fn refuse_rest(&self) -> Result<(), String> {
        let AssertToml { kind: _, value, file, section, model, provider, threshold, timeout, problems } =
            &self.toml;
        let rest = [
            ("value", value.is_some()),
            ("file", file.is_some()),
            ("section", section.is_some()),
            ("model", model.is_some()),
            ("provider", provider.is_some()),
            ("threshold", threshold.is_some()),
            ("timeout", timeout.is_some()),
            ("problems", problems.is_some()),
        ];
        match rest.into_iter().find(|(_, is_left)| *is_left) {
            Some((field, _)) => Err(format!("`{}` takes no `{field}`", self.kind)),
            None => Ok(()),
        }
    }

    fn missing(&self, what: &str) -> String {
        format!("`{}` needs {what}", self.kind)
    }

    fn optional_section(&mut self) -> Result<Option<String>, String> {
        match self.toml.section.take() {
            None => Ok(None),
            Some(OneOrMany::One(section)) if section.trim().is_empty() => {
                Err(self.missing("a `section` that is not empty"))
            }
            Some(OneOrMany::One(section)) => Ok(Some(section)),
            Some(OneOrMany::Many(_)) => Err(format!("`{}` is about one `section`", self.kind)),
        }
    }

    fn section(&mut self) -> Result<String, String> {
        let missing = self.missing("`section`");
        self.optional_section()?.ok_or(missing)
    }

    /// Sections by `section`, or by `value`.
    fn sections(&mut self) -> Result<Vec<String>, String> {
        match self.toml.section.take() {
            Some(sections) => {
                let sections = sections.into_vec();
                if sections.is_empty() || sections.iter().any(|id| id.trim().is_empty()) {
                    return Err(self.missing("a `section` that is not empty"));
                }
                Ok(sections)
            }
            None if self.toml.value.is_some() => self.texts(),
            None => Err(self.missing("`section`")),
        }
    }

    fn text(&mut self) -> Result<String, String> {
        match self.toml.value.take() {
            // A reply can be empty, or differ from nothing; but an empty text is in every text.
            Some(toml::Value::String(text))
                if text.is_empty() && !["equals", "similar"].contains(&self.kind) =>
            {
                Err(self.missing("a `value` that is not empty"))
            }
            Some(toml::Value::String(text)) => Ok(text),
            _ => Err(self.missing("a text as `value`")),
        }
    }

    fn texts(&mut self) -> Result<Vec<String>, String> {
        let found = match self.toml.value.take() {
            Some(toml::Value::String(text)) => Some(vec![text]),
            Some(value @ toml::Value::Array(_)) => strings(value),
            _ => None,
        };
        let found = found.ok_or_else(|| self.missing("a text or a list of texts as `value`"))?;
        if found.is_empty() || found.iter().any(String::is_empty) {
            return Err(self.missing("a `value` that is not empty"));
        }
        Ok(found)
    }

    fn text_from(&mut self) -> Result<TextFrom, String> {
        match self.toml.file.take() {
            Some(file) if self.toml.value.is_none() => Ok(TextFrom::File(file)),
            Some(_) => Err(format!("`{}` takes `value` or `file`, not both", self.kind)),
            None => self.text().map(TextFrom::Case),
        }
    }

    fn texts_from(&mut self) -> Result<Vec<TextFrom>, String> {
        if self.toml.file.is_some() {
            return self.text_from().map(|text| vec![text]);
        }
        Ok(self.texts()?.into_iter().map(TextFrom::Case).collect())
    }

    fn number(&mut self, what: &str) -> Result<f64, String> {
        #[expect(clippy::cast_precision_loss, reason = "limits are small numbers")]
        let number = match self.toml.value.take() {
            Some(toml::Value::Float(number)) => Some(number),
            Some(toml::Value::Integer(number)) => Some(number as f64),
            _ => None,
        };
        number.filter(|number| number.is_finite() && *number >= 0.0).ok_or_else(|| self.missing(what))
    }

    fn count(&mut self) -> Result<u64, String> {
        let count = match self.toml.value.take() {
            Some(toml::Value::Integer(count)) => u64::try_from(count).ok(),
            _ => None,
        };
        count.ok_or_else(|| self.missing("a number of tokens as `value`"))
    }

    fn share(&mut self) -> Result<f64, String> {
        let what = "a share from 0 to 1 as `value`";
        self.number(what).ok().filter(|share| *share <= 1.0).ok_or_else(|| self.missing(what))
    }

    fn dollars(&mut self) -> Result<f64, String> {
        self.number("an amount in dollars as `value`")
    }

    fn threshold(&mut self, default: f64) -> Result<f64, String> {
        let threshold = self.toml.threshold.take().unwrap_or(default);
        if threshold > 0.0 && threshold <= 1.0 {
            Ok(threshold)
        } else {
            Err(self.missing("a `threshold` above 0, up to 1"))
        }
    }
}

fn strings(value: toml::Value) -> Option<Vec<String>> {
    let toml::Value::Array(values) = value else { return None };
    values.into_iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

/// A duration such as `5s`, `300ms` or `2m`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration; write one such as `5s`, `300ms` or `2m`");
    let digits = text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.trim().strip_prefix(digits).unwrap_or_default();
    let number: f64 = digits.trim().parse().map_err(|_error| wrong())?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_error| wrong())
}
