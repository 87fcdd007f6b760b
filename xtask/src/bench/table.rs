//! The rows of a run, as a table for people and as JSON for programs.

use serde_json::{Value, json};

use crate::bench::measure::Times;

/// A measured quantity with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quantity {
    Seconds(f64),
    Bytes(f64),
    BytesPerSecond(f64),
    Cores(f64),
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
        Self { what: what.into(), ours: Some(ours), reference, ratio: Some(ratio), target: None }
    }

    /// A comparison of programs that took turns.
    pub(super) fn of_times(what: impl Into<String>, ours: &Times, reference: (&str, &Times)) -> Self {
        let seconds = |times: &Times| Quantity::Seconds(times.median());
        Self::new(what, seconds(ours), (reference.0, seconds(reference.1)), ours.ratio_to(reference.1))
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
            Self::Seconds(value) | Self::Bytes(value) | Self::BytesPerSecond(value) | Self::Cores(value) => {
                value
            }
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Seconds(_) => "s",
            Self::Bytes(_) => "bytes",
            Self::BytesPerSecond(_) => "bytes/s",
            Self::Cores(_) => "cores",
        }
    }

    fn text(self) -> String {
        match self {
            Self::Seconds(seconds) if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
            Self::Seconds(seconds) => format!("{seconds:.2} s"),
            Self::Bytes(bytes) => format!("{:.1} MB", bytes / 1e6),
            Self::BytesPerSecond(rate) => format!("{:.0} MB/s", rate / 1e6),
            Self::Cores(cores) => format!("{cores:.2} cores"),
        }
    }
}

const HEADER: [&str; 7] = ["bench", "what", "ours", "reference", "ratio", "target", "ok"];

/// The rows as an aligned table with a heading.
pub(super) fn text(rows: &[(&str, Row)]) -> String {
    let mut lines = vec![HEADER.map(str::to_owned)];
    lines.extend(rows.iter().map(|(bench, row)| {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "—".to_owned());
        [
            (*bench).to_owned(),
            row.what.clone(),
            row.ours.map_or_else(|| "not measured".to_owned(), Quantity::text),
            or_dash(row.reference.as_ref().map(|(name, quantity)| format!("{} {name}", quantity.text()))),
            or_dash(row.ratio.map(|ratio| format!("{ratio:.2}×"))),
            or_dash(row.target.map(|target| format!("≤ {target}×"))),
            or_dash(row.meets_target().map(|is_met| if is_met { "ok" } else { "missed" }.to_owned())),
        ]
    }));
    let widths: Vec<usize> = (0..HEADER.len())
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
    let quantity = |quantity: Quantity| json!({"value": quantity.value(), "unit": quantity.unit()});
    let rows: Vec<Value> = rows
        .iter()
        .map(|(bench, row)| {
            let fields = [
                ("bench", Some(json!(bench))),
                ("what", Some(json!(row.what))),
                ("ours", row.ours.map(quantity)),
                ("reference", row.reference.as_ref().map(|(_, value)| quantity(*value))),
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

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
