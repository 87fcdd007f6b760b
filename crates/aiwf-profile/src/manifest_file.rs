//! `profile.toml` as it is written: the types behind the published JSON Schema.
//!
//! Only the shape is here; what the values mean and whether they fit together is checked in `manifest`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The manifest of an aiwf profile, `profile.toml`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[schemars(title = "profile.toml")]
pub(crate) struct ManifestFile {
    /// The profile's name and the name of its command: lower case letters, digits and hyphens.
    pub(crate) name: String,
    /// What the profile makes, in one line.
    pub(crate) description: String,
    /// The profile's own version.
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// The parameters of `init`; each is a flag and a template variable in upper case.
    #[serde(default)]
    pub(crate) params: BTreeMap<String, ParamFile>,
    /// How much a session makes; chosen by the parameter `scope`.
    #[serde(default)]
    pub(crate) scopes: BTreeMap<String, ScopeFile>,
    /// The kinds of things that scopes are made of.
    #[serde(default)]
    pub(crate) layers: BTreeMap<String, LayerFile>,
    /// What each phase asks and how its reply is read.
    pub(crate) phases: PhasesFile,
    /// The rules that a session follows.
    #[serde(default)]
    pub(crate) standards: Option<StandardsFile>,
    /// Commands beside `init` and `info`.
    #[serde(default)]
    pub(crate) commands: BTreeMap<String, CommandFile>,
    /// Where generated files go in the project.
    #[serde(default)]
    pub(crate) apply: Option<ApplyFile>,
}

/// A parameter of `init`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ParamFile {
    /// The kind of value.
    #[serde(rename = "type")]
    pub(crate) kind: ParamTypeFile,
    /// What the flag's help says.
    #[serde(default)]
    pub(crate) help: String,
    /// Whether a session cannot start without it.
    #[serde(default)]
    pub(crate) required: bool,
    /// The value when the flag is not given.
    #[serde(default)]
    #[schemars(with = "Option<DefaultFile>")]
    pub(crate) default: Option<Value>,
    /// A regular expression that the whole value (or each item of a list) must match.
    #[serde(default)]
    pub(crate) pattern: Option<String>,
    /// What the pattern asks for, in words; shown when a value does not match.
    #[serde(default)]
    pub(crate) pattern_help: Option<String>,
    /// The values of a choice, in the order that help lists them.
    #[serde(default)]
    pub(crate) choices: Option<Vec<String>>,
    /// Other names of choices, as `alias = "choice"`.
    #[serde(default)]
    pub(crate) aliases: BTreeMap<String, String>,
    /// For a choice: values that each choice stands for, held by the variable that `input` names.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, SetValueFile>>")]
    pub(crate) sets: BTreeMap<String, Map<String, Value>>,
    /// The template variable that holds the content of a file, or the set of a choice.
    #[serde(default)]
    pub(crate) input: Option<String>,
    /// For a boolean: the flag that means `false`.
    #[serde(default)]
    pub(crate) negation: Option<String>,
    /// For an integer: the smallest value.
    #[serde(default)]
    pub(crate) minimum: Option<i64>,
    /// For an integer: the largest value.
    #[serde(default)]
    pub(crate) maximum: Option<i64>,
}

/// The kind of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ParamTypeFile {
    /// A line of text.
    String,
    /// A whole number.
    Integer,
    /// A switch.
    Boolean,
    /// One of several names.
    Choice,
    /// A file of the project whose content becomes an input.
    File,
    /// A path in the project that is not read.
    Path,
    /// Several lines of text; the flag may be repeated.
    List,
}

/// A value of a parameter.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum DefaultFile {
    Text(String),
    Integer(i64),
    Boolean(bool),
    List(Vec<String>),
}

/// A value of a set.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum SetValueFile {
    Text(String),
    Integer(i64),
    Boolean(bool),
    List(Vec<String>),
    Table(BTreeMap<String, String>),
}

