//! Conditions of edges, in JSONLogic.
//!
//! In: an expression and the variables of a run. Out: a value, or why there is none. This is our own implementation
//! because packages are untrusted: every step and every copied value is charged to a budget, which the libraries do not
//! have, so no expression can block a run. `var` is relative to `variables`; truth and comparison follow JSONLogic.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// The work budget of one expression.
const MAX_WORK: u64 = 100_000;
/// The maximum nesting of expressions.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConditionError {
    #[error("condition is not a single operation: write an object with one key")]
    NotAnOperation,
    #[error("condition uses `{name}`, which JSONLogic does not have")]
    UnknownOperator { name: String },
    #[error("condition is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("condition takes too long to evaluate")]
    TooLong,
}

impl ConditionError {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::NotAnOperation | Self::UnknownOperator { .. } => {
                "write JSONLogic, such as `{\"==\": [{\"var\": \"size\"}, 1]}`, or remove it"
            }
            Self::TooDeep | Self::TooLong => "simplify it, or remove it",
        }
    }
}

const OPERATORS: [&str; 35] = [
    "var",
    "missing",
    "missing_some",
    "if",
    "?:",
    "==",
    "===",
    "!=",
    "!==",
    "!",
    "!!",
    "or",
    "and",
    ">",
    ">=",
    "<",
    "<=",
    "max",
    "min",
    "+",
    "-",
    "*",
    "/",
    "%",
    "map",
    "filter",
    "reduce",
    "all",
    "none",
    "some",
    "merge",
    "in",
    "cat",
    "substr",
    "log",
];

/// Whether an expression can be evaluated.
pub(crate) fn check(expression: &Map<String, Value>) -> Result<(), ConditionError> {
    if expression.len() != 1 {
        return Err(ConditionError::NotAnOperation);
    }
    check_operation(expression, 0)
}

fn check_operation(expression: &Map<String, Value>, depth: usize) -> Result<(), ConditionError> {
    if let Some((name, args)) = operation(expression) {
        if !OPERATORS.contains(&name) {
            return Err(ConditionError::UnknownOperator { name: crate::schema::short(name) });
        }
        return check_value(args, depth + 1);
    }
    expression.values().try_for_each(|value| check_value(value, depth + 1))
}

fn check_value(value: &Value, depth: usize) -> Result<(), ConditionError> {
    if depth > MAX_DEPTH {
        return Err(ConditionError::TooDeep);
    }
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| check_value(item, depth + 1)),
        Value::Object(map) => check_operation(map, depth),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn operation(map: &Map<String, Value>) -> Option<(&str, &Value)> {
    if map.len() == 1 { map.iter().next().map(|(name, args)| (name.as_str(), args)) } else { None }
}

/// Whether the condition holds for these variables.
pub(crate) fn holds(
    expression: &Map<String, Value>,
    variables: &Map<String, Value>,
) -> Result<bool, ConditionError> {
    evaluate(expression, variables).map(|value| is_true(&value))
}

pub(crate) fn evaluate(
    expression: &Map<String, Value>,
    variables: &Map<String, Value>,
) -> Result<Value, ConditionError> {
    check(expression)?;
    let data = Value::Object(variables.clone());
    Evaluation { work: MAX_WORK }.value(&Value::Object(expression.clone()), &data)
}

struct Evaluation {
    work: u64,
}

impl Evaluation {
    fn pay(&mut self, cost: u64) -> Result<(), ConditionError> {
        self.work = self.work.checked_sub(cost).ok_or(ConditionError::TooLong)?;
        Ok(())
    }

    /// Copies a value and charges its size to the budget.
    fn copy(&mut self, value: &Value) -> Result<Value, ConditionError> {
        self.pay(size(value))?;
        Ok(value.clone())
    }

