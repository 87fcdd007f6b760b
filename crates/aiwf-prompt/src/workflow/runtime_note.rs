//! Notes of the runtime: a block of its own, so that they never pass for the user's words.

/// The block that stands where earlier turns were left out.
///
/// It says how many and where what they did can still be read, not what they said.
pub fn left_out_note(n_turns: usize) -> String {
    let messages = if n_turns == 1 { "message" } else { "messages" };
    format!(
        "RUNTIME_NOTE\n- leftOut: {n_turns} earlier {messages}, to fit the window\n\
         - note: State and files are as they were left; read them again with the tools where you need them."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_says_how_many_messages_are_missing() {
        insta::assert_snapshot!(left_out_note(1), @"
        RUNTIME_NOTE
        - leftOut: 1 earlier message, to fit the window
        - note: State and files are as they were left; read them again with the tools where you need them.
        ");
        insta::assert_snapshot!(left_out_note(9_876), @"
        RUNTIME_NOTE
        - leftOut: 9876 earlier messages, to fit the window
        - note: State and files are as they were left; read them again with the tools where you need them.
        ");
    }
}
