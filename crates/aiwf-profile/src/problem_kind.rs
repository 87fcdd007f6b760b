//! The kinds of problems in the files of a profile, with advice for each.

/// Declares each kind together with its advice, so that none can lack it.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident, $advice:literal;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ProfileProblemKind {
            $($(#[$doc])* $variant,)+
        }

        impl ProfileProblemKind {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The default advice, when nothing more specific is known.
            pub fn advice(self) -> &'static str {
                match self {
                    $(Self::$variant => $advice,)+
                }
            }
        }
    };
}

kinds! {
    /// The directory has no manifest.
    NoManifest, "`aiwf profile new NAME` creates a profile to start from";
    /// A file is not text.
    NotUtf8, "save the file as UTF-8";
    TooManyFiles, "remove the files that the profile does not need";
    TooLarge, "shorten the files, or remove those that the profile does not need";
    /// A path outside the directory of the profile.
    BadPath, "use a path below the directory, with `/` as the separator";
    /// A manifest is not TOML.
    NotToml, "correct the line; strings need quotes, and a table starts with a name in brackets";
    UnknownKey, "correct the name of the key, or remove it";
    /// A required key is missing.
    MissingKey, "add the key";
    WrongType, "correct the value";
    /// A value is not one of the allowed ones.
    UnknownValue, "correct the value";
    /// The description is empty.
    NoDescription, "describe in one line what the profile makes";
    /// An invalid name.
    BadName, "use lower-case letters, digits and hyphens, starting with a letter";
    /// A name reserved by aiwf.
    TakenName, "choose another name";
    /// A key that this type or action does not accept.
    UselessKey, "remove the key";
    UnknownLayer, "name a layer of the profile";
    /// A scope has a layer twice.
    RepeatedLayer, "name each layer once";
    /// A scope without layers.
    NoLayer, "name the layers of the scope in `layers`";
    /// A parser that cannot read the replies of its phase.
    UnfitParser, "use a parser that supports the phase";
    /// Some phases reply with edits of the project, and others with whole files.
    MixedParsers, "use `parser = \"edits\"` in `generating` and `revising`, or in neither";
    /// A phase without a parser.
    NoParser, "name one in `parser`";
    /// A template that does not exist.
    NoTemplate, "create the file, or correct its name";
    EmptyTemplate, "write the instructions of the phase";
    /// A template that cannot be rendered.
    BadTemplate, "correct the template";
    /// A `list` command that does not say what to list.
    NothingToList, "add `of = \"scopes\"` or `of = \"layers\"`";
    /// A `list` command with nothing to list.
    EmptyList, "add what it lists, or remove the command";
    /// A `ddl` command without a schema parameter.
    NoSchema, "add `schema` with the name of a file parameter";
    SchemaNotAFile, "name a parameter of type `file`";
    UnknownParameter, "name a parameter of the profile";
    /// The profile has scopes, but no parameter to choose one.
    NoScopeParameter, "add `[params.scope]` with `type = \"choice\"` and a default";
    /// The parameter that chooses a scope is not a choice.
    ScopeNotAChoice, "set its `type` to `choice`";
    NoScopeDefault, "add `default` with the name of a scope, or `required = true`";
    /// A default that the parameter itself would reject.
    BadDefault, "correct `default`, or remove it";
    /// A required parameter with a default.
    DefaultOfRequired, "remove one of them";
    /// The minimum is greater than the maximum.
    MinimumOverMaximum, "swap the two, or correct one of them";
    /// A choice has sets or a variable for them, but not both.
    SetsWithoutInput, "add the other one, or remove both";
    /// A pattern that is not a regular expression.
    BadPattern, "correct `pattern`";
    /// A choice without values.
    NoChoices, "list its values in `choices`";
    /// A choice with a repeated or empty value.
    BadChoices, "write each value once; values cannot be empty";
    /// An alias that refers to nothing, or to two values.
    BadAlias, "make it refer to a value, with a name of its own";
    /// Sets of a choice that do not match its values or each other.
    BadSets, "give every value a set, and every set the same keys";
    /// Two parameters with the same flag.
    SharedFlag, "give one of them another name";
    /// A name that cannot be a template variable.
    BadVariable, "use upper-case letters, digits and `_`";
    /// A template variable with two meanings.
    SharedVariable, "give the parameter another name, or set its `input`";
    /// Standards without any files.
    NoStandards, "add `[standards.layers]` with `_universal = [\"FILE.md\"]`";
    /// A condition of standards that can never be met.
    BadCondition, "write it like `PARAMETER=VALUE`, with a boolean or a choice";
    /// A standards file that does not exist.
    NoStandardsFile, "create the file, or correct its name";
    UnknownScope, "name a scope of the profile";
    /// A target where files cannot be written.
    BadTarget, "use `java-package`, `flat`, or a path with `{name}` or `{path}`";
    /// A rule file that is not YAML.
    NotYaml, "correct the line; write rules as `JPA-001: \"C: text\"`";
    /// An entry of a rule file that is not a rule.
    NotARule, "write rules as `JPA-001: \"C: text\"`";
    /// A rule without text.
    EmptyRule, "write the text of the rule, or remove it";
    /// An unknown severity.
    BadSeverity, "use `C` for critical, `M` for major or `m` for minor";
    /// Two rules with the same id.
    RepeatedRule, "give each rule its own id";
    /// No rules where rules are expected.
    NoRules, "write rules as `JPA-001: \"C: text\"` in a `*.rules.yml` file";
    NoRulesForScope, "check `rules` of the scope in `profile.toml`";
}

#[cfg(test)]
#[path = "problem_kind_tests.rs"]
mod tests;