    fn value(&mut self, expression: &Value, data: &Value) -> Result<Value, ConditionError> {
        self.pay(1)?;
        match expression {
            Value::Object(map) => match operation(map) {
                Some((name, args)) => self.operation(name, args, data),
                None => self.copy(expression),
            },
            Value::Array(items) => items
                .iter()
                .map(|item| self.value(item, data))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::Array),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => self.copy(expression),
        }
    }

    fn operation(&mut self, name: &str, args: &Value, data: &Value) -> Result<Value, ConditionError> {
        // A single argument needs no list.
        let args = args.as_array().map_or(std::slice::from_ref(args), Vec::as_slice);
        match name {
            "if" | "?:" => return self.choose(args, data),
            "and" | "or" => return self.junction(name == "and", args, data),
            "map" | "filter" | "all" | "some" | "none" => return self.over_items(name, args, data),
            "reduce" => return self.reduce(args, data),
            _ => {}
        }
        let values = args.iter().map(|arg| self.value(arg, data)).collect::<Result<Vec<_>, _>>()?;
        let first = values.first().unwrap_or(&Value::Null);
        let second = values.get(1).unwrap_or(&Value::Null);
        let number = |value: Option<f64>| value.and_then(json_number).unwrap_or(Value::Null);
        Ok(match name {
            "var" => match lookup(data, first) {
                Some(value) => self.copy(value)?,
                None => second.clone(),
            },
            "missing" => missing(first.as_array().unwrap_or(&values), data),
            "missing_some" => {
                let keys = second.as_array().map(Vec::as_slice).unwrap_or_default();
                let absent = missing(keys, data);
                let n_absent = absent.as_array().map_or(0, Vec::len);
                let n_there = keys.len().saturating_sub(n_absent);
                if to_number(first)
                    .is_some_and(|needed| needed <= f64::from(u32::try_from(n_there).unwrap_or(u32::MAX)))
                {
                    Value::Array(Vec::new())
                } else {
                    absent
                }
            }
            "==" => loosely_equal(first, second).into(),
            "!=" => (!loosely_equal(first, second)).into(),
            "===" => strictly_equal(first, second).into(),
            "!==" => (!strictly_equal(first, second)).into(),
            "!" => (!is_true(first)).into(),
            "!!" => is_true(first).into(),
            ">" => compare(first, second, Ordering::is_gt).into(),
            ">=" => compare(first, second, Ordering::is_ge).into(),
            "<" => between(&values, Ordering::is_lt).into(),
            "<=" => between(&values, Ordering::is_le).into(),
            "max" => number(values.iter().map(to_number).reduce(|a, b| Some(a?.max(b?))).flatten()),
            "min" => number(values.iter().map(to_number).reduce(|a, b| Some(a?.min(b?))).flatten()),
            "+" => number(values.iter().map(to_number).try_fold(0.0, |sum, value| Some(sum + value?))),
            "*" => {
                number(values.iter().map(to_number).try_fold(1.0, |product, value| Some(product * value?)))
            }
            "-" if values.len() == 1 => number(to_number(first).map(|value| -value)),
            "-" => number(to_number(first).zip(to_number(second)).map(|(a, b)| a - b)),
            "/" => number(to_number(first).zip(to_number(second)).map(|(a, b)| a / b)),
            "%" => number(to_number(first).zip(to_number(second)).map(|(a, b)| a % b)),
            "merge" => {
                let mut merged = Vec::new();
                for value in values {
                    match value {
                        Value::Array(items) => merged.extend(items),
                        single @ (Value::Null
                        | Value::Bool(_)
                        | Value::Number(_)
                        | Value::String(_)
                        | Value::Object(_)) => merged.push(single),
                    }
                }
                Value::Array(merged)
            }
            "in" => match second {
                Value::String(text) => text.contains(&to_text(first)).into(),
                Value::Array(items) => items.iter().any(|item| strictly_equal(item, first)).into(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false.into(),
            },
            "cat" => {
                let text: String = values.iter().map(to_text).collect();
                self.pay(text.len() as u64 / 16)?;
                text.into()
            }
            "substr" => {
                substring(&to_text(first), to_number(second), values.get(2).and_then(to_number)).into()
            }
            "log" => first.clone(),
            _ => return Err(ConditionError::UnknownOperator { name: crate::schema::short(name) }),
        })
    }

    fn choose(&mut self, args: &[Value], data: &Value) -> Result<Value, ConditionError> {
        let mut rest = args;
        while let [condition, then, more @ ..] = rest {
            if is_true(&self.value(condition, data)?) {
                return self.value(then, data);
            }
            rest = more;
        }
        rest.first().map_or(Ok(Value::Null), |otherwise| self.value(otherwise, data))
    }

    /// The first value that decides the result, otherwise the last one.
    fn junction(&mut self, is_and: bool, args: &[Value], data: &Value) -> Result<Value, ConditionError> {
        let mut last = Value::Null;
        for arg in args {
            last = self.value(arg, data)?;
            if is_true(&last) != is_and {
                return Ok(last);
            }
        }
        Ok(last)
    }

    fn over_items(&mut self, name: &str, args: &[Value], data: &Value) -> Result<Value, ConditionError> {
        let items = match args.first().map(|list| self.value(list, data)).transpose()? {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let body = args.get(1).unwrap_or(&Value::Null);
        let mut kept = Vec::new();
        let mut n_true = 0;
        for item in &items {
            let value = self.value(body, item)?;
            let holds = is_true(&value);
            n_true += usize::from(holds);
            match name {
                "map" => kept.push(value),
                "filter" if holds => kept.push(self.copy(item)?),
                _ => {}
            }
        }
        Ok(match name {
            "all" => (!items.is_empty() && n_true == items.len()).into(),
            "some" => (n_true > 0).into(),
            "none" => (n_true == 0).into(),
            _ => Value::Array(kept),
        })
    }

    fn reduce(&mut self, args: &[Value], data: &Value) -> Result<Value, ConditionError> {
        let items = match args.first().map(|list| self.value(list, data)).transpose()? {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let body = args.get(1).unwrap_or(&Value::Null);
        let mut accumulator = args.get(2).map_or(Ok(Value::Null), |start| self.value(start, data))?;
        for item in items {
            let mut scope = Map::new();
            scope.insert("current".to_owned(), item);
            scope.insert("accumulator".to_owned(), accumulator);
            accumulator = self.value(body, &Value::Object(scope))?;
        }
        Ok(accumulator)
    }
}

fn size(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len() as u64 / 16,
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(map) => {
            1 + map.iter().map(|(key, value)| 1 + key.len() as u64 / 16 + size(value)).sum::<u64>()
        }
    }
}

/// The value at a dotted path; the empty path is the whole data.
fn lookup<'a>(data: &'a Value, path: &Value) -> Option<&'a Value> {
    let path = to_text(path);
    if path.is_empty() {
        return Some(data);
    }
    let found = walk(data, &path).or_else(|| {
        // Condition texts say `variables.kind`; accept the same in an expression.
        let rest = path.strip_prefix("variables.")?;
        if data.get("variables").is_some() { None } else { walk(data, rest) }
    });
    found.filter(|value| !value.is_null())
}

