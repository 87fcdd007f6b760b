//! Placeholder.
use std::path::{Path, PathBuf};
/// x
#[derive(Debug)]
pub struct Touched;
/// x
#[derive(Debug)]
pub struct TouchedFile {
    /// x
    pub path: String,
    /// x
    pub before: Option<String>,
    /// x
    pub after: Option<String>,
}
impl Touched {
    /// x
    pub fn before(_: &Path, _: &[PathBuf]) -> Self {
        Self
    }
    /// x
    pub fn before_with_hashes(_: &Path, _: &[PathBuf]) -> Self {
        Self
    }
    /// x
    pub fn after(&self) -> Vec<TouchedFile> {
        Vec::new()
    }
}
