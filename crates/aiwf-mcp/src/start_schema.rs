//! The input schema of `start_session`, built from the manifests of the available profiles.
//!
//! The alternatives are below `params` rather than at the top level, because model APIs reject a tool whose schema
//! starts with one. They are an `anyOf`: two profiles may have the same parameters, and then `oneOf` would match
//! neither.

use aiwf_engine::profile::{Param, ParamKind, Pattern, Profile};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

pub(crate) fn schema(profiles: &[Profile]) -> JsonObject {
    let names: Vec<&str> = profiles.iter().map(Profile::name).collect();
    let about: Vec<String> =
        profiles.iter().map(|profile| format!("{}: {}", profile.name(), profile.description())).collect();
    let alternatives: Vec<Value> = profiles.iter().map(params).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert(
        "properties".to_owned(),
        json!({
            "profile": { "type": "string", "enum": names, "description": about.join("\n") },
            "params": {
                "type": "object",
                "description": "The parameters of the profile, by name; the title of each alternative is its profile.",
                "anyOf": alternatives,
            },
        }),
    );
    schema.insert("required".to_owned(), json!(["profile", "params"]));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn params(profile: &Profile) -> Value {
    let properties: Map<String, Value> =
        profile.params().iter().map(|param| (param.name.clone(), property(param))).collect();
    // A parameter with a default is optional, even if it is required.
    let required: Vec<&str> = profile
        .params()
        .iter()
        .filter(|param| param.is_required && param.default.is_none())
        .map(|param| param.name.as_str())
        .collect();
    json!({
        "title": profile.name(),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(param: &Param) -> Value {
    let mut property = match &param.kind {
        ParamKind::String { pattern } => text(pattern.as_ref()),
        ParamKind::Text => text(None),
        ParamKind::Integer { minimum, maximum } => {
            let mut property = json!({ "type": "integer" });
            for (name, bound) in [("minimum", minimum), ("maximum", maximum)] {
                if let (Some(bound), Some(fields)) = (bound, property.as_object_mut()) {
                    fields.insert(name.to_owned(), json!(bound));
                }
            }
            property
        }
        ParamKind::Boolean { .. } => json!({ "type": "boolean" }),
        ParamKind::Choice { choices, .. } => {
            let names: Vec<&str> = choices.iter().map(|choice| choice.name.as_str()).collect();
            json!({ "type": "string", "enum": names })
        }
        ParamKind::File { .. } | ParamKind::Path => json!({ "type": "string" }),
        ParamKind::Files => json!({ "type": "array", "items": text(None) }),
        ParamKind::List { pattern } => json!({ "type": "array", "items": text(pattern.as_ref()) }),
    };
    if let Some(fields) = property.as_object_mut() {
        let description = description(param);
        if !description.is_empty() {
            fields.insert("description".to_owned(), json!(description));
        }
        if let Some(default) = &param.default {
            fields.insert("default".to_owned(), default.clone());
        }
    }
    property
}

fn description(param: &Param) -> String {
    let place = match &param.kind {
        ParamKind::File { .. } => "(a file in the project)",
        ParamKind::Files => "(paths or glob patterns of files in the project)",
        ParamKind::Path => "(a path relative to the project)",
        ParamKind::String { .. }
        | ParamKind::Text
        | ParamKind::Integer { .. }
        | ParamKind::Boolean { .. }
        | ParamKind::Choice { .. }
        | ParamKind::List { .. } => "",
    };
    format!("{} {place}", param.help).trim().to_owned()
}

fn text(pattern: Option<&Pattern>) -> Value {
    match pattern {
        Some(pattern) if is_common(&pattern.text) => {
            json!({ "type": "string", "pattern": format!("^(?:{})$", pattern.text) })
        }
        Some(_) | None => json!({ "type": "string" }),
    }
}

/// Whether a regular expression means the same in other engines: groups with a sign after the `?` differ.
fn is_common(expression: &str) -> bool {
    !expression.replace("(?:", "").contains("(?")
}

#[cfg(test)]
mod tests {
    use aiwf_engine::profile::{built_in_profile, built_in_profiles};

    use super::*;

    #[test]
    fn the_schema_describes_the_shipped_profiles() {
        let load = |name: &str| Profile::load(built_in_profile(name).unwrap()).unwrap();
        let profiles: Vec<Profile> = built_in_profiles().iter().map(|(name, _)| load(name)).collect();
        insta::assert_json_snapshot!(schema(&profiles));
    }

    #[test]
    fn an_engine_specific_expression_is_omitted() {
        assert!(is_common("[a-z]+(?:-[a-z]+)*"));
        assert!(!is_common("(?i)[a-z]+"));
    }
}
