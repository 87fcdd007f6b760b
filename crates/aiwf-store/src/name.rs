//! File names that mean the same on every system.
//!
//! In: one component of a path. Out: what is wrong with it, or its form on the most lenient file system.

use unicode_normalization::UnicodeNormalization as _;

/// The longest name that file systems accept.
const MAX_NAME_BYTES: usize = 255;
/// Names that some systems reserve for devices.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Returns why a file name is not portable.
pub fn name_fault(part: &str) -> Option<&'static str> {
    if part == ".." {
        return Some("contains `..`: give the path itself");
    }
    if part.len() > MAX_NAME_BYTES {
        return Some("has a name that is too long");
    }
    if part.chars().any(char::is_control) {
        return Some("contains a control character");
    }
    if part.chars().any(is_invisible) {
        return Some("contains an invisible character");
    }
    if part.contains(':') {
        return Some("contains a colon, which names a drive or a stream on some systems");
    }
    let plain: String = if part.is_ascii() { part.to_owned() } else { part.nfkc().collect() };
    let is_look_alike =
        |c: char| matches!(c, '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{2216}' | '\u{29f5}' | '\u{29f9}');
    if plain.contains(['/', '\\', ':', '\0']) || plain.chars().any(is_look_alike) {
        return Some("contains a character that looks like a separator");
    }
    if plain != part && plain.chars().all(|c| c == '.') {
        return Some("contains a character that looks like a dot");
    }
    if part.starts_with(char::is_whitespace) || part.ends_with(|c: char| c.is_whitespace() || c == '.') {
        return Some("has a name that starts with a space, or ends with a space or a dot");
    }
    let stem = plain.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let is_numbered = ["com", "lpt"].iter().any(|device| {
        stem.strip_prefix(device)
            .is_some_and(|n| matches!(n, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"))
    });
    (is_numbered || DEVICES.contains(&stem.as_str())).then_some("is a device name on some systems")
}

/// Directories of git and of the engine, with the short names that some systems give them.
const RESERVED_DIRS: [&str; 4] = [".git", ".aiwf", "git~1", "aiwf~1"];

/// Whether a name, in its folded form, is a directory that no model may write to.
pub fn is_reserved_dir(part: &str) -> bool {
    RESERVED_DIRS.contains(&folded(part).as_str())
}

/// Whether a character is invisible, so that names with and without it look the same.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A name as the most lenient file system sees it: composed, in one case, without invisible characters.
pub fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase().trim_end_matches([' ', '.']).to_owned();
    }
    let lower: String = name.nfkc().filter(|c| !is_invisible(*c)).flat_map(char::to_lowercase).collect();
    // Upper and lower again: `ß` and `ſ` share their upper case, and the dotless i must fold to i.
    let upper: String = lower.chars().flat_map(char::to_uppercase).collect();
    let folded: String = upper.to_lowercase().nfkc().filter(|c| *c != '\u{307}').collect();
    folded.replace('ı', "i").trim_end_matches([' ', '.']).to_owned()
}
