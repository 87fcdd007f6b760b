use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{Flavour, ModelServer, Piece, Turn, Usage};

/// Sends one request and returns the head and the body of the response, chunks put together.
fn exchange(server: &ModelServer, request: &str) -> (String, String) {
    let mut connection = TcpStream::connect(server.address).expect("the server listens");
    connection.write_all(request.as_bytes()).expect("the server reads");
    let mut response = Vec::new();
    connection.read_to_end(&mut response).expect("the server answers");
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(response.len());
    let head = text(&response[..end]).replace("\r\n", "\n");
    let body = response.get(end + 4..).unwrap_or_default();
    let body = if head.contains("chunked") { unchunked(body) } else { text(body) };
    (head, body)
}

/// The text of all chunks; the last one missing shows as a mark.
fn unchunked(mut body: &[u8]) -> String {
    let mut bytes = Vec::new();
    while let Some(end) = body.iter().position(|byte| *byte == b'\r') {
        let size = usize::from_str_radix(&text(&body[..end]), 16).expect("a chunk has a size");
        if size == 0 {
            return text(&bytes);
        }
        // A chunk may end inside a character, so the text is made at the end.
        bytes.extend_from_slice(&body[end + 2..][..size]);
        body = &body[end + 2 + size + 2..];
    }
    text(&bytes) + "[cut]"
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the scripted texts are UTF-8")
}

fn post(server: &ModelServer, path: &str, body: &Value) -> String {
    let (head, text) = exchange(server, &post_text(path, body));
    format!("{}\n{text}", head.lines().next().unwrap_or_default())
}

