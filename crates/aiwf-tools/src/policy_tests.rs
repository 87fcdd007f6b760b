use super::*;
use crate::tool::tests::tool;

fn offered(server: &str, name: &str) -> Offered {
    Offered { tool: tool(server, name), pin: PinState::Same, is_marked_read_only: false }
}

fn grant(access: Access, names: &[&str]) -> Grant {
    Grant { access, names: names.iter().map(|name| (*name).to_owned()).collect() }
}

#[test]
fn only_exact_granted_names_are_allowed_and_nothing_is_guessed() {
    let tools = [offered("files", "read"), offered("files", "write")];
    let policy = Policy::new(Rules::default(), &grant(Access::Full, &["files__read"]), &tools);
    assert_eq!(policy.allows("files__read").unwrap().name, "read");
    assert_eq!(policy.tools().count(), 1);
    let refused = |name: &str| policy.allows(name).unwrap_err().to_string();
    assert_eq!(refused("files__write"), "`files__write` is not granted here");
    for name in
        ["read", "files__", "files__rea", "files__read2", "FILES__READ", "other__read", "files_read", ""]
    {
        assert_eq!(refused(name), format!("there is no tool `{name}`"));
    }
}

#[test]
fn a_read_only_phase_gets_only_read_only_tools() {
    let mut hinted = offered("s", "hinted");
    hinted.tool.annotations.read_only_hint = Some(true);
    let mut not_pinned = hinted.clone();
    not_pinned.tool.name = "not_pinned".to_owned();
    not_pinned.pin = PinState::New;
    let mut marked = offered("s", "marked");
    marked.is_marked_read_only = true;
    let unmarked = offered("s", "unmarked");
    let names = ["s__hinted", "s__not_pinned", "s__marked", "s__unmarked", "s__missing"];
    let tools = [hinted, not_pinned, marked, unmarked];
    let reading = Policy::new(Rules::default(), &grant(Access::ReadOnly, &names), &tools);
    assert_eq!(reading.tools().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["hinted", "marked"]);
    let why: Vec<String> = reading.unusable_grants().iter().map(ToString::to_string).collect();
    assert_eq!(
        why,
        [
            "there is no tool `s__missing`",
            "`s__not_pinned` is not marked read-only, and this phase is",
            "`s__unmarked` is not marked read-only, and this phase is",
        ]
    );
    let full = Policy::new(Rules::default(), &grant(Access::Full, &names), &tools);
    assert_eq!(full.tools().count(), 4);
}

#[test]
fn changed_tools_other_servers_and_disabled_tools_are_refused() {
    let mut changed = offered("s", "t");
    changed.pin = PinState::Changed("description".to_owned());
    let all = grant(Access::Full, &["s__t"]);
    let policy = Policy::new(Rules::default(), &all, std::slice::from_ref(&changed));
    assert!(matches!(policy.allows("s__t"), Err(Refusal::Changed { .. })));

    let rules = Rules { servers: Some(BTreeSet::from(["other".to_owned()])), ..Rules::default() };
    let policy = Policy::new(rules, &all, &[offered("s", "t")]);
    assert!(matches!(policy.allows("s__t"), Err(Refusal::ServerNotAllowed { .. })));

    let rules = Rules { is_enabled: Some(false), ..Rules::default() };
    let policy = Policy::new(rules, &all, &[offered("s", "t")]);
    assert_eq!(policy.allows("s__t"), Err(Refusal::Disabled));
    assert_eq!(policy.allows("unknown"), Err(Refusal::Disabled));
    assert!(Policy::nothing().is_empty());
}

mod properties {
    use proptest::collection::{btree_set, vec};
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn rules()(
            is_enabled in any::<Option<bool>>(),
            servers in option::of(btree_set("[ab]", 0..3)),
            max_rounds in option::of(0..5_u32),
            max_result_bytes in option::of(0..5_u64),
            seconds in option::of(0..5_u64),
        ) -> Rules {
            Rules { is_enabled, servers, max_rounds, max_result_bytes, timeout: seconds.map(Duration::from_secs) }
        }
    }

    prop_compose! {
        fn any_offered()(server in "[ab]", name in "[xyz]", pin in 0..3, mark in any::<bool>(), hint in any::<Option<bool>>()) -> Offered {
            let mut one = offered(&server, &name);
            one.tool.annotations.read_only_hint = hint;
            one.is_marked_read_only = mark;
            one.pin = match pin { 0 => PinState::New, 1 => PinState::Same, _ => PinState::Changed("schema".to_owned()) };
            one
        }
    }

    fn names(policy: &Policy) -> BTreeSet<String> {
        policy.tools().map(Tool::full_name).collect()
    }

    proptest! {
        #[test]
        fn merging_does_not_depend_on_the_order(a in rules(), b in rules(), c in rules()) {
            prop_assert_eq!(a.and(&b), b.and(&a));
            prop_assert_eq!(a.and(&b).and(&c), a.and(&b.and(&c)));
            prop_assert_eq!(a.and(&a), a.clone());
            prop_assert_eq!(a.and(&Rules::default()), a);
        }

        #[test]
        fn another_rule_can_only_restrict(
            a in rules(), b in rules(), tools in vec(any_offered(), 0..6),
            granted in btree_set("[ab]__[xyz]", 0..6), more in btree_set("[ab]__[xyz]", 0..6),
        ) {
            let of = |rules: &Rules, access, names: &BTreeSet<String>| {
                Policy::new(rules.clone(), &Grant { access, names: names.clone() }, &tools)
            };
            let alone = of(&a, Access::Full, &granted);
            let merged = of(&a.and(&b), Access::Full, &granted);
            prop_assert!(names(&merged).is_subset(&names(&alone)));
            let reading = of(&a, Access::ReadOnly, &granted);
            prop_assert!(names(&reading).is_subset(&names(&alone)));
            let wider = of(&a, Access::Full, &granted.union(&more).cloned().collect());
            prop_assert!(names(&alone).is_subset(&names(&wider)));
            prop_assert!(names(&alone).is_subset(&granted));
        }

        #[test]
        fn listed_tools_are_exactly_the_allowed_ones(
            a in rules(), tools in vec(any_offered(), 0..6), granted in btree_set("[ab]__[xyz]", 0..6), name in "[ab]__[xyz]|.*",
        ) {
            let policy = Policy::new(a, &Grant { access: Access::ReadOnly, names: granted }, &tools);
            prop_assert_eq!(policy.allows(&name).is_ok(), names(&policy).contains(&name));
        }
    }
}
