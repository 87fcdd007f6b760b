//! Notes of the runtime, in their own block so that they cannot be mistaken for the user's text.

/// The block that replaces earlier turns that were left out.
///
/// It gives their number and where their effects can be read, not their content.
pub fn left_out_note(n_turns: usize) -> String {
    let messages = if n_turns == 1 { "message" } else { "messages" };
    format!(
        "RUNTIME_NOTE\n- leftOut: {n_turns} earlier {messages}, to fit the window\n\
         - note: State and files are current; read them again with the tools if you need them."
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
        - note: State and files are current; read them again with the tools if you need them.
        ");
        insta::assert_snapshot!(left_out_note(9_876), @"
        RUNTIME_NOTE
        - leftOut: 9876 earlier messages, to fit the window
        - note: State and files are current; read them again with the tools if you need them.
        ");
    }
}
