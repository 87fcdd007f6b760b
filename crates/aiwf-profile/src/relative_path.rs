//! Paths that stay below the directory they are relative to.

/// Why a path is not a plain path below a directory; `None` if it is.
pub(crate) fn path_fault(path: &str) -> Option<&'static str> {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    let mut segments = path.split('/');
    if path.is_empty() {
        Some("is empty")
    } else if path.starts_with('/') || path.starts_with('\\') || has_drive {
        Some("is absolute")
    } else if path.contains('\\') {
        Some("has a backslash")
    } else if path.chars().any(char::is_control) {
        Some("has a control character")
    } else if segments.clone().any(|segment| segment == "..") {
        Some("leaves its directory")
    } else if segments.any(|segment| segment.is_empty() || segment == ".") {
        Some("has an empty or `.` segment")
    } else {
        None
    }
}

/// The last component of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
