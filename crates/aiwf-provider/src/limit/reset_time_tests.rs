use proptest::prelude::*;

use super::*;

/// Wednesday noon in UTC, two o'clock where the user is.
fn clock() -> Clock {
    let at: Timestamp = "2026-10-07T12:00:00Z".parse().unwrap();
    let zone = |name: &str| {
        let hours = match name {
            "Asia/Tokyo" => 9,
            "Etc/GMT+5" => -5,
            "UTC" => 0,
            _ => return None,
        };
        Some(TimeZone::fixed(jiff::tz::offset(hours)))
    };
    Clock { now: at.to_zoned(TimeZone::fixed(jiff::tz::offset(2))), zone }
}

#[track_caller]
fn check(text: &str, expected: Option<&str>) {
    let found = reset_time(text, &clock()).map(|time| time.strftime("%a %b %d %H:%M:%S %Y").to_string());
    assert_eq!(found.as_deref(), expected, "{text}");
}

#[test]
fn times_of_day_are_the_next_ones_in_the_zone_that_is_named() {
    check("You've hit your session limit · resets 3pm", Some("Wed Oct 07 13:00:00 2026"));
    check("5-hour limit reached ∙ resets 5:30pm", Some("Wed Oct 07 15:30:00 2026"));
    check("resets 11am", Some("Thu Oct 08 09:00:00 2026"));
    check("resets 12:50am (Asia/Tokyo)", Some("Wed Oct 07 15:50:00 2026"));
    check("resets 12pm (UTC)", Some("Wed Oct 07 12:00:00 2026"));
    check("Your limit will reset at 1pm (Etc/GMT+5).", Some("Wed Oct 07 18:00:00 2026"));
    // A zone that is not known is most likely the user's own.
    check("resets 3pm (Mars/Olympus)", Some("Wed Oct 07 13:00:00 2026"));
    check("or try again at 3:05 PM.", Some("Wed Oct 07 13:05:00 2026"));
    check("it resets at 15:00", Some("Wed Oct 07 13:00:00 2026"));
    check("resets at 15:00:30", Some("Wed Oct 07 13:00:30 2026"));
}

#[test]
fn a_time_that_just_passed_is_of_today() {
    check("resets 1:55pm", Some("Wed Oct 07 11:55:00 2026"));
    check("resets 1:45pm", Some("Thu Oct 08 11:45:00 2026"));
}

#[test]
fn dates_may_be_without_a_year_or_a_time() {
    check("Weekly limit reached ∙ resets Oct 9, 2pm", Some("Fri Oct 09 12:00:00 2026"));
    check("resets October 20 at 10am (UTC)", Some("Tue Oct 20 10:00:00 2026"));
    check("try again at Oct 9th, 2026 3:05 PM.", Some("Fri Oct 09 13:05:00 2026"));
    check("resets Jan 2", Some("Fri Jan 01 22:00:00 2027"));
    check("resets Oct 7, 1am", Some("Tue Oct 06 23:00:00 2026"));
    check("resets Feb 30, 1am", None);
}

#[test]
fn spans_count_from_now() {
    check("try again in 2 hours 5 minutes.", Some("Wed Oct 07 14:05:00 2026"));
    check("or try again in 5 days 22 hours 11\nminutes.", Some("Tue Oct 13 10:11:00 2026"));
    check("try again in 1 day, 2 hours, and 3 minutes", Some("Thu Oct 08 14:03:00 2026"));
    check("Your quota will reset after 3h12m5s.", Some("Wed Oct 07 15:12:05 2026"));
    check("Please retry in 47.434392449s.", Some("Wed Oct 07 12:00:47 2026"));
    check("try again in less than a minute", Some("Wed Oct 07 12:01:00 2026"));
    check("please wait an hour", Some("Wed Oct 07 13:00:00 2026"));
    check("Suggested retry after 3600s", Some("Wed Oct 07 13:00:00 2026"));
}

