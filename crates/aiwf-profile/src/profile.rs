//! A profile: loaded from files, checked as a whole, then used for prompts, rules and parsing of replies.
//!
//! In: the files of a profile's directory. Out: values. Nothing here reads or writes a file. A profile is data, so it
//! can do nothing that this crate does not do.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aiwf_prompt::{
    Sha256Hex, TemplateError, TemplateSource, check_template, check_template_here, render_template,
    render_template_here, template_fault,
};
use serde_json::{Map, Value};

use crate::apply_target::ApplyProblem;
use crate::built_in::is_built_in;
use crate::command::{Command, ListOf, ListRow, list};
use crate::context::{
    MatchedFile, ReadFile, Settled, WantedFile, WantedPatterns, settle, variable_names, variables,
    wanted_files, wanted_patterns,
};
use crate::lint::{Finding, lint};
use crate::manifest::{MANIFEST, Manifest, Shape, read_manifest};
use crate::param::{Param, ParamProblem};
use crate::phase::{Phase, PhaseReply, ReplyParser, read_reply};
use crate::problem::{ProfileError, ProfileProblem, StandardsError, excerpt, known_hint};
use crate::problem_kind::ProfileProblemKind as Kind;
use crate::project_standards::ProjectStandards;
use crate::relative_path::path_fault;
use crate::scope::{Layer, Scope};
use crate::standards::{RuleFile, RuleFiles, project_texts};

/// The files of a profile, or of a project's standards, by their path below its directory, with `/`.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The maximum number of files of a profile.
pub const MAX_FILES: usize = 500;
/// Size limit of one file, in bytes.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;
/// Size limit of all files together, in bytes.
pub(crate) const MAX_PROFILE_BYTES: usize = 16 * 1024 * 1024;

/// A profile without problems.
#[derive(Clone, Debug)]
pub struct Profile {
    manifest: Manifest,
    files: Files,
    hash: Sha256Hex,
    /// Whether it is exactly a profile that ships with aiwf.
    is_shipped: bool,
}

impl Profile {
    /// Loads a profile from the files of its directory; the error contains every problem.
    pub fn load(files: Files) -> Result<Self, ProfileError> {
        Self::load_unless_checked(files, None)
    }

    /// Loads a profile that was valid when its files had the hash `checked`; if they still do, they are not checked
    /// again.
    ///
    /// Every command of a session loads its profile, and checking all templates and rules is most of the cost.
    pub fn load_again(files: Files, checked: &str) -> Result<Self, ProfileError> {
        Self::load_unless_checked(files, Some(checked))
    }

    fn load_unless_checked(files: Files, checked: Option<&str>) -> Result<Self, ProfileError> {
        let problems = check_sizes(&files);
        if !problems.is_empty() {
            return Err(ProfileError::new(None, problems));
        }
        let Some(bytes) = files.get(MANIFEST) else {
            let message = "there is no `profile.toml`";
            return Err(ProfileError::new(
                None,
                vec![ProfileProblem::new(Kind::NoManifest, MANIFEST, 0, message)],
            ));
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(ProfileError::new(
                None,
                vec![ProfileProblem::new(Kind::NotUtf8, MANIFEST, 0, "not UTF-8 text")],
            ));
        };
        let hash = hash_of(&files);
        let is_checked = checked == Some(hash.to_string().as_str());
        let shape = if is_checked { Shape::Checked } else { Shape::Unknown };
        let (manifest, mut problems) = read_manifest(text, shape);
        let Some(manifest) = manifest else { return Err(ProfileError::new(None, problems)) };
        let is_shipped = is_built_in(&manifest.name, &files);
        let profile = Self { manifest, files, hash, is_shipped };
        if !is_checked {
            profile.check_templates(&mut problems);
            if let Some(standards) = &profile.manifest.standards {
                problems.extend(standards.check(&below(&profile.files, &standards.root)));
            }
        }
        if problems.is_empty() {
            Ok(profile)
        } else {
            Err(ProfileError::new(Some(profile.manifest.name), problems))
        }
    }

    /// The text of a file of the profile; `None` if it is missing or not text.
    pub fn file_text(&self, path: &str) -> Option<&str> {
        self.files.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// The name, which is also the name of its command.
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    pub fn description(&self) -> &str {
        &self.manifest.description
    }

    pub fn version(&self) -> Option<&str> {
        self.manifest.version.as_deref()
    }

    /// The parameters of `init`, in the order of the manifest.
    pub fn params(&self) -> &[Param] {
        &self.manifest.params
    }

    /// The scopes, in the order of the manifest.
    pub fn scopes(&self) -> &[Scope] {
        &self.manifest.scopes
    }

    /// The layers, in the order of the manifest.
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.manifest.layers
    }

    /// The commands in addition to `init` and `info`, in the order of the manifest.
    pub fn commands(&self) -> &[Command] {
        &self.manifest.commands
    }

    /// The template of a phase: its path in the profile and its text.
    pub(crate) fn template(&self, phase: Phase) -> (&str, &str) {
        let path = self.manifest.phases.get(&phase).map_or("", |spec| spec.template.as_str());
        (path, self.text(path))
    }

