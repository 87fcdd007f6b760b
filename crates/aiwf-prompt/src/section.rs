//! What a prompt is made of: sections with an owner, a place and a reason to stay.
//!
//! A section knows where its bytes come from, who speaks it, whether it may be cut, and whether it is the same
//! from call to call. Its body is plain text; how it is written down is the format's business.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Text that several owners share without copying it: a whole string, or a part of one that holds many.
#[derive(Clone, Default)]
pub struct Text {
    whole: Arc<String>,
    range: Range<usize>,
}

impl Text {
    /// The part of a string that a range names; empty when the string has no such part.
    pub fn part(whole: &Arc<String>, range: Range<usize>) -> Self {
        Self { whole: Arc::clone(whole), range }
    }

    /// The text itself.
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

/// Names a section for as long as the product lives: reports, journals and settings refer to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectionId(String);

impl SectionId {
    /// Names a section; built-in ones are kebab-case, such as `approved-plan`.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SectionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Where text comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A file, by the path a person would recognise.
    File(String),
    /// What the user or the calling program put in, by the name of its field.
    Input(String),
    /// A template, by the path or name it was found under.
    Template(String),
    /// Text of the engine itself, by the name of its rule.
    Engine(String),
    /// A component that an embedding program registered.
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

/// Who speaks a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Rules the model follows.
    System,
    /// The task and what it needs.
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
    /// Cut when the budget asks for it, the lowest number first.
    Optional(u32),
}

/// Whether a section is the same from one call to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// The same for every call of a task: a provider's prompt cache can keep it.
    Stable,
    /// Changes between calls.
    Volatile,
}

/// What kind of thing a section or a part is; `xml` chooses its element by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// What to do.
    Instructions,
    /// A file of the project, named by its path.
    File,
    /// Something an earlier step made, named by its title.
    Artifact,
    /// Reasoning carried over from an earlier step.
    Thought,
}

/// What a part holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartBody {
    /// The content itself.
    Inline(Text),
    /// A path the receiver opens by itself, relative to its working directory.
    Reference(String),
    /// A note that stands for content that cannot be text.
    Note(String),
}

impl PartBody {
    /// The number of bytes the part contributes, without frames.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Inline(text) => text.len(),
            Self::Reference(path) => path.len() + 1,
            Self::Note(note) => note.len(),
        }
    }
}

/// A file that travels with the request, beside the text that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// The path the text names it by.
    pub path: String,
    /// What it says.
    pub text: Text,
}

/// One file (or other item) of a section.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name shown to the model: a path for files, a title for the rest.
    pub name: String,
    /// What kind of item it is.
    pub kind: SectionKind,
    /// Where its content comes from.
    pub source: Source,
    /// What it holds.
    pub body: PartBody,
    /// The file that travels with it, when its body only names one.
    pub attached: Option<Attached>,
    /// Whether it may be cut.
    pub need: Need,
    /// Why it was cut, when it was.
    pub cut: Option<String>,
}

/// A named, ordered piece of a prompt.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its stable name.
    pub id: SectionId,
    /// The component that made it; the aggregator fills it in.
    pub component: String,
    /// Its place among the sections; the aggregator fills it in.
    pub order: i32,
    /// Its name for people, and for `xml` attributes.
    pub title: String,
    /// The heading line that `text` and `messages` write above the body.
    pub heading: Option<String>,
    /// Who speaks it.
    pub role: Role,
    /// What kind of thing it is.
    pub kind: SectionKind,
    /// Where its body comes from.
    pub source: Source,
    /// Whether it may be cut.
    pub need: Need,
    /// Whether it changes between calls.
    pub stability: Stability,
    /// The text, when the section has no parts.
    pub body: Text,
    /// The file that travels with it, when its body only names one.
    pub attached: Option<Attached>,
    /// The items, when it is made of several.
    pub parts: Vec<Part>,
    /// Why it was cut, when it was.
    pub cut: Option<String>,
    /// What a person should know about it: above all what its body shortens.
    pub problems: Vec<Problem>,
}

impl Section {
    /// A required, volatile instruction of the user; the fields are public for everything else.
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

    /// Whether the section stands in the prompt.
    pub(crate) fn is_kept(&self) -> bool {
        self.cut.is_none() && (self.parts.is_empty() || self.parts.iter().any(|part| part.cut.is_none()))
    }

    /// Whether there is nothing to write down: no heading, no text, no parts.
    pub(crate) fn is_blank(&self) -> bool {
        self.heading.is_none() && self.body.is_empty() && self.parts.is_empty()
    }

    /// The number of bytes it contributes, without frames.
    pub fn bytes(&self) -> usize {
        if self.parts.is_empty() {
            self.body.len()
        } else {
            self.parts.iter().map(|part| part.body.bytes()).sum()
        }
    }
}

/// Something a person should know about a prompt that was built all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it was seen.
    pub source: Source,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What it keeps out of the prompt, when it does.
    pub left_out: Option<LeftOutSource>,
}

/// A source that is not in the prompt, or not as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOutSource {
    /// Why.
    pub why: WhyLeftOut,
    /// The size of what is missing, where it is known.
    pub bytes: Option<u64>,
}

/// Why a source is not in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyLeftOut {
    /// It is larger than a file may be.
    SizeCap,
    /// It is not text, or holds characters that the format cannot.
    Encoding,
    /// It is not there.
    Missing,
    /// It cannot be read, or leads where nothing is read from.
    Unreadable,
}
