//! Finds the name that was probably meant.

/// The known name closest to `name`, if it is close enough to be a typo.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_nonsense_finds_none() {
        let known = ["session", "change", "workflow", "reply"];
        assert_eq!(nearest("sesion", known), Some("session"));
        assert_eq!(nearest("Repl", known), Some("reply"));
        assert_eq!(nearest("zzz", known), None);
    }
}
