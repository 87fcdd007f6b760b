use insta::assert_snapshot;

use super::*;

fn check(reply: &str) -> String {
    let parsed = parse_tool_calls(reply);
    let calls = parsed.value.calls.iter().map(|call| {
        let id = call.id.as_ref().map_or(String::new(), |id| format!(" #{id}"));
        format!("{}{id} {}", call.name, Value::Object(call.arguments.clone()))
    });
    let message = parsed.value.message.iter().map(|message| format!("message {message:?}"));
    let problems = parsed.problems.iter().map(ToString::to_string);
    calls.chain(message).chain(problems).collect::<Vec<_>>().join("\n")
}

const READ: &str = r#"{"name": "read", "arguments": {"path": "a.rs"}}"#;
const LIST: &str =
    r#"{"tool_calls": [{"name": "read", "arguments": {"path": "a.rs"}}, {"name": "ls", "arguments": {}}]}"#;

#[test]
fn a_reply_without_calls_is_a_message() {
    assert_snapshot!(check("All done.\n\nBye.\n"), @r#"message "All done.\n\nBye.""#);
    assert_snapshot!(check("  \n"), @"");
    assert_snapshot!(check("<thought>hm</thought>\nDone."), @r#"message "Done.""#);
}

#[test]
fn fences_of_any_kind_contain_calls() {
    for fence in ["```json", "```JSON", "```", "~~~tool", "```python", "  ````tool_code x"] {
        let closing = if fence.contains('~') { "~~~" } else { "````" };
        let calls = check(&format!("{fence}\n{READ}\n{closing}\n"));
        assert_eq!(calls, r#"read {"path":"a.rs"}"#, "{fence}");
    }
    assert_snapshot!(check(&format!("I look.\n\n```json\n{LIST}\n```\n\nThen I write.\n")), @r#"
    read {"path":"a.rs"}
    ls {}
    message "I look.\n\nThen I write."
    "#);
    assert_snapshot!(check(&format!("```json\r\n{READ}\r\n```\r\n\r\n```\r\n{READ}\r\n```")), @r#"
    read {"path":"a.rs"}
    read {"path":"a.rs"}
    "#);
    assert_snapshot!(check(&format!("```json\n{READ}")), @r#"read {"path":"a.rs"}"#);
    assert_snapshot!(check(&format!("```json\n{READ}\n{READ}\n```")), @r#"
    read {"path":"a.rs"}
    read {"path":"a.rs"}
    "#);
}

#[test]
fn bare_json_is_found_amid_other_braces() {
    assert_snapshot!(check(&format!("Use {{x}} and [1] or {{}}: {LIST} then [ ] {{y}} and {{\"a\": 1}}.")), @r#"
    read {"path":"a.rs"}
    ls {}
    message "Use {x} and [1] or {}:\n\nthen [ ] {y} and {\"a\": 1}."
    "#);
    assert_snapshot!(check(&format!("{READ} {READ}")), @r#"
    read {"path":"a.rs"}
    read {"path":"a.rs"}
    "#);
    assert_snapshot!(check(&format!("if (x) {{ y(\"{{\"); }} {READ}")), @r#"
    read {"path":"a.rs"}
    message "if (x) { y(\"{\"); }"
    "#);
}

#[test]
fn a_list_of_calls_may_stand_alone() {
    assert_snapshot!(check(&format!("[{READ}, {READ}]")), @r#"
    read {"path":"a.rs"}
    read {"path":"a.rs"}
    "#);
    assert_snapshot!(check(&format!("```\n[{READ}, {{\"name\": \"\"}}, 5]\n```")), @r#"
    read {"path":"a.rs"}
    line 2, column 51: tool call 2 has an empty `name`: write the name of a tool
    line 2, column 65: tool call 3 is a number: write an object with `name` and `arguments`
    "#);
}

#[test]
fn elements_contain_calls() {
    assert_snapshot!(check(&format!("Hm.\n<tool_call>\n{READ}\n</tool_call>\n<tool_call>{{\"name\": \"ls\"}}</tool_call>")), @r#"
    read {"path":"a.rs"}
    ls {}
    message "Hm."
    "#);
    assert_snapshot!(check(&format!("<tool_call>{READ}\n{READ}</tool_call>")), @r#"
    read {"path":"a.rs"}
    read {"path":"a.rs"}
    "#);
    assert_snapshot!(check(&format!("<tool_call>{READ}")), @r#"read {"path":"a.rs"}"#);
    assert_snapshot!(check(&format!("<tool_call>{READ}}}</tool_call> bye")), @r#"
    read {"path":"a.rs"}
    message "bye"
    "#);
    assert_snapshot!(check(&format!("<tool_call>\n```json\n{READ}\n```\n</tool_call>")), @r#"read {"path":"a.rs"}"#);
    assert_snapshot!(check(&format!("```xml\n<tool_call>{READ}</tool_call>\n```")), @r#"read {"path":"a.rs"}"#);
    assert_snapshot!(check(&format!("<tool_call>[{READ}]</tool_call><tool_call>{LIST}</tool_call>")), @r#"
    read {"path":"a.rs"}
    read {"path":"a.rs"}
    ls {}
    "#);
}

#[test]
fn a_bad_element_is_a_problem() {
    assert_snapshot!(check("<tool_call></tool_call>"), @r#"line 1, column 1: `<tool_call>` contains no JSON: write `{"name": "TOOL", "arguments": {}}` in it"#);
    assert_snapshot!(check("Ok.\n<tool_call>"), @r#"
    message "Ok."
    line 2, column 1: `<tool_call>` contains no JSON: write `{"name": "TOOL", "arguments": {}}` in it
    "#);
    assert_snapshot!(check("<tool_call>read a.rs</tool_call> bye"), @r#"
    message "bye"
    line 1, column 1: `<tool_call>` contains no JSON: write `{"name": "TOOL", "arguments": {}}` in it
    "#);
    assert_snapshot!(check(&format!("<tool_call>{{\"name\": \"a\",}}</tool_call>\n<tool_call>{READ}</tool_call>")), @r#"
    read {"path":"a.rs"}
    line 1, column 25: tool call is not valid JSON (trailing comma): correct it and write it again
    "#);
    assert_snapshot!(check("<tool_call>{\"path\": \"a.rs\"}</tool_call>"), @"line 1, column 12: tool call 1 has no `name`: write the name of a tool");
    assert_snapshot!(check("<tool_call>5</tool_call>"), @r#"line 1, column 1: `<tool_call>` contains no JSON: write `{"name": "TOOL", "arguments": {}}` in it"#);
    assert_snapshot!(check(&format!("<tool_call>{{\"name\": \n<tool_call>{READ}</tool_call>")), @r#"
    read {"path":"a.rs"}
    line 2, column 1: tool call is not valid JSON (expected value): correct it and write it again
    "#);
}

#[test]
fn the_shapes_of_the_apis_are_calls() {
    let openai = r#"{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.rs\"}"}}"#;
    assert_snapshot!(check(openai), @r#"read #c1 {"path":"a.rs"}"#);
    assert_snapshot!(check(&format!(r#"{{"role": "assistant", "content": "Hi", "tool_calls": [{openai}]}}"#)), @r#"
    read #c1 {"path":"a.rs"}
    message "Hi"
    "#);
    let anthropic = r#"{"type": "tool_use", "id": 7, "name": "read", "input": {"path": "a.rs"}}"#;
    assert_snapshot!(check(anthropic), @r#"read #7 {"path":"a.rs"}"#);
    assert_snapshot!(check(&format!(r#"[{{"type": "text", "text": "I look."}}, {anthropic}]"#)), @r#"
    read #7 {"path":"a.rs"}
    message "I look."
    "#);
    assert_snapshot!(check(r#"{"name": "read", "parameters": {"path": "a.rs"}}"#), @r#"read {"path":"a.rs"}"#);
}

#[test]
fn arguments_may_be_missing_or_a_string() {
    let calls = r#"{"tool_calls": [{"name": "a"}, {"name": "b", "arguments": null}, {"name": "c", "arguments": ""},
        {"name": "d", "arguments": "{\"x\": 1}"}, {"name": "e", "arguments": "null"}]}"#;
    assert_snapshot!(check(calls), @r#"
    a {}
    b {}
    c {}
    d {"x":1}
    e {}
    "#);
}

#[test]
fn a_malformed_call_does_not_affect_the_others() {
    let calls = "```json\n{\"tool_calls\": [\n  {\"name\": \"a\", \"arguments\": [1]},\n  {\"name\": \"b\", \"arguments\": {}},\n  \
        {\"arguments\": {}},\n  {\"name\": \" \"},\n  {\"name\": 5},\n  \"c\",\n  {\"name\": \"d\", \"arguments\": \"{x\"},\n  \
        {\"name\": \"e\", \"arguments\": true},\n  {\"name\": \"f\", \"arguments\": \"5\"},\n  {\"name\": \"g\", \"arguments\": \"\\\"x\\\"\"}\n]}\n```";
    assert_snapshot!(check(calls), @"
    b {}
    line 3, column 3: arguments of tool call `a` are an array: write an object
    line 5, column 3: tool call 3 has no `name`: write the name of a tool
    line 6, column 3: tool call 4 has an empty `name`: write the name of a tool
    line 7, column 3: `name` of tool call 5 is a number: write the name of a tool
    line 8, column 3: tool call 6 is a string: write an object with `name` and `arguments`
    line 9, column 3: arguments of tool call `d` are not valid JSON (key must be a string): write an object
    line 10, column 3: arguments of tool call `e` are a boolean: write an object
    line 11, column 3: arguments of tool call `f` are a number: write an object
    line 12, column 3: arguments of tool call `g` are a string: write an object
    ");
    assert_snapshot!(check(r#"{"tool_calls": "none"}"#), @"line 1, column 16: `tool_calls` is a string, not an array: write a list of calls");
    assert_snapshot!(check(r#"{"tool_calls": null, "message": "Done."}"#), @r#"message "Done.""#);
    assert_snapshot!(check(&format!(r#"{{"tool_calls": {READ}}}"#)), @r#"read {"path":"a.rs"}"#);
}

#[test]
fn broken_json_of_a_call_is_a_problem_where_it_breaks() {
    assert_snapshot!(check("```json\n{\"tool_calls\": [\n  {\"name\": \"é\", \"arguments\": {},}\n]}\n```\n"), @"line 3, column 33: tool call is not valid JSON (trailing comma): correct it and write it again");
    assert_snapshot!(check("I call {\"tool_calls\": [{\"name\": \"a\" \"arguments\": {}}]} now."), @r#"
    message "I call\n\nnow."
    line 1, column 37: tool call is not valid JSON (expected `,` or `}`): correct it and write it again
    "#);
    assert_snapshot!(check("{\"message\": \"hi\"\n \"tool_calls\": []}\nBye"), @r#"
    message "Bye"
    line 2, column 2: tool call is not valid JSON (expected `,` or `}`): correct it and write it again
    "#);
    assert_snapshot!(check("{\"tool_calls\": [{\"name\": \"a\", \"arguments\": {\"text\": \"one\ntwo\"}}]}"), @r"line 1, column 56: tool call is not valid JSON (a string contains a line break or another control character: write it as `\n` or `\u0000`): correct it and write it again");
    assert_snapshot!(check("```\n{\"tool_calls\": [{\"name\": \"a\""), @"line 2, column 28: tool call is not valid JSON (it ends in the middle of an object): correct it and write it again");
    assert_snapshot!(check("{'tool_calls': [{'name': 'a'}]}"), @"line 1, column 2: tool call is not valid JSON (key must be a string): correct it and write it again");
    assert_snapshot!(check("{\"name\": \"a\", \"arguments\": {\"x\": 1,}}"), @"line 1, column 36: tool call is not valid JSON (trailing comma): correct it and write it again");
    assert_snapshot!(check(&format!("{{\"tool_calls\": [{{\"name\": \"a\", \"arguments\": {{}}]}}\n{LIST}")), @r#"
    read {"path":"a.rs"}
    ls {}
    line 1, column 46: tool call is not valid JSON (expected `,` or `}`): correct it and write it again
    "#);
    assert_snapshot!(check(&format!("```\n{{\"tool_calls\": \n```\n```\n{READ}\n```")), @r#"
    read {"path":"a.rs"}
    line 3, column 1: tool call is not valid JSON (it ends in the middle of a value): correct it and write it again
    "#);
}

#[test]
fn data_is_neither_call_nor_problem() {
    assert_snapshot!(check("```json\n{\"name\": \"pkg\", \"version\": \"1\"}\n```"), @r#"message "```json\n{\"name\": \"pkg\", \"version\": \"1\"}\n```""#);
    assert_snapshot!(check("```json\n[1, {\"a\": 2}]\n```\n{\"name\": \"x\", \"arguments\": [1]} {\"name\": \"\", \"arguments\": {}}"), @r#"message "```json\n[1, {\"a\": 2}]\n```\n{\"name\": \"x\", \"arguments\": [1]} {\"name\": \"\", \"arguments\": {}}""#);
    assert_snapshot!(check("{\"name\": \"read\", \"description\": \"reads\", \"parameters\": {\"type\": \"object\"}}"), @r#"message "{\"name\": \"read\", \"description\": \"reads\", \"parameters\": {\"type\": \"object\"}}""#);
    assert_snapshot!(check("{\"name\": \"read\", \"parameters\": {\"properties\": {}}}"), @r#"message "{\"name\": \"read\", \"parameters\": {\"properties\": {}}}""#);
    assert_snapshot!(check("{\"type\": \"function\", \"function\": {\"name\": \"read\", \"parameters\": {}}}"), @r#"message "{\"type\": \"function\", \"function\": {\"name\": \"read\", \"parameters\": {}}}""#);
    assert_snapshot!(check("```js\n{ let x = 1; }\n```\n{\"a\": [1, 2"), @r#"message "```js\n{ let x = 1; }\n```\n{\"a\": [1, 2""#);
    assert_snapshot!(check("{\"name\": \"x\", \"input\": {}}"), @r#"message "{\"name\": \"x\", \"input\": {}}""#);
}

#[test]
fn quoted_calls_are_not_calls() {
    assert_snapshot!(check(&format!("> {READ}\n> ```\n> {READ}\n> ```\n")), @r#"message "> {\"name\": \"read\", \"arguments\": {\"path\": \"a.rs\"}}\n> ```\n> {\"name\": \"read\", \"arguments\": {\"path\": \"a.rs\"}}\n> ```""#);
    assert_snapshot!(check(&format!("Write `{READ}` to read.")), @r#"message "Write `{\"name\": \"read\", \"arguments\": {\"path\": \"a.rs\"}}` to read.""#);
    assert_snapshot!(check(&format!("<thought>\n{READ}\n```\n{READ}\n```\n<tool_call>{READ}</tool_call>\n</thought>\nHi")), @r#"message "Hi""#);
    assert_snapshot!(check(&format!("````md\n```json\n{READ}\n```\n````")), @r#"message "````md\n```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.rs\"}}\n```\n````""#);
    assert_snapshot!(check(&format!("<thought>{{\"tool_calls\": oops</thought>\n{READ}")), @r#"read {"path":"a.rs"}"#);
    assert_snapshot!(check(&format!("<thought>[{{\"tool_calls\": [{{\n</thought>\n{READ}")), @r#"read {"path":"a.rs"}"#);
    assert_snapshot!(check(&format!("<thought>\n{READ}")), @"line 1, column 1: `<thought>` is not closed, so nothing after it counts: end it with `</thought>`");
}

#[test]
fn marks_inside_arguments_mean_nothing() {
    let call = r#"{"name": "write", "arguments": {"text": "<thought> ` ``` <tool_call> </tool_call> } {"}}"#;
    assert_snapshot!(check(&format!("a stray ` here\n{call}\nand `code`\n{call} ` x")), @r#"
    write {"text":"<thought> ` ``` <tool_call> </tool_call> } {"}
    write {"text":"<thought> ` ``` <tool_call> </tool_call> } {"}
    message "a stray ` here\n\nand `code`\n\n` x"
    "#);
    assert_snapshot!(check(&format!("<tool_call>{call}</tool_call> ok")), @r#"
    write {"text":"<thought> ` ``` <tool_call> </tool_call> } {"}
    message "ok"
    "#);
    assert_snapshot!(check(&format!("```json\n{call}\n```")), @r#"write {"text":"<thought> ` ``` <tool_call> </tool_call> } {"}"#);
}

#[test]
fn the_message_comes_from_the_json_if_it_has_one() {
    assert_snapshot!(check(r#"Prose. {"tool_calls": [{"name": "a"}], "message": "I look."}"#), @r#"
    a {}
    message "I look."
    "#);
    assert_snapshot!(check(r#"Prose. {"tool_calls": [{"name": "a"}], "message": 5} more"#), @r#"
    a {}
    message "Prose.\n\nmore"
    "#);
    assert_snapshot!(check(r#"{"tool_calls": [], "message": "one"} {"tool_calls": [], "message": "two"}"#), @r#"message "one\n\ntwo""#);
    assert_snapshot!(check(r#"{"tool_calls": []}"#), @"");
}

#[test]
fn arguments_are_read_to_a_bounded_depth() {
    let deep = format!(r#"{{"name": "a", "arguments": {{"x": {}{}}}}}"#, "[".repeat(200), "]".repeat(200));
    assert_snapshot!(check(&format!("```\n{deep}\n```")), @"line 2, column 1: arguments of tool call `a` are not valid JSON (recursion limit exceeded): write an object");
    assert_snapshot!(check(r#"<tool_call>{"name": "a", "arguments": {"x": 1e999}}</tool_call>"#), @"line 1, column 12: arguments of tool call `a` are not valid JSON (number out of range): write an object");
}
