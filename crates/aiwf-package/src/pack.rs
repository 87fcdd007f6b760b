//! Packs the files of a package into an archive: equal files give equal bytes.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::archive::{ArchiveError, read_archive};
use crate::package::Package;

#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The archive could not be created.
    #[error("the archive could not be created")]
    Zip(#[from] zip::result::ZipError),
    /// A file could not be added.
    #[error("the archive could not be created")]
    Write(#[from] std::io::Error),
    /// The reader of archives would refuse it.
    #[error("the archive would be refused: {0}")]
    Refused(ArchiveError),
    /// Reading it back gave different files.
    #[error("the archive does not contain the files that were added")]
    Differs,
}

impl PackError {
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(_) => "remove or rename these files".to_owned(),
            Self::Zip(_) | Self::Write(_) | Self::Differs => {
                "this is a bug in aiwf: please report it with the package".to_owned()
            }
        }
    }
}

/// The bytes of an archive with every file of a package: sorted, without times, and read back as a check.
pub fn pack(package: &Package) -> Result<Vec<u8>, PackError> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(6))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (name, content) in &package.files {
        archive.start_file(name.as_str(), options)?;
        archive.write_all(content)?;
    }
    let bytes = archive.finish()?.into_inner();
    if read_archive(&bytes).map_err(PackError::Refused)? == package.files {
        Ok(bytes)
    } else {
        Err(PackError::Differs)
    }
}

/// Longest file name of an archive, in characters.
const MAX_NAME: usize = 120;

pub fn archive_name(package_name: &str) -> String {
    let plain = |c: char| if c.is_control() || "\\/:*?\"<>|".contains(c) { '-' } else { c };
    let name: String = package_name.trim().trim_matches('.').chars().map(plain).take(MAX_NAME).collect();
    let name = name.trim();
    format!("{}.bmad", if name.is_empty() { "Untitled" } else { name })
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod tests;
