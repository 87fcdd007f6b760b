//! Draws a flow: as lines for a terminal, or as a Mermaid diagram.

use std::fmt::Write as _;

use crate::flow::{Access, Flow, Gives, PhaseSpec, Target};
use crate::phase::Phase;

/// One block of lines for each phase, in their order.
pub fn flow_text(flow: &Flow) -> String {
    let mut text = String::new();
    for spec in &flow.phases {
        let checks = if spec.checks { ", then checks run" } else { "" };
        let _ = writeln!(text, "{}  ({}, {}{checks})", spec.name, spec.role.as_str(), gives(spec));
        if let Some(n) = spec.max_rounds.filter(|_| spec.checks) {
            let _ = writeln!(text, "  checks fail → {}  (at most {n} rounds)", spec.name);
        }
        for (verdict, target) in spec.targets() {
            let word = verdict.map(|verdict| format!("{} ", verdict.as_str())).unwrap_or_default();
            let rounds = spec.max_rounds.filter(|_| flow.is_again(spec.name, verdict, target));
            let rounds = rounds.map(|n| format!("  (at most {n} rounds)")).unwrap_or_default();
            let _ = writeln!(text, "  {word}→ {}{rounds}", Phase::from(target));
        }
    }
    text
}

/// A Mermaid state diagram.
pub fn flow_mermaid(flow: &Flow) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    let id = |phase: Phase| phase.as_str().replace('-', "_");
    let _ = writeln!(text, "  [*] --> {}", id(flow.first()));
    for spec in &flow.phases {
        let _ = writeln!(text, "  {} : {} ({})", id(spec.name), spec.name, spec.role.as_str());
        if spec.checks {
            let _ = writeln!(text, "  {0} --> {0} : checks fail", id(spec.name));
        }
        for (verdict, target) in spec.targets() {
            let to = match target {
                Target::Phase(phase) => id(phase),
                Target::Complete => "[*]".to_owned(),
                Target::Stop => "stopped".to_owned(),
            };
            let label = verdict.map(|verdict| format!(" : {}", verdict.as_str())).unwrap_or_default();
            let _ = writeln!(text, "  {} --> {to}{label}", id(spec.name));
        }
    }
    text
}

fn gives(spec: &PhaseSpec) -> &'static str {
    match (spec.gives, spec.access) {
        (Gives::Text, _) => "gives a text",
        (Gives::Files, Access::Write) => "writes files",
        (Gives::Edits, _) => "edits files",
        (Gives::Files, Access::Read) => "gives files",
        (Gives::Verdict, _) => "gives a verdict",
    }
}
