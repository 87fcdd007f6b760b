//! What only the libraries can show: examples that measure themselves and print JSON.

use serde_json::Value;

use crate::bench::lab::Lab;
use crate::bench::measure::Samples;
use crate::bench::table::{Change, Quantity, Row};
use crate::failure::Failure;

/// Rendering against copying the same bytes.
pub(super) fn render(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let keys = ["render_bytes_per_s", "copy_bytes_per_s"];
    let [render, copy] = lab.example_numbers("aiwf-prompt", "render_throughput", keys)?;
    // Both are rates, so the slower one has the smaller number.
    let ratio = copy.median() / render.median();
    let rate = |samples: &Samples| Quantity::BytesPerSecond(samples.median());
    let row = Row::new("rendering", rate(&render), ("memory copy", rate(&copy)), ratio);
    Ok(vec![row.with_change(Change::of(&render, Quantity::BytesPerSecond)).at_most(3.0)])
}

/// Fitting 100,000 sections against sorting them.
pub(super) fn fit(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let [fit, sort] = lab.example_numbers("aiwf-prompt", "fit_scaling", ["fit_s", "sort_s"])?;
    Ok(vec![Row::of_times("100,000 sections", &fit, ("sorting them", &sort)).at_most(5.0)])
}

/// Twice the edits, and twice the edits in twice the file, against once.
pub(super) fn edits(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let keys = ["mb_1_edits_500_s", "mb_1_edits_1000_s", "mb_2_edits_2000_s"];
    let [half, once, twice] = lab.example_numbers("aiwf-reply", "edit_scaling", keys)?;
    Ok(vec![
        Row::of_times("1,000 edits of 1 MB", &once, ("500 edits of 1 MB", &half)).at_most(2.5),
        Row::of_times("2,000 edits of 2 MB", &twice, ("1,000 edits of 1 MB", &once)).at_most(2.5),
    ])
}

/// 10,000 prompt cases against building their prompts, and twice the golden file against once.
pub(super) fn tests(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let keys = ["test_s", "build_s", "golden_once_s", "golden_twice_s"];
    let [test, build, once, twice] = lab.example_numbers("aiwf-engine", "test_scaling", keys)?;
    Ok(vec![
        Row::of_times("10,000 prompt cases", &test, ("building the prompts", &build)).at_most(3.0),
        Row::of_times("golden file of 4 MB", &twice, ("one of 2 MB", &once)).at_most(2.5),
    ])
}

/// Fitting a conversation of 10,000 turns against a plain pass over the same list.
pub(super) fn turns(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let [fit, pass] = lab.example_numbers("aiwf-prompt", "turns_scaling", ["fit_s", "pass_s"])?;
    Ok(vec![Row::of_times("10,000 turns", &fit, ("a pass over them", &pass)).at_most(20.0)])
}

/// Searching 10,000 files against plain walks of ripgrep's crates over the same files.
///
/// Our results come in the order of paths, so a walk in that order does the same work; one on all cores in no order
/// only shows what order costs here.
pub(super) fn search(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let keys = ["search_s", "in_order_s", "ratio_in_order", "on_all_cores_s", "ratio_on_all_cores"];
    let [ours, in_order, ratio_in_order, all_cores, ratio_all_cores] =
        lab.example_numbers("aiwf-tools", "search_against_grep", keys)?;
    let seconds = |samples: &Samples| Quantity::Seconds(samples.median());
    let row = |reference: &str, theirs: &Samples, ratio: &Samples| {
        Row::new("fs.search, 10,000 files", seconds(&ours), (reference, seconds(theirs)), ratio.median())
            .with_change(Change::of(&ours, Quantity::Seconds))
    };
    Ok(vec![
        row("ripgrep's crates, in order", &in_order, &ratio_in_order).at_most(2.0),
        row("ripgrep's crates, all cores", &all_cores, &ratio_all_cores),
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
