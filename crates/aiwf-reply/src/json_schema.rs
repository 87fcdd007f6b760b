//! JSON Schema: whether a value is valid, and where it is not.
//!
//! The only place that compiles schemas: the library is generic and large, and every crate that instantiated it would
//! carry its own copy. Nothing is fetched; a schema that refers to a file or a URL is unusable.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// Backtracking limit for patterns of untrusted schemas.
const BACKTRACK_LIMIT: usize = 100_000;

#[derive(Debug)]
pub struct JsonSchema(Validator);

/// One violation of a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Position in the value, as a JSON pointer.
    pub pointer: String,
    /// The violated keyword of the schema.
    pub keyword: String,
    pub kind: ViolationKind,
    /// The library's description of the violation.
    pub message: String,
}

/// Kinds of violations.
#[derive(Clone, Debug, PartialEq)]
pub enum ViolationKind {
    /// An object has unknown keys.
    UnknownKeys(Vec<String>),
    MissingKey(String),
    /// The value has none of these types.
    WrongType(Vec<String>),
    /// The value is none of these.
    NoneOf(Vec<Value>),
    /// A text does not match the pattern.
    Pattern,
    /// A text is not in the required format.
    Format,
    TooShort,
    /// A list has too few entries.
    TooFew,
    /// A number is less than this.
    LessThan(Value),
    Other,
}

impl JsonSchema {
    /// Compiles one of our own schemas: draft 2020-12, formats checked; `None` if it is invalid.
    pub fn compile_own(schema: &str) -> Option<Self> {
        let schema: Value = serde_json::from_str(schema).ok()?;
        let options = jsonschema::options().offline().with_draft(Draft::Draft202012);
        options.should_validate_formats(true).build(&schema).ok().map(Self)
    }

    /// Compiles an untrusted schema; the error is the library's reason why it is unusable.
    pub fn compile_untrusted(schema: &Value) -> Result<Self, String> {
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
        let options = jsonschema::options().offline().should_validate_formats(false);
        options.with_pattern_options(patterns).build(schema).map(Self).map_err(|error| error.to_string())
    }

    /// The first `most` violations of a value.
    pub fn violations(&self, value: &Value, most: usize) -> Vec<Violation> {
        self.0.iter_errors(value).take(most).map(|error| violation(&error)).collect()
    }
}

fn violation(error: &ValidationError<'_>) -> Violation {
    Violation {
        pointer: error.instance_path().as_str().to_owned(),
        keyword: error.kind().keyword().to_owned(),
        kind: kind(error.kind()),
        message: error.to_string(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the library has many more keywords than we report")]
fn kind(kind: &ValidationErrorKind) -> ViolationKind {
    match kind {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            ViolationKind::UnknownKeys(unexpected.clone())
        }
        ValidationErrorKind::Required { property } => {
            ViolationKind::MissingKey(property.as_str().unwrap_or_default().to_owned())
        }
        ValidationErrorKind::Type { kind: TypeKind::Single(one) } => {
            ViolationKind::WrongType(vec![one.to_string()])
        }
        ValidationErrorKind::Type { kind: TypeKind::Multiple(several) } => {
            ViolationKind::WrongType(several.iter().map(|one| one.to_string()).collect())
        }
        ValidationErrorKind::Enum { options } => {
            ViolationKind::NoneOf(options.as_array().cloned().unwrap_or_default())
        }
        ValidationErrorKind::Pattern { .. } => ViolationKind::Pattern,
        ValidationErrorKind::Format { .. } => ViolationKind::Format,
        ValidationErrorKind::MinLength { .. } => ViolationKind::TooShort,
        ValidationErrorKind::MinItems { .. } => ViolationKind::TooFew,
        ValidationErrorKind::Minimum { limit } => ViolationKind::LessThan(limit.clone()),
        _ => ViolationKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds(schema: &Value, value: &Value) -> Vec<(String, ViolationKind)> {
        let schema = JsonSchema::compile_own(&schema.to_string()).unwrap();
        schema.violations(value, usize::MAX).into_iter().map(|one| (one.pointer, one.kind)).collect()
    }

    #[test]
    fn every_kind_is_reported_at_its_place() {
        let closed = json!({ "properties": { "a": {} }, "additionalProperties": false, "required": ["a"] });
        assert_eq!(
            kinds(&closed, &json!({ "b": 1 })),
            [
                (String::new(), ViolationKind::UnknownKeys(vec!["b".to_owned()])),
                (String::new(), ViolationKind::MissingKey("a".to_owned()))
            ]
        );
        let check = |schema: Value, value: Value, expected: ViolationKind| {
            let schema = json!({ "properties": { "x": schema } });
            assert_eq!(kinds(&schema, &json!({ "x": value })), [("/x".to_owned(), expected)]);
        };
        check(json!({ "type": "string" }), json!(1), ViolationKind::WrongType(vec!["string".to_owned()]));
        check(
            json!({ "type": ["string", "null"] }),
            json!(1),
            ViolationKind::WrongType(vec!["null".to_owned(), "string".to_owned()]),
        );
        check(json!({ "enum": [1, "a"] }), json!(2), ViolationKind::NoneOf(vec![json!(1), json!("a")]));
        check(json!({ "pattern": "^a" }), json!("b"), ViolationKind::Pattern);
        check(json!({ "format": "date-time" }), json!("now"), ViolationKind::Format);
        check(json!({ "minLength": 1 }), json!(""), ViolationKind::TooShort);
        check(json!({ "minItems": 1 }), json!([]), ViolationKind::TooFew);
        check(json!({ "minimum": 2 }), json!(1), ViolationKind::LessThan(json!(2)));
        check(json!({ "maximum": 2 }), json!(3), ViolationKind::Other);
    }

    #[test]
    fn no_more_is_reported_than_asked_for() {
        let schema = JsonSchema::compile_untrusted(&json!({ "items": { "type": "string" } })).unwrap();
        assert_eq!(schema.violations(&json!([1, 2, 3]), 2).len(), 2);
        assert_eq!(schema.violations(&json!(["a"]), 2), []);
    }

    #[test]
    fn nothing_is_fetched() {
        let away = json!({ "$ref": "http://example.invalid/schema.json" });
        assert!(JsonSchema::compile_untrusted(&away).is_err());
        assert!(JsonSchema::compile_own(&away.to_string()).is_none());
    }
}
