//! The rows of a run, as a table for people and as JSON for programs.

use serde_json::{Value, json};

use crate::bench::measure::Samples;

/// A measured quantity with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quantity {
    Seconds(f64),
    Bytes(f64),
    BytesPerSecond(f64),
    Cores(f64),
    Tokens(f64),
}

/// One comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) what: String,
    /// `None` where this machine cannot measure it.
    pub(super) ours: Option<Quantity>,
    /// What it is compared with, by name.
    pub(super) reference: Option<(String, Quantity)>,
    pub(super) ratio: Option<f64>,
    /// The largest ratio that is good enough; `None` where the row only reports.
    pub(super) target: Option<f64>,
    /// How `ours` differs from the build that `--against` names.
    pub(super) change: Option<Change>,
}

/// The same quantity of the other build.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub(super) other: Quantity,
    /// Above 1 where the present build takes more time or memory.
    pub(super) ratio: f64,
}

impl Change {
    /// The change that `samples` show; `None` without a build to compare with.
    pub(super) fn of(samples: &Samples, quantity: fn(f64) -> Quantity) -> Option<Self> {
        let other = quantity(samples.other_median()?);
        let ratio = samples.ratio_to_other();
        // A larger rate is less time.
        let ratio = if matches!(other, Quantity::BytesPerSecond(_)) { ratio.recip() } else { ratio };
        Some(Self { other, ratio })
    }
}

impl Row {
    /// A comparison of two measured quantities.
    pub(super) fn new(
        what: impl Into<String>,
        ours: Quantity,
        reference: (&str, Quantity),
        ratio: f64,
    ) -> Self {
        let reference = Some((reference.0.to_owned(), reference.1));
        Self {
            what: what.into(),
            ours: Some(ours),
            reference,
            ratio: Some(ratio),
            target: None,
            change: None,
        }
    }

    /// A comparison of programs that took turns.
    pub(super) fn of_times(what: impl Into<String>, ours: &Samples, reference: (&str, &Samples)) -> Self {
        let seconds = |times: &Samples| Quantity::Seconds(times.median());
        Self::new(what, seconds(ours), (reference.0, seconds(reference.1)), ours.ratio_to(reference.1))
            .with_change(Change::of(ours, Quantity::Seconds))
    }

    /// The peak memory of a program against `n_bytes` of something it works on.
    pub(super) fn of_memory(peak: Option<&Samples>, reference: &str, n_bytes: f64) -> Self {
        Self {
            what: "peak memory".to_owned(),
            ours: peak.map(|peak| Quantity::Bytes(peak.median())),
            reference: Some((reference.to_owned(), Quantity::Bytes(n_bytes))),
            ratio: peak.map(|peak| peak.median() / n_bytes),
            target: None,
            change: peak.and_then(|peak| Change::of(peak, Quantity::Bytes)),
        }
    }

    #[must_use]
    pub(super) fn with_change(mut self, change: Option<Change>) -> Self {
        self.change = change;
        self
    }

    #[must_use]
    pub(super) fn at_most(mut self, target: f64) -> Self {
        self.target = Some(target);
        self
    }

    /// Whether the target is met; a row with a target that could not be measured has not met it.
    pub(super) fn meets_target(&self) -> Option<bool> {
        self.target.map(|target| self.ratio.is_some_and(|ratio| ratio <= target))
    }
}

impl Quantity {
    fn value(self) -> f64 {
        match self {
            Self::Seconds(value)
            | Self::Bytes(value)
            | Self::BytesPerSecond(value)
            | Self::Cores(value)
            | Self::Tokens(value) => value,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Seconds(_) => "s",
            Self::Bytes(_) => "bytes",
            Self::BytesPerSecond(_) => "bytes/s",
            Self::Cores(_) => "cores",
            Self::Tokens(_) => "tokens",
        }
    }

    fn json(self) -> Value {
        json!({"value": self.value(), "unit": self.unit()})
    }

    fn text(self) -> String {
        match self {
            Self::Seconds(seconds) if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
            Self::Seconds(seconds) => format!("{seconds:.2} s"),
            Self::Bytes(bytes) => format!("{:.1} MB", bytes / 1e6),
            Self::BytesPerSecond(rate) => format!("{:.0} MB/s", rate / 1e6),
            Self::Cores(cores) => format!("{cores:.2} cores"),
            Self::Tokens(tokens) => format!("{tokens:.0} tokens"),
        }
    }
}

