//! The results of a run of tests, as data: printed by the binary, written as JSON, read again as a baseline.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestOutcome {
    Passed,
    /// An assertion does not hold.
    Failed,
    /// It could not be checked: a file is missing, a consent is missing, a session does not reach its phase.
    Error,
    /// A provider gave no answer.
    ProviderFailed,
    /// Nothing could be checked without asking a provider.
    Skipped,
}

impl TestOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::ProviderFailed => "provider failed",
            Self::Skipped => "skipped",
        }
    }

    fn counts(self) -> bool {
        self != Self::Skipped
    }
}

/// The result of one assertion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssertionResult {
    /// The type as it is written; empty for the case itself.
    #[serde(rename = "type")]
    pub kind: String,
    /// Of the test file, starting at 1.
    pub line: usize,
    pub outcome: TestOutcome,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The prompt and the reply of a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeExchange>,
}

/// What a judge was asked, and what it said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeExchange {
    pub provider: String,
    pub prompt: String,
    pub reply: String,
    pub score: f64,
}

/// What a call used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyFacts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// In dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
}

/// The result of one case for one receiver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    pub file: String,
    /// Of the case, starting at 1.
    pub line: usize,
    pub case: String,
    /// A provider, or a capability.
    #[serde(rename = "for")]
    pub receiver: String,
    pub format: String,
    /// The entry of the matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Starting at 1.
    pub repeat: u32,
    pub outcome: TestOutcome,
    pub assertions: Vec<AssertionResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<ReplyFacts>,
    pub millis: u64,
}

impl TestResult {
    /// The assertions that keep it from passing.
    pub fn failures(&self) -> impl Iterator<Item = &AssertionResult> {
        let is_failure =
            |one: &&AssertionResult| !matches!(one.outcome, TestOutcome::Passed | TestOutcome::Skipped);
        self.assertions.iter().filter(is_failure)
    }

    /// The case, its receiver and its variant, without the number of the repetition.
    fn group(&self) -> Group {
        let variant = self.variant.clone().unwrap_or_default();
        (self.file.clone(), self.case.clone(), self.receiver.clone(), variant)
    }
}

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCounts {
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    pub provider_failed: usize,
    pub skipped: usize,
}

/// A number over several repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied();
        let middle = values.len().checked_sub(1)? / 2;
        let median =
            if values.len() % 2 == 1 { at(middle)? } else { f64::midpoint(at(middle)?, at(middle + 1)?) };
        Some(Self { median, min: at(0)?, max: at(values.len() - 1)? })
    }
}

/// All results of one variant of the matrix, or of the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantSummary {
    pub name: String,
    pub passed: usize,
    pub total: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<Spread>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_tokens: Option<Spread>,
    /// In dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Spread>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Spread>,
}

/// A case that passes less often than in the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestDrop {
    pub file: String,
    pub case: String,
    #[serde(rename = "for")]
    pub receiver: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Shares from 0 to 1.
    pub before: f64,
    pub now: f64,
}

/// A run of tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestReport {
    pub counts: TestCounts,
    /// Passed cases divided by all that ran.
    pub pass_rate: f64,
    pub min_pass: f64,
    pub results: Vec<TestResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantSummary>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<TestDrop>,
    /// Cases that ran in the baseline and not now, each as `FILE: CASE (RECEIVER, VARIANT)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    /// Golden files that were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub updated: Vec<String>,
    /// Calls that were made, and what they cost in dollars as far as it is known.
    #[serde(default)]
    pub n_calls: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<f64>,
}

