//! The time, from the one place that may ask for it.

/// Now, as RFC 3339 in UTC with milliseconds.
pub(crate) fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// Now, in a form that sorts by time and can stand in a file name.
pub(crate) fn stamp() -> String {
    jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// The moment a while ago, as [`now`] writes it; nothing when there is none.
pub(crate) fn before_now(a_while: std::time::Duration) -> Option<String> {
    let earlier = jiff::Timestamp::now().checked_sub(a_while).ok()?;
    Some(format!("{earlier:.3}"))
}