fn post_text(path: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nconnection: close\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn get(server: &ModelServer, path: &str, headers: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nconnection: close\r\n{headers}\r\n");
    exchange(server, &request).1
}

fn tool_call() -> Turn {
    Turn::tool_call("read_file", json!({"path": "a.rs"}))
}

const RESPONSES: &str = "/v1/responses";
const CHAT: &str = "/v1/chat/completions";
const ANTHROPIC: &str = "/v1/messages?beta=true";
const GEMINI: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";
const GEMINI_WHOLE: &str = "/v1beta/models/m:generateContent";

#[test]
fn responses_stream_a_text() {
    let server = ModelServer::script([Turn::text("hello you")]);
    assert_snapshot!(post(&server, RESPONSES, &json!({"model": "m", "stream": true})), @r#"
    HTTP/1.1 200 Scripted
    event: response.created
    data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":0,"status":"in_progress","model":"m","output":[]}}

    event: response.output_item.added
    data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_1_0","status":"in_progress","role":"assistant","content":[]}}

    event: response.content_part.added
    data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

    event: response.output_text.delta
    data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1_0","output_index":0,"content_index":0,"delta":"hel"}

    event: response.output_text.delta
    data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1_0","output_index":0,"content_index":0,"delta":"lo "}

    event: response.output_text.delta
    data: {"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1_0","output_index":0,"content_index":0,"delta":"you"}

    event: response.output_text.done
    data: {"type":"response.output_text.done","sequence_number":6,"item_id":"msg_1_0","output_index":0,"content_index":0,"text":"hello you"}

    event: response.content_part.done
    data: {"type":"response.content_part.done","sequence_number":7,"item_id":"msg_1_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"hello you","annotations":[]}}

    event: response.output_item.done
    data: {"type":"response.output_item.done","sequence_number":8,"output_index":0,"item":{"type":"message","id":"msg_1_0","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hello you","annotations":[]}]}}

    event: response.completed
    data: {"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","object":"response","created_at":0,"status":"completed","model":"m","output":[{"type":"message","id":"msg_1_0","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hello you","annotations":[]}]}],"usage":{"input_tokens":148,"input_tokens_details":{"cached_tokens":40},"output_tokens":15,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":163}}}
    "#);
}

#[test]
fn responses_stream_a_tool_call() {
    let server = ModelServer::script([tool_call()]);
    assert_snapshot!(post(&server, RESPONSES, &json!({"model": "m", "stream": true})), @r#"
    HTTP/1.1 200 Scripted
    event: response.created
    data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":0,"status":"in_progress","model":"m","output":[]}}

    event: response.output_item.added
    data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"function_call","id":"fc_1_0","status":"in_progress","call_id":"call_1","name":"read_file","arguments":""}}

    event: response.function_call_arguments.delta
    data: {"type":"response.function_call_arguments.delta","sequence_number":2,"item_id":"fc_1_0","output_index":0,"delta":"{\"pa"}

    event: response.function_call_arguments.delta
    data: {"type":"response.function_call_arguments.delta","sequence_number":3,"item_id":"fc_1_0","output_index":0,"delta":"th\":"}

    event: response.function_call_arguments.delta
    data: {"type":"response.function_call_arguments.delta","sequence_number":4,"item_id":"fc_1_0","output_index":0,"delta":"\"a.r"}

    event: response.function_call_arguments.delta
    data: {"type":"response.function_call_arguments.delta","sequence_number":5,"item_id":"fc_1_0","output_index":0,"delta":"s\"}"}

    event: response.function_call_arguments.done
    data: {"type":"response.function_call_arguments.done","sequence_number":6,"item_id":"fc_1_0","output_index":0,"arguments":"{\"path\":\"a.rs\"}"}

    event: response.output_item.done
    data: {"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"type":"function_call","id":"fc_1_0","status":"completed","call_id":"call_1","name":"read_file","arguments":"{\"path\":\"a.rs\"}"}}

    event: response.completed
    data: {"type":"response.completed","sequence_number":8,"response":{"id":"resp_1","object":"response","created_at":0,"status":"completed","model":"m","output":[{"type":"function_call","id":"fc_1_0","status":"completed","call_id":"call_1","name":"read_file","arguments":"{\"path\":\"a.rs\"}"}],"usage":{"input_tokens":148,"input_tokens_details":{"cached_tokens":40},"output_tokens":15,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":163}}}
    "#);
}

#[test]
fn responses_answer_as_a_whole() {
    let server = ModelServer::script([Turn::text("hello")]);
    assert_snapshot!(post(&server, RESPONSES, &json!({"model": "m"})), @r#"
    HTTP/1.1 200 Scripted
    {"id":"resp_1","object":"response","created_at":0,"status":"completed","model":"m","output":[{"type":"message","id":"msg_1_0","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]}],"usage":{"input_tokens":148,"input_tokens_details":{"cached_tokens":40},"output_tokens":15,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":163}}
    "#);
}

#[test]
fn chat_streams_a_text() {
    let server = ModelServer::script([Turn::text("hello you")]);
    assert_snapshot!(post(&server, CHAT, &json!({"model": "m", "stream": true})), @r#"
    HTTP/1.1 200 Scripted
    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"content":"lo "},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"content":"you"},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

    data: [DONE]
    "#);
}

#[test]
fn chat_streams_usage_when_asked_to() {
    let server = ModelServer::script([Turn::text("a")]);
    let body = json!({"model": "m", "stream": true, "stream_options": {"include_usage": true}});
    assert_snapshot!(post(&server, CHAT, &body), @r#"
    HTTP/1.1 200 Scripted
    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[],"usage":{"prompt_tokens":148,"completion_tokens":15,"total_tokens":163,"prompt_tokens_details":{"cached_tokens":40}}}

    data: [DONE]
    "#);
}

#[test]
fn chat_streams_a_tool_call() {
    let server = ModelServer::script([tool_call()]);
    assert_snapshot!(post(&server, CHAT, &json!({"model": "m", "stream": true})), @r#"
    HTTP/1.1 200 Scripted
    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read_file","arguments":""}}]},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"pa"}}]},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"th\":"}}]},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.r"}}]},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"s\"}"}}]},"finish_reason":null}]}

    data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

    data: [DONE]
    "#);
}

