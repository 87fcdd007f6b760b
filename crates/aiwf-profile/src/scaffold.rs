//! The files of a new profile, which works as it is and shows what a profile can contain.

use std::collections::BTreeMap;

const FILES: [(&str, &str); 7] = [
    ("README.md", include_str!("scaffold/README.md")),
    ("profile.toml", include_str!("scaffold/profile.toml")),
    ("standards/general.md", include_str!("scaffold/general.md")),
    ("templates/generate.md", include_str!("scaffold/generate.md")),
    ("templates/plan.md", include_str!("scaffold/plan.md")),
    ("templates/review.md", include_str!("scaffold/review.md")),
    ("templates/revise.md", include_str!("scaffold/revise.md")),
];

/// The placeholder for the profile's name in the files.
const NAME: &str = "PROFILE_NAME";

/// The files of a new profile by path.
///
/// [`Profile::load`](crate::Profile::load) checks whether the name is valid.
pub fn scaffold(name: &str) -> BTreeMap<String, String> {
    FILES.iter().map(|(path, text)| ((*path).to_owned(), text.replace(NAME, name))).collect()
}

#[cfg(test)]
#[path = "scaffold_tests.rs"]
mod tests;
