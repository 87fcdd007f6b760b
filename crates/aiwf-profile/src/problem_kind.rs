//! The kinds of problems that files of a profile can have, and what to do about each.

/// Makes the kinds and what to do about each, so that none can be without.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident, $advice:literal;)+) => {
        /// What kind of problem it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ProfileProblemKind {
            $($(#[$doc])* $variant,)+
        }

        impl ProfileProblemKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// What to do about it, when nothing more is known.
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
    NoManifest, "`aiwf profile new NAME` writes a profile to begin with";
    /// A file is not text.
    NotUtf8, "save the file as UTF-8";
    /// There are more files than a profile may have.
    TooManyFiles, "remove the files that the profile does not need";
    /// Files are larger than those of a profile may be.
    TooLarge, "shorten the files, or remove those that the profile does not need";
    /// A path that is not below the directory of the profile.
    BadPath, "name a path below the directory, with `/` between its names";
    /// A manifest is not TOML.
    NotToml, "correct the line; texts stand in quotes, tables begin with a name in brackets";
    /// A key that there is not.
    UnknownKey, "correct the name of the key, or remove it";
    /// A key that has to be there.
    MissingKey, "add the key";
    /// A value of another type.
    WrongType, "correct the value";
    /// A value that is none of those there are.
    UnknownValue, "correct the value";
    /// The profile says nothing about itself.
    NoDescription, "say in one line what the profile makes";
    /// A name that cannot be one.
    BadName, "use lower case letters, digits and hyphens, a letter first";
    /// A name that is taken by aiwf itself.
    TakenName, "choose another name";
    /// A key that the type or action beside it does not take.
    UselessKey, "remove the key";
    /// A layer that there is not.
    UnknownLayer, "name a layer of the profile";
    /// A scope has a layer twice.
    RepeatedLayer, "name each layer once";
    /// A scope has no layer.
    NoLayer, "name the layers of the scope in `layers`";
    /// A parser that cannot read the replies of its phase.
    UnfitParser, "name a parser that the phase can use";
    /// A phase has no parser.
    NoParser, "name one in `parser`";
    /// A template that there is not.
    NoTemplate, "write the file, or correct its name";
    /// A template without a word.
    EmptyTemplate, "write what the phase asks for";
    /// A template that cannot be rendered.
    BadTemplate, "correct the template";
    /// A command lists something, and does not say what.
    NothingToList, "add `of = \"scopes\"` or `of = \"layers\"`";
    /// A command lists what there is none of.
    EmptyList, "add what it lists, or remove the command";
    /// A command reads a schema, and does not say which.
    NoSchema, "add `schema` with the name of a file parameter";
    /// A command reads a schema from a parameter that is no file.
    SchemaNotAFile, "name a parameter of type `file`";
    /// A parameter that there is not.
    UnknownParameter, "name a parameter of the profile";
    /// The profile has scopes, and nothing to choose one with.
    NoScopeParameter, "add `[params.scope]` with `type = \"choice\"` and a default";
    /// The parameter that chooses a scope is not a choice.
    ScopeNotAChoice, "set its `type` to `choice`";
    /// No scope is chosen when none is given.
    NoScopeDefault, "add `default` with the name of a scope, or `required = true`";
    /// A default that the parameter itself would refuse.
    BadDefault, "correct `default`, or leave it out";
    /// A parameter must be given and has a default.
    DefaultOfRequired, "leave one of them out";
    /// The least value is more than the most.
    MinimumOverMaximum, "swap the two, or correct one of them";
    /// A choice has sets or a variable for them, but not both.
    SetsWithoutInput, "add the other one, or leave both out";
    /// A pattern is not a regular expression.
    BadPattern, "correct `pattern`";
    /// A choice has nothing to choose from.
    NoChoices, "list its values in `choices`";
    /// A choice has a value twice, or an empty one.
    BadChoices, "give each value once, with a name";
    /// An alias stands for nothing, or for two things.
    BadAlias, "let it stand for a value, under another name";
    /// Sets of a choice do not fit its values or each other.
    BadSets, "give every value a set, and every set the same keys";
    /// Two parameters have one flag.
    SharedFlag, "give one of them another name";
    /// A name that no variable of templates can have.
    BadVariable, "use upper case letters, digits and `_`";
    /// A variable of templates has two meanings.
    SharedVariable, "give the parameter another name, or set its `input`";
    /// Standards without anything to make them of.
    NoStandards, "add `[standards.layers]` with `_universal = [\"FILE.md\"]`";
    /// A condition of standards that can never be met.
    BadCondition, "write it like `PARAMETER=VALUE`, with a boolean or a choice";
    /// A file of the standards that there is not.
    NoStandardsFile, "write the file, or correct its name";
    /// A scope that there is not.
    UnknownScope, "name a scope of the profile";
    /// A target that files cannot be put at.
    BadTarget, "use `java-package`, `flat`, or a path with `{name}` or `{path}`";
    /// A file of rules is not YAML.
    NotYaml, "correct the line; write rules as `JPA-001: \"C: text\"`";
    /// Something in a file of rules is no rule.
    NotARule, "write rules as `JPA-001: \"C: text\"`";
    /// A rule without words.
    EmptyRule, "say what the rule is, or remove it";
    /// A severity that there is not.
    BadSeverity, "use `C` for critical, `M` for major or `m` for minor";
    /// Two rules have one id.
    RepeatedRule, "give each rule its own id";
    /// No rule is where rules should be.
    NoRules, "write rules as `JPA-001: \"C: text\"` in a `*.rules.yml` file";
    /// No rule is for a scope.
    NoRulesForScope, "look at `rules` of the scope in `profile.toml`";
}

#[cfg(test)]
#[path = "problem_kind_tests.rs"]
mod tests;
