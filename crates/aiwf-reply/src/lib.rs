//! Parses the replies of agents.
//!
//! In: the text of a reply (or of a file with front matter). Out: a value and the problems found in it. Each parser
//! accepts any text, never panics and takes time linear in its length. It uses no file, clock, environment or
//! randomness, and judges nothing beyond the text: whether a path may be written or a tool may be called is decided
//! where files are written and tools are called.
//!
//! [`Parsed`] and [`Problem`] come first; then the structure of a reply that all parsers share; then one file per
//! parser.

mod findings;
mod problem;

mod fence;
mod line;
mod outline;

mod code_span;
mod element;
mod prose;
mod tag;
mod thought;

mod fenced_files;
mod file_block;
mod file_markers;
mod path_hint;

mod apply_hunks;
mod edit_diff;
mod edits;

mod report;
mod review_meta;
mod task_status;
mod verdict;
mod verdict_tag;

mod bare_json;
mod call_reader;
mod json_text;
mod tool_calls;

mod front_matter;
mod front_matter_edit;
mod yaml_text;

mod json_schema;

mod parser;

pub use apply_hunks::apply_hunks;
pub use edits::{Edit, EditKind, Hunk, parse_edits};
pub use fenced_files::parse_fenced_files;
pub use file_block::FileBlock;
pub use file_markers::parse_file_markers;
pub use front_matter::{FrontMatter, parse_front_matter};
pub use front_matter_edit::{EditError, edit_front_matter};
pub use json_schema::{JsonSchema, Violation, ViolationKind};
pub use parser::Parser;
pub use problem::{Parsed, Problem};
pub use report::{split_files, split_report_after, strip_thoughts};
pub use review_meta::{MetaVerdict, ReviewMeta, parse_review_meta};
pub use task_status::{TaskOutcome, TaskStatus, parse_task_status};
pub use thought::without_thoughts;
pub use tool_calls::{ToolCall, ToolCalls, parse_tool_calls};
pub use verdict::Verdict;
pub use verdict_tag::parse_verdict_tag;
