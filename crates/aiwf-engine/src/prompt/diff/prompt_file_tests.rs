use super::*;

fn check(json: &str, expected: &[(&str, &str, &str)]) {
    let prompt = read("prompt.json", json).unwrap();
    let found: Vec<(&str, &str, &str)> =
        prompt.pieces.iter().map(|piece| (piece.section.as_str(), piece.role, piece.text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn sections_are_found_in_the_order_of_the_messages() {
    let json = r#"{
        "sections": [
            {"id": "task", "source": "input:task", "content": "do it"},
            {"id": "rules", "source": "file:r", "content": "be kind\n\n---\n\n"},
            {"id": "more", "content": "and more"}
        ],
        "messages": [
            {"role": "system", "content": "be kind\n\n---\n\nand more"},
            {"role": "user", "content": "do it"}
        ],
        "metadata": {"tokenizer": "o200k_base"}
    }"#;
    check(
        json,
        &[
            ("rules", "system", "be kind\n\n---\n\n"),
            ("more", "system", "and more"),
            ("task", "user", "do it"),
        ],
    );
    assert_eq!(read("a", json).unwrap().tokenizer, Some(Tokenizer::O200kBase));
}

#[test]
fn tools_come_first_and_text_of_no_section_is_kept() {
    let json = r#"{
        "sections": [{"id": "a", "content": "one"}, {"id": "b", "content": "two"}],
        "messages": [{"role": "user", "content": "<one|two>"}],
        "tools": [{"name": "read", "description": "Reads", "parameters": {}}]
    }"#;
    check(
        json,
        &[
            ("tool:read", "tools", r#"{"name":"read","description":"Reads","parameters":{}}"#),
            ("separator", "user", "<"),
            ("a", "user", "one"),
            ("separator", "user", "|"),
            ("b", "user", "two"),
            ("text", "user", ">"),
        ],
    );
}

#[test]
fn the_preview_of_a_session_is_cut_by_sizes() {
    let json = r#"{
        "sections": [{"id": "a", "bytes": 3}, {"id": "b", "bytes": 4}],
        "messages": [{"role": "system", "content": "one"}, {"role": "user", "content": "four"}],
        "prompt": "four"
    }"#;
    check(json, &[("a", "system", "one"), ("b", "user", "four")]);
}

#[test]
fn the_preview_of_a_run_is_cut_by_its_blocks() {
    let json = r#"{
        "payload": {"system": ["rules"], "messages": [{"role": "user", "content": ["hello"]}], "tools": []},
        "layers": [{"layer": "base-rules"}, {"layer": "user-input"}],
        "provider": "anthropic"
    }"#;
    check(json, &[("base-rules", "system", "rules"), ("user-input", "user", "hello")]);
}

#[test]
fn files_that_are_no_prompts_are_refused() {
    let problem = |json: &str| read("x.json", json).unwrap_err().to_string();
    assert_eq!(problem("plain"), "`x.json` is not a prompt: it is not JSON, line 1");
    assert_eq!(problem("{}"), "`x.json` is not a prompt: it has no sections");
    assert_eq!(
        problem("{\"sections\": 3}"),
        "`x.json` is not a prompt: it has none of the expected keys, line 1"
    );
    let without_text = r#"{"sections": [{"id": "a"}], "prompt": "a"}"#;
    assert_eq!(problem(without_text), "the prompt in `x.json` has no text");
}

#[test]
fn sections_that_add_up_to_the_prompt_need_no_messages() {
    let json = |sha256: &str, role: &str| {
        format!(
            r#"{{
            "sections": [{{"id": "b", "role": "user", "content": "two"}}, {{"id": "a", "role": "{role}", "content": "one"}}],
            "messages": [{{"role": "user", "content": "not read"}}],
            "metadata": {{"sha256": "{sha256}"}}
        }}"#
        )
    };
    let sha256 = |text: &str| Sha256Hex::of([text]).to_string();
    check(&json(&sha256("one\n\n---\n\ntwo"), "system"), &[("a", "system", "one"), ("b", "user", "two")]);
    check(&json(&sha256("onetwo"), "system"), &[("a", "user", "one"), ("b", "user", "two")]);
    check(&json(&sha256("twoone"), "user"), &[("b", "user", "two"), ("a", "user", "one")]);
    // A text that is not that of the sections is looked at as it is.
    check(&json(&sha256("other"), "user"), &[("text", "user", "not read")]);
}
