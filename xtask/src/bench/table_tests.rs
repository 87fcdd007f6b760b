use super::{Quantity, Row, json, text};

fn rows() -> Vec<(&'static str, Row)> {
    let unmeasured =
        Row { what: "peak".to_owned(), ours: None, reference: None, ratio: None, target: Some(4.0) };
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
