//! Settings from the command line.

use std::collections::BTreeMap;

use aiwf_advice::Advice;
use aiwf_session::{GatePattern, Role};

use crate::config::ConfigLayer;
use crate::gate::{Approver, Gate};
use crate::gates::GatesLayer;
use crate::name::{excerpt, ticked};
use crate::origin::{Origin, Sourced};
use crate::roles::RolesLayer;

/// Flags, which override every file; empty if not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--planner`, `--generator`, `--reviewer`, `--reviser`.
    pub roles: BTreeMap<Role, String>,
    /// `--gate PATTERN=KIND`, each through [`parse_gate_flag`].
    pub gates: BTreeMap<GatePattern, Gate>,
    /// `--yes`: skips every gate without its own `--gate`, whatever files say.
    pub is_yes: bool,
}

impl Flags {
    /// The strongest layer.
    pub(crate) fn layer(&self) -> ConfigLayer {
        let mut gates = BTreeMap::new();
        if self.is_yes {
            let skip = || Sourced::new(Gate::new(Approver::Skip), Origin::Flag("--yes"));
            gates.insert(GatePattern::ALL, skip());
        }
        let gate_flag = |gate: &Gate| Sourced::new(gate.clone(), Origin::Flag("--gate"));
        gates.extend(self.gates.iter().map(|(name, gate)| (*name, gate_flag(gate))));
        let role_flag = |(role, provider): (&Role, &String)| {
            (*role, Sourced::new(provider.clone(), Origin::Flag(flag(*role))))
        };
        let roles = self.roles.iter().map(role_flag).collect();
        ConfigLayer {
            roles: RolesLayer { named: roles, ..RolesLayer::default() },
            gates: GatesLayer { named: gates, ..GatesLayer::default() },
            ..ConfigLayer::default()
        }
    }
}

/// The flag that sets a role.
fn flag(role: Role) -> &'static str {
    let flags = [
        (Role::PLANNER, "--planner"),
        (Role::GENERATOR, "--generator"),
        (Role::REVIEWER, "--reviewer"),
        (Role::REVISER, "--reviser"),
    ];
    flags.into_iter().find(|(known, _)| *known == role).map_or("--provider", |(_, flag)| flag)
}

/// Why the value of `--gate` is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateFlagError {
    #[error("`{text}` is not `PHASE.STAGE=KIND`")]
    NoKind { text: String },
    #[error("`{name}` is not a gate")]
    UnknownGate { name: String },
    #[error("gate `{name}` is `{kind}`, not one of {}", ticked(Approver::LEGAL))]
    UnknownKind { name: GatePattern, kind: String },
}

impl GateFlagError {
    pub fn hint(&self) -> Advice {
        match self {
            Self::NoKind { .. } => "write it like `planning.prompt=skip`".into(),
            Self::UnknownGate { .. } => {
                "write `PHASE.prompt`, `PHASE.response`, `PHASE.*`, `*.prompt`, `*.response` or `*`".into()
            }
            Self::UnknownKind { name, .. } => format!("write it like `{name}=skip`").into(),
        }
    }
}

/// Parses the value of a `--gate`, such as `planning.prompt=skip`.
pub fn parse_gate_flag(text: &str) -> Result<(GatePattern, Gate), GateFlagError> {
    let Some((name, kind)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err(GateFlagError::NoKind { text: excerpt(text) });
    };
    let Some(gate_name) = GatePattern::parse(name) else {
        return Err(GateFlagError::UnknownGate { name: excerpt(name) });
    };
    match Approver::from_name(kind) {
        Some(approver) => Ok((gate_name, Gate::new(approver))),
        None => Err(GateFlagError::UnknownKind { name: gate_name, kind: excerpt(kind) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        match parse_gate_flag(text) {
            Ok((name, gate)) => format!("{name} {gate}"),
            Err(error) => {
                format!("{error}\nhint: {}", error.hint().worded(|action, _| format!("{action:?}")))
            }
        }
    }

    #[test]
    fn a_gate_and_its_kind_are_read() {
        assert_eq!(check("planning.prompt=skip"), "planning.prompt skip");
        assert_eq!(check("revising.response=ai:strict.judge"), "revising.response ai:strict.judge");
    }

    #[test]
    fn a_value_without_a_kind_is_refused() {
        insta::assert_snapshot!(check("planning.prompt"), @"
        `planning.prompt` is not `PHASE.STAGE=KIND`
        hint: write it like `planning.prompt=skip`
        ");
        insta::assert_snapshot!(check("=skip"), @"
        `=skip` is not `PHASE.STAGE=KIND`
        hint: write it like `planning.prompt=skip`
        ");
    }

    #[test]
    fn patterns_name_several_gates() {
        assert_eq!(check("*.prompt=skip"), "*.prompt skip");
        assert_eq!(check("review.*=ai:judge"), "review.* ai:judge");
        assert_eq!(check("*=skip"), "* skip");
    }

    #[test]
    fn invalid_gates_are_refused() {
        insta::assert_snapshot!(check("planning=skip"), @"
        `planning` is not a gate
        hint: write `PHASE.prompt`, `PHASE.response`, `PHASE.*`, `*.prompt`, `*.response` or `*`
        ");
    }

    #[test]
    fn an_unknown_kind_lists_the_valid_ones() {
        insta::assert_snapshot!(check("planning.prompt=maybe"), @"
        gate `planning.prompt` is `maybe`, not one of `manual`, `skip`, `ai:<provider>`
        hint: write it like `planning.prompt=skip`
        ");
        insta::assert_snapshot!(check("planning.prompt=ai:"), @"
        gate `planning.prompt` is `ai:`, not one of `manual`, `skip`, `ai:<provider>`
        hint: write it like `planning.prompt=skip`
        ");
    }
}
