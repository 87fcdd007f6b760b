//! The table `[gates]`.

use std::collections::BTreeMap;

use aiwf_session::{GatePattern, Phase, Stage};
use toml::de::DeValue;

use crate::checkout::Loosening;
use crate::fault::ConfigFault;
use crate::gate::{Approver, Gate};
use crate::layer_reader::{LayerReader, TomlEntry};
use crate::origin::{Origin, Sourced};
use crate::setting::{Rule, Table as _, TableDoc, join, settings};
use crate::table_kinds::{Map, Name};
use crate::value::{CountOrZero, Switch, Value, confine_one};

settings! {
    /// Who approves each prompt and reply. A gate is named by phase and stage, in quotes: `"planning.prompt"`; a
    /// pattern such as `"planning.*"` or `"*.prompt"` names several, and the narrowest wins. The value is `"manual"`,
    /// `"skip"` or `"ai:PROVIDER"`, or a table with the keys of the next list.
    pub Gates from GatesLayer {
        /// Every gate that is not named.
        default: Sourced<Gate> = GateValue [Gate::new(Approver::Manual)], looser_needs_consent();
        .. named: BTreeMap<GatePattern, Sourced<Gate>> = Map<GateName, GateValue>;
    }
}

settings! {
    /// One gate with its options.
    pub(crate) GateTable from GateLayer {
        /// The approver.
        approver: Option<Sourced<Approver>> = ApproverValue;
        /// Number of times a model may reject before a person decides.
        max_retries: Sourced<u32> = CountOrZero [0];
        /// Whether a model that judges a prompt may replace it with its own version.
        allow_rewrite: Sourced<bool> = Switch [false];
    }
}

impl Gates {
    /// The setting of a gate, unless only the default applies: a flag first, then the narrowest pattern, then the
    /// strongest file.
    pub fn decided(&self, phase: Phase, stage: Stage) -> Option<&Sourced<Gate>> {
        let matching = self.named.iter().filter(|(pattern, _)| pattern.matches(phase, stage));
        let strongest = matching.max_by_key(|(pattern, gate)| {
            (matches!(gate.origin, Origin::Flag(_)), pattern.specificity(), gate.origin.rank())
        });
        let is_set = |gate: &&Sourced<Gate>| gate.origin != Origin::Default;
        strongest.map(|(_, gate)| gate).or_else(|| Some(&self.default).filter(is_set))
    }

    pub fn get(&self, phase: Phase, stage: Stage) -> &Sourced<Gate> {
        self.decided(phase, stage).unwrap_or(&self.default)
    }
}

impl GatesLayer {
    /// Removes the named gates that need the user's consent from the project's layer.
    pub(crate) fn confine_named(&mut self, user: &Self, loosened: &mut Vec<Loosening>) {
        let manual = Gate::new(Approver::Manual);
        let default = user.default.as_ref().map_or(&manual, |gate| &gate.value);
        for (pattern, gate) in std::mem::take(&mut self.named) {
            // A pattern for several gates is compared only with the user's settings for all of them.
            let users = match pattern.gate() {
                Some((phase, stage)) => {
                    let matching = user.named.iter().filter(|(pattern, _)| pattern.matches(phase, stage));
                    matching.max_by_key(|(pattern, _)| pattern.specificity()).map(|(_, gate)| gate)
                }
                None => user.named.get(&pattern),
            };
            let instead = match users {
                Some(gate) => &gate.value,
                None if user.named.is_empty() || pattern.gate().is_some() => default,
                None => &manual,
            };
            let path = join("gates", &GateName::show(&pattern));
            let mut gate = Some(gate);
            confine_one::<GateValue>(&mut gate, Some(instead), &path, &[looser_needs_consent()], loosened);
            self.named.extend(gate.map(|gate| (pattern, gate)));
        }
    }
}

/// A gate that is looser than the user's.
fn looser_needs_consent() -> Rule<Gate> {
    Rule::ConsentIf {
        is_looser: |found, instead| instead.is_some_and(|instead| is_looser(found, instead)),
        doc: "anything looser than yours needs consent",
    }
}

fn is_looser(found: &Gate, instead: &Gate) -> bool {
    match (&found.approver, &instead.approver) {
        (Approver::Manual, _) | (Approver::Skip | Approver::Ai(_), Approver::Skip) => false,
        (Approver::Ai(found_judge), Approver::Ai(judge)) => {
            found_judge != judge
                || found.max_retries > instead.max_retries
                || (found.allow_rewrite && !instead.allow_rewrite)
        }
        (Approver::Skip, Approver::Manual | Approver::Ai(_)) | (Approver::Ai(_), Approver::Manual) => true,
    }
}

pub(crate) struct GateName;

impl Name for GateName {
    type Key = GatePattern;
    const LABEL: &'static str = "gate";
    const PLACEHOLDER: &'static str = "\"PHASE.STAGE\"";

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<GatePattern> {
        let pattern = GatePattern::parse(entry.key);
        if pattern.is_none() {
            // `planning.prompt = …` without quotes is a table `planning` to TOML.
            if Phase::from_name(entry.key).is_some() && is_gate_table(entry.value.get_ref()) {
                let fault = ConfigFault::UnquotedGate { path: entry.path(), phase: entry.key.to_owned() };
                reader.report(entry.key_offset, fault);
            } else {
                let known =
                    ["default", "PHASE.prompt", "PHASE.response", "PHASE.*", "*.prompt", "*.response"];
                reader.unknown(entry, &known);
            }
        }
        pattern
    }

    fn show(pattern: &GatePattern) -> String {
        format!("\"{pattern}\"")
    }
}

/// Whether a table of `[gates]` is an unquoted `phase.stage`.
fn is_gate_table(value: &DeValue<'_>) -> bool {
    value
        .as_table()
        .is_some_and(|table| table.keys().any(|key| matches!(key.get_ref().as_ref(), "prompt" | "response")))
}

/// A gate, as the approver alone or as a table with options. It is a single value: a file that names a gate replaces
/// all of it.
pub(crate) struct GateValue;

impl Value for GateValue {
    type Type = Gate;

    fn describe() -> String {
        "gate".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Gate>> {
        let DeValue::Table(table) = entry.value.get_ref() else {
            let Sourced { value, origin } = ApproverValue::read(reader, entry)?;
            return Some(Sourced::new(Gate::new(value), origin));
        };
        let n_problems = reader.n_problems();
        let mut gate = GateLayer::default();
        reader.table(&entry.path(), table, &mut gate);
        let GateTable { approver, max_retries, allow_rewrite } = crate::setting::Resolve::resolve(gate);
        let Some(approver) = approver else {
            if reader.n_problems() == n_problems {
                reader.report(entry.key_offset, ConfigFault::NoApprover { path: entry.path() });
            }
            return None;
        };
        let gate = Gate {
            approver: approver.value,
            max_retries: max_retries.value,
            allow_rewrite: allow_rewrite.value,
        };
        Some(Sourced::new(gate, reader.toml.origin(entry.key_offset)))
    }

    fn show(gate: &Gate) -> String {
        gate.to_string()
    }

    fn docs(path: &str) -> Vec<TableDoc> {
        GateLayer::docs(path).into_iter().map(|table| TableDoc { has_settings: false, ..table }).collect()
    }
}

pub(crate) struct ApproverValue;

impl Value for ApproverValue {
    type Type = Approver;

    fn describe() -> String {
        "`manual`, `skip` or `ai:PROVIDER`".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<Approver>> {
        reader.choice(entry, Approver::from_name, &Approver::LEGAL)
    }

    fn show(approver: &Approver) -> String {
        approver.to_string()
    }
}
