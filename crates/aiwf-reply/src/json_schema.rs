//! JSON Schema: whether a value fits, and where it does not.
//!
//! The one place that compiles schemas: the library is generic and large, and every crate that used it by itself
//! would make a copy of its own. Nothing is fetched; a schema that refers to a file or an address cannot be used.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// How often a pattern of a stranger's schema may try again.
const BACKTRACK_LIMIT: usize = 100_000;

/// A schema that values can be held against.
#[derive(Debug)]
pub struct JsonSchema(Validator);

/// One way in which a value does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// Where in the value, as a JSON pointer.
    pub pointer: String,
    /// The keyword of the schema that says so.
    pub keyword: String,
    /// What is wrong.
    pub kind: BreachKind,
    /// The same in the library's words.
    pub message: String,
}

/// What can be wrong with a value.
#[derive(Clone, Debug, PartialEq)]
pub enum BreachKind {
    /// An object has keys that it may not have.
    UnknownKeys(Vec<String>),
    /// An object lacks a key.
    MissingKey(String),
    /// It is none of these types.
    WrongType(Vec<String>),
    /// It is none of these values.
    NoneOf(Vec<Value>),
    /// A text does not look as it should.
    Pattern,
    /// A text is not in the format it should be in.
    Format,
    /// A text is too short.
    TooShort,
    /// A list has too few entries.
    TooFew,
    /// A number is less than this.
    LessThan(Value),
    /// Something else.
    Other,
}

impl JsonSchema {
    /// A schema of our own: draft 2020-12, formats checked; nothing when it is none.
    pub fn of_ours(schema: &str) -> Option<Self> {
        let schema: Value = serde_json::from_str(schema).ok()?;
        let options = jsonschema::options().offline().with_draft(Draft::Draft202012);
        options.should_validate_formats(true).build(&schema).ok().map(Self)
    }

    /// A schema of somebody else; why it cannot be used, in the library's words.
    pub fn of_others(schema: &Value) -> Result<Self, String> {
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
        let options = jsonschema::options().offline().should_validate_formats(false);
        options.with_pattern_options(patterns).build(schema).map(Self).map_err(|error| error.to_string())
    }

    /// How a value does not fit, `most` ways of it.
    pub fn breaches(&self, value: &Value, most: usize) -> Vec<Breach> {
        self.0.iter_errors(value).take(most).map(|error| breach(&error)).collect()
    }
}

fn breach(error: &ValidationError<'_>) -> Breach {
    Breach {
        pointer: error.instance_path().as_str().to_owned(),
        keyword: error.kind().keyword().to_owned(),
        kind: kind(error.kind()),
        message: error.to_string(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "there are many more keywords than anybody asks about")]
fn kind(kind: &ValidationErrorKind) -> BreachKind {
    match kind {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            BreachKind::UnknownKeys(unexpected.clone())
        }
        ValidationErrorKind::Required { property } => {
            BreachKind::MissingKey(property.as_str().unwrap_or_default().to_owned())
        }
        ValidationErrorKind::Type { kind: TypeKind::Single(one) } => {
            BreachKind::WrongType(vec![one.to_string()])
        }
        ValidationErrorKind::Type { kind: TypeKind::Multiple(several) } => {
            BreachKind::WrongType(several.iter().map(|one| one.to_string()).collect())
        }
        ValidationErrorKind::Enum { options } => {
            BreachKind::NoneOf(options.as_array().cloned().unwrap_or_default())
        }
        ValidationErrorKind::Pattern { .. } => BreachKind::Pattern,
        ValidationErrorKind::Format { .. } => BreachKind::Format,
        ValidationErrorKind::MinLength { .. } => BreachKind::TooShort,
        ValidationErrorKind::MinItems { .. } => BreachKind::TooFew,
        ValidationErrorKind::Minimum { limit } => BreachKind::LessThan(limit.clone()),
        _ => BreachKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds(schema: &Value, value: &Value) -> Vec<(String, BreachKind)> {
        let schema = JsonSchema::of_ours(&schema.to_string()).unwrap();
        schema.breaches(value, usize::MAX).into_iter().map(|one| (one.pointer, one.kind)).collect()
    }

    #[test]
    fn every_kind_is_told_at_its_place() {
        let closed = json!({ "properties": { "a": {} }, "additionalProperties": false, "required": ["a"] });
        assert_eq!(
            kinds(&closed, &json!({ "b": 1 })),
            [
                (String::new(), BreachKind::UnknownKeys(vec!["b".to_owned()])),
                (String::new(), BreachKind::MissingKey("a".to_owned()))
            ]
        );
        let check = |schema: Value, value: Value, expected: BreachKind| {
            let schema = json!({ "properties": { "x": schema } });
            assert_eq!(kinds(&schema, &json!({ "x": value })), [("/x".to_owned(), expected)]);
        };
        check(json!({ "type": "string" }), json!(1), BreachKind::WrongType(vec!["string".to_owned()]));
        check(
            json!({ "type": ["string", "null"] }),
            json!(1),
            BreachKind::WrongType(vec!["null".to_owned(), "string".to_owned()]),
        );
        check(json!({ "enum": [1, "a"] }), json!(2), BreachKind::NoneOf(vec![json!(1), json!("a")]));
        check(json!({ "pattern": "^a" }), json!("b"), BreachKind::Pattern);
        check(json!({ "format": "date-time" }), json!("now"), BreachKind::Format);
        check(json!({ "minLength": 1 }), json!(""), BreachKind::TooShort);
        check(json!({ "minItems": 1 }), json!([]), BreachKind::TooFew);
        check(json!({ "minimum": 2 }), json!(1), BreachKind::LessThan(json!(2)));
        check(json!({ "maximum": 2 }), json!(3), BreachKind::Other);
    }

    #[test]
    fn no_more_is_told_than_asked_for() {
        let schema = JsonSchema::of_others(&json!({ "items": { "type": "string" } })).unwrap();
        assert_eq!(schema.breaches(&json!([1, 2, 3]), 2).len(), 2);
        assert_eq!(schema.breaches(&json!(["a"]), 2), []);
    }

    #[test]
    fn nothing_is_fetched() {
        let away = json!({ "$ref": "http://example.invalid/schema.json" });
        assert!(JsonSchema::of_others(&away).is_err());
        assert!(JsonSchema::of_ours(&away.to_string()).is_none());
    }
}
