//! The rules of a session, as one text: the standards bundle.
//!
//! In: the settings of the manifest, the session's values, and the rule files of the profile or the project. Out: the
//! bundle, or every reason why there is none. The engine stores the bundle; it is not built again.

mod scoped_layers;
mod yaml_rules;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::manifest::MANIFEST;
use crate::manifest_file::{StandardsFile, StandardsProviderFile};
use crate::manifest_params::SCOPE;
use crate::param::{Param, ParamKind};
use crate::problem::{ProfileProblem, excerpt, known_hint};
use crate::problem_kind::ProfileProblemKind as Kind;
use crate::project_standards::{ProjectRule, ProjectStandards};
use crate::relative_path::path_fault;
use crate::scope::{Layer, Scope};
use crate::toml_document::TomlDocument;

/// The key for the files of all scopes in `scoped-layer-fs`.
const UNIVERSAL: &str = "_universal";

/// Rule files by their path below the standards directory.
pub(crate) type RuleFiles<'a> = BTreeMap<&'a str, RuleFile<'a>>;

/// A rule file of a profile, or the project file that replaces it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleFile<'a> {
    pub(crate) bytes: &'a [u8],
    /// Its location in the project; `None` for the profile's own files.
    pub(crate) source: Option<&'a str>,
}

/// The source of a profile's rules.
#[derive(Clone, Debug)]
pub(crate) struct StandardsConfig {
    pub(crate) root: String,
    pub(crate) line: usize,
    provider: Provider,
}

#[derive(Clone, Debug)]
enum Provider {
    ScopedLayerFs { layers: BTreeMap<String, Vec<String>>, when: Vec<Condition> },
    YamlRules,
}

/// Files that apply only to one value of a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    key: String,
    value: Value,
    files: Vec<String>,
}

impl StandardsConfig {
    pub(crate) fn read(
        file: &StandardsFile,
        document: &TomlDocument<'_>,
        params: &[Param],
        layers: &[Layer],
    ) -> (Self, Vec<ProfileProblem>) {
        let mut problems = Vec::new();
        let root = file.root.clone().unwrap_or_else(|| "standards".to_owned());
        if let Some(fault) = path_fault(&root) {
            let message = format!("path `{}` {fault}", excerpt(&root));
            problems.push(document.problem(Kind::BadPath, &["standards", "root"], message));
        }
        let provider = match file.provider {
            StandardsProviderFile::YamlRules => {
                for (key, is_given) in [("layers", !file.layers.is_empty()), ("when", !file.when.is_empty())]
                {
                    if is_given {
                        let message = format!("provider `yaml-rules` does not accept `{key}`");
                        problems.push(document.problem(Kind::UselessKey, &["standards", key], message));
                    }
                }
                Provider::YamlRules
            }
            StandardsProviderFile::ScopedLayerFs => {
                for name in file.layers.keys().filter(|name| *name != UNIVERSAL) {
                    if !layers.iter().any(|layer| layer.name == **name) {
                        let known = layers.iter().map(|layer| layer.name.as_str()).chain([UNIVERSAL]);
                        let message = format!("standards for unknown layer `{}`", excerpt(name));
                        let problem =
                            document.problem(Kind::UnknownLayer, &["standards", "layers", name], message);
                        problems.push(problem.with_hint(known_hint(name, known)));
                    }
                }
                if file.layers.is_empty() && file.when.is_empty() {
                    let message = "provider `scoped-layer-fs` needs `layers`";
                    problems.push(document.problem(Kind::NoStandards, &["standards"], message));
                }
                let mut when = Vec::new();
                for (condition, files) in &file.when {
                    match Condition::read(condition, files, params) {
                        Ok(condition) => when.push(condition),
                        Err((message, hint)) => {
                            let path = ["standards", "when", condition];
                            let problem = document.problem(Kind::BadCondition, &path, message);
                            problems.push(match hint {
                                Some(hint) => problem.with_hint(hint),
                                None => problem,
                            });
                        }
                    }
                }
                for (name, files) in file.layers.iter().chain(&file.when) {
                    for path in files {
                        if let Some(fault) = path_fault(path) {
                            let message = format!("path `{}` of `{}` {fault}", excerpt(path), excerpt(name));
                            let path = ["standards", "layers", name];
                            problems.push(document.problem(Kind::BadPath, &path, message));
                        }
                    }
                }
                Provider::ScopedLayerFs { layers: file.layers.clone(), when }
            }
        };
        (Self { root, line: document.line(&["standards"]), provider }, problems)
    }

