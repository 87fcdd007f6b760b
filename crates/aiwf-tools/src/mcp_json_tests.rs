use std::path::PathBuf;

use super::*;

fn read(text: &str) -> Result<McpJson, ToolsError> {
    parse_mcp_json(text, Path::new(".mcp.json"), Path::new("/project"))
}

/// The servers, or the first problem.
fn parse(text: &str) -> Result<Vec<ServerSpec>, ToolsError> {
    let McpJson { servers, problems } = read(text)?;
    problems.into_iter().next().map_or(Ok(servers), Err)
}

#[test]
fn an_unusable_entry_does_not_affect_the_others() {
    let McpJson { servers, problems } =
        read(r#"{"mcpServers": {"bad name": {"command": "x"}, "good": {"command": "y"}, "odd": 1}}"#)
            .unwrap();
    assert_eq!(servers.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["good"]);
    assert_eq!(problems.len(), 2);
}

#[test]
fn servers_of_both_kinds_are_read() {
    let specs = parse(
        r#"{"mcpServers": {
            "web": {"type": "http", "url": "https://tools.example/mcp", "headers": {"X-Key": "${KEY}"}, "timeout": 5000},
            "files": {"command": "npx", "args": ["-y", "server", "."], "env": {"A": "b"}, "cwd": "sub", "extra": 1},
            "off": {"command": "x", "disabled": true}
        }, "other": 1}"#,
    )
    .unwrap();
    let [files, web] = specs.as_slice() else { panic!("two servers: {specs:?}") };
    assert_eq!(files.name, "files");
    let Launch::Stdio { command, args, env, cwd } = &files.launch else { panic!("{files:?}") };
    assert_eq!((command.as_str(), args.len(), env.len()), ("npx", 3, 1));
    assert_eq!(cwd, &PathBuf::from("/project/sub"));
    assert_eq!(files.timeout, DEFAULT_TIMEOUT);
    assert_eq!(web.timeout, Duration::from_secs(5));
    assert!(matches!(&web.launch, Launch::Http { headers, .. } if headers.len() == 1));
}

#[test]
fn an_error_names_the_file_and_the_key() {
    let check = |text: &str, expected: &str| {
        let message = parse(text).unwrap_err().to_string();
        assert_eq!(message, format!("`.mcp.json` is wrong: {expected}"));
    };
    check("", "it is not JSON: EOF while parsing a value at line 1 column 0");
    check("[]", "it is not a JSON object");
    check("{}", "it has no `mcpServers`");
    check(r#"{"mcpServers": []}"#, "`mcpServers` is not an object");
    check(r#"{"mcpServers": {"a": 1}}"#, "`mcpServers.a` is not an object");
    check(r#"{"mcpServers": {"a": {}}}"#, "`mcpServers.a` has neither `command` nor `url`");
    check(r#"{"mcpServers": {"a": {"command": 1}}}"#, "`mcpServers.a.command` is not a string");
    check(
        r#"{"mcpServers": {"a": {"command": "x", "args": "y"}}}"#,
        "`mcpServers.a.args` is not a list of strings",
    );
    check(
        r#"{"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}"#,
        "`mcpServers.a.env.A` is not a string",
    );
    check(
        r#"{"mcpServers": {"a": {"command": "x", "url": "http://y"}}}"#,
        "`mcpServers.a` has both `command` and `url`",
    );
    check(
        r#"{"mcpServers": {"a__b": {"command": "x"}}}"#,
        "`mcpServers.a__b`: its name is not 1 to 32 letters, digits, `-` or single `_` inside",
    );
    check(
        r#"{"mcpServers": {"a": {"command": "x", "timeout": "1"}}}"#,
        "`mcpServers.a.timeout` is not a number of milliseconds",
    );
    check(&" ".repeat(MAX_MCP_JSON_BYTES + 1), "it is larger than 1 MiB");
}

mod properties {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_gives_servers_or_an_error(text in ".*") {
            drop(super::parse(&text));
        }

        #[test]
        fn any_server_that_is_read_can_be_used(name in "[a-z_]{1,6}", command in ".{0,6}") {
            let file = serde_json::json!({"mcpServers": {name: {"command": command}}}).to_string();
            if let Ok(specs) = super::parse(&file) {
                for spec in specs {
                    prop_assert!(spec.check().is_ok());
                }
            }
        }
    }
}