#[test]
fn chat_answers_as_a_whole() {
    let pieces =
        vec![Piece::Text("I look".to_owned()), Piece::ToolCall { name: "ls".to_owned(), args: json!({}) }];
    let server = ModelServer::script([Turn::text("hello"), Turn::Pieces(pieces)]);
    assert_snapshot!(post(&server, CHAT, &json!({"model": "m"})), @r#"
    HTTP/1.1 200 Scripted
    {"id":"chatcmpl-1","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":148,"completion_tokens":15,"total_tokens":163,"prompt_tokens_details":{"cached_tokens":40}}}
    "#);
    assert_snapshot!(post(&server, CHAT, &json!({"model": "m"})), @r#"
    HTTP/1.1 200 Scripted
    {"id":"chatcmpl-2","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"I look","tool_calls":[{"id":"call_2_1","type":"function","function":{"name":"ls","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":148,"completion_tokens":15,"total_tokens":163,"prompt_tokens_details":{"cached_tokens":40}}}
    "#);
}

#[test]
fn anthropic_streams_a_text() {
    let server = ModelServer::script([Turn::text("hello you")]);
    assert_snapshot!(post(&server, ANTHROPIC, &json!({"model": "m", "stream": true})), @r#"
    HTTP/1.1 200 Scripted
    event: message_start
    data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_read_input_tokens":40,"cache_creation_input_tokens":8,"output_tokens":1}}}

    event: ping
    data: {"type":"ping"}

    event: content_block_start
    data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo "}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"you"}}

    event: content_block_stop
    data: {"type":"content_block_stop","index":0}

    event: message_delta
    data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}

    event: message_stop
    data: {"type":"message_stop"}
    "#);
}

#[test]
fn anthropic_streams_a_tool_call() {
    let server = ModelServer::script([tool_call()]);
    assert_snapshot!(post(&server, ANTHROPIC, &json!({"model": "m", "stream": true})), @r#"
    HTTP/1.1 200 Scripted
    event: message_start
    data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_read_input_tokens":40,"cache_creation_input_tokens":8,"output_tokens":1}}}

    event: ping
    data: {"type":"ping"}

    event: content_block_start
    data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"read_file","input":{}}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"pa"}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"th\":"}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"a.r"}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"s\"}"}}

    event: content_block_stop
    data: {"type":"content_block_stop","index":0}

    event: message_delta
    data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":15}}

    event: message_stop
    data: {"type":"message_stop"}
    "#);
}

#[test]
fn anthropic_answers_as_a_whole() {
    let server = ModelServer::script([Turn::text("hello"), tool_call()]);
    assert_snapshot!(post(&server, ANTHROPIC, &json!({"model": "m"})), @r#"
    HTTP/1.1 200 Scripted
    {"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":100,"cache_read_input_tokens":40,"cache_creation_input_tokens":8,"output_tokens":15}}
    "#);
    assert_snapshot!(post(&server, ANTHROPIC, &json!({"model": "m"})), @r#"
    HTTP/1.1 200 Scripted
    {"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"call_2","name":"read_file","input":{"path":"a.rs"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":100,"cache_read_input_tokens":40,"cache_creation_input_tokens":8,"output_tokens":15}}
    "#);
}

#[test]
fn gemini_streams_a_text() {
    let server = ModelServer::script([Turn::text("hello you")]);
    assert_snapshot!(post(&server, GEMINI, &json!({})), @r#"
    HTTP/1.1 200 Scripted
    data: {"candidates":[{"content":{"role":"model","parts":[{"text":"hel"}]},"index":0}],"modelVersion":"m","responseId":"response_1"}

    data: {"candidates":[{"content":{"role":"model","parts":[{"text":"lo "}]},"index":0}],"modelVersion":"m","responseId":"response_1"}

    data: {"candidates":[{"content":{"role":"model","parts":[{"text":"you"}]},"index":0}],"modelVersion":"m","responseId":"response_1"}

    data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"index":0,"finishReason":"STOP"}],"modelVersion":"m","responseId":"response_1","usageMetadata":{"promptTokenCount":148,"cachedContentTokenCount":40,"candidatesTokenCount":15,"totalTokenCount":163}}
    "#);
}

#[test]
fn gemini_streams_a_tool_call() {
    let server = ModelServer::script([tool_call()]);
    assert_snapshot!(post(&server, GEMINI, &json!({})), @r#"
    HTTP/1.1 200 Scripted
    data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"read_file","args":{"path":"a.rs"}}}]},"index":0}],"modelVersion":"m","responseId":"response_1"}

    data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"index":0,"finishReason":"STOP"}],"modelVersion":"m","responseId":"response_1","usageMetadata":{"promptTokenCount":148,"cachedContentTokenCount":40,"candidatesTokenCount":15,"totalTokenCount":163}}
    "#);
}

