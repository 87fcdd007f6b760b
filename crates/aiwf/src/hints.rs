//! Puts the id of a session into the commands of a hint, so that they can be typed as printed.

/// The commands that work on one session.
const ABOUT_SESSION: [&str; 15] = [
    "apply", "approve", "cancel", "diff", "events", "preview", "reject", "respond", "restore", "retry",
    "run", "show", "status", "step", "verify",
];

/// A hint whose commands name this session.
pub(crate) fn naming_session(hint: &str, id: &str) -> String {
    naming(hint, "`aiwf ", "ID", id, |word| ABOUT_SESSION.contains(&word))
}

fn naming(
    hint: &str,
    opening: &str,
    placeholder: &str,
    name: &str,
    takes_name: impl Fn(&str) -> bool,
) -> String {
    let placeholder = format!(" {placeholder}");
    let mut pieces = hint.split(opening);
    let mut made = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(piece.len());
        let (word, rest) = piece.split_at(end);
        made += opening;
        made += word;
        // A name that is there is another command's business, or the right one.
        let is_named = rest.starts_with(' ') && !rest.starts_with(" -") && !rest.starts_with(&placeholder);
        if takes_name(word) && !is_named {
            made.push(' ');
            made += name;
            made += rest.strip_prefix(&placeholder).unwrap_or(rest);
        } else {
            made += rest;
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_hint_name_the_session() {
        let check = |hint: &str, expected: &str| assert_eq!(naming_session(hint, "2026-01"), expected);
        check("`aiwf restore ID plan.md` brings it back", "`aiwf restore 2026-01 plan.md` brings it back");
        check(
            "ask again with `aiwf reject --feedback TEXT`",
            "ask again with `aiwf reject 2026-01 --feedback TEXT`",
        );
        check(
            "`aiwf status` shows it; `aiwf list` lists all",
            "`aiwf status 2026-01` shows it; `aiwf list` lists all",
        );
        check("`aiwf show other plan`; `aiwf jpa-mt init`", "`aiwf show other plan`; `aiwf jpa-mt init`");
    }
}