    /// The parsers of a phase's reply, in the order they are tried.
    pub(crate) fn parsers(&self, phase: Phase) -> &[ReplyParser] {
        self.manifest.phases.get(&phase).map_or(&[], |spec| spec.parsers.as_slice())
    }

    /// The files that the profile was loaded from.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The files of a copy with another name.
    pub fn renamed(&self, name: &str) -> Files {
        let mut files = self.files.clone();
        // Only the first key of this name, outside of any table, is the profile's own.
        let is_name = |line: &&str| line.split_once('=').is_some_and(|(key, _)| key.trim() == "name");
        let manifest = self.text(MANIFEST);
        let mut is_renamed = false;
        let lines = manifest.lines().map(|line| {
            if is_renamed || !is_name(&line) {
                return format!("{line}\n");
            }
            is_renamed = true;
            format!("name = \"{name}\"\n")
        });
        let renamed: String = lines.collect();
        files.insert(MANIFEST.to_owned(), renamed.into_bytes());
        files
    }

    /// SHA-256 of all files, including their paths.
    pub fn hash(&self) -> Sha256Hex {
        self.hash
    }

    /// The variables that templates may use, sorted.
    pub(crate) fn variable_names(&self) -> Vec<String> {
        variable_names(self.params(), self.scopes())
    }

    /// The files to read before [`Profile::settle`], including defaults.
    ///
    /// `given` maps parameter names or keys to JSON values or flag texts.
    pub fn wanted_files(&self, given: &Map<String, Value>) -> Vec<WantedFile> {
        wanted_files(self.params(), given)
    }

    /// The patterns of project files to expand before [`Profile::settle`], including defaults.
    pub fn wanted_patterns(&self, given: &Map<String, Value>) -> Vec<WantedPatterns> {
        wanted_patterns(self.params(), given)
    }

    /// Turns the arguments of `init` into a session's context and inputs; the error contains every problem.
    ///
    /// `files` maps the key of each of [`Profile::wanted_files`] to the result of reading it, `matched` the key of each
    /// of [`Profile::wanted_patterns`] to the files that were found.
    pub fn settle(
        &self,
        given: &Map<String, Value>,
        files: &BTreeMap<String, ReadFile>,
        matched: &BTreeMap<String, Vec<MatchedFile>>,
    ) -> Result<Settled, Vec<ParamProblem>> {
        settle(self.params(), given, files, matched)
    }

    /// Whether the reply of a phase changes files of the project with edits, instead of giving whole files.
    pub fn gives_edits(&self, phase: Phase) -> bool {
        self.parsers(phase).contains(&ReplyParser::Edits)
    }

    /// The domain prompt of a phase.
    ///
    /// It does not contain plan, rules, code or review: the engine adds those around it.
    pub fn prompt(
        &self,
        phase: Phase,
        context: &Map<String, Value>,
        inputs: &BTreeMap<String, String>,
    ) -> Result<String, TemplateError> {
        let variables = variables(self.params(), self.scopes(), context, inputs);
        self.render_template(&self.template_source(phase), &variables)
    }

    /// Renders a template of this profile; only shipped profiles are trusted.
    pub(crate) fn render_template(
        &self,
        template: &TemplateSource,
        variables: &BTreeMap<String, Value>,
    ) -> Result<String, TemplateError> {
        if self.is_shipped {
            render_template_here(template, variables)
        } else {
            render_template(template, variables)
        }
    }

    pub(crate) fn check_template(
        &self,
        template: &TemplateSource,
        defined: &[&str],
    ) -> Result<(), Vec<TemplateError>> {
        if self.is_shipped {
            check_template_here(template, defined)
        } else {
            check_template(template, defined)
        }
    }

    pub fn read(&self, phase: Phase, reply: &str) -> PhaseReply {
        read_reply(self.parsers(phase), reply)
    }

    /// The rules of a session as one text; `None` if the profile has none.
    ///
    /// It reflects what the project adds, replaces and excludes; every file of the project is labelled with its source.
    pub fn standards(
        &self,
        context: &Map<String, Value>,
        project: &ProjectStandards,
    ) -> Result<Option<String>, StandardsError> {
        let bundle = if let Some(standards) = &self.manifest.standards {
            let files = below(&self.files, &standards.root);
            standards.bundle(context, self.scopes(), files, project).map_err(StandardsError::new)?
        } else {
            let added = project.merge(&mut RuleFiles::new()).map_err(StandardsError::new)?;
            project_texts(&added)
        };
        Ok(Some(bundle).filter(|bundle| self.manifest.standards.is_some() || !bundle.is_empty()))
    }

    /// The names of the standards' files, for `[standards] replace` and `exclude` of a project.
    pub fn standards_files(&self) -> Vec<String> {
        let standards = self.manifest.standards.as_ref();
        standards.map_or_else(Vec::new, |standards| {
            below(&self.files, &standards.root).into_keys().map(str::to_owned).collect()
        })
    }

