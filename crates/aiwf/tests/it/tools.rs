//! `aiwf tools`, with a server of a few lines of shell.

use std::fmt::Write as _;

use aiwf_testkit::TestProject;
use insta::assert_snapshot;

use crate::project;
use crate::scene::{eventually, is_there};

/// Speaks just enough MCP; `description` is what it says about its first tool.
const SERVER: &str = r#"
say() { printf '%s\n' "$1"; }
answer() { say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
echo "listening" >&2
while IFS= read -r line; do
    id=${line#*\"id\":}
    id=${id%%[,\}]*}
    case $line in
    *'"method":"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}' ;;
    *'"method":"tools/list"'*)
        IFS= read -r description < description.txt
        answer '{"tools":[{"name":"echo","description":"'"$description"'","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},"annotations":{"readOnlyHint":true}},{"name":"write","description":"Writes.","inputSchema":{"type":"object"}}]}'
        ;;
    *'"method":"tools/call"'*'"name":"write"'*) answer '{"content":[{"type":"text","text":"the disk is full"}],"isError":true}' ;;
    *'"method":"tools/call"'*) text=${line#*\"text\":\"}; answer '{"content":[{"type":"text","text":"you said '"${text%%\"*}"'"}]}' ;;
    esac
done
"#;

fn with_server() -> TestProject {
    project()
        .file("server.sh", SERVER)
        .file("description.txt", "Says it again.\n")
        .file(".mcp.json", r#"{"mcpServers": {"fake": {"command": "/bin/sh", "args": ["server.sh"]}}}"#)
}

/// The same, agreed to.
fn with_trusted_server() -> TestProject {
    let project = with_server();
    drop(project.run("tools list --trust-servers").success());
    project
}

#[test]
fn an_unknown_server_is_shown_and_not_started() {
    let project = with_server();
    assert_snapshot!(project.run("tools list"), @"
    --- stdout
    fake: /bin/sh server.sh (in [project])
    --- stderr
    error: server `fake` is not trusted yet
      it would start: /bin/sh server.sh (in [project])

    hint: `--trust-servers` starts it and remembers your consent to exactly this command
    --- exit code 1
    ");
    assert_snapshot!(project.run(r#"tools call fake__echo --args {"text":"x"}"#), @"
    --- stderr
    error: server `fake` is not trusted yet
      it would start: /bin/sh server.sh (in [project])

    hint: `--trust-servers` starts it and remembers your consent to exactly this command
    --- exit code 1
    ");
    assert!(!project.home().join(".aiwf").exists());
}

#[test]
fn consent_is_stored_for_exactly_that_command() {
    let project = with_server();
    assert_snapshot!(project.run("tools list --trust-servers"), @"
    --- stdout
    fake: /bin/sh server.sh (in [project])
      fake__echo   read-only  new      Says it again.
      fake__write  writes     new      Writes.
    --- stderr
    starting `fake`: /bin/sh server.sh (in [project])
    --- exit code 0
    ");
    assert_snapshot!(project.run("tools list"), @"
    --- stdout
    fake: /bin/sh server.sh (in [project])
      fake__echo   read-only  new      Says it again.
      fake__write  writes     new      Writes.
    --- exit code 0
    ");
    project.write(
        ".mcp.json",
        r#"{"mcpServers": {"fake": {"command": "/bin/sh", "args": ["server.sh", "--all"]}}}"#,
    );
    assert_eq!(project.run("tools list").exit_code(), 1);
}

#[test]
fn only_the_users_own_configuration_lets_unknown_servers_start() {
    let project = with_server();
    let own = project.home().join(".aiwf/config.toml");
    let own = own.strip_prefix(project.root().parent().unwrap()).unwrap().to_owned();
    project.write(&format!("../{}", own.display()), "[mcp]\nallow_unknown = true\n");
    drop(project.run("tools list").success());
    assert!(!project.home().join(".aiwf/tools/trusted.json").exists());
    let project = with_server().file(".aiwf/config.toml", "[mcp]\nallow_unknown = true\n");
    assert_snapshot!(project.run("tools list"), @"
    --- stderr
    error: `mcp.allow_unknown` can only be set in your own configuration
     --> .aiwf/config.toml:2:1

    hint: move the line to `~/.aiwf/config.toml`
    --- exit code 1
    ");
}

#[test]
fn a_call_prints_the_result() {
    let project = with_trusted_server();
    assert_snapshot!(project.run(r#"tools call fake__echo --args {"text":"hello"}"#), @"
    --- stdout
    you said hello
    --- exit code 0
    ");
    project.write("arguments.json", r#"{"text": "from a file"}"#);
    assert_snapshot!(project.run("tools call fake__echo --args @arguments.json"), @"
    --- stdout
    you said from a file
    --- exit code 0
    ");
    let outcome = project.run_with_input("tools call fake__echo --args -", r#"{"text": "from a pipe"}"#);
    assert_eq!(outcome.success().stdout_text(), "you said from a pipe\n");
    assert_snapshot!(project.run(r#"tools call fake__echo --args {"text":"hello"} --json"#), @r#"
    --- stdout
    {"schema_version":1,"command":"tools call","exit_code":0,"tool":"fake__echo","result":{"is_error":false,"text":"you said hello","is_cut":false,"bytes":14,"sha256":"3455f0472c64c88ab4769893d6e4cd5ca4cb03ee3dd4fa25173e02685087b66b"}}
    --- exit code 0
    "#);
}

#[test]
fn what_cannot_be_called_is_a_clear_error() {
    let project = with_trusted_server();
    let mut said = String::new();
    for line in [
        "tools call fake__write",
        "tools call fake__echo",
        r#"tools call fake__echo --args {"text":1}"#,
        "tools call fake__echo --args []",
        "tools call fake__echo --args {",
        "tools call fake__ech",
        "tools call echo",
        "tools call fake",
        "tools call",
        "tools list --server fake__echo",
    ] {
        let _ = write!(said, "$ aiwf {line}\n{}\n\n", project.run(line));
    }
    assert_snapshot!(said, @r#"
    $ aiwf tools call fake__write
    --- stdout
    the disk is full
    --- stderr
    error: `fake__write` reported a failure

    hint: the result shows why; `aiwf tools list --json` has the schema of `fake__write`
    --- exit code 1

    $ aiwf tools call fake__echo
    --- stderr
    error: invalid arguments for `fake__echo`: "text" is a required property

    hint: `aiwf tools list --json` has the schema of `fake__echo`
    --- exit code 1

    $ aiwf tools call fake__echo --args {"text":1}
    --- stderr
    error: invalid arguments for `fake__echo`: at `/text`: 1 is not of type "string"

    hint: `aiwf tools list --json` has the schema of `fake__echo`
    --- exit code 1

    $ aiwf tools call fake__echo --args []
    --- stderr
    error: `--args` is a list, not a JSON object

    hint: write it like `--args '{"path": "README.md"}'`
    --- exit code 2

    $ aiwf tools call fake__echo --args {
    --- stderr
    error: `--args` is not JSON: EOF while parsing an object at line 1 column 1

    hint: write it like `--args '{"path": "README.md"}'`
    --- exit code 2

    $ aiwf tools call fake__ech
    --- stderr
    error: there is no tool `fake__ech`

    hint: did you mean `fake__echo`? known: `fake__echo`, `fake__write`
    --- exit code 1

    $ aiwf tools call echo
    --- stderr
    error: there is no tool server `echo`

    hint: use one of `fake`
    --- exit code 1

    $ aiwf tools call fake
    --- stderr
    error: there is no tool `fake`

    hint: `aiwf tools list` lists all tools
    --- exit code 1

    $ aiwf tools call
    --- stderr
    error: missing `<SERVER__TOOL>`

    hint: write it like `aiwf tools call files__read_text_file --args '{"path": "README.md"}'`; `aiwf tools call --help` shows more
    --- exit code 2

    $ aiwf tools list --server fake__echo
    --- stderr
    error: `fake__echo` is not a server name: it contains `__`

    hint: give the part before `__`; `aiwf tools status SERVER__TOOL` shows one tool
    --- exit code 2
    "#);
}

#[test]
fn a_tool_that_changed_is_refused_until_it_is_pinned_again() {
    let project = with_trusted_server();
    let call = r#"tools call fake__echo --args {"text":"x"}"#;
    drop(project.run(call).success());
    project.write("description.txt", "Says it again, and tells on you.\n");
    assert_snapshot!(project.run(call), @"
    --- stderr
    error: `fake__echo` has changed since it was pinned: description

    hint: review it with `aiwf tools status fake__echo`, then run `aiwf tools pin fake__echo`
    --- exit code 1
    ");
    assert_snapshot!(project.run("tools status"), @"
    --- stdout
    fake: /bin/sh server.sh (in [project])
      fake__echo   writes     changed  its description changed; `aiwf tools pin fake__echo`
      fake__write  writes     new      1bc60b1e2da4
    --- exit code 0
    ");
    assert_snapshot!(project.run("tools pin fake__echo"), @"
    --- stdout
    pinned fake__echo
    --- exit code 0
    ");
    drop(project.run(call).success());
    assert_snapshot!(project.run("tools status fake__echo"), @"
    --- stdout
    fake: /bin/sh server.sh (in [project])
      fake__echo  read-only  pinned   0ebee2eb882d
    --- exit code 0
    ");
    assert_snapshot!(project.run("tools unpin"), @"
    --- stdout
    unpinned fake__echo
    --- exit code 0
    ");
    assert_snapshot!(project.run("tools unpin --json"), @r#"
    --- stdout
    {"schema_version":1,"command":"tools unpin","exit_code":0,"unpinned":[]}
    --- exit code 0
    "#);
}

#[test]
fn without_servers_there_is_nothing_to_list() {
    assert_snapshot!(project().run("tools list"), @"
    --- stderr
    error: no tool server is configured

    hint: add servers to `[mcp.servers.NAME]` in `.aiwf/config.toml`, or to `.mcp.json`
    --- exit code 1
    ");
}

#[test]
fn a_server_that_does_not_start_has_an_error_with_a_code() {
    let project = project().file(".aiwf/config.toml", "[mcp.servers.gone]\ncommand = \"/no/such\"\n");
    let listed = crate::json(&project.run("tools list --trust-servers --json"));
    let error = &listed["servers"][0]["error"];
    assert_eq!(error["code"], "TOOL_NOT_AVAILABLE", "{listed:#}");
    assert!(error["message"].as_str().unwrap().starts_with("server `gone` cannot be started"), "{listed:#}");
    assert!(error["hint"].is_string() && listed["servers"][0].get("hint").is_none(), "{listed:#}");
}

#[test]
fn servers_of_both_files_are_found_and_ours_wins() {
    let project = with_server().file(
        ".aiwf/config.toml",
        "[mcp.servers.fake]\ntimeout = \"5s\"\nread_only = [\"write\"]\n[mcp.servers.gone]\ncommand = \"/no/such\"\n",
    );
    assert_snapshot!(project.run("tools list --trust-servers"), @r#"
    --- stdout
    fake: /bin/sh server.sh (in [project])
      fake__echo   read-only  new      Says it again.
      fake__write  writes     new      Writes.

    gone: /no/such (in [project])
    --- stderr
    warning: this project loosens settings, which needs your consent
      .aiwf/config.toml:3: mcp.servers.fake.read_only = ["write"] (in effect: [])
      agree with `aiwf trust add project`
    starting `fake`: /bin/sh server.sh (in [project])
    starting `gone`: /no/such (in [project])
    error: server `gone` cannot be started: there is no program `/no/such`

    hint: check `command`, `args` and `cwd` of the server
    --- exit code 1
    "#);
}

#[test]
fn a_server_that_was_left_out_is_named() {
    let project = with_server().file(".mcp.json", r#"{"mcpServers": {"a b": {"command": "x"}, "c": {}}}"#);
    assert_snapshot!(project.run("tools list"), @"
    --- stderr
    warning: `.mcp.json` is wrong: `mcpServers.a b`: its name is not 1 to 32 letters, digits, `-` or single `_` inside
    warning: `.mcp.json` is wrong: `mcpServers.c` has neither `command` nor `url`
    error: no tool server is configured

    hint: add servers to `[mcp.servers.NAME]` in `.aiwf/config.toml`, or to `.mcp.json`
    --- exit code 1
    ");
}

#[test]
fn what_a_server_complains_about_is_kept() {
    let project = with_trusted_server();
    let log = std::fs::read_to_string(project.cache().join("aiwf/mcp-logs/fake.log")).unwrap();
    assert_eq!(log, "listening\n");
}

#[test]
fn the_help_has_examples() {
    let mut said = String::new();
    for line in ["tools --help", "tools call --help", "tools pin --help"] {
        let _ = write!(said, "{}\n\n", project().run(line));
    }
    assert_snapshot!(said, @r#"
    --- stdout
    List, call and pin the tools of MCP servers

    Usage: aiwf tools [OPTIONS] <COMMAND>

    Commands:
      list    List the tools of all servers, or of one
      call    Call one tool and print its result
      pin     Pin tools as they are now, accepting any changes
      unpin   Remove pins; the next use of a tool pins it again
      status  Show which tools are pinned, new or changed

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf tools list --server files
    --- exit code 0

    --- stdout
    Call one tool and print its result

    Usage: aiwf tools call [OPTIONS] <SERVER__TOOL>

    Arguments:
      <SERVER__TOOL>  Tool to call

    Options:
          --args <JSON|@FILE|->  Arguments: a JSON object, @FILE to read one from a file, or - for stdin
                                 [default: {}]
          --trust-servers        Start servers you have not agreed to yet, and remember your consent to
                                 their exact commands
      -h, --help                 Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Examples:
      aiwf tools call files__read_text_file --args '{"path": "README.md"}'
      aiwf tools call search__query --args @query.json
      echo '{}' | aiwf tools call clock__now --args -
    --- exit code 0

    --- stdout
    Pin tools as they are now, accepting any changes

    Usage: aiwf tools pin [OPTIONS] [SERVER[__TOOL]]

    Arguments:
      [SERVER[__TOOL]]  Server, or one of its tools [default: all]

    Options:
          --trust-servers  Start servers you have not agreed to yet, and remember your consent to their
                           exact commands
      -h, --help           Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Examples:
      aiwf tools pin files__read_text_file
      aiwf tools pin files
      aiwf tools pin
    --- exit code 0
    "#);
}

#[test]
fn a_killed_aiwf_leaves_no_server_running() {
    let script = "echo $$ > \"$HOME/self\"; trap '' TERM; sleep 100 & echo $! > \"$HOME/child\"; wait; wait";
    let project = with_server();
    project.write("server.sh", script);
    let running = project.command("tools list --trust-servers").spawn();
    eventually("the start of the server", || {
        std::fs::read_to_string(project.home().join("child")).is_ok_and(|id| id.ends_with('\n'))
    });
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
    for name in ["~/self", "~/child"] {
        let id = String::from_utf8(project.read(name)).unwrap();
        eventually("the end of the server's processes", || !is_there(id.trim()));
    }
}
