//! Turns a manifest into the parts of a profile, and reports everything that does not fit together.
//!
//! In: the TOML text. Out: the parts that could be read, and every problem with its line. Files are not examined here;
//! whether templates and standards exist is checked where they are used.

use std::collections::{BTreeMap, BTreeSet};

use crate::apply_target::ApplyTarget;
use crate::command::{Action, Command, ListOf};
use crate::manifest_file::{
    ActionFile, CommandFile, ListOfFile, ManifestFile, ParserFile, PhaseFile, manifest_schema,
};
use crate::manifest_params::read_params;
use crate::param::{Param, ParamKind};
use crate::phase::{Phase, ReplyParser};
use crate::problem::{ProfileProblem, excerpt, known_hint, ticked};
use crate::problem_kind::ProfileProblemKind as Kind;
use crate::relative_path::path_fault;
use crate::reserved::{is_plain_name, is_reserved_profile, is_reserved_subcommand};
use crate::scope::{Layer, Scope};
use crate::shape::check_shape;
use crate::standards::StandardsConfig;
use crate::toml_document::TomlDocument;

/// The file that makes a directory a profile.
pub(crate) const MANIFEST: &str = "profile.toml";

/// A manifest whose parts fit together, as far as that can be checked without files.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) version: Option<String>,
    pub(crate) params: Vec<Param>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) phases: BTreeMap<Phase, PhaseSpec>,
    pub(crate) standards: Option<StandardsConfig>,
    pub(crate) commands: Vec<Command>,
    pub(crate) apply: ApplyTarget,
}

/// The template and the parsers of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhaseSpec {
    pub(crate) template: String,
    pub(crate) parsers: Vec<ReplyParser>,
    /// The line of the template's name in the manifest.
    pub(crate) line: usize,
}

/// Whether the tables and keys of a manifest were already checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The same bytes passed the check before.
    Checked,
    Unknown,
}

/// The maximum number of parameters of a profile.
///
/// Each is a flag of `init`, and a command line parser looks flags up one by one.
const MAX_PARAMS: usize = 1_000;
/// The maximum number of problems to list; the rest are counted.
const MAX_PROBLEMS: usize = 1_000;

/// Reads a manifest; `None` unless its shape is valid.
pub(crate) fn read_manifest(text: &str, shape: Shape) -> (Option<Manifest>, Vec<ProfileProblem>) {
    let (document, mut problems) = TomlDocument::parse(MANIFEST, text);
    if !problems.is_empty() {
        return (None, problems);
    }
    let n_params = document.n_entries("params");
    if n_params > MAX_PARAMS {
        let message = format!("it has {n_params} parameters, more than {MAX_PARAMS}");
        problems.push(document.problem(Kind::TooLarge, &["params"], message));
        return (None, problems);
    }
    if shape == Shape::Unknown {
        problems.extend(check_shape(&document, &manifest_schema()));
    }
    let file: ManifestFile = match toml::from_str(document.text()) {
        Ok(file) => file,
        Err(error) => {
            // The shape check has a better message, unless it missed something.
            if problems.is_empty() {
                let line = error.span().map_or(1, |span| document.line_of(span.start));
                let message = error.message().replace('\n', ", ");
                problems.push(ProfileProblem::new(Kind::NotToml, MANIFEST, line, message));
            }
            return (None, problems);
        }
    };
    let mut reader = Reader { document: &document, problems, n_more: 0 };
    let manifest = reader.read(file);
    let Reader { mut problems, n_more, .. } = reader;
    if n_more > 0 {
        let line = document.line_of(document.text().len());
        let message = format!("it has {n_more} more problems");
        problems.push(ProfileProblem::new(Kind::TooLarge, MANIFEST, line, message));
    }
    (Some(manifest), problems)
}

pub(crate) struct Reader<'a> {
    pub(crate) document: &'a TomlDocument<'a>,
    problems: Vec<ProfileProblem>,
    /// The number of problems that are not listed.
    n_more: usize,
}

