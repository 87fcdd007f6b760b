use super::number;

#[test]
fn numbers_are_read_by_key() {
    let read = number("{\"fit_s\": 0.5, \"sort_s\": 2}\n", "sort_s").unwrap();
    assert!((read - 2.0).abs() < 1e-9);
}

#[test]
fn what_is_missing_is_named() {
    let message = |printed| number(printed, "fit_s").unwrap_err().to_string();
    assert!(message("fast").starts_with("error: an example printed no JSON\n"));
    assert!(
        message("{\"fit_s\": 0}").starts_with("error: an example printed no number above 0 for `fit_s`\n")
    );
}
