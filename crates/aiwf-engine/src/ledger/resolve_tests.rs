use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fake {
    id: String,
    name: Option<String>,
    is_open: bool,
}

impl Resolvable for Fake {
    fn id(&self) -> &str {
        &self.id
    }

    fn has_id(&self, id: &str) -> bool {
        self.id == id
    }

    fn has_name(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name)
    }

    fn is_open(&self) -> bool {
        self.is_open
    }
}

fn fake(id: &str, name: &str, is_open: bool) -> Fake {
    let name = (!name.is_empty()).then(|| name.to_owned());
    Fake { id: id.to_owned(), name, is_open }
}

/// Sessions, oldest first.
fn sessions() -> Vec<Fake> {
    vec![
        fake("20260101-000000-0a01", "login", false),
        fake("20260102-000000-0a02", "login", false),
        fake("20260103-000000-0a03", "logout", true),
        fake("20260103-000000-0b03", "20260101-000000-0a01", true),
        fake("chat-20260104-000000-0a04", "", true),
        fake("20260105-000000-0a05", "twice", true),
        fake("20260106-000000-0a06", "twice", true),
        fake("20260107-000000-0a07", "0a03", false),
    ]
}

#[track_caller]
fn check(typed: &str, expected: &[&str]) {
    let sessions = sessions();
    let found: Vec<&str> = match resolve_id(typed, &sessions) {
        Resolution::One(session) => vec![&session.id],
        Resolution::Nothing => Vec::new(),
        Resolution::Several(several) => several.into_iter().map(|session| session.id.as_str()).collect(),
    };
    assert_eq!(found, expected, "{typed}");
}

#[test]
fn an_exact_id_wins_over_a_name() {
    check("20260101-000000-0a01", &["20260101-000000-0a01"]);
}

#[test]
fn a_name_wins_over_a_part_of_an_id() {
    check("0a03", &["20260107-000000-0a07"]);
}

#[test]
fn a_name_of_sessions_that_ended_means_the_newest() {
    check("login", &["20260102-000000-0a02"]);
}

#[test]
fn an_open_session_has_its_name_whatever_ended_after_it() {
    let sessions = [fake("1", "login", false), fake("2", "login", true), fake("3", "login", false)];
    assert_eq!(resolve_id("login", &sessions), Resolution::One(&sessions[1]));
}

#[test]
fn a_unique_beginning_or_end_is_enough() {
    check("20260102", &["20260102-000000-0a02"]);
    check("0a04", &["chat-20260104-000000-0a04"]);
    check("chat", &["chat-20260104-000000-0a04"]);
}

#[test]
fn what_fits_several_gives_all_of_them() {
    check("20260103", &["20260103-000000-0a03", "20260103-000000-0b03"]);
    check("twice", &["20260105-000000-0a05", "20260106-000000-0a06"]);
}

#[test]
fn what_fits_nothing_gives_nothing() {
    for typed in ["", "x", "000000", "log"] {
        check(typed, &[]);
    }
}

proptest! {
    #[test]
    fn one_answer_fits_what_was_typed(
        ids in prop::collection::btree_set("[ab]{1,4}", 1..8),
        names in prop::collection::vec(prop::option::of("[ab]{1,3}"), 8),
        open in prop::collection::vec(any::<bool>(), 8),
        typed in "[ab]{0,4}",
    ) {
        let sessions: Vec<Fake> = ids
            .into_iter()
            .zip(names)
            .zip(open)
            .map(|((id, name), is_open)| Fake { id, name, is_open })
            .collect();
        let fits = |session: &Fake| {
            session.has_name(&typed)
                || (!typed.is_empty() && (session.id.starts_with(&typed) || session.id.ends_with(&typed)))
        };
        match resolve_id(&typed, &sessions) {
            Resolution::One(session) => {
                prop_assert!(fits(session));
                let has_exact = sessions.iter().any(|other| other.has_id(&typed));
                prop_assert!(!has_exact || session.has_id(&typed));
            }
            Resolution::Nothing => prop_assert!(!sessions.iter().any(fits)),
            Resolution::Several(several) => {
                prop_assert!(several.len() > 1);
                prop_assert!(several.into_iter().all(fits));
                prop_assert!(!sessions.iter().any(|other| other.has_id(&typed)));
            }
        }
    }
}