#[test]
fn times_for_programs_win_over_prose() {
    check("Claude AI usage limit reached|1791388800", Some("Wed Oct 07 16:00:00 2026"));
    check(
        r#"{"type":"usage_limit_reached","resets_at":1791392400,"resets_in_seconds":9}"#,
        Some("Wed Oct 07 17:00:00 2026"),
    );
    check(
        r#"{"resets_in_seconds": 7500, "message": "try again in 9 days"}"#,
        Some("Wed Oct 07 14:05:00 2026"),
    );
    check(r#"{"@type":"…RetryInfo","retryDelay":"34.07s"}"#, Some("Wed Oct 07 12:00:34 2026"));
    check(r#"{\"retryDelay\": \"41s\"}"#, Some("Wed Oct 07 12:00:41 2026"));
    check(r#""quotaResetTimeStamp": "2026-10-07T20:00:00Z""#, Some("Wed Oct 07 20:00:00 2026"));
    check(r#"{"status":"rejected","resetsAt":1791388800}"#, Some("Wed Oct 07 16:00:00 2026"));
    check("the limit resets at 2026-10-07T18:30:00Z.", Some("Wed Oct 07 18:30:00 2026"));
}

#[test]
fn other_words_name_no_time() {
    for text in [
        "",
        "it is overloaded",
        "limit reached",
        "resets every 5 hours and every week",
        "exceeded retry limit, last status: 429 Too Many Requests",
        "try again later",
        "reset at 3",
        "resets 13pm",
        "resets 25:00",
        "a|b|12",
        "retry in 1.2.3s",
        "try again in 99999999999999999999 hours",
        "resets_at: soon",
    ] {
        check(text, None);
    }
}

#[test]
fn a_span_is_read_whole_or_not_at_all() {
    assert_eq!(whole_span("6m0s"), Some(Duration::from_mins(6)));
    assert_eq!(whole_span("20ms"), Some(Duration::from_millis(20)));
    assert_eq!(whole_span("7"), Some(Duration::from_secs(7)));
    assert_eq!(whole_span("1.5"), Some(Duration::from_millis(1_500)));
    assert_eq!(whole_span("7 o'clock"), None);
    assert_eq!(whole_span("-7"), None);
    assert_eq!(whole_span(""), None);
}

mod properties {
    use super::*;

    fn piece() -> impl Strategy<Value = String> {
        let known = prop::sample::select(vec![
            "resets ",
            "reset ",
            "try again ",
            "retry ",
            "in ",
            "at ",
            "3pm",
            "12:50am",
            "Oct 9, ",
            "Feb 29th, ",
            "2 hours ",
            "1d",
            "99999999999 weeks ",
            "(Asia/Tokyo)",
            "(",
            ")",
            "|",
            "1791388800",
            "resets_at",
            "\":",
            "retryDelay",
            "34s",
            "9999-12-31T23:59:59Z",
            "less than a minute",
            ".",
            "é",
            "·",
        ]);
        prop_oneof![3 => known.prop_map(str::to_owned), 1 => ".{0,6}"]
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(pieces in prop::collection::vec(piece(), 0..12)) {
            let text = pieces.concat();
            // A time that is found can be shown; that there is one is all that can be said.
            let found = reset_time(&text, &clock());
            prop_assert!(found.is_none_or(|time| !time.to_string().is_empty()));
            let _ = whole_span(&text);
        }

        #[test]
        fn spans_are_found_in_any_wording(hours in 0_u64..700, minutes in 0_u64..60, seconds in 1_u64..60) {
            let now = clock().now.timestamp();
            for text in [
                format!("try again in {hours} hours {minutes} minutes {seconds} seconds"),
                format!("Your quota will reset after {hours}h{minutes}m{seconds}s."),
                format!("retry in {hours} hr, {minutes} min, and {seconds} sec"),
            ] {
                let wait = reset_time(&text, &clock()).unwrap().duration_since(now);
                prop_assert_eq!(wait.as_secs().unsigned_abs(), (hours * 60 + minutes) * 60 + seconds);
            }
        }

        #[test]
        fn a_time_of_day_is_within_a_day(hour in 0_u8..24, minute in 0_u8..60) {
            let found = reset_time(&format!("resets {hour}:{minute:02}"), &clock()).unwrap();
            let wait = found.duration_since(clock().now.timestamp());
            prop_assert!(wait.as_secs() >= -600 && wait.as_secs() < 86_400, "{}", found);
        }
    }
}
