use super::*;

fn result(case: &str, variant: Option<&str>, repeat: u32, outcome: TestOutcome) -> TestResult {
    TestResult {
        file: "tests/a.toml".to_owned(),
        line: 1,
        case: case.to_owned(),
        receiver: "openai".to_owned(),
        format: "text".to_owned(),
        variant: variant.map(str::to_owned),
        repeat,
        outcome,
        assertions: Vec::new(),
        prompt_sha256: None,
        prompt_tokens: Some(u64::from(repeat) * 100),
        reply: None,
        millis: 0,
    }
}

#[test]
fn the_pass_rate_is_passed_divided_by_cases_and_repeats_that_ran() {
    use TestOutcome::{Failed, Passed, Skipped};
    let results =
        vec![result("a", None, 1, Passed), result("a", None, 2, Failed), result("b", None, 1, Skipped)];
    let report = TestReport::of(results, 0.5);
    assert!((report.pass_rate - 0.5).abs() < 1e-9);
    assert!(report.is_passed());
    assert!(!TestReport { min_pass: 0.6, ..report }.is_passed());
}

#[test]
fn only_providers_failed_is_said_only_if_nothing_else_did() {
    use TestOutcome::{Error, Failed, Passed, ProviderFailed};
    let report = |outcomes: &[TestOutcome]| {
        let results = outcomes.iter().map(|outcome| result("a", None, 1, *outcome)).collect();
        TestReport::of(results, 1.0)
    };
    assert!(report(&[Passed, ProviderFailed]).only_providers_failed());
    for worse in [Failed, Error] {
        assert!(!report(&[ProviderFailed, worse]).only_providers_failed());
    }
    assert!(!report(&[Passed]).only_providers_failed());
}

#[test]
fn a_baseline_finds_every_case_that_passes_less_often() {
    use TestOutcome::{Failed, Passed};
    let before = TestReport::of(vec![result("a", Some("x"), 1, Passed), result("b", None, 1, Failed)], 1.0);
    let stored = serde_json::to_string(&before).unwrap();
    let before: TestReport = serde_json::from_str(&stored).unwrap();
    let mut now = TestReport::of(
        vec![
            result("a", Some("x"), 1, Passed),
            result("a", Some("x"), 2, Failed),
            result("b", None, 1, Passed),
            result("new", None, 1, Failed),
        ],
        0.0,
    );
    now.compare(&before);
    assert_eq!(now.drops.len(), 1);
    assert_eq!((now.drops[0].case.as_str(), now.drops[0].now), ("a", 0.5));
    assert!(!now.is_passed());
}

#[test]
fn variants_have_a_median_and_a_spread() {
    let results = (1..=3).map(|repeat| result("a", Some("x"), repeat, TestOutcome::Passed)).collect();
    let report = TestReport::of(results, 1.0);
    let variant = &report.variants[0];
    assert_eq!((variant.passed, variant.total), (3, 3));
    assert_eq!(variant.prompt_tokens, Some(Spread { median: 200.0, min: 100.0, max: 300.0 }));
    assert_eq!(Spread::of(vec![2.0, 1.0]), Some(Spread { median: 1.5, min: 1.0, max: 2.0 }));
    assert_eq!(Spread::of(Vec::new()), None);
}

#[test]
fn a_case_that_cannot_be_built_any_more_is_a_drop_and_one_that_is_gone_is_named() {
    use TestOutcome::{Error, Failed, Passed};
    let other =
        |format: &str, outcome| TestResult { format: format.to_owned(), ..result("c", None, 1, outcome) };
    let before = vec![
        result("a", None, 1, Passed),
        result("gone", Some("x"), 1, Passed),
        other("text", Passed),
        other("xml", Failed),
    ];
    let before = TestReport::of(before, 1.0);
    let now = vec![
        TestResult { format: String::new(), ..result("a", None, 1, Error) },
        other("text", Failed),
        other("xml", Passed),
    ];
    let mut now = TestReport::of(now, 0.0);
    now.compare(&before);
    let dropped: Vec<(&str, f64)> = now.drops.iter().map(|drop| (drop.case.as_str(), drop.now)).collect();
    assert_eq!(dropped, [("a", 0.0), ("c", 0.0)]);
    assert_eq!(now.not_compared, ["tests/a.toml: gone (openai, x)"]);
}

#[test]
fn the_share_is_about_failed_cases_only() {
    use TestOutcome::{Error, Failed, Passed, ProviderFailed};
    let report = |outcomes: &[TestOutcome], min_pass| {
        let results = outcomes.iter().map(|outcome| result("a", None, 1, *outcome)).collect();
        TestReport::of(results, min_pass)
    };
    assert!(report(&[Passed, Failed], 0.5).is_passed());
    assert!(report(&[Failed], 0.0).is_passed());
    for min_pass in [0.0, 0.5] {
        let broken = report(&[Passed, Passed, Error], min_pass);
        assert!(!broken.is_passed() && !broken.only_providers_failed());
        let dead = report(&[ProviderFailed], min_pass);
        assert!(!dead.is_passed() && dead.only_providers_failed());
    }
    let within = report(&[Passed, Failed, ProviderFailed], 0.5);
    assert!(!within.is_passed() && within.only_providers_failed());
    assert!(!report(&[Passed, Failed, ProviderFailed], 0.6).only_providers_failed());
    // A failed case with an assertion that could not be checked.
    let mut failed = report(&[Passed, Failed], 0.0);
    failed.results[1].assertions.push(AssertionResult {
        kind: "run".to_owned(),
        line: 1,
        outcome: Error,
        message: "you have not agreed".to_owned(),
        section: None,
        diff: None,
        judge: None,
    });
    assert!(!failed.is_passed());
}
