//! What only the libraries can show: examples that measure themselves and print JSON.

use serde_json::Value;

use crate::bench::lab::Lab;
use crate::bench::table::{Quantity, Row};
use crate::failure::Failure;

/// Rendering against copying the same bytes.
pub(super) fn render(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let printed = lab.example("aiwf-prompt", "render_throughput", &[])?;
    let (render, copy) = (number(&printed, "render_bytes_per_s")?, number(&printed, "copy_bytes_per_s")?);
    let (ours, reference) = (Quantity::BytesPerSecond(render), Quantity::BytesPerSecond(copy));
    // Both are rates, so the slower one has the smaller number.
    Ok(vec![Row::new("rendering", ours, ("memory copy", reference), copy / render).at_most(3.0)])
}

/// Fitting 100,000 sections against sorting them.
pub(super) fn fit(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let printed = lab.example("aiwf-prompt", "fit_scaling", &[])?;
    let (fit, sort) = (number(&printed, "fit_s")?, number(&printed, "sort_s")?);
    let (ours, reference) = (Quantity::Seconds(fit), Quantity::Seconds(sort));
    Ok(vec![Row::new("100,000 sections", ours, ("sorting them", reference), fit / sort).at_most(5.0)])
}

/// Fitting a conversation of 10,000 turns against a plain pass over the same list.
pub(super) fn turns(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let printed = lab.example("aiwf-prompt", "turns_scaling", &[])?;
    let (fit, pass) = (number(&printed, "fit_s")?, number(&printed, "pass_s")?);
    let (ours, reference) = (Quantity::Seconds(fit), Quantity::Seconds(pass));
    Ok(vec![Row::new("10,000 turns", ours, ("a pass over them", reference), fit / pass).at_most(20.0)])
}

/// Searching 10,000 files against plain walks of ripgrep's crates over the same files.
///
/// Our results come in the order of paths, so a walk in that order does the same work; one on all cores in no order
/// only shows what order costs here.
pub(super) fn search(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let printed = lab.example("aiwf-tools", "search_against_grep", &[])?;
    let ours = Quantity::Seconds(number(&printed, "search_s")?);
    let row = |reference: &str, seconds: &str, ratio: &str| {
        let theirs = Quantity::Seconds(number(&printed, seconds)?);
        Ok::<_, Failure>(Row::new(
            "fs.search, 10,000 files",
            ours,
            (reference, theirs),
            number(&printed, ratio)?,
        ))
    };
    Ok(vec![
        row("ripgrep's crates, in order", "in_order_s", "ratio_in_order")?.at_most(2.0),
        row("ripgrep's crates, all cores", "on_all_cores_s", "ratio_on_all_cores")?,
    ])
}

/// A number of the JSON object that an example printed.
pub(super) fn number(printed: &str, key: &str) -> Result<f64, Failure> {
    let value: Value = serde_json::from_str(printed).map_err(|error| {
        Failure::new("an example printed no JSON").detail(format!("caused by: {error}")).detail(printed)
    })?;
    let number = value.get(key).and_then(Value::as_f64).filter(|number| *number > 0.0);
    number.ok_or_else(|| {
        Failure::new(format!("an example printed no number above 0 for `{key}`")).detail(printed)
    })
}

#[cfg(test)]
#[path = "examples_tests.rs"]
mod tests;
