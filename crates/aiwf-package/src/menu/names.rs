//! Which items of a menu a line of input can mean.

use serde_json::{Map, Value};

use super::Confidence;
use crate::agent::MenuItem;

/// Where a match was found, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Description,
    Trigger,
}

/// Whose trigger matched: the item's, or that of one of its handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Item,
    Handler,
}

/// How well a line matches, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Part(Place, Owner),
    Words(Place, Owner),
    /// The code in brackets in a description.
    Code,
    /// An exact trigger. The owner does not decide between items, only within one.
    Exact,
}

/// An item that a line can mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match<'a> {
    pub(super) number: usize,
    pub(super) item: &'a MenuItem,
    /// The trigger with its own handler, if that is what matched.
    pub(super) trigger: Option<&'a Map<String, Value>>,
    fit: Fit,
}

impl Match<'_> {
    pub(super) fn confidence(&self) -> Confidence {
        match self.fit {
            Fit::Exact | Fit::Code => Confidence::Exact,
            Fit::Words(Place::Trigger, _) => Confidence::High,
            Fit::Words(Place::Description, _) | Fit::Part(Place::Trigger, _) => Confidence::Medium,
            Fit::Part(Place::Description, _) => Confidence::Low,
        }
    }

    fn leads_the_same_way(&self, other: &Self) -> bool {
        let is_same_trigger = match (self.trigger, other.trigger) {
            (None, None) => true,
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            (None, Some(_)) | (Some(_), None) => false,
        };
        self.number == other.number && is_same_trigger
    }
}

/// A word that selects an item.
struct Name<'a> {
    text: &'a str,
    /// The trigger with its own handler.
    trigger: Option<&'a Map<String, Value>>,
}

/// The names of an item, in the order they are written.
fn names(item: &MenuItem) -> impl Iterator<Item = Name<'_>> {
    let cmd = item.other.get("cmd").and_then(Value::as_str);
    let own = item.trigger.as_deref().into_iter().chain(cmd).map(|text| Name { text, trigger: None });
    let more = item.triggers.iter().filter(|trigger| fault(trigger).is_none()).filter_map(|trigger| {
        let text = trigger.get("match").and_then(Value::as_str)?;
        Some(Name { text, trigger: is_handler(trigger).then_some(trigger) })
    });
    own.chain(more).filter(|name| !normal(name.text).is_empty())
}

/// The words that select an item, as written.
pub(super) fn shown(item: &MenuItem) -> Vec<&str> {
    let mut shown: Vec<&str> = Vec::new();
    for name in names(item) {
        let text = name.text.trim();
        if !shown.contains(&text) {
            shown.push(text);
        }
    }
    shown
}

/// What is wrong with the triggers of an item.
pub(crate) fn faults(item: &MenuItem) -> impl Iterator<Item = &'static str> {
    item.triggers.iter().filter_map(fault)
}

fn fault(trigger: &Map<String, Value>) -> Option<&'static str> {
    match trigger.get("type").and_then(Value::as_str) {
        Some("alias" | "handler") => {}
        Some(_) | None => return Some("has a trigger whose `type` is neither `alias` nor `handler`"),
    }
    if trigger.get("match").and_then(Value::as_str).is_none_or(|text| normal(text).is_empty()) {
        return Some("has a trigger without `match`");
    }
    let has =
        |key: &str| trigger.get(key).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    let leads_somewhere = !is_handler(trigger) || ["workflow", "exec", "action"].into_iter().any(has);
    (!leads_somewhere).then_some("has a handler without `workflow`, `exec` or `action`")
}

pub(super) fn is_handler(trigger: &Map<String, Value>) -> bool {
    trigger.get("type").and_then(Value::as_str) == Some("handler")
}

/// The handlers of an item, in the order they are written.
pub(super) fn handlers(item: &MenuItem) -> impl Iterator<Item = &Map<String, Value>> {
    item.triggers.iter().filter(|trigger| fault(trigger).is_none() && is_handler(trigger))
}

/// The items that match a line best, all equally well, in menu order, without duplicate actions.
pub(super) fn best<'a>(items: &[(usize, &'a MenuItem)], line: &str) -> Vec<Match<'a>> {
    let wanted = normal(line);
    let mut best: Vec<Match<'a>> = Vec::new();
    for (number, item) in items {
        for found in matches(*number, item, &wanted) {
            match best.first() {
                Some(first) if found.fit < first.fit => {}
                Some(first) if found.fit == first.fit => {
                    if !best.iter().any(|other| other.leads_the_same_way(&found)) {
                        best.push(found);
                    }
                }
                Some(_) | None => best = vec![found],
            }
        }
    }
    best
}

/// All ways in which a line matches an item.
fn matches<'a>(number: usize, item: &'a MenuItem, wanted: &str) -> Vec<Match<'a>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let found = |trigger, fit| Match { number, item, trigger, fit };
    let mut matches = Vec::new();
    let exact: Vec<Name<'_>> = names(item).filter(|name| normal(name.text) == wanted).collect();
    // A handler is more specific than its item.
    let handler = exact.iter().find_map(|name| name.trigger);
    if let Some(first) = exact.first() {
        matches.push(found(handler.or(first.trigger), Fit::Exact));
    }
    if code(&item.description).is_some_and(|code| normal(code) == wanted) {
        matches.push(found(None, Fit::Code));
    }
    for name in names(item) {
        let owner = if name.trigger.is_some() { Owner::Handler } else { Owner::Item };
        let fit = fit(&normal(name.text), wanted, Place::Trigger, owner);
        matches.extend(fit.map(|fit| found(name.trigger, fit)));
    }
    let fit = fit(&item.description.to_lowercase(), wanted, Place::Description, Owner::Item);
    matches.extend(fit.map(|fit| found(None, fit)));
    matches
}

/// A text without the command prefix, in lower case.
fn normal(text: &str) -> String {
    text.trim().trim_start_matches('*').trim().to_lowercase()
}

/// The code in the first brackets of a description, such as `WN` in `[WN] Write notes`.
fn code(description: &str) -> Option<&str> {
    let (code, _) = description.split_once('[')?.1.split_once(']')?;
    let is_code =
        !code.is_empty() && code.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '*'));
    is_code.then_some(code)
}

/// How a line matches a text that contains it. A text contained in the line does not count: a user who mentions a word
/// in a sentence is talking, not selecting.
fn fit(text: &str, wanted: &str, place: Place, owner: Owner) -> Option<Fit> {
    let mut is_found = false;
    for (idx, _) in text.char_indices() {
        let Some((before, rest)) = text.split_at_checked(idx) else { continue };
        let Some(after) = rest.strip_prefix(wanted) else { continue };
        is_found = true;
        let is_inside = before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
        if !is_inside {
            return Some(Fit::Words(place, owner));
        }
    }
    is_found.then_some(Fit::Part(place, owner))
}
