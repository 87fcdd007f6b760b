//! The names of the parsers, as used in profiles and on the command line.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parser {
    /// [`parse_file_markers`](crate::parse_file_markers)
    FileMarkers,
    /// [`parse_fenced_files`](crate::parse_fenced_files)
    FencedFiles,
    /// [`parse_edits`](crate::parse_edits)
    Edits,
    /// [`parse_review_meta`](crate::parse_review_meta)
    ReviewMeta,
    /// [`parse_verdict_tag`](crate::parse_verdict_tag)
    VerdictTag,
    /// [`parse_task_status`](crate::parse_task_status)
    TaskStatus,
    /// [`parse_tool_calls`](crate::parse_tool_calls)
    ToolCalls,
    /// [`parse_front_matter`](crate::parse_front_matter)
    FrontMatter,
}

impl Parser {
    /// All parsers, in the order of help texts.
    pub const ALL: [Self; 8] = [
        Self::FileMarkers,
        Self::FencedFiles,
        Self::Edits,
        Self::ReviewMeta,
        Self::VerdictTag,
        Self::TaskStatus,
        Self::ToolCalls,
        Self::FrontMatter,
    ];

    /// The name, like `file-markers`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileMarkers => "file-markers",
            Self::FencedFiles => "fenced-files",
            Self::Edits => "edits",
            Self::ReviewMeta => "review-meta",
            Self::VerdictTag => "verdict-tag",
            Self::TaskStatus => "task-status",
            Self::ToolCalls => "tool-calls",
            Self::FrontMatter => "front-matter",
        }
    }

    /// Finds a parser by its exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parser| parser.as_str() == name)
    }
}

impl fmt::Display for Parser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