#[test]
fn gemini_answers_as_a_whole() {
    let server = ModelServer::script([Turn::text("hello")]);
    assert_snapshot!(post(&server, GEMINI_WHOLE, &json!({})), @r#"
    HTTP/1.1 200 Scripted
    {"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]},"index":0,"finishReason":"STOP"}],"modelVersion":"m","responseId":"response_1","usageMetadata":{"promptTokenCount":148,"cachedContentTokenCount":40,"candidatesTokenCount":15,"totalTokenCount":163}}
    "#);
}

#[test]
fn usage_is_left_out_when_the_test_says_so() {
    let server = ModelServer::script((0..4).map(|_| Turn::text("a"))).with_usage(None);
    let answers = [RESPONSES, CHAT, ANTHROPIC, GEMINI].map(|path| post(&server, path, &json!({})));
    assert!(!answers.concat().to_lowercase().contains("usage"), "{answers:#?}");
}

#[test]
fn usage_can_be_chosen() {
    let usage = Usage { fresh_input: 1, cache_read: 2, cache_write: 4, output: 8 };
    let server = ModelServer::script([Turn::text("a")]).with_usage(usage);
    let answer = post(&server, CHAT, &json!({}));
    assert!(answer.contains(r#""prompt_tokens":7,"completion_tokens":8,"total_tokens":15"#), "{answer}");
}

#[test]
fn errors_have_the_shape_of_the_api() {
    let limited = Turn::status(429).with_header("retry-after", "2");
    let server = ModelServer::script([limited, Turn::status(401), Turn::status(529), Turn::status(503)]);
    let (head, body) = exchange(&server, &post_text(RESPONSES, &json!({})));
    assert_snapshot!(format!("{head}\n\n{body}"), @r#"
    HTTP/1.1 429 Scripted
    content-length: 94
    content-type: application/json
    retry-after: 2

    {"error":{"message":"scripted status 429","type":"rate_limit_error","param":null,"code":null}}
    "#);
    assert_snapshot!(post(&server, CHAT, &json!({})), @r#"
    HTTP/1.1 401 Scripted
    {"error":{"message":"scripted status 401","type":"invalid_request_error","param":null,"code":null}}
    "#);
    assert_snapshot!(post(&server, ANTHROPIC, &json!({})), @r#"
    HTTP/1.1 529 Scripted
    {"type":"error","error":{"type":"overloaded_error","message":"scripted status 529"}}
    "#);
    assert_snapshot!(post(&server, GEMINI, &json!({})), @r#"
    HTTP/1.1 503 Scripted
    {"error":{"code":503,"message":"scripted status 503","status":"UNAVAILABLE"}}
    "#);
}

#[test]
fn a_request_after_the_last_turn_is_refused() {
    let server = ModelServer::script([]);
    assert_snapshot!(post(&server, CHAT, &json!({})), @r#"
    HTTP/1.1 400 Scripted
    {"type":"error","error":{"type":"invalid_request_error","message":"the script of the model server is at its end"}}
    "#);
}

#[test]
fn a_cut_keeps_the_end_back() {
    let check = |text: &str, n_bytes: usize| {
        let server = ModelServer::script([Turn::CutAfter { text: text.to_owned(), n_bytes }]);
        let answer = post(&server, CHAT, &json!({"stream": true}));
        assert!(answer.ends_with("[cut]") && !answer.contains("DONE"), "{answer}");
        let texts: Vec<String> = answer
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter_map(|data| serde_json::from_str::<Value>(data).ok())
            .filter_map(|data| data.pointer("/choices/0/delta/content")?.as_str().map(str::to_owned))
            .collect();
        texts.concat()
    };
    assert_eq!(check("hello you", 0), "");
    assert_eq!(check("hello you", 6), "hello ");
    assert_eq!(check("hello you", 9), "hello you");
    assert_eq!(check("hello you", 99), "hello you");
    // Only whole characters are sent.
    assert_eq!(check("aéz", 2), "a");
}

#[test]
fn a_cut_body_is_shorter_than_promised() {
    let server = ModelServer::script([Turn::CutAfter { text: "hello you".to_owned(), n_bytes: 7 }]);
    let (head, body) = exchange(&server, &post_text(CHAT, &json!({})));
    assert_snapshot!(format!("{head}\n\n{body}"), @r#"
    HTTP/1.1 200 Scripted
    content-type: application/json
    content-length: 286

    {"id":"
    "#);
}

#[test]
fn raw_bytes_are_sent_as_they_are() {
    let server = ModelServer::script([Turn::Raw(b"HTTP/1.1 200 OK\r\n\r\nno length".to_vec())]);
    assert_snapshot!(post(&server, CHAT, &json!({})), @"
    HTTP/1.1 200 OK
    no length
    ");
}

#[test]
fn a_hang_ends_with_the_server() {
    let server = ModelServer::script([Turn::Hang(Duration::from_mins(100))]);
    let mut connection = TcpStream::connect(server.address).expect("the server listens");
    connection.write_all(post_text(CHAT, &json!({})).as_bytes()).expect("the server reads");
    while server.requests().is_empty() {
        std::thread::yield_now();
    }
    drop(server);
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).ok();
    assert!(answer.is_empty());
}

#[test]
fn a_slow_text_pauses_between_its_chunks() {
    let chunks = ["a", "b", "c"].map(str::to_owned).to_vec();
    let server = ModelServer::script([Turn::TextSlowly { chunks, delay: Duration::from_millis(20) }]);
    let started_at = std::time::Instant::now();
    let answer = post(&server, CHAT, &json!({"stream": true}));
    // At least: no machine is too slow for this.
    assert!(started_at.elapsed() >= Duration::from_millis(40));
    assert!(answer.contains(r#"{"content":"c"}"#), "{answer}");
}

#[test]
fn one_connection_serves_several_requests() {
    let server = ModelServer::script([Turn::text("one"), Turn::text("two")]);
    let first = "POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                 4\r\n{\"a\"\r\n3;x=y\r\n:1}\r\n0\r\n\r\n";
    let (_, text) = exchange(&server, &format!("{first}{}", post_text(CHAT, &json!({"b": 2}))));
    assert!(text.contains("one") && text.contains("two"), "{text}");
    let bodies: Vec<Value> = server.asks().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, [json!({"a": 1}), json!({"b": 2})]);
}

#[test]
fn checks_take_no_turn() {
    let server = ModelServer::script([Turn::text("hello")]);
    let (head, body) = exchange(&server, "HEAD / HTTP/1.1\r\nconnection: close\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200") && body.is_empty());
    assert_snapshot!(get(&server, "/v1/models", ""), @r#"{"object":"list","data":[{"id":"scripted-model","object":"model","created":0,"owned_by":"testkit"}]}"#);
    assert_snapshot!(get(&server, "/v1/models", "anthropic-version: 2023-06-01\r\n"), @r#"{"data":[{"type":"model","id":"scripted-model","display_name":"Scripted","created_at":"2026-01-01T00:00:00Z"}],"has_more":false,"first_id":"scripted-model","last_id":"scripted-model"}"#);
    assert_snapshot!(get(&server, "/v1beta/models", ""), @r#"{"models":[{"name":"models/scripted-model","displayName":"Scripted","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"]}]}"#);
    assert_snapshot!(get(&server, "/elsewhere", ""), @r#"{"error":{"message":"the model server has no such path"}}"#);
    assert_snapshot!(post(&server, "/v1/messages/count_tokens", &json!({})), @r#"
    HTTP/1.1 200 Scripted
    {"input_tokens":1}
    "#);
    assert_eq!(server.asks(), []);
    assert!(post(&server, CHAT, &json!({})).contains("hello"));
    assert_eq!(server.requests().len(), 7);
}

#[test]
fn a_side_request_takes_no_turn() {
    let is_main = |request: &super::SeenRequest| request.user_texts().concat().contains("MARK");
    let server = ModelServer::script_when(is_main, [Turn::text("the answer")]);
    let ask =
        |text: &str| post(&server, ANTHROPIC, &json!({"messages": [{"role": "user", "content": text}]}));
    assert!(ask("a title, please").contains("a side request"));
    assert!(ask("MARK").contains("the answer"));
}

#[test]
fn a_closure_sees_the_request() {
    let server = ModelServer::answering(|request| Turn::text(format!("to {}", request.model())));
    assert!(post(&server, CHAT, &json!({"model": "big"})).contains("to big"));
    assert!(post(&server, GEMINI_WHOLE, &json!({})).contains("to m"));
}

/// What a request says: system text, texts of the user, what tools answered, tools on offer.
fn said(path: &str, body: &Value) -> String {
    let server = ModelServer::script([Turn::text("a")]);
    post(&server, path, body);
    let request = server.asks().remove(0);
    format!(
        "{:?}\nsystem {:?}\nuser {:?}\nresults {:?}\ntools {:?}\nall {:?}",
        request.flavour.unwrap_or(Flavour::Chat),
        request.system_text(),
        request.user_texts(),
        request.tool_results(),
        request.tool_names(),
        request.text_parts(),
    )
}

#[test]
fn responses_requests_are_read() {
    let body = json!({
        "instructions": "be short",
        "input": [
            {"type": "additional_tools", "tools": []},
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]},
            {"role": "user", "content": "plain\n"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": " parts "}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hm"}]},
            {"type": "function_call", "name": "ls", "arguments": "{}", "call_id": "1"},
            {"type": "function_call_output", "call_id": "1", "output": "a.rs"},
        ],
        "tools": [{"type": "function", "name": "ls"}, {"type": "web_search"}],
    });
    assert_snapshot!(said(RESPONSES, &body), @r#"
    Responses
    system "be short\nrules"
    user ["plain\n", " parts "]
    results ["a.rs"]
    tools ["ls", "web_search"]
    all ["be short", "rules", "plain\n", " parts ", "hm", "a.rs"]
    "#);
    assert_snapshot!(said(RESPONSES, &json!({"input": "only text"})), @r#"
    Responses
    system ""
    user ["only text"]
    results []
    tools []
    all ["only text"]
    "#);
}

#[test]
fn chat_requests_are_read() {
    let body = json!({
        "messages": [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "tool_call_id": "1", "content": "a.rs"},
        ],
        "tools": [{"type": "function", "function": {"name": "ls"}}],
    });
    assert_snapshot!(said(CHAT, &body), @r#"
    Chat
    system "rules"
    user ["one", "two"]
    results ["a.rs"]
    tools ["ls"]
    all ["rules", "one", "two", "a.rs"]
    "#);
}

#[test]
fn anthropic_requests_are_read() {
    let body = json!({
        "system": [{"type": "text", "text": "rules"}, {"type": "text", "text": "more"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "ask\r\n"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "ls", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "a.rs"}]},
                {"type": "text", "text": "go on"},
            ]},
        ],
        "tools": [{"name": "ls", "input_schema": {}}],
    });
    assert_snapshot!(said(ANTHROPIC, &body), @r#"
    Anthropic
    system "rules\nmore"
    user ["ask\r\n", "go on"]
    results ["a.rs"]
    tools ["ls"]
    all ["rules", "more", "ask\r\n", "a.rs", "go on"]
    "#);
}

#[test]
fn gemini_requests_are_read() {
    let body = json!({
        "systemInstruction": {"role": "user", "parts": [{"text": "rules"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "around"}, {"text": "ask"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": "a.rs"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "ls"}, {"name": "cat"}]}],
    });
    assert_snapshot!(said(GEMINI, &body), @r#"
    Gemini
    system "rules"
    user ["around", "ask"]
    results ["{\"output\":\"a.rs\"}"]
    tools ["ls", "cat"]
    all ["rules", "around", "ask", "{\"output\":\"a.rs\"}"]
    "#);
}

#[test]
fn headers_and_bodies_are_kept() {
    let server = ModelServer::script([Turn::text("a")]);
    let request =
        "POST /v1/messages HTTP/1.1\r\nConnection: close\r\nX-Api-Key: k\r\ncontent-length: 3\r\n\r\nno{";
    exchange(&server, request);
    let seen = server.asks().remove(0);
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(seen.header("x-api-key"), Some("k"));
    assert_eq!((seen.body, seen.raw_body), (Value::Null, b"no{".to_vec()));
}
