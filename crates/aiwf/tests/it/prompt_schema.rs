//! `aiwf prompt schema`: the schemas themselves are snapshots of `aiwf-engine`.

use serde_json::Value;

use crate::{json, project};

#[test]
fn every_recipe_has_a_schema_that_names_its_required_fields() {
    let project = project();
    let required = |recipe: &str| {
        let outcome = project.run(&format!("prompt schema {recipe}")).success();
        let schema: Value = serde_json::from_slice(&outcome.stdout).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        let required = schema["required"].as_array().unwrap().iter();
        required.map(|field| field.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(required("session"), ["session_dir", "phase", "iteration", "profile_prompt"]);
    assert_eq!(required("change"), ["instructions"]);
    assert_eq!(required("workflow"), ["mode", "agent_definition"]);
    assert_eq!(required("reply"), ["request", "mode"]);
}

#[test]
fn json_holds_the_same_schema() {
    let project = project();
    let text = project.run("prompt schema change").success();
    let outcome = project.run("prompt schema change --json").success();
    let json = json(&outcome);
    assert_eq!(json["command"], "prompt schema");
    assert_eq!(json["recipe"], "change");
    assert_eq!(json["schema"], serde_json::from_slice::<Value>(&text.stdout).unwrap());
}
