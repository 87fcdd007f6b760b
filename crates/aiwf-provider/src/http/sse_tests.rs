use proptest::prelude::*;

use super::*;

fn events(chunks: &[&[u8]]) -> Result<Vec<String>, EventTooLarge> {
    let mut found = Vec::new();
    let mut each = |data: &str| {
        found.push(data.to_owned());
        Ok(())
    };
    let mut events = Events::with_limit(64);
    for chunk in chunks {
        events.push(chunk, &mut each)?;
    }
    events.end(&mut each)?;
    Ok(found)
}

fn check(stream: &str, expected: &[&str]) {
    assert_eq!(events(&[stream.as_bytes()]).unwrap(), expected, "{stream:?}");
}

#[test]
fn an_event_ends_at_an_empty_line_however_lines_end() {
    check("data: a\n\ndata: b\n\n", &["a", "b"]);
    check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
    check("data: a\r\rdata: b\r\r", &["a", "b"]);
    check("data: a\r\n\ndata: b\n\r\n", &["a", "b"]);
}

#[test]
fn lines_of_data_are_joined_and_lose_one_space() {
    check("data: a\ndata:b\ndata:  c\ndata\n\n", &["a\nb\n c\n"]);
}

#[test]
fn comments_names_and_unknown_fields_are_left_out() {
    check(": ping\n\nevent: x\nid: 1\nretry: 5\ndatabase: no\ndata: a\n\n: end\n\n", &["a"]);
}

#[test]
fn a_byte_order_mark_is_dropped_once() {
    check("\u{feff}data: a\n\n", &["a"]);
    check("data: \u{feff}a\n\n\u{feff}data: b\n\n", &["\u{feff}a"]);
}

#[test]
fn the_last_event_needs_no_empty_line() {
    check("data: a\n\ndata: [DONE]", &["a", "[DONE]"]);
    check("data: [DONE]\n", &["[DONE]"]);
}

#[test]
fn an_event_larger_than_it_may_be_is_an_error() {
    let long = "x".repeat(80);
    assert_eq!(events(&[b"data: ", long.as_bytes()]), Err(EventTooLarge));
    let lines = "data: 0123456789\n".repeat(10);
    assert_eq!(events(&[lines.as_bytes()]), Err(EventTooLarge));
    let many = "data: 0123456789\n\n".repeat(10);
    assert_eq!(events(&[many.as_bytes()]).unwrap().len(), 10);
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_events(
        stream in "(data: ?|data|: |event: x|é|😀|a|\r|\n|\r\n|\n\n){0,40}",
        cuts in prop::collection::vec(0usize..200, 0..12),
    ) {
        let bytes = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut start = 0;
        for cut in cuts {
            chunks.push(&bytes[start..cut]);
            start = cut;
        }
        chunks.push(&bytes[start..]);
        prop_assert_eq!(events(&chunks), events(&[bytes]));
    }
}