    /// The path in the project of each generated file, in the given order; the error contains every problem.
    pub fn apply_paths(
        &self,
        files: &[(&str, &str)],
        context: &Map<String, Value>,
    ) -> Result<Vec<String>, Vec<ApplyProblem>> {
        self.manifest.apply.paths(files, context)
    }

    /// The rows of the action `list`.
    pub fn list(&self, of: ListOf) -> Vec<ListRow> {
        list(self.scopes(), self.layers(), of)
    }

    /// Questionable parts of a valid profile: engine concerns in templates, and unused parts.
    pub fn lint(&self) -> Vec<Finding> {
        lint(self)
    }

    pub(crate) fn template_source(&self, phase: Phase) -> TemplateSource {
        let (path, text) = self.template(phase);
        TemplateSource { name: format!("{}/{path}", self.name()), text: text.to_owned() }
    }

    pub(crate) fn text(&self, path: &str) -> &str {
        self.files.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn check_templates(&self, problems: &mut Vec<ProfileProblem>) {
        let names = self.variable_names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for (phase, spec) in &self.manifest.phases {
            let path = spec.template.as_str();
            let Some(bytes) = self.files.get(path) else {
                if path_fault(path).is_none() {
                    let message = format!("template `{}` of phase {phase} does not exist", excerpt(path));
                    let known = self.files.keys().map(String::as_str).filter(|path| *path != MANIFEST);
                    let problem = ProfileProblem::new(Kind::NoTemplate, MANIFEST, spec.line, message);
                    problems.push(problem.with_hint(known_hint(path, known)));
                }
                continue;
            };
            let Ok(text) = std::str::from_utf8(bytes) else {
                problems.push(ProfileProblem::new(Kind::NotUtf8, path, 0, "not UTF-8 text"));
                continue;
            };
            if text.trim().is_empty() {
                problems.push(ProfileProblem::new(Kind::EmptyTemplate, path, 1, "the template is empty"));
            }
            if let Some((line, message)) = template_fault(text) {
                problems.push(ProfileProblem::new(Kind::BadTemplate, path, line, message));
                continue;
            }
            let template = TemplateSource { name: path.to_owned(), text: text.to_owned() };
            if let Err(errors) = self.check_template(&template, &names) {
                problems.extend(errors.iter().map(|error| template_problem(path, error)));
            }
        }
    }
}

/// A template's error as a problem of its file.
pub(crate) fn template_problem(path: &str, error: &TemplateError) -> ProfileProblem {
    let (line, message) = match error {
        TemplateError::UndefinedVariable { variable, place, .. } => {
            (place.line, format!("variable `{}` does not exist", excerpt(variable)))
        }
        TemplateError::Invalid { message, place } => (place.line, format!("not a template: {message}")),
        TemplateError::TooManySteps { .. }
        | TemplateError::TooLarge { .. }
        | TemplateError::TooMuchMemory { .. }
        | TemplateError::TooSlow { .. }
        | TemplateError::NoHost { .. } => (0, error.to_string()),
    };
    let problem = ProfileProblem::new(Kind::BadTemplate, path, line, message);
    match error.hint() {
        // The hint about syntax is meant for templates outside of profiles.
        Some(hint) if !matches!(error, TemplateError::Invalid { .. }) => problem.with_hint(hint),
        _ => problem,
    }
}

fn check_sizes(files: &Files) -> Vec<ProfileProblem> {
    let mut problems = Vec::new();
    if files.len() > MAX_FILES {
        let message = format!("the profile has {} files, more than {MAX_FILES}", files.len());
        problems.push(ProfileProblem::new(Kind::TooManyFiles, MANIFEST, 0, message));
    }
    let n_bytes: usize = files.values().map(Vec::len).sum();
    if n_bytes > MAX_PROFILE_BYTES {
        let message = format!("the profile has {n_bytes} bytes, more than {MAX_PROFILE_BYTES}");
        problems.push(ProfileProblem::new(Kind::TooLarge, MANIFEST, 0, message));
    }
    for (path, bytes) in files {
        if let Some(fault) = path_fault(path) {
            let message = format!("path `{}` {fault}", excerpt(path));
            problems.push(ProfileProblem::new(Kind::BadPath, MANIFEST, 0, message));
        }
        if bytes.len() > MAX_FILE_BYTES {
            let message = format!("the file has {} bytes, more than {MAX_FILE_BYTES}", bytes.len());
            problems.push(ProfileProblem::new(Kind::TooLarge, path, 0, message));
        }
    }
    problems
}

/// The files below a directory, by the rest of their path.
fn below<'a>(files: &'a Files, root: &str) -> RuleFiles<'a> {
    files
        .iter()
        .filter_map(|(path, bytes)| {
            let rest = path.strip_prefix(root)?.strip_prefix('/')?;
            Some((rest, RuleFile { bytes: bytes.as_slice(), source: None }))
        })
        .collect()
}

/// Hashes paths and contents; the lengths separate one file from the next.
fn hash_of(files: &Files) -> Sha256Hex {
    let mut listing = String::new();
    for (path, bytes) in files {
        let _ = writeln!(listing, "{} {} {path}", Sha256Hex::of_bytes(bytes), path.len());
    }
    Sha256Hex::of([listing.as_str()])
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
