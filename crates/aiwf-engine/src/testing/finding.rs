//! What an assertion found.

/// Whether an assertion holds, and the facts in one sentence, either way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) holds: bool,
    pub(crate) message: String,
    /// Whether there was nothing to look at: then `not_` does not hold either.
    pub(crate) is_void: bool,
    /// The section that it is about.
    pub(crate) section: Option<String>,
    /// What differs, as a unified diff.
    pub(crate) diff: Option<String>,
}

impl Finding {
    pub(crate) fn new(holds: bool, message: impl Into<String>) -> Self {
        Self { holds, message: message.into(), is_void: false, section: None, diff: None }
    }

    /// There was nothing to look at.
    pub(crate) fn void(message: impl Into<String>) -> Self {
        Self { is_void: true, ..Self::new(false, message) }
    }

    #[must_use]
    pub(crate) fn about(self, section: &str) -> Self {
        Self { section: Some(section.to_owned()), ..self }
    }

    #[must_use]
    pub(crate) fn with_diff(self, diff: String) -> Self {
        Self { diff: Some(diff).filter(|diff| !diff.is_empty()), ..self }
    }
}

/// Names in backticks, joined by commas.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The start of a text on one line, in backticks.
pub(crate) fn quoted(text: &str) -> String {
    const LENGTH: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LENGTH {
        return format!("`{line}`");
    }
    let start: String = line.chars().take(LENGTH - 1).collect();
    format!("`{start}…`")
}