fn walk<'a>(data: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(data, |value, key| match value {
        Value::Object(map) => map.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

fn missing(keys: &[Value], data: &Value) -> Value {
    let is_missing = |key: &&Value| match lookup(data, key) {
        None => true,
        Some(value) => value.as_str() == Some(""),
    };
    keys.iter().filter(is_missing).cloned().collect()
}

/// Truth in JSONLogic: an empty list is false, the text `0` is true.
pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(_) => true,
    }
}

fn to_number(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(0.0),
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let text = text.trim();
            let is_number = text.is_empty()
                || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
            if text.is_empty() { Some(0.0) } else { text.parse().ok().filter(|_| is_number) }
        }
        Value::Array(items) => match items.as_slice() {
            [] => Some(0.0),
            [single] => to_number(single),
            _ => None,
        },
        Value::Object(_) => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "converts only whole numbers in range")]
fn json_number(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

fn to_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number
            .as_f64()
            .and_then(json_number)
            .map_or_else(|| number.to_string(), |number| number.to_string()),
        Value::Array(items) => items.iter().map(to_text).collect::<Vec<_>>().join(","),
        Value::Bool(_) | Value::Object(_) => value.to_string(),
    }
}

fn strictly_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

fn loosely_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, other) | (other, Value::Null) => other.is_null(),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Array(_) | Value::Object(_), Value::Array(_) | Value::Object(_)) => a == b,
        (Value::Array(_), Value::String(text)) | (Value::String(text), Value::Array(_)) => {
            to_text(if a.is_array() { a } else { b }) == *text
        }
        _ => match (to_number(a), to_number(b)) {
            (Some(a), Some(b)) => a.partial_cmp(&b) == Some(Ordering::Equal),
            _ => false,
        },
    }
}

fn compare(a: &Value, b: &Value, fits: impl Fn(Ordering) -> bool) -> bool {
    let order = match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => to_number(a).zip(to_number(b)).and_then(|(a, b)| a.partial_cmp(&b)),
    };
    order.is_some_and(fits)
}

/// Whether the values are in order; with three values, whether the second is between the others.
fn between(values: &[Value], fits: impl Fn(Ordering) -> bool) -> bool {
    let first_three = || values.iter().take(3);
    values.len() >= 2 && first_three().zip(first_three().skip(1)).all(|(a, b)| compare(a, b, &fits))
}

#[expect(clippy::cast_possible_truncation, reason = "a position past the text counts as its end")]
fn substring(text: &str, start: Option<f64>, length: Option<f64>) -> String {
    let n_characters = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let start = start.unwrap_or(0.0) as i64;
    let start = if start < 0 { (n_characters + start).max(0) } else { start.min(n_characters) };
    let end = match length.map(|length| length as i64) {
        None => n_characters,
        Some(length) if length < 0 => n_characters.saturating_add(length),
        Some(length) => start.saturating_add(length),
    };
    let n_taken = usize::try_from(end.min(n_characters) - start).unwrap_or(0);
    text.chars().skip(usize::try_from(start).unwrap_or(0)).take(n_taken).collect()
}

#[cfg(test)]
#[path = "condition_tests.rs"]
mod tests;
