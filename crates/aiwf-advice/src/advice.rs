//! A sentence with actions in it.

use crate::action::Action;

/// What the actions of an advice apply to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// Unspecified: whatever the user is working on.
    #[default]
    Unknown,
    /// A session, change, run or conversation, by id or name.
    Session(String),
    /// A package, by path.
    Package(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that every surface shows as it is.
    Text(String),
    /// An action that each surface words in its own way.
    Action(Action),
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Action> for Part {
    fn from(action: Action) -> Self {
        Self::Action(action)
    }
}

/// One suggestion about an error or a situation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    subject: Subject,
    parts: Vec<Part>,
}

impl<P: Into<Part>> From<P> for Advice {
    fn from(part: P) -> Self {
        Self { subject: Subject::Unknown, parts: vec![part.into()] }
    }
}

impl Advice {
    #[must_use]
    pub fn then(mut self, part: impl Into<Part>) -> Self {
        self.parts.push(part.into());
        self
    }

    /// Appends another advice; a subject that is already set stays.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self.about(other.subject)
    }

    /// Lists alternatives: `A, or B`.
    pub fn any_of(actions: impl IntoIterator<Item = Action>) -> Self {
        let mut advice = Self::default();
        for action in actions {
            if !advice.is_empty() {
                advice = advice.then(", or ");
            }
            advice = advice.then(action);
        }
        advice
    }

    /// Sets the subject if none is set yet.
    ///
    /// The innermost error knows best which session is affected, so outer callers never replace its subject.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Self {
        if self.subject == Subject::Unknown {
            self.subject = subject;
        }
        self
    }

    /// Sets the session as the subject if none is set yet.
    #[must_use]
    pub fn about_session(self, id: impl Into<String>) -> Self {
        self.about(Subject::Session(id.into()))
    }

    /// Replaces one action with another, for callers that retry or continue in their own way.
    #[must_use]
    pub fn replacing(mut self, action: &Action, other: &Action) -> Self {
        for part in &mut self.parts {
            if matches!(part, Part::Action(found) if found == action) {
                *part = Part::Action(other.clone());
            }
        }
        self
    }

    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The actions, most likely first.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.parts.iter().filter_map(|part| match part {
            Part::Action(action) => Some(action),
            Part::Text(_) => None,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Renders the sentence; `words` supplies a surface's wording of each action.
    pub fn worded(&self, mut words: impl FnMut(&Action, &Subject) -> String) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Action(action) => words(action, &self.subject),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(advice: &Advice, expected: &str) {
        let worded = advice.worded(|action, subject| match subject {
            Subject::Session(id) => format!("<{action:?} {id}>"),
            Subject::Unknown | Subject::Package(_) => format!("<{action:?}>"),
        });
        assert_eq!(worded, expected);
    }

    #[test]
    fn text_and_actions_keep_their_order() {
        let advice = Advice::from("wait, then ").then(Action::Retry);
        check(&advice, "wait, then <Retry>");
        check(&advice.about_session("s1"), "wait, then <Retry s1>");
    }

    #[test]
    fn the_innermost_subject_wins() {
        let advice = Advice::from(Action::Status).about_session("inner").about_session("outer");
        check(&advice, "<Status inner>");
    }

    #[test]
    fn alternatives_are_joined_and_actions_can_be_replaced() {
        let advice = Advice::any_of([Action::Approve, Action::Retry]);
        check(&advice, "<Approve>, or <Retry>");
        check(&advice.replacing(&Action::Retry, &Action::Resume), "<Approve>, or <Resume>");
    }
}
