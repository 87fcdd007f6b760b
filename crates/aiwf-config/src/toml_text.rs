//! A TOML text with the line and column of each position.

use std::ops::Range;

use crate::fault::ConfigFault;
use crate::name::excerpt;
use crate::origin::{ConfigFile, Origin};
use crate::problem::ConfigProblem;

pub(crate) struct TomlText<'a> {
    file: ConfigFile,
    text: &'a str,
    /// The offset of each line after the first.
    line_starts: Vec<usize>,
}

impl<'a> TomlText<'a> {
    pub(crate) fn new(file: ConfigFile, text: &'a str) -> Self {
        let line_starts = text.match_indices('\n').map(|(offset, _)| offset + 1).collect();
        Self { file, text, line_starts }
    }

    pub(crate) fn file(&self) -> ConfigFile {
        self.file
    }

    /// The line at `offset`, as an origin.
    pub(crate) fn origin(&self, offset: usize) -> Origin {
        Origin::File { file: self.file, line: self.n_lines_before(offset) + 1 }
    }

    pub(crate) fn problem(&self, offset: usize, fault: ConfigFault) -> ConfigProblem {
        let line_start = match self.n_lines_before(offset).checked_sub(1) {
            Some(idx) => self.line_starts.get(idx).copied().unwrap_or_default(),
            None => 0,
        };
        let before = self.text.get(line_start..offset).unwrap_or_default();
        let column = before.chars().count() + 1;
        ConfigProblem { origin: self.origin(offset), column: Some(column), fault }
    }

    /// A value as written in the file, shortened for a message.
    pub(crate) fn excerpt(&self, span: Range<usize>) -> String {
        excerpt(self.text.get(span).unwrap_or_default())
    }

    fn n_lines_before(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }
}
