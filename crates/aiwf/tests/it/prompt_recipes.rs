//! `aiwf prompt recipes`.

use insta::assert_snapshot;

use crate::{json, project};

#[test]
fn every_recipe_lists_its_components_in_order() {
    assert_snapshot!(project().run("prompt recipes"), @"
    --- stdout
    session — a step of a session (natural format: text)
        10  approved-plan
        20  standards-bundle
        25  project-context
        27  project-files
        30  previous-code
        32  changes
        35  checks
        40  review
        45  comments
        47  notes
        50  feedback
        60  profile-prompt
        62  answer-format
        65  tools
        70  output-instructions

    change — a phase of a change (natural format: xml)
        10  system-template
        20  context
        30  instructions

    workflow — a turn of a workflow run, an agent session or a chat (natural format: messages)
        10  base-rules
        20  tool-policy
        25  tools
        30  persona
        40  run-directive
        50  node-brief
        60  data-context
        70  user-input

    reply — a reply to an agent's report (natural format: text)
        10  system-prompt
        20  mcp-tools
        30  user-context
        40  tool-results
        50  ai-message
       100  closing
    --- exit code 0
    ");
}

#[test]
fn json_has_every_recipe_with_its_format_and_components() {
    let outcome = project().run("prompt recipes --json").success();
    let recipes = &json(&outcome)["recipes"];
    assert_eq!(recipes.as_array().unwrap().len(), 4);
    assert_snapshot!(format!("{:#}", recipes[3]), @r#"
    {
      "recipe": "reply",
      "description": "a reply to an agent's report",
      "format": "text",
      "components": [
        {
          "id": "system-prompt",
          "order": 10
        },
        {
          "id": "mcp-tools",
          "order": 20
        },
        {
          "id": "user-context",
          "order": 30
        },
        {
          "id": "tool-results",
          "order": 40
        },
        {
          "id": "ai-message",
          "order": 50
        },
        {
          "id": "closing",
          "order": 100
        }
      ]
    }
    "#);
}
