//! Reads the verdict of a review from `<review>VERDICT</review>`.
//!
//! Only a tag in plain text counts: not one in a fence, in inline code, in a `>` quote or inside a thought. Several
//! equal tags are one verdict; of different ones the worst counts, and the conflict is reported.

use std::collections::BTreeSet;

use crate::element::{elements, quoted_element};
use crate::findings::{Findings, excerpt};
use crate::outline::Outline;
use crate::problem::Parsed;
use crate::prose::Prose;
use crate::verdict::Verdict;

const ALLOWED: &str = "`PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`";

/// Reads the verdict tag of a review; a text without a verdict is a problem.
///
/// Case, spaces around the verdict and attributes of the tag are ignored.
pub fn parse_verdict_tag(reply: &str) -> Parsed<Option<Verdict>> {
    let outline = Outline::new(reply);
    let prose = Prose::new(&outline);
    let mut findings = Findings::new(reply);
    findings.extend(prose.thoughts.found);

    let elements = elements(reply, &prose.plain, "review");
    if elements.is_empty() {
        report_missing(reply, &mut findings);
    }
    let mut given: Vec<(usize, Verdict)> = Vec::new();
    let mut mentions = Vec::new();
    for element in elements {
        let at = element.tag.start;
        match (Verdict::from_name(element.content), element.is_closed) {
            (Some(verdict), true) => given.push((at, verdict)),
            (Some(verdict), false) => {
                findings.add(at, format!("`<review>` is not closed: write `<review>{verdict}</review>`"));
                // Half a tag is enough to object, but not to pass.
                if verdict != Verdict::Pass {
                    given.push((at, verdict));
                }
            }
            (None, true) if element.content.is_empty() => {
                findings.add(at, format!("verdict is empty: write {ALLOWED}"));
            }
            (None, true) => {
                let word = excerpt(element.content);
                findings.add(at, format!("unknown verdict `{word}`: write {ALLOWED}"));
            }
            (None, false) => mentions.push(at),
        }
    }
    // A sentence that only mentions the tag matters if there is nothing else.
    for at in mentions.into_iter().filter(|_| given.is_empty()) {
        findings.add(at, "`<review>` is not closed: write one verdict, like `<review>PASS</review>`");
    }
    report_conflict(&given, &mut findings);
    findings.finish(given.into_iter().map(|(_, verdict)| verdict).min())
}

fn report_missing(reply: &str, findings: &mut Findings<'_>) {
    match quoted_element(reply, "review") {
        Some(at) => findings.add(
            at,
            "this `<review>` does not count because it is quoted, code or a thought: write the verdict as plain text",
        ),
        None => findings.add(0, format!("no verdict: write `<review>VERDICT</review>` with {ALLOWED}")),
    }
}

fn report_conflict(given: &[(usize, Verdict)], findings: &mut Findings<'_>) {
    let verdicts: BTreeSet<Verdict> = given.iter().map(|(_, verdict)| *verdict).collect();
    let different = given.iter().zip(given.iter().skip(1)).find(|((_, one), (_, other))| one != other);
    if let (Some((_, (at, _))), Some(worst)) = (different, verdicts.first()) {
        let names: Vec<String> = verdicts.iter().map(|verdict| format!("`{verdict}`")).collect();
        let names = names.join(", ");
        findings.add(
            *at,
            format!("verdicts {names} conflict, so the worst, `{worst}`, is used: write one verdict"),
        );
    }
}

#[cfg(test)]
#[path = "verdict_tag_tests.rs"]
mod tests;