impl Reader<'_> {
    fn read(&mut self, mut file: ManifestFile) -> Manifest {
        self.check_name(&file.name);
        if file.description.trim().is_empty() {
            self.add(Kind::NoDescription, &["description"], "the description is empty");
        }
        let layers = self.layers(&file);
        let scopes = self.scopes(&file);
        let params = read_params(self, std::mem::take(&mut file.params), &scopes);
        let phases = [
            (Phase::Planning, &file.phases.planning),
            (Phase::Generating, &file.phases.generating),
            (Phase::Reviewing, &file.phases.reviewing),
            (Phase::Revising, &file.phases.revising),
        ];
        let phases = phases.into_iter().map(|(phase, spec)| (phase, self.phase(phase, spec))).collect();
        self.check_edits(&phases, file.apply.is_some());
        let names = self.in_order("commands", file.commands.keys());
        let commands = names
            .iter()
            .filter_map(|name| self.command(name, file.commands.get(name)?, &params, &scopes, &layers))
            .collect();
        let standards = file.standards.as_ref().map(|standards| {
            let (config, problems) = StandardsConfig::read(standards, self.document, &params, &layers);
            for problem in problems {
                self.push(|| problem);
            }
            config
        });
        let apply = match ApplyTarget::read(file.apply.as_ref(), &params) {
            Ok(target) => target,
            Err((key, message, hint)) => {
                let problem = self.document.problem(Kind::BadTarget, &["apply", key], message);
                self.push(|| match hint {
                    Some(hint) => problem.with_hint(hint),
                    None => problem,
                });
                ApplyTarget::default()
            }
        };
        Manifest {
            name: file.name,
            description: file.description,
            version: file.version,
            params,
            scopes,
            layers,
            phases,
            standards,
            commands,
            apply,
        }
    }

    fn check_name(&mut self, name: &str) {
        if !is_plain_name(name) {
            self.add(Kind::BadName, &["name"], format!("`{}` cannot name a profile", excerpt(name)));
        } else if is_reserved_profile(name) {
            let message = format!("`{name}` is a command of aiwf and cannot name a profile");
            self.add(Kind::TakenName, &["name"], message);
        }
    }

    fn layers(&mut self, file: &ManifestFile) -> Vec<Layer> {
        let names = self.in_order("layers", file.layers.keys());
        for name in &names {
            self.check_plain("layers", name);
        }
        names
            .into_iter()
            .filter_map(|name| {
                let help = file.layers.get(&name)?.help.clone();
                Some(Layer { name, help })
            })
            .collect()
    }

    fn scopes(&mut self, file: &ManifestFile) -> Vec<Scope> {
        let mut scopes = Vec::new();
        for name in self.in_order("scopes", file.scopes.keys()) {
            self.check_plain("scopes", &name);
            let Some(scope) = file.scopes.get(&name) else { continue };
            let mut seen = BTreeSet::new();
            for layer in &scope.layers {
                let path = ["scopes", &name, "layers"];
                if !file.layers.contains_key(layer) {
                    self.add_hint(
                        Kind::UnknownLayer,
                        &path,
                        format!("scope `{name}` has unknown layer `{}`", excerpt(layer)),
                        || known_hint(layer, file.layers.keys().map(String::as_str)),
                    );
                } else if !seen.insert(layer) {
                    self.add(Kind::RepeatedLayer, &path, format!("scope `{name}` has layer `{layer}` twice"));
                }
            }
            if scope.layers.is_empty() {
                self.add(Kind::NoLayer, &["scopes", &name, "layers"], format!("scope `{name}` has no layer"));
            }
            scopes.push(Scope {
                help: scope.help.clone(),
                layers: scope.layers.clone(),
                rules: scope.rules.clone(),
                name,
            });
        }
        scopes
    }

    fn phase(&mut self, phase: Phase, file: &PhaseFile) -> PhaseSpec {
        let names = match &file.parser {
            ParserFile::One(name) => std::slice::from_ref(name),
            ParserFile::Several(names) => names.as_slice(),
        };
        let allowed = phase.parsers();
        let mut parsers = Vec::new();
        for name in names {
            let path = ["phases", phase.as_str(), "parser"];
            if let Some(parser) = allowed.iter().find(|parser| parser.as_str() == name) {
                parsers.push(*parser);
            } else {
                let message = format!("parser `{}` cannot read the reply of phase {phase}", excerpt(name));
                let hint = || known_hint(name, allowed.iter().map(|parser| parser.as_str()));
                self.add_hint(Kind::UnfitParser, &path, message, hint);
            }
        }
        if names.is_empty() {
            self.add(
                Kind::NoParser,
                &["phases", phase.as_str(), "parser"],
                format!("phase {phase} has no parser"),
            );
        }
        let path = ["phases", phase.as_str(), "template"];
        if let Some(fault) = path_fault(&file.template) {
            self.add(Kind::BadPath, &path, format!("template path `{}` {fault}", excerpt(&file.template)));
        }
        PhaseSpec { template: file.template.clone(), parsers, line: self.document.line(&path) }
    }

    /// A profile whose replies change the project does so in every phase that writes, at the project's own paths.
    fn check_edits(&mut self, phases: &BTreeMap<Phase, PhaseSpec>, has_target: bool) {
        let is_edit = |parser: &ReplyParser| *parser == ReplyParser::Edits;
        let writing = [Phase::Generating, Phase::Revising].into_iter().filter_map(|phase| phases.get(&phase));
        let gives_edits = writing.clone().any(|spec| spec.parsers.iter().any(is_edit));
        if gives_edits && !writing.clone().all(|spec| spec.parsers.iter().all(is_edit)) {
            let message = "parser `edits` cannot be combined with others";
            self.add(Kind::MixedParsers, &["phases"], message);
        }
        if gives_edits && has_target {
            let message = "edits have the paths of the project, so `apply` has no effect";
            self.add(Kind::UselessKey, &["apply"], message);
        }
    }

    fn command(
        &mut self,
        name: &str,
        file: &CommandFile,
        params: &[Param],
        scopes: &[Scope],
        layers: &[Layer],
    ) -> Option<Command> {
        self.check_plain("commands", name);
        if is_reserved_subcommand(name) {
            let message = format!("`{name}` is a command of every profile");
            self.add(Kind::TakenName, &["commands", name], message);
        }
        let given = [
            ("of", file.of.is_some()),
            ("schema", file.schema.is_some()),
            ("table", file.table.is_some()),
            ("tenant_columns", file.tenant_columns.is_some()),
            ("component", file.component.is_some()),
        ];
        let (action_name, allowed): (&str, &[&str]) = match file.action {
            ActionFile::Ddl => ("ddl", &["schema", "table", "tenant_columns"]),
            ActionFile::ComponentPreview => ("component-preview", &["component"]),
            ActionFile::List => ("list", &["of"]),
        };
        for (key, _) in given.into_iter().filter(|(key, is_given)| *is_given && !allowed.contains(key)) {
            let hint = || format!("remove it: the action accepts {}", ticked(allowed.iter().copied()));
            self.add_hint(
                Kind::UselessKey,
                &["commands", name, key],
                format!("action `{action_name}` does not accept `{key}`"),
                hint,
            );
        }
        let action = match file.action {
            ActionFile::Ddl => self.ddl_action(name, file, params)?,
            ActionFile::ComponentPreview => {
                let component = file.component.clone();
                self.check_param(&["commands", name, "component"], component.as_deref(), params);
                Action::ComponentPreview { component }
            }
            ActionFile::List => {
                let (of, is_empty) = match file.of {
                    Some(ListOfFile::Scopes) => (ListOf::Scopes, scopes.is_empty()),
                    Some(ListOfFile::Layers) => (ListOf::Layers, layers.is_empty()),
                    None => {
                        let message = format!("command `{name}` does not say what to list");
                        self.add(Kind::NothingToList, &["commands", name], message);
                        return None;
                    }
                };
                if is_empty {
                    let message = format!("command `{name}` lists something the profile does not have");
                    self.add(Kind::EmptyList, &["commands", name, "of"], message);
                }
                Action::List(of)
            }
        };
        Some(Command { name: name.to_owned(), help: file.help.clone(), action })
    }

    fn ddl_action(&mut self, name: &str, file: &CommandFile, params: &[Param]) -> Option<Action> {
        let Some(schema) = file.schema.clone() else {
            let message = format!("command `{name}` does not say which parameter contains the schema");
            self.add(Kind::NoSchema, &["commands", name], message);
            return None;
        };
        let path = ["commands", name, "schema"];
        self.check_param(&path, Some(&schema), params);
        let is_file = |param: &&Param| matches!(param.kind, ParamKind::File { .. });
        if params.iter().find(|param| param.name == schema).is_some_and(|param| !is_file(&param)) {
            self.add(
                Kind::SchemaNotAFile,
                &path,
                format!("parameter `{schema}` is not a file, so it cannot contain a schema"),
            );
        }
        self.check_param(&["commands", name, "table"], file.table.as_deref(), params);
        let tenant_columns = file.tenant_columns.clone().unwrap_or_else(|| vec!["tenant_id".to_owned()]);
        Some(Action::Ddl { schema, table: file.table.clone(), tenant_columns })
    }

    fn check_param(&mut self, path: &[&str], name: Option<&str>, params: &[Param]) {
        let Some(name) = name else { return };
        if !params.iter().any(|param| param.name == name) {
            let hint = || known_hint(name, params.iter().map(|param| param.name.as_str()));
            self.add_hint(
                Kind::UnknownParameter,
                path,
                format!("unknown parameter `{}`", excerpt(name)),
                hint,
            );
        }
    }

    pub(crate) fn check_plain(&mut self, table: &str, name: &str) {
        if !is_plain_name(name) {
            self.add(Kind::BadName, &[table, name], format!("`{}` is not a name", excerpt(name)));
        }
    }

    /// The keys of a table in the order of the text.
    pub(crate) fn in_order<'k>(&self, table: &str, keys: impl Iterator<Item = &'k String>) -> Vec<String> {
        let mut keys: Vec<String> = keys.cloned().collect();
        keys.sort_by_cached_key(|key| self.document.offset(&[table, key]));
        keys
    }

    pub(crate) fn add(&mut self, kind: Kind, path: &[&str], message: impl Into<String>) {
        let document = self.document;
        self.push(|| document.problem(kind, path, message));
    }

    /// Adds a problem with its own hint, which is computed only if the problem is listed.
    pub(crate) fn add_hint(
        &mut self,
        kind: Kind,
        path: &[&str],
        message: impl Into<String>,
        hint: impl FnOnce() -> String,
    ) {
        let document = self.document;
        self.push(|| document.problem(kind, path, message).with_hint(hint()));
    }

    fn push(&mut self, problem: impl FnOnce() -> ProfileProblem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem());
        } else {
            self.n_more += 1;
        }
    }
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
