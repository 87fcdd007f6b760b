//! The profiles that ship with aiwf, as files inside the binary.

use crate::profile::Files;

/// A shipped profile: its name and its files by path.
type BuiltIn = (&'static str, &'static [(&'static str, &'static [u8])]);

macro_rules! built_in {
    ($profile:literal: $($path:literal),* $(,)?) => {
        ($profile, &[$(($path, include_bytes!(concat!("../../../profiles/", $profile, "/", $path)))),*])
    };
}

static BUILT_IN: &[BuiltIn] = &[
    built_in!["jpa-mt":
        "profile.toml",
        "standards/api.rules.yml",
        "standards/controller.rules.yml",
        "standards/domain.rules.yml",
        "standards/dto.rules.yml",
        "standards/java.rules.yml",
        "standards/jpa.rules.yml",
        "standards/mapper.rules.yml",
        "standards/multi_tenancy.rules.yml",
        "standards/naming.rules.yml",
        "standards/packages.rules.yml",
        "standards/service.rules.yml",
        "templates/generate.md",
        "templates/plan.md",
        "templates/review.md",
        "templates/revise.md",
    ],
    built_in!["python-module":
        "profile.toml",
        "standards/python.md",
        "standards/testing.md",
        "templates/generate.md",
        "templates/plan.md",
        "templates/review.md",
        "templates/revise.md",
    ],
    built_in!["react-component":
        "profile.toml",
        "standards/accessibility.md",
        "standards/component.md",
        "standards/javascript.md",
        "standards/styling.md",
        "standards/testing.md",
        "standards/typescript.md",
        "templates/generate.md",
        "templates/plan.md",
        "templates/review.md",
        "templates/revise.md",
    ],
    built_in!["rust-crate":
        "profile.toml",
        "standards/rust.md",
        "standards/testing.md",
        "templates/generate.md",
        "templates/plan.md",
        "templates/review.md",
        "templates/revise.md",
    ],
    built_in!["typescript-module":
        "profile.toml",
        "standards/testing.md",
        "standards/typescript.md",
        "templates/generate.md",
        "templates/plan.md",
        "templates/review.md",
        "templates/revise.md",
    ],
];

/// The shipped profiles, sorted by name, each with its files sorted by path.
pub fn built_in_profiles() -> &'static [BuiltIn] {
    BUILT_IN
}

/// The files of the shipped profile with that name.
pub fn built_in_profile(name: &str) -> Option<Files> {
    let (_, files) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
    Some(files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect())
}

/// Whether these are exactly the files of the shipped profile with that name.
pub(crate) fn is_built_in(name: &str, files: &Files) -> bool {
    BUILT_IN.iter().any(|(built_in, own)| {
        *built_in == name
            && own.len() == files.len()
            && own
                .iter()
                .all(|(path, bytes)| files.get(*path).is_some_and(|found| found.as_slice() == *bytes))
    })
}

#[cfg(test)]
#[path = "built_in_tests.rs"]
mod tests;
