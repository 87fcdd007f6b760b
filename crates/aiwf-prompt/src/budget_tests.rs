use proptest::prelude::*;

use super::*;

fn item(need: Need, tokens: u64) -> Item {
    Item { need, tokens: Tokens(tokens) }
}

fn check(items: &[Item], budget: u64, expected_cuts: &[usize]) {
    let cuts = fit(items, Tokens(budget)).unwrap();
    assert_eq!(cuts.iter().map(|cut| cut.index).collect::<Vec<_>>(), expected_cuts);
}

#[test]
fn cuts_nothing_that_fits() {
    check(&[item(Need::Required, 5), item(Need::Optional(1), 5)], 10, &[]);
}

#[test]
fn cuts_optional_items_before_required_ones() {
    check(&[item(Need::Optional(9), 5), item(Need::Required, 5)], 9, &[0]);
}

#[test]
fn cuts_the_lowest_priority_first() {
    check(&[item(Need::Optional(1), 5), item(Need::Optional(2), 5), item(Need::Optional(0), 5)], 10, &[2]);
}

#[test]
fn cuts_ties_from_the_end() {
    let same = [item(Need::Optional(1), 4), item(Need::Optional(1), 4), item(Need::Optional(1), 4)];
    check(&same, 4, &[2, 1]);
}

#[test]
fn a_large_item_that_is_cut_makes_room_for_smaller_ones() {
    let files = [
        item(Need::Required, 2),
        item(Need::Optional(1), 90),
        item(Need::Optional(1), 3),
        item(Need::Optional(0), 4),
        item(Need::Optional(0), 2),
    ];
    check(&files, 10, &[4, 1]);
}

#[test]
fn refuses_when_the_required_items_do_not_fit() {
    let refusal = fit(&[item(Need::Required, 11), item(Need::Optional(1), 1)], Tokens(10)).unwrap_err();
    assert_eq!(refusal, RequiredTooLarge { needed: Tokens(11) });
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let need = prop_oneof![Just(Need::Required), (0u32..4).prop_map(Need::Optional)];
    prop::collection::vec((need, 0u64..50).prop_map(|(need, tokens)| item(need, tokens)), 0..40)
}

mod properties {
    use super::*;

    proptest! {
        #[test]
        fn fit_is_never_over_budget_and_never_cuts_more_than_it_must(items in items(), budget in 0u64..400) {
            let required: u64 =
                items.iter().filter(|item| item.need == Need::Required).map(|item| item.tokens.0).sum();
            match fit(&items, Tokens(budget)) {
                Err(refusal) => {
                    prop_assert_eq!(refusal.needed, Tokens(required));
                    prop_assert!(required > budget);
                }
                Ok(cuts) => {
                    let cut: std::collections::BTreeSet<usize> = cuts.iter().map(|cut| cut.index).collect();
                    let kept: u64 =
                        items.iter().enumerate().filter(|(i, _)| !cut.contains(i)).map(|(_, i)| i.tokens.0).sum();
                    prop_assert!(kept <= budget);
                    prop_assert!(cuts.iter().all(|cut| items[cut.index].need != Need::Required));
                    // No cut item would still fit.
                    for cut in &cuts {
                        prop_assert!(kept + items[cut.index].tokens.0 > budget);
                    }
                }
            }
        }

        #[test]
        fn fit_cuts_an_item_only_for_required_or_more_important_ones(items in items(), budget in 0u64..400) {
            if let Ok(cuts) = fit(&items, Tokens(budget)) {
                let is_cut = |index: usize| cuts.iter().any(|cut| cut.index == index);
                for cut in &cuts {
                    let comes_first = |index: usize, need: Need| match need {
                        Need::Required => true,
                        Need::Optional(priority) => {
                            priority > cut.priority || (priority == cut.priority && index < cut.index)
                        }
                    };
                    let before: u64 = items
                        .iter()
                        .enumerate()
                        .filter(|(index, item)| !is_cut(*index) && comes_first(*index, item.need))
                        .map(|(_, item)| item.tokens.0)
                        .sum();
                    prop_assert!(before + items[cut.index].tokens.0 > budget);
                }
            }
        }
    }
}