const HEADER: [&str; 7] = ["bench", "what", "ours", "reference", "ratio", "target", "ok"];

/// The rows as an aligned table with a heading.
pub(super) fn text(rows: &[(&str, Row)]) -> String {
    let lines = rows.iter().map(|(bench, row)| {
        [
            (*bench).to_owned(),
            row.what.clone(),
            row.ours.map_or_else(|| "not measured".to_owned(), Quantity::text),
            or_dash(row.reference.as_ref().map(|(name, quantity)| format!("{} {name}", quantity.text()))),
            or_dash(row.ratio.map(|ratio| format!("{ratio:.2}×"))),
            or_dash(row.target.map(|target| format!("≤ {target}×"))),
            or_dash(row.meets_target().map(|is_met| if is_met { "ok" } else { "missed" }.to_owned())),
        ]
    });
    aligned(HEADER, lines)
}

const CHANGE_HEADER: [&str; 5] = ["bench", "what", "new", "old", "new/old"];

/// The change of each row against the build of `revision`, as an aligned table with a heading.
pub(super) fn change_text(rows: &[(&str, Row)], revision: &str) -> String {
    let lines = compared_once(rows).map(|(bench, row)| {
        [
            (*bench).to_owned(),
            row.what.clone(),
            row.ours.map_or_else(|| "not measured".to_owned(), Quantity::text),
            or_dash(row.change.map(|change| change.other.text())),
            or_dash(row.change.map(|change| format!("{:.2}×", change.ratio))),
        ]
    });
    let table = aligned(CHANGE_HEADER, lines);
    format!("{table}\nold is {revision}; above 1.00× the present build takes more time or memory\n")
}

/// The rows without those that show what ours took beside a further reference.
fn compared_once<'a>(rows: &'a [(&'a str, Row)]) -> impl Iterator<Item = &'a (&'a str, Row)> {
    let is_first = |idx: usize, bench: &str, what: &str| {
        !rows.iter().take(idx).any(|(earlier, row)| *earlier == bench && row.what == what)
    };
    rows.iter()
        .enumerate()
        .filter(move |(idx, (bench, row))| is_first(*idx, bench, &row.what))
        .map(|(_, row)| row)
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "—".to_owned())
}

/// Cells in columns as wide as their widest cell, below a heading.
fn aligned<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let lines: Vec<[String; N]> = std::iter::once(header.map(str::to_owned)).chain(rows).collect();
    let widths: Vec<usize> = (0..N)
        .map(|column| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max())
        .map(Option::unwrap_or_default)
        .collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let joined = cells.collect::<Vec<_>>().join("  ");
        text.push_str(joined.trim_end());
        text.push('\n');
    }
    text
}

/// The rows as one line of JSON; what was not measured is left out.
pub(super) fn json(rows: &[(&str, Row)]) -> String {
    let rows: Vec<Value> = rows
        .iter()
        .map(|(bench, row)| {
            let fields = [
                ("bench", Some(json!(bench))),
                ("what", Some(json!(row.what))),
                ("ours", row.ours.map(Quantity::json)),
                ("reference", row.reference.as_ref().map(|(_, value)| value.json())),
                ("reference_name", row.reference.as_ref().map(|(name, _)| json!(name))),
                ("ratio", row.ratio.map(|ratio| json!(ratio))),
                ("target", row.target.map(|target| json!(target))),
                ("ok", row.meets_target().map(|is_met| json!(is_met))),
            ];
            fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
        })
        .collect();
    json!({ "schema_version": 1, "rows": rows }).to_string()
}

/// The change of each row as one line of JSON; what was not measured is left out.
pub(super) fn change_json(rows: &[(&str, Row)], revision: &str) -> String {
    let rows: Vec<Value> = compared_once(rows)
        .map(|(bench, row)| {
            let fields = [
                ("bench", Some(json!(bench))),
                ("what", Some(json!(row.what))),
                ("new", row.ours.map(Quantity::json)),
                ("old", row.change.map(|change| change.other.json())),
                ("ratio", row.change.map(|change| json!(change.ratio))),
            ];
            fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
        })
        .collect();
    json!({ "schema_version": 1, "against": revision, "rows": rows }).to_string()
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