impl TestReport {
    pub(crate) fn of(results: Vec<TestResult>, min_pass: f64) -> Self {
        let mut counts = TestCounts::default();
        for result in &results {
            match result.outcome {
                TestOutcome::Passed => counts.passed += 1,
                TestOutcome::Failed => counts.failed += 1,
                TestOutcome::Error => counts.errors += 1,
                TestOutcome::ProviderFailed => counts.provider_failed += 1,
                TestOutcome::Skipped => counts.skipped += 1,
            }
        }
        let mut names: Vec<&str> = Vec::new();
        for name in results.iter().filter_map(|result| result.variant.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let variants = names.iter().map(|name| summary(name, &results)).collect();
        let n_ran = results.iter().filter(|result| result.outcome.counts()).count();
        let pass_rate = if n_ran == 0 { 1.0 } else { ratio(counts.passed, n_ran) };
        Self { counts, pass_rate, min_pass, results, variants, ..Self::default() }
    }

    /// Whether everything could be checked, enough cases passed, and none less often than before.
    pub fn is_passed(&self) -> bool {
        self.counts.provider_failed == 0 && self.is_passed_without_providers()
    }

    /// Whether nothing but providers failed.
    pub fn only_providers_failed(&self) -> bool {
        self.counts.provider_failed > 0 && self.is_passed_without_providers()
    }

    /// Whether fewer of the checked cases passed than required.
    pub fn misses_its_share(&self) -> bool {
        let n_checked = self.counts.passed + self.counts.failed;
        n_checked > 0 && ratio(self.counts.passed, n_checked) < self.min_pass
    }

    fn is_passed_without_providers(&self) -> bool {
        !self.has_errors() && !self.misses_its_share() && self.drops.is_empty()
    }

    /// Whether something could not be checked; no share makes up for that.
    fn has_errors(&self) -> bool {
        let is_error = |one: &AssertionResult| one.outcome == TestOutcome::Error;
        self.counts.errors > 0 || self.results.iter().any(|result| result.assertions.iter().any(is_error))
    }

    /// Adds the cases that pass less often than in an earlier run.
    pub(crate) fn compare(&mut self, baseline: &Self) {
        let before = pass_rates(&baseline.results);
        let now = pass_rates(&self.results);
        for (group, before) in &before {
            let (file, case, receiver, variant) = group.clone();
            let Some(now) = now.get(group) else {
                let whom = [receiver, variant].into_iter().filter(|part| !part.is_empty());
                let whom = whom.collect::<Vec<_>>().join(", ");
                self.not_compared.push(format!("{file}: {case} ({whom})"));
                continue;
            };
            let Some((before, now)) = now.drop_from(before) else { continue };
            let variant = Some(variant).filter(|variant| !variant.is_empty());
            self.drops.push(TestDrop { file, case, receiver, variant, before, now });
        }
    }
}

/// File, case, receiver and variant.
type Group = (String, String, String, String);

/// How often a case passes.
#[derive(Default)]
struct Rates {
    passed: usize,
    total: usize,
    /// By format; a case that ends before its prompt is built has none.
    formats: BTreeMap<String, (usize, usize)>,
}

impl Rates {
    /// The share before and now, if it is smaller now: in all formats together, or in one of them.
    fn drop_from(&self, before: &Self) -> Option<(f64, f64)> {
        let all = (ratio(before.passed, before.total), ratio(self.passed, self.total));
        let each = before.formats.iter().filter_map(|(format, before)| {
            let now = self.formats.get(format)?;
            Some((ratio(before.0, before.1), ratio(now.0, now.1)))
        });
        std::iter::once(all).chain(each).find(|(before, now)| now < before)
    }
}

fn pass_rates(results: &[TestResult]) -> BTreeMap<Group, Rates> {
    let mut groups: BTreeMap<Group, Rates> = BTreeMap::new();
    for result in results.iter().filter(|result| result.outcome.counts()) {
        let rates = groups.entry(result.group()).or_default();
        let is_passed = usize::from(result.outcome == TestOutcome::Passed);
        rates.passed += is_passed;
        rates.total += 1;
        let (passed, total) = rates.formats.entry(result.format.clone()).or_default();
        *passed += is_passed;
        *total += 1;
    }
    groups
}

fn summary(name: &str, results: &[TestResult]) -> VariantSummary {
    let of: Vec<&TestResult> = results
        .iter()
        .filter(|result| result.variant.as_deref() == Some(name) && result.outcome.counts())
        .collect();
    let replies = || of.iter().filter_map(|result| result.reply.as_ref());
    VariantSummary {
        name: name.to_owned(),
        passed: of.iter().filter(|result| result.outcome == TestOutcome::Passed).count(),
        total: of.len(),
        prompt_tokens: Spread::of(
            of.iter().filter_map(|result| Some(float(result.prompt_tokens?))).collect(),
        ),
        reply_tokens: Spread::of(replies().filter_map(|reply| Some(float(reply.output_tokens?))).collect()),
        cost: Spread::of(replies().filter_map(|reply| reply.cost).collect()),
        latency_ms: Spread::of(replies().filter_map(|reply| Some(float(reply.latency_ms?))).collect()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are small, and a share needs a few digits")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[expect(clippy::cast_precision_loss, reason = "tokens and milliseconds are small numbers")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
