//! The additions of a project to the standards of a profile, and its exclusions.

use std::collections::{BTreeMap, BTreeSet};

use crate::problem::{ProfileProblem, excerpt, known_hint};
use crate::problem_kind::ProfileProblemKind as Kind;
use crate::standards::{RuleFile, RuleFiles};

/// The standards that a project adds to every profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectStandards {
    /// Its files, in the order of the bundle.
    pub files: Vec<ProjectRule>,
    /// Names of files of a profile that project files with the same name replace.
    pub replace: Vec<String>,
    /// Names of excluded files, of the profile or the project.
    pub exclude: Vec<String>,
}

/// A file of a project's standards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRule {
    /// Its path below its directory, with `/`; `replace` and `exclude` refer to it.
    pub name: String,
    /// Its location as shown in the bundle.
    pub source: String,
    pub text: String,
}

/// What to do about two files with the same name.
const CLASH_HINT: &str =
    "list the name under `[standards] replace` or `exclude`, or give the project's file another name";

impl ProjectStandards {
    /// Whether the project changes nothing.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.replace.is_empty() && self.exclude.is_empty()
    }

    pub(crate) fn is_excluded(&self, name: &str) -> bool {
        self.exclude.iter().any(|excluded| excluded == name)
    }

    /// The files that are not excluded.
    fn kept(&self) -> impl Iterator<Item = &ProjectRule> {
        self.files.iter().filter(|file| !self.is_excluded(&file.name))
    }

    /// Replaces files of the profile by those of the project; returns the project files that replace none.
    pub(crate) fn merge<'a>(
        &'a self,
        own: &mut RuleFiles<'a>,
    ) -> Result<Vec<&'a ProjectRule>, Vec<ProfileProblem>> {
        let mut problems = Vec::new();
        let mut replaced = BTreeSet::new();
        for name in &self.replace {
            if !own.contains_key(name.as_str()) {
                continue;
            }
            let Some(file) = self.kept().find(|file| file.name == *name) else {
                let message =
                    format!("`{}` is to be replaced, but the project has no such file", excerpt(name));
                let known = self.kept().map(|file| file.name.as_str());
                let problem = ProfileProblem::new(Kind::NoStandardsFile, "[standards] replace", 0, message);
                problems.push(problem.with_hint(known_hint(name, known)));
                continue;
            };
            replaced.insert(file.source.as_str());
            own.insert(&file.name, RuleFile { bytes: file.text.as_bytes(), source: Some(&file.source) });
        }
        own.retain(|name, _| !self.is_excluded(name));
        let added = self.kept().filter(|file| !replaced.contains(file.source.as_str())).collect();
        if problems.is_empty() { Ok(added) } else { Err(problems) }
    }

    /// Questionable settings, given these profiles: unknown names, and names that both a profile and the project have
    /// without a rule for which one counts. `profiles` maps each profile to its file names.
    pub fn warnings(&self, profiles: &BTreeMap<String, Vec<String>>) -> Vec<ProfileProblem> {
        let of_profiles: BTreeSet<&str> = profiles.values().flatten().map(String::as_str).collect();
        let of_project: BTreeSet<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let unknown = |key: &str, name: &str, known: &BTreeSet<&str>, whose: &str| {
            let message = format!("no file of {whose} is named `{}`", excerpt(name));
            let problem =
                ProfileProblem::new(Kind::NoStandardsFile, &format!("[standards] {key}"), 0, message);
            problem.with_hint(known_hint(name, known.iter().copied()))
        };
        let mut warnings = Vec::new();
        for name in &self.replace {
            if !of_profiles.contains(name.as_str()) {
                warnings.push(unknown("replace", name, &of_profiles, "a profile's standards"));
            }
            if !of_project.contains(name.as_str()) {
                warnings.push(unknown("replace", name, &of_project, "the project's standards"));
            }
        }
        let all: BTreeSet<&str> = of_profiles.union(&of_project).copied().collect();
        for name in self.exclude.iter().filter(|name| !all.contains(name.as_str())) {
            warnings.push(unknown("exclude", name, &all, "the standards"));
        }
        let is_settled = |name: &String| self.replace.contains(name) || self.exclude.contains(name);
        for file in self.files.iter().filter(|file| !is_settled(&file.name)) {
            let clashes = profiles.iter().filter(|(_, names)| names.contains(&file.name));
            for (profile, _) in clashes {
                let message =
                    format!("profile `{profile}` has a file `{}` too, and both are used", file.name);
                let problem = ProfileProblem::new(Kind::RepeatedRule, &file.source, 0, message);
                warnings.push(problem.with_hint(CLASH_HINT.to_owned()));
            }
        }
        warnings
    }
}

#[cfg(test)]
#[path = "project_standards_tests.rs"]
mod tests;
