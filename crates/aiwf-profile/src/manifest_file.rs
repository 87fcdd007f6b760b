//! `profile.toml` as it is written: the types behind the published JSON Schema.
//!
//! This is only the shape; `manifest` checks the values and whether they fit together.

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
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// The parameters of `init`; each is a flag and a template variable in upper case.
    #[serde(default)]
    pub(crate) params: BTreeMap<String, ParamFile>,
    /// The sizes of a session, chosen with the parameter `scope`.
    #[serde(default)]
    pub(crate) scopes: BTreeMap<String, ScopeFile>,
    /// The kinds of artifacts that scopes consist of.
    #[serde(default)]
    pub(crate) layers: BTreeMap<String, LayerFile>,
    /// The template and the parser of each phase.
    pub(crate) phases: PhasesFile,
    /// The rules that a session follows.
    #[serde(default)]
    pub(crate) standards: Option<StandardsFile>,
    /// Commands in addition to `init` and `info`.
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
    #[serde(rename = "type")]
    pub(crate) kind: ParamTypeFile,
    /// The help text of the flag.
    #[serde(default)]
    pub(crate) help: String,
    #[serde(default)]
    pub(crate) required: bool,
    /// The value if the flag is omitted.
    #[serde(default)]
    #[schemars(with = "Option<DefaultFile>")]
    pub(crate) default: Option<Value>,
    /// A regular expression that the whole value (or each item of a list) must match.
    #[serde(default)]
    pub(crate) pattern: Option<String>,
    /// What the pattern requires, in words; shown when a value does not match.
    #[serde(default)]
    pub(crate) pattern_help: Option<String>,
    /// The values of a choice, in the order shown in the help.
    #[serde(default)]
    pub(crate) choices: Option<Vec<String>>,
    /// Alternative names of choices, as `alias = "choice"`.
    #[serde(default)]
    pub(crate) aliases: BTreeMap<String, String>,
    /// For a choice: the values that each choice stands for, available in the variable that `input` names.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, SetValueFile>>")]
    pub(crate) sets: BTreeMap<String, Map<String, Value>>,
    /// The template variable with the content of a file, or with the set of a choice.
    #[serde(default)]
    pub(crate) input: Option<String>,
    /// For a boolean: the flag that means `false`.
    #[serde(default)]
    pub(crate) negation: Option<String>,
    /// For a string: whether it may have several lines; `init` then reads a value `@PATH` from that file.
    #[serde(default)]
    pub(crate) multiline: Option<bool>,
    /// For an integer: the smallest value.
    #[serde(default)]
    pub(crate) minimum: Option<i64>,
    /// For an integer: the largest value.
    #[serde(default)]
    pub(crate) maximum: Option<i64>,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ParamTypeFile {
    /// A line of text.
    String,
    /// A whole number.
    Integer,
    /// A boolean flag.
    Boolean,
    /// One of several values.
    Choice,
    /// A file of the project whose content becomes an input.
    File,
    /// Files of the project, by path or glob pattern; every prompt shows them; the flag can be repeated.
    Files,
    /// A path in the project; the file is not read.
    Path,
    /// Several lines of text; the flag can be repeated.
    List,
}

/// A default of a parameter.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "exists only for its schema")]
pub(crate) enum DefaultFile {
    Text(String),
    Integer(i64),
    Boolean(bool),
    List(Vec<String>),
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "exists only for its schema")]
pub(crate) enum SetValueFile {
    Text(String),
    Integer(i64),
    Boolean(bool),
    List(Vec<String>),
    Table(BTreeMap<String, String>),
}

/// A size of a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ScopeFile {
    /// The purpose of the scope, in one line.
    #[serde(default)]
    pub(crate) help: String,
    /// Its layers, in the order they are generated.
    pub(crate) layers: Vec<String>,
    /// For `yaml-rules`: the prefixes of the rule ids that apply to the scope; empty means all rules.
    #[serde(default)]
    pub(crate) rules: Vec<String>,
}

/// A kind of artifact that scopes consist of.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LayerFile {
    #[serde(default)]
    pub(crate) help: String,
}

/// The four phases of a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct PhasesFile {
    pub(crate) planning: PhaseFile,
    /// Writes the code of the approved plan.
    pub(crate) generating: PhaseFile,
    pub(crate) reviewing: PhaseFile,
    /// Fixes the code after a review.
    pub(crate) revising: PhaseFile,
}

/// The template and the parser of a phase.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct PhaseFile {
    /// The template of the prompt, a file of the profile.
    pub(crate) template: String,
    /// The parser of the reply, or several: the first one that finds something is used.
    pub(crate) parser: ParserFile,
}

/// One parser or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ParserFile {
    One(String),
    /// Several parsers, in the order they are tried.
    Several(Vec<String>),
}

/// The source of the rules.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct StandardsFile {
    pub(crate) provider: StandardsProviderFile,
    /// The directory of the rules in the profile; the default is `standards`.
    #[serde(default)]
    pub(crate) root: Option<String>,
    /// For `scoped-layer-fs`: the files of each layer; `_universal` applies to all scopes.
    #[serde(default)]
    pub(crate) layers: BTreeMap<String, Vec<String>>,
    /// For `scoped-layer-fs`: the files for a value of a parameter, as `"name" = [...]` or `"name=value" = [...]`.
    #[serde(default)]
    pub(crate) when: BTreeMap<String, Vec<String>>,
}

/// The format of the rules.
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
    /// The help text of the command.
    #[serde(default)]
    pub(crate) help: String,
    #[serde(default)]
    pub(crate) of: Option<ListOfFile>,
    /// For `ddl`: the file parameter with the schema.
    #[serde(default)]
    pub(crate) schema: Option<String>,
    /// For `ddl`: the parameter with the name of the table.
    #[serde(default)]
    pub(crate) table: Option<String>,
    /// For `ddl`: the columns that make a table tenant-scoped; the default is `tenant_id`.
    #[serde(default)]
    pub(crate) tenant_columns: Option<Vec<String>>,
    /// For `component-preview`: the parameter with the name of the component.
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
    Scopes,
    Layers,
}

/// Where generated files go in the project.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ApplyFile {
    /// `java-package`, `flat`, or a pattern with `{name}` or `{path}` and parameters, like `src/{component}/{name}`.
    pub(crate) target: String,
    /// The directory for `java-package` and `flat`.
    #[serde(default)]
    pub(crate) root: Option<String>,
}

/// The JSON Schema of `profile.toml`.
pub fn manifest_schema() -> Value {
    schemars::schema_for!(ManifestFile).to_value()
}
