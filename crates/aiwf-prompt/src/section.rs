//! The building blocks of a prompt: sections with an owner, a position and a priority.
//!
//! A section knows its source, its role, whether it may be cut, and whether it is stable between calls. Its body is
//! plain text; the format decides how it is rendered.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Shared text: a whole string, or a range of one.
#[derive(Clone, Default)]
pub struct Text {
    whole: Arc<String>,
    range: Range<usize>,
}

impl Text {
    /// A range of a string; empty if it is out of bounds.
    pub fn part(whole: &Arc<String>, range: Range<usize>) -> Self {
        Self { whole: Arc::clone(whole), range }
    }

    pub fn as_str(&self) -> &str {
        self.whole.get(self.range.clone()).unwrap_or_default()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self { range: 0..text.len(), whole: Arc::new(text) }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl std::ops::Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

/// The permanent name of a section: reports, journals and settings refer to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectionId(String);

impl SectionId {
    /// Creates an id; built-in ones are kebab-case, such as `approved-plan`.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SectionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A file, by the path a user would recognize.
    File(String),
    /// Input of the user or the calling program, by the name of its field.
    Input(String),
    /// A template, by its path or name.
    Template(String),
    /// Text of the engine itself, by the name of its rule.
    Engine(String),
    /// A component registered by an embedding program.
    Component(String),
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = match self {
            Self::File(name) => ("file", name),
            Self::Input(name) => ("input", name),
            Self::Template(name) => ("template", name),
            Self::Engine(name) => ("engine", name),
            Self::Component(name) => ("component", name),
        };
        write!(formatter, "{kind}:{name}")
    }
}

/// The role of a section's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Rules for the model.
    System,
    /// The task and its input.
    User,
}

impl Role {
    /// The name used in messages and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
        }
    }
}

/// Whether a section may be cut to fit a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Never cut; a prompt without it is not sent.
    Required,
    /// Cut if the budget requires it, lowest number first.
    Optional(u32),
}

/// Whether a section is the same from one call to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// The same for every call of a task, so that a provider's prompt cache can reuse it.
    Stable,
    Volatile,
}

/// The kind of a section or part, which determines its element in `xml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    Instructions,
    /// A file of the project, named by its path.
    File,
    /// The result of an earlier step, named by its title.
    Artifact,
    /// Reasoning from an earlier step.
    Thought,
}

/// The content of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartBody {
    Inline(Text),
    /// A path that the receiver opens itself, relative to its working directory.
    Reference(String),
    /// A note instead of content that is not text.
    Note(String),
}

impl PartBody {
    /// The number of bytes of the part, without frames.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Inline(text) => text.len(),
            Self::Reference(path) => path.len() + 1,
            Self::Note(note) => note.len(),
        }
    }
}

/// A file sent with the request, next to the text that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// Its path in the text.
    pub path: String,
    pub text: Text,
}

/// One file (or other item) of a section.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name shown to the model: a path for files, otherwise a title.
    pub name: String,
    pub kind: SectionKind,
    pub source: Source,
    pub body: PartBody,
    /// The file sent with the request, if the body only names it.
    pub attached: Option<Attached>,
    pub need: Need,
    /// Why it was cut, if it was.
    pub cut: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Section {
    pub id: SectionId,
    /// The component that made it; set by the aggregator.
    pub component: String,
    /// Its position among the sections; set by the aggregator.
    pub order: i32,
    /// Its title for display and for `xml` attributes.
    pub title: String,
    /// The heading line above the body in `text` and `messages`.
    pub heading: Option<String>,
    pub role: Role,
    pub kind: SectionKind,
    pub source: Source,
    pub need: Need,
    pub stability: Stability,
    /// The text, if the section has no parts.
    pub body: Text,
    /// The file sent with the request, if the body only names it.
    pub attached: Option<Attached>,
    /// The items, if there are several.
    pub parts: Vec<Part>,
    /// Why it was cut, if it was.
    pub cut: Option<String>,
    /// Warnings for the user, above all about shortened content.
    pub problems: Vec<Problem>,
}

impl Section {
    /// A required, volatile user section; all fields are public and can be changed.
    pub fn new(id: &str, title: &str, source: Source, body: impl Into<Text>) -> Self {
        Self {
            id: SectionId::new(id),
            component: String::new(),
            order: 0,
            title: title.to_owned(),
            heading: None,
            role: Role::User,
            kind: SectionKind::Instructions,
            source,
            need: Need::Required,
            stability: Stability::Volatile,
            body: body.into(),
            attached: None,
            parts: Vec::new(),
            cut: None,
            problems: Vec::new(),
        }
    }

    /// Whether the section is in the prompt.
    pub(crate) fn is_kept(&self) -> bool {
        self.cut.is_none() && (self.parts.is_empty() || self.parts.iter().any(|part| part.cut.is_none()))
    }

    /// Whether there is nothing to render: no heading, no text, no parts.
    pub(crate) fn is_blank(&self) -> bool {
        self.heading.is_none() && self.body.is_empty() && self.parts.is_empty()
    }

    /// The number of bytes of the section, without frames.
    pub fn bytes(&self) -> usize {
        if self.parts.is_empty() {
            self.body.len()
        } else {
            self.parts.iter().map(|part| part.body.bytes()).sum()
        }
    }
}

/// A warning about a prompt that was built anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub source: Source,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What is missing from the prompt because of it, if anything.
    pub left_out: Option<LeftOutSource>,
}

/// A source that is missing from the prompt, or incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOutSource {
    pub why: WhyLeftOut,
    /// The size of what is missing, if known.
    pub bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyLeftOut {
    /// It exceeds the size limit of files.
    SizeCap,
    /// It is not text, or contains characters that the format does not allow.
    Encoding,
    Missing,
    /// It is unreadable, or in a place that must not be read.
    Unreadable,
}