/// How much a session makes.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ScopeFile {
    /// What the scope is for, in one line.
    #[serde(default)]
    pub(crate) help: String,
    /// Its layers, in the order they are made.
    pub(crate) layers: Vec<String>,
    /// For `yaml-rules`: what the ids of the scope's rules start with; none means all rules.
    #[serde(default)]
    pub(crate) rules: Vec<String>,
}

/// A kind of thing that scopes are made of.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LayerFile {
    /// What the layer is, in one line.
    #[serde(default)]
    pub(crate) help: String,
}

/// The four phases of a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct PhasesFile {
    /// Makes a plan.
    pub(crate) planning: PhaseFile,
    /// Writes the code of the approved plan.
    pub(crate) generating: PhaseFile,
    /// Judges the code.
    pub(crate) reviewing: PhaseFile,
    /// Mends the code after a review.
    pub(crate) revising: PhaseFile,
}

/// What a phase asks and how its reply is read.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct PhaseFile {
    /// The template of the prompt, a file of the profile.
    pub(crate) template: String,
    /// The parser of the reply, or several: the first that finds something counts.
    pub(crate) parser: ParserFile,
}

/// One parser or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ParserFile {
    /// One parser.
    One(String),
    /// Several parsers, in the order they are tried.
    Several(Vec<String>),
}

/// Where rules come from.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct StandardsFile {
    /// How rules are kept.
    pub(crate) provider: StandardsProviderFile,
    /// The directory of the rules in the profile; `standards` unless said otherwise.
    #[serde(default)]
    pub(crate) root: Option<String>,
    /// For `scoped-layer-fs`: the files of each layer; `_universal` is for all scopes.
    #[serde(default)]
    pub(crate) layers: BTreeMap<String, Vec<String>>,
    /// For `scoped-layer-fs`: the files for a value of a parameter, as `"name" = [...]` or `"name=value" = [...]`.
    #[serde(default)]
    pub(crate) when: BTreeMap<String, Vec<String>>,
}

/// How rules are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StandardsProviderFile {
    /// Text files by layer.
    ScopedLayerFs,
    /// Rules with ids and severities in `*.rules.yml`.
    YamlRules,
}

/// A command of the profile.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct CommandFile {
    /// The shared action that the command runs.
    pub(crate) action: ActionFile,
    /// What the command's help says.
    #[serde(default)]
    pub(crate) help: String,
    /// For `list`: what is listed.
    #[serde(default)]
    pub(crate) of: Option<ListOfFile>,
    /// For `ddl`: the file parameter that holds the schema.
    #[serde(default)]
    pub(crate) schema: Option<String>,
    /// For `ddl`: the parameter that names the table.
    #[serde(default)]
    pub(crate) table: Option<String>,
    /// For `ddl`: the columns that make a table tenant-scoped; `tenant_id` unless said otherwise.
    #[serde(default)]
    pub(crate) tenant_columns: Option<Vec<String>>,
    /// For `component-preview`: the parameter that names the component.
    #[serde(default)]
    pub(crate) component: Option<String>,
}

/// The shared actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ActionFile {
    /// Reads the schema's DDL: tables, columns, keys, tenancy.
    Ddl,
    /// Shows the generated component and its props.
    ComponentPreview,
    /// Lists scopes or layers.
    List,
}

/// What the action `list` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ListOfFile {
    /// The scopes.
    Scopes,
    /// The layers.
    Layers,
}

/// Where generated files go in the project.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ApplyFile {
    /// `java-package`, `flat`, or a pattern with `{name}` or `{path}` and parameters, like `src/{component}/{name}`.
    pub(crate) target: String,
    /// The directory below which `java-package` and `flat` put files.
    #[serde(default)]
    pub(crate) root: Option<String>,
}

/// The JSON Schema of `profile.toml`.
pub fn manifest_schema() -> Value {
    schemars::schema_for!(ManifestFile).to_value()
}
