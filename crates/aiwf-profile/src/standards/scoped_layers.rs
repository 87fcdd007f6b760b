//! `scoped-layer-fs`: whole text files, first those for all scopes, then those of each layer in scope order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{RuleFile, RuleFiles, UNIVERSAL};
use crate::manifest::MANIFEST;
use crate::problem::{ProfileProblem, known_hint};
use crate::problem_kind::ProfileProblemKind as Kind;
use crate::scope::Scope;

/// Reports files that do not exist or are not text.
pub(super) fn check<'a>(
    named: impl Iterator<Item = &'a String>,
    files: &RuleFiles<'_>,
    root: &str,
    line: usize,
) -> Vec<ProfileProblem> {
    let named: BTreeSet<&String> = named.collect();
    named.into_iter().filter_map(|path| text_of(path, files, root, line).err()).collect()
}

/// Joins the files; a file that several layers name appears at its first position.
pub(super) fn bundle<'a>(
    scope: Option<&Scope>,
    layers: &'a BTreeMap<String, Vec<String>>,
    chosen: impl Iterator<Item = &'a String>,
    files: &RuleFiles<'_>,
    root: &str,
    line: usize,
) -> Result<String, Vec<ProfileProblem>> {
    let of_layer = |name: &str| layers.get(name).into_iter().flatten();
    let scope_layers = scope.map_or(&[][..], |scope| scope.layers.as_slice());
    let in_order =
        of_layer(UNIVERSAL).chain(scope_layers.iter().flat_map(|layer| of_layer(layer))).chain(chosen);
    let mut seen = BTreeSet::new();
    let mut bundle = String::new();
    let mut problems = Vec::new();
    for path in in_order.filter(|path| seen.insert(*path)) {
        match text_of(path, files, root, line) {
            Ok(text) => {
                let end = if text.ends_with('\n') { "" } else { "\n" };
                let source = files.get(path.as_str()).and_then(|file| file.source).unwrap_or(path);
                let _ = write!(bundle, "--- {source} ---\n{text}{end}");
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(bundle) } else { Err(problems) }
}

fn text_of<'a>(
    path: &str,
    files: &RuleFiles<'a>,
    root: &str,
    line: usize,
) -> Result<&'a str, ProfileProblem> {
    let Some(RuleFile { bytes, source }) = files.get(path) else {
        let message = format!("standards file `{root}/{path}` does not exist");
        let hint = known_hint(path, files.keys().copied());
        return Err(ProfileProblem::new(Kind::NoStandardsFile, MANIFEST, line, message).with_hint(hint));
    };
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
        let file = source.map_or_else(|| format!("{root}/{path}"), str::to_owned);
        ProfileProblem::new(Kind::NotUtf8, &file, line, "not UTF-8 text")
    })
}
