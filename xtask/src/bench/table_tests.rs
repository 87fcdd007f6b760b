use super::{Change, Quantity, Row, change_json, change_text, json, text};
use crate::bench::measure::{Samples, Which};

fn rows() -> Vec<(&'static str, Row)> {
    let unmeasured = Row {
        what: "peak".to_owned(),
        ours: None,
        reference: None,
        ratio: None,
        target: Some(4.0),
        change: None,
    };
    vec![
        (
            "startup",
            Row::new("--version", Quantity::Seconds(0.002), ("smallest", Quantity::Seconds(0.001)), 2.0)
                .at_most(3.0),
        ),
        ("a", Row::new("rate", Quantity::BytesPerSecond(1e9), ("copy", Quantity::BytesPerSecond(2e9)), 2.0)),
        ("a", unmeasured),
    ]
}

#[test]
fn the_table_is_aligned() {
    let expected = [
        "bench    what       ours          reference         ratio  target  ok",
        "startup  --version  2.00 ms       1.00 ms smallest  2.00×  ≤ 3×    ok",
        "a        rate       1000 MB/s     2000 MB/s copy    2.00×  —       —",
        "a        peak       not measured  —                 —      ≤ 4×    missed",
    ];
    assert_eq!(text(&rows()), expected.join("\n") + "\n");
}

#[test]
fn json_leaves_out_what_was_not_measured() {
    assert_eq!(
        json(&rows()[1..]),
        concat!(
            r#"{"schema_version":1,"rows":["#,
            r#"{"bench":"a","what":"rate","ours":{"value":1000000000.0,"unit":"bytes/s"},"#,
            r#""reference":{"value":2000000000.0,"unit":"bytes/s"},"reference_name":"copy","ratio":2.0},"#,
            r#"{"bench":"a","what":"peak","target":4.0,"ok":false}]}"#
        )
    );
}

#[test]
fn a_target_is_met_up_to_and_with_its_value() {
    let row = |ratio| Row::new("x", Quantity::Cores(1.0), ("y", Quantity::Cores(1.0)), ratio).at_most(3.0);
    assert_eq!(row(3.0).meets_target(), Some(true));
    assert_eq!(row(3.1).meets_target(), Some(false));
}

fn samples(turns: &[(f64, f64)]) -> Samples {
    let mut samples = Samples::default();
    for &(present, other) in turns {
        samples.push(Which::Present, present);
        samples.push(Which::Other, other);
    }
    samples
}

fn changed_rows() -> Vec<(&'static str, Row)> {
    let ours = samples(&[(0.003, 0.002), (0.003, 0.002), (0.3, 0.002)]);
    let rate = samples(&[(1e9, 2e9)]);
    let reference = samples(&[(0.001, 0.001)]);
    vec![
        ("status", Row::of_times("aiwf status", &ours, ("aiwf --version", &reference))),
        ("status", Row::of_times("aiwf status", &ours, ("another reference", &reference))),
        (
            "render",
            Row::new(
                "rendering",
                Quantity::BytesPerSecond(1e9),
                ("copy", Quantity::BytesPerSecond(2e9)),
                2.0,
            )
            .with_change(Change::of(&rate, Quantity::BytesPerSecond)),
        ),
        ("run", Row::of_memory(None, "the journal", 1e6)),
    ]
}

#[test]
fn a_change_is_shown_once_for_each_thing_measured() {
    let expected = [
        "bench   what         new           old        new/old",
        "status  aiwf status  3.00 ms       2.00 ms    1.50×",
        "render  rendering    1000 MB/s     2000 MB/s  2.00×",
        "run     peak memory  not measured  —          —",
        "",
        "old is v1 (0123456); above 1.00× the present build takes more time or memory",
    ];
    assert_eq!(change_text(&changed_rows(), "v1 (0123456)"), expected.join("\n") + "\n");
}

#[test]
fn a_change_as_json_names_the_revision() {
    assert_eq!(
        change_json(&changed_rows()[2..], "0123456"),
        concat!(
            r#"{"schema_version":1,"against":"0123456","rows":["#,
            r#"{"bench":"render","what":"rendering","new":{"value":1000000000.0,"unit":"bytes/s"},"#,
            r#""old":{"value":2000000000.0,"unit":"bytes/s"},"ratio":2.0},"#,
            r#"{"bench":"run","what":"peak memory"}]}"#
        )
    );
}
