use super::*;

const JSON: IntegrationContent = IntegrationContent::JsonServer { servers: "mcpServers", has_type: false };
const TOML: IntegrationContent = IntegrationContent::TomlServer { servers: "mcp_servers" };

fn added(text: &str, content: IntegrationContent) -> String {
    match add(text, content).unwrap() {
        Edited::Text(text) => text,
        other @ (Edited::Same | Edited::Foreign(_)) => panic!("{other:?}"),
    }
}

#[test]
fn a_new_file_has_only_our_entry() {
    insta::assert_snapshot!(added("", JSON), @r#"
    {
      "mcpServers": {
        "aiwf": {
          "command": "aiwf",
          "args": ["mcp"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(added("", TOML), @r#"
    [mcp_servers.aiwf]
    command = "aiwf"
    args = ["mcp"]
    "#);
}

#[test]
fn comments_order_and_spaces_of_json_stay() {
    let text = "{\n    // mine\n    \"z\": 1,\n    \"mcpServers\": {\n        \"other\": { \"command\":\"x\" } // kept\n    },\n    \"a\": [1,2 ,3],\n}\n";
    insta::assert_snapshot!(added(text, JSON), @r#"
    {
        // mine
        "z": 1,
        "mcpServers": {
            "other": { "command":"x" }, // kept
            "aiwf": {
                "command": "aiwf",
                "args": ["mcp"]
            }
        },
        "a": [1,2 ,3],
    }
    "#);
    let again = remove(&added(text, JSON), JSON, false).unwrap();
    assert_eq!(again.text_or("").replace(['\n', ' ', ','], ""), text.replace(['\n', ' ', ','], ""));
}

#[test]
fn comments_order_and_spaces_of_toml_stay() {
    let text = "# mine\nmodel   = \"m\"\n\n[mcp_servers.other]\ncommand = \"x\" # kept\n\n# the end\n";
    let with_ours = added(text, TOML);
    assert_eq!(with_ours, format!("{text}\n[mcp_servers.aiwf]\ncommand = \"aiwf\"\nargs = [\"mcp\"]\n"));
    let removed = remove(&with_ours, TOML, false).unwrap().text_or("");
    assert!(removed.starts_with(text), "{removed}");
    assert!(!removed.contains("aiwf"), "{removed}");
}

#[test]
fn only_our_own_entry_is_taken_out() {
    let changed = added("{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}", JSON).replace("\"x\"", "\"y\"");
    let removed = remove(&changed, JSON, false).unwrap().text_or("");
    assert!(removed.contains("\"y\"") && !removed.contains("aiwf"), "{removed}");
    let theirs = "{\"mcpServers\": {\"aiwf\": {\"command\": \"docker\", \"args\": [\"run\", \"it\"]}}}";
    assert_eq!(remove(theirs, JSON, true).unwrap(), Edited::Foreign("docker run it".to_owned()));
    assert_eq!(add(theirs, JSON).unwrap(), Edited::Foreign("docker run it".to_owned()));
    let with_flag = "{\"mcpServers\": {\"aiwf\": {\"command\": \"/opt/aiwf\", \"args\": [\"mcp\", \"--allow-approve\"]}}}";
    assert_eq!(add(with_flag, JSON).unwrap(), Edited::Same);
    assert_eq!(remove(with_flag, JSON, true).unwrap().text_or("").trim(), "{}");
    assert_eq!(remove("{}", JSON, true).unwrap(), Edited::Same);
    assert_eq!(
        remove("[mcp_servers.aiwf]\ncommand = \"x\"\n", TOML, true).unwrap(),
        Edited::Foreign("x".to_owned())
    );
}

#[test]
fn what_is_no_json_or_toml_is_said() {
    for (text, content) in [
        ("{", JSON),
        ("[]", JSON),
        ("{\"mcpServers\": 5}", JSON),
        ("a = ", TOML),
        ("mcp_servers = {}", TOML),
        ("mcp_servers = 5", TOML),
    ] {
        assert!(!add(text, content).unwrap_err().is_empty(), "{text}");
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn json() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "\\{",
            "\\}",
            "\\[",
            "\\]",
            ",",
            ":",
            "\"mcpServers\"",
            "\"aiwf\"",
            "\"command\"",
            "\"args\"",
            "\"a\"",
            "1",
            "// c\n",
            "/\\* c \\*/",
            "\n",
            "  ",
            "\\PC{0,3}"
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    fn toml() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "\\[mcp_servers\\]\n",
            "\\[mcp_servers.aiwf\\]\n",
            "\\[mcp_servers.b\\]\n",
            "command = \"aiwf\"\n",
            "args = \\[\"mcp\"\\]\n",
            "a = 1\n",
            "# c\n",
            "\n",
            "mcp_servers = \\{\\}\n",
            "\\PC{0,3}"
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    fn adds_and_removes(text: &str, content: IntegrationContent) -> Result<(), TestCaseError> {
        if let Ok(Edited::Text(with_ours)) = add(text, content) {
            prop_assert_eq!(add(&with_ours, content), Ok(Edited::Same));
            let removed = remove(&with_ours, content, false);
            prop_assert!(matches!(removed, Ok(Edited::Text(_))), "{:?}", removed);
            let removed = removed.unwrap().text_or("");
            prop_assert_eq!(remove(&removed, content, false), Ok(Edited::Same));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn any_json_is_edited_or_refused(text in json()) {
            adds_and_removes(&text, JSON)?;
        }

        #[test]
        fn any_toml_is_edited_or_refused(text in toml()) {
            adds_and_removes(&text, TOML)?;
        }
    }
}
