//! The gate that was on the screen, as a form carries it.

use aiwf_engine::SeenGate;
use aiwf_engine::machine::{Phase, Stage};

/// A gate as the hidden field of a form.
pub(crate) fn to_field(gate: &SeenGate) -> String {
    let stage = gate.stage.map_or("-", Stage::as_str);
    let sha256 = gate.sha256.as_deref().unwrap_or("-");
    let awaits = if gate.awaits_reply { "awaits" } else { "-" };
    format!("{} {stage} {} {} {sha256} {awaits}", gate.phase, gate.iteration, gate.seq)
}

/// `None` if the field was not made by [`to_field`].
pub(crate) fn from_field(field: &str) -> Option<SeenGate> {
    let mut words = field.split(' ');
    let phase = Phase::from_name(words.next()?)?;
    let stage = match words.next()? {
        "-" => None,
        stage => Some([Stage::Prompt, Stage::Response].into_iter().find(|known| known.as_str() == stage)?),
    };
    let iteration = words.next()?.parse().ok()?;
    let seq = words.next()?.parse().ok()?;
    let sha256 = Some(words.next()?).filter(|sha256| *sha256 != "-").map(str::to_owned);
    let awaits_reply = words.next()? == "awaits";
    words.next().is_none().then_some(SeenGate { phase, stage, iteration, seq, sha256, awaits_reply })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_survives_the_way_through_a_form() {
        let gate = SeenGate {
            phase: Phase::from_name("plan").unwrap(),
            stage: Some(Stage::Response),
            iteration: 2,
            seq: 17,
            sha256: Some("ab".repeat(32)),
            awaits_reply: true,
        };
        assert_eq!(from_field(&to_field(&gate)), Some(gate.clone()));
        let bare = SeenGate { stage: None, sha256: None, awaits_reply: false, ..gate };
        assert_eq!(from_field(&to_field(&bare)), Some(bare));
    }

    #[test]
    fn anything_else_is_no_gate() {
        for field in ["", "plan", "plan response 1", "plan response x 1 - -", "plan response 1 1 - - more"] {
            assert_eq!(from_field(field), None, "{field}");
        }
    }
}