    /// Reports problems of rule files that do not depend on the scope.
    pub(crate) fn check(&self, files: &RuleFiles<'_>) -> Vec<ProfileProblem> {
        match &self.provider {
            Provider::ScopedLayerFs { layers, when } => {
                let named = layers.values().chain(when.iter().map(|condition| &condition.files)).flatten();
                scoped_layers::check(named, files, &self.root, self.line)
            }
            Provider::YamlRules => match yaml_rules::read_rules(files, &[], &self.root) {
                Ok(_) => Vec::new(),
                Err(problems) => problems,
            },
        }
    }

    /// Builds the bundle for a session's values: the profile's files, then the project's additions.
    pub(crate) fn bundle<'a>(
        &self,
        context: &Map<String, Value>,
        scopes: &[Scope],
        mut files: RuleFiles<'a>,
        project: &'a ProjectStandards,
    ) -> Result<String, Vec<ProfileProblem>> {
        let scope = chosen_scope(context, scopes).map_err(|problem| vec![problem])?;
        let root = self.root.as_str();
        let added = project.merge(&mut files)?;
        match &self.provider {
            Provider::ScopedLayerFs { layers, when } => {
                let chosen = when
                    .iter()
                    .filter(|condition| condition.is_met(context))
                    .flat_map(|condition| &condition.files)
                    .filter(|name| !project.is_excluded(name));
                let layers = layers
                    .iter()
                    .map(|(layer, names)| {
                        let kept = names.iter().filter(|name| !project.is_excluded(name)).cloned();
                        (layer.clone(), kept.collect())
                    })
                    .collect();
                let bundle = scoped_layers::bundle(scope, &layers, chosen, &files, root, self.line)?;
                Ok(bundle + &project_texts(&added))
            }
            Provider::YamlRules => {
                let (rules, texts): (Vec<_>, Vec<_>) =
                    added.into_iter().partition(|file| yaml_rules::is_rule_file(&file.name));
                let is_mixed = !project.is_empty();
                let bundle = yaml_rules::bundle(scope, scopes, &files, &rules, root, is_mixed)?;
                let texts = project_texts(&texts);
                Ok(if texts.is_empty() { bundle } else { format!("{bundle}\n{texts}") })
            }
        }
    }
}

/// The project's files, each below its source.
pub(crate) fn project_texts(files: &[&ProjectRule]) -> String {
    files.iter().fold(String::new(), |mut bundle, file| {
        let end = if file.text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(bundle, "--- {} ---\n{}{end}", file.source, file.text);
        bundle
    })
}

/// The scope in the context; `None` if the profile has no scopes.
fn chosen_scope<'a>(
    context: &Map<String, Value>,
    scopes: &'a [Scope],
) -> Result<Option<&'a Scope>, ProfileProblem> {
    if scopes.is_empty() {
        return Ok(None);
    }
    let name = context.get(SCOPE).and_then(Value::as_str).unwrap_or_default();
    scopes.iter().find(|scope| scope.name == name).map(Some).ok_or_else(|| {
        let hint = known_hint(name, scopes.iter().map(|scope| scope.name.as_str()));
        let message = format!("unknown scope `{}`", excerpt(name));
        ProfileProblem::new(Kind::UnknownScope, MANIFEST, 0, message).with_hint(hint)
    })
}

impl Condition {
    /// Reads `name`, `name=true` or `name=value`.
    fn read(text: &str, files: &[String], params: &[Param]) -> Result<Self, (String, Option<String>)> {
        let (name, value) = text.split_once('=').unwrap_or((text, "true"));
        let Some(param) = params.iter().find(|param| param.name == name) else {
            let known = params.iter().map(|param| param.name.as_str());
            return Err((format!("unknown parameter `{}`", excerpt(name)), Some(known_hint(name, known))));
        };
        if !matches!(param.kind, ParamKind::Boolean { .. } | ParamKind::Choice { .. }) {
            return Err((format!("parameter `{name}` is neither a boolean nor a choice"), None));
        }
        let value = param
            .read(&Value::String(value.to_owned()))
            .map_err(|fault| (format!("value of `{name}` {}", fault.message), fault.hint))?;
        Ok(Self { key: param.key(), value, files: files.to_vec() })
    }

    fn is_met(&self, context: &Map<String, Value>) -> bool {
        context.get(&self.key) == Some(&self.value)
    }
}

#[cfg(test)]
#[path = "standards_tests.rs"]
mod tests;
