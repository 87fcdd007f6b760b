//! What an item of an agent's menu brings along.

use aiwf_testkit::model_server::Turn;
use aiwf_testkit::{ModelServer, SmallPackage};
use serde_json::json;

use crate::workflow_package::{block, in_package};

#[test]
fn a_menu_item_brings_its_data_along() {
    let server = ModelServer::script([Turn::text("Three rows."), Turn::text("Begun.")]);
    let mut package = SmallPackage::new();
    package.agents[0]["menu"] = json!([
        { "trigger": "count", "description": "Count the rows", "action": "How many rows?", "data": "assets/rows.csv" },
        { "trigger": "begin", "description": "Begin", "workflow": "small", "data": "{project-root}/rows.json" },
        { "trigger": "lost", "description": "Lost", "action": "Hm?", "data": "{project-root}/nowhere.json" },
    ]);
    let scene = in_package(&package, "openai", &server, "");
    scene.project.write("pkg/assets/rows.csv", "a,b\n1,2\n");
    scene.project.write("rows.json", "{\"rows\": 3}\n");
    scene.done("agent pkg writer --provider model --input count");
    let ask = &server.asks()[0];
    insta::assert_snapshot!(block(ask, "Extra context").unwrap(), @r"
    Extra context (from menuItem.data):
    - label: rows.csv
    - path: @pkg/assets/rows.csv
    - preview:
        a,b
        1,2

    The preview may be cut short; read the whole with `fs.read` at that path.
    ");
    assert!(block(ask, "USER_INPUT").unwrap().contains("How many rows?"));
    let texts = ask.user_texts();
    assert!(texts[0].starts_with("Extra context") && texts[1].starts_with("USER_INPUT"), "{texts:#?}");

    let started = scene.answers("agent pkg writer --provider model --input begin", 3);
    assert_eq!(started["kind"], "run");
    let ask = &server.asks()[1];
    let heads: Vec<String> =
        ask.user_texts().iter().map(|text| text.lines().next().unwrap().to_owned()).collect();
    assert_eq!(heads, ["RUN_DIRECTIVE", "NODE_BRIEF", "Extra context (from menuItem.data):"]);
    assert!(block(ask, "Extra context").unwrap().contains("- path: @project/rows.json"));

    let lost = scene.answers("agent pkg writer --provider model --input lost", 1);
    assert_eq!(lost["error"]["code"], "DATA_LOAD_FAILED", "{lost:#}");
    assert_eq!(server.asks().len(), 2);
}
