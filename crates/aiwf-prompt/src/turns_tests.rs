use proptest::prelude::*;

use super::*;

fn weight(kind: TurnKind, tokens: u64) -> TurnWeight {
    TurnWeight { tokens: Tokens(tokens), kind }
}

/// Turns by letters, one token each: `r`equest, `c`ontext, `a`nswer without calls, `1`–`9` calls, `t`ool result.
fn turns(letters: &str) -> Vec<TurnWeight> {
    let turn = |letter: char| {
        let kind = match letter {
            'r' => TurnKind::Request,
            'c' => TurnKind::Context,
            'a' => TurnKind::Assistant { n_calls: 0 },
            't' => TurnKind::ToolResult,
            digit => TurnKind::Assistant { n_calls: digit.to_digit(10).unwrap() as usize },
        };
        weight(kind, 1)
    };
    letters.chars().filter(|letter| *letter != ' ').map(turn).collect()
}

/// The letters with a dot for each turn left out.
fn kept(letters: &str, fit: &TurnFit) -> String {
    let mut kept = fit.kept.iter();
    let shown = |letter: char| match letter {
        ' ' => ' ',
        letter if *kept.next().unwrap() => letter,
        _ => '.',
    };
    letters.chars().map(shown).collect()
}

#[track_caller]
fn check(letters: &str, budget: u64, expected: &str) {
    let fit = fit_turns(&turns(letters), Tokens(budget)).unwrap();
    assert_eq!(kept(letters, &fit), expected);
}

#[track_caller]
fn check_refused(letters: &str, budget: u64, needed: u64) {
    let refusal = fit_turns(&turns(letters), Tokens(budget)).unwrap_err();
    assert_eq!((refusal.needed, refusal.budget), (Tokens(needed), Tokens(budget)));
}

#[test]
fn cuts_nothing_that_fits() {
    check("", 0, "");
    check("r", 1, "r");
    check("ccr1tccr2tta", 12, "ccr1tccr2tta");
}

#[test]
fn cuts_old_rounds_whole_and_oldest_first() {
    check("ra ra ra ra ra ra", 11, ".. ra ra ra ra ra");
    check("ra ra ra ra ra ra", 9, ".. .. ra ra ra ra");
    check("cr1t1ta ra ra ra cr", 10, "....... ra ra ra cr");
}

#[test]
fn cuts_old_groups_of_the_current_round_before_recent_rounds() {
    check("ra ra ra r1t1t1t1t1t1t1t1t", 22, "ra ra ra r..1t1t1t1t1t1t1t");
    check("ra ra ra r1t1t1t1t1t1t1t1t", 19, "ra ra ra r....1t1t1t1t1t1t");
    check("ra ra ra r1t1t1t1t1t1t1t1t", 18, ".. ra ra r....1t1t1t1t1t1t");
    check("ra ra ra r1t1t1t1t1t1t1t1t", 13, ".. .. .. r....1t1t1t1t1t1t");
    check("ra ra ra r1t1t1t1t1t1t1t1t", 11, ".. .. .. r......1t1t1t1t1t");
    check("ra ra ra r1t1t1t1t1t1t1t1t", 3, ".. .. .. r..............1t");
}

#[test]
fn refuses_when_the_request_and_the_last_group_do_not_fit() {
    check_refused("ra ra cr1t2tt", 4, 5);
    check_refused("r", 0, 1);
    let turns = [
        weight(TurnKind::Request, 3),
        weight(TurnKind::Assistant { n_calls: 1 }, 9),
        weight(TurnKind::ToolResult, 4),
        weight(TurnKind::Request, 2),
        weight(TurnKind::Assistant { n_calls: 1 }, 1),
        weight(TurnKind::ToolResult, 5),
    ];
    let refusal = fit_turns(&turns, Tokens(7)).unwrap_err();
    assert_eq!((refusal.largest, refusal.largest_tokens), (5, Tokens(5)));
    assert_eq!(refusal.to_string(), "the current round needs 8 tokens but only 7 are available");
}

#[test]
fn a_group_that_does_not_fit_also_drops_older_ones() {
    let mut turns = turns("r1t1t1t");
    turns[3].tokens = Tokens(50);
    let fit = fit_turns(&turns, Tokens(10)).unwrap();
    assert_eq!(kept("r1t1t1t", &fit), "r....1t");
    assert_eq!((fit.n_left_out, fit.tokens_left_out, fit.tokens_kept), (4, Tokens(53), Tokens(3)));
}

#[test]
fn context_without_a_request_starts_no_round() {
    check("cc1t1t cc1t1t cc1t1t", 8, "cc.... ...... cc1t1t");
    check("cc1t1t cc1t1t cc1t1t", 6, "cc.... ...... cc..1t");
    check_refused("cc1t1t cc1t1t cc1t1t", 5, 6);
}

#[test]
fn the_last_text_of_the_runtime_stays() {
    check("r1t cc1t 1t1t", 5, "r.. cc.. ..1t");
    check("r1t cc1t 1t c", 4, "r.. .... 1t c");
    check("ra ra r", 1, ".. .. r");
}

#[test]
fn a_group_that_waits_for_results_stays() {
    check("ra r1t 2t", 3, ".. r.. 2t");
    check("r2t 1t 1t", 5, "r2t .. 1t");
}

#[test]
fn turns_between_results_belong_to_their_group() {
    check("r 2tct 1t 1t", 3, "r .... .. 1t");
    check("r 2trt 1t 1t", 7, "r 2trt .. 1t");
    check("r 1t 1t", 3, "r .. 1t");
}

#[test]
fn results_without_an_answer_stay_with_the_turns_before_them() {
    check("trt a", 4, "trt a");
    check("ra t r", 1, ".. . r");
}

fn any_turns() -> impl Strategy<Value = Vec<TurnWeight>> {
    let kind = prop_oneof![
        2 => Just(TurnKind::Request),
        2 => Just(TurnKind::Context),
        4 => (0usize..4).prop_map(|n_calls| TurnKind::Assistant { n_calls }),
        4 => Just(TurnKind::ToolResult),
    ];
    prop::collection::vec((kind, 0u64..20).prop_map(|(kind, tokens)| weight(kind, tokens)), 0..60)
}

/// Conversations as an engine has them: rounds of answers, each with as many results as calls.
fn conversation() -> impl Strategy<Value = Vec<TurnWeight>> {
    let group = prop_oneof![
        4 => (1usize..4).prop_map(|n| {
            let mut group = vec![TurnKind::Assistant { n_calls: n }];
            group.resize(n + 1, TurnKind::ToolResult);
            group
        }),
        1 => Just(vec![TurnKind::Assistant { n_calls: 0 }]),
        1 => Just(vec![TurnKind::Context, TurnKind::Assistant { n_calls: 0 }]),
    ];
    let round = (0usize..3, prop::collection::vec(group, 0..10)).prop_map(|(n_context, groups)| {
        let mut round = vec![TurnKind::Context; n_context];
        round.push(TurnKind::Request);
        round.extend(groups.into_iter().flatten());
        round
    });
    let kinds = prop::collection::vec(round, 0..9).prop_map(|rounds| rounds.concat());
    kinds.prop_flat_map(|kinds| {
        prop::collection::vec(0u64..20, kinds.len())
            .prop_map(move |tokens| kinds.iter().zip(tokens).map(|(kind, n)| weight(*kind, n)).collect())
    })
}

fn lists() -> impl Strategy<Value = Vec<TurnWeight>> {
    prop_oneof![any_turns(), conversation()]
}

fn sum<'t>(turns: impl Iterator<Item = &'t TurnWeight>) -> Tokens {
    turns.map(|turn| turn.tokens).sum()
}

mod properties {
    use super::*;

    proptest! {
        #[test]
        fn kept_turns_fit_and_the_counts_add_up(turns in lists(), budget in 0u64..600) {
            match fit_turns(&turns, Tokens(budget)) {
                Ok(fit) => {
                    prop_assert_eq!(fit.kept.len(), turns.len());
                    let stays = |is_kept: bool| {
                        turns.iter().zip(&fit.kept).filter(move |(_, kept)| **kept == is_kept).map(|(turn, _)| turn)
                    };
                    prop_assert!(fit.tokens_kept <= Tokens(budget));
                    prop_assert_eq!(sum(stays(true)), fit.tokens_kept);
                    prop_assert_eq!(sum(stays(false)), fit.tokens_left_out);
                    prop_assert_eq!(stays(false).count(), fit.n_left_out);
                }
                Err(refusal) => {
                    prop_assert!(refusal.needed > Tokens(budget));
                    prop_assert!(refusal.needed <= sum(turns.iter()));
                    prop_assert_eq!(turns[refusal.largest].tokens, refusal.largest_tokens);
                    prop_assert!(fit_turns(&turns, refusal.needed).is_ok());
                }
            }
        }

        #[test]
        fn everything_stays_when_it_fits(turns in lists(), spare in 0u64..3) {
            let fit = fit_turns(&turns, sum(turns.iter()) + Tokens(spare)).unwrap();
            prop_assert!(fit.kept.iter().all(|is_kept| *is_kept));
            prop_assert_eq!(fit.n_left_out, 0);
        }

        #[test]
        fn a_result_stays_exactly_with_its_answer(turns in lists(), budget in 0u64..600) {
            if let Ok(fit) = fit_turns(&turns, Tokens(budget)) {
                let mut answer = None;
                for (turn, is_kept) in turns.iter().zip(&fit.kept) {
                    match turn.kind {
                        TurnKind::Assistant { .. } => answer = Some(*is_kept),
                        TurnKind::ToolResult if answer.is_some() => prop_assert_eq!(answer, Some(*is_kept)),
                        TurnKind::Request | TurnKind::Context | TurnKind::ToolResult => {}
                    }
                }
            }
        }

        #[test]
        fn the_current_request_and_the_last_answer_always_stay(turns in lists(), budget in 0u64..600) {
            if let Ok(fit) = fit_turns(&turns, Tokens(budget)) {
                let request = turns.iter().rposition(|turn| turn.kind == TurnKind::Request);
                let answer = turns.iter().rposition(|turn| is_answer(turn.kind));
                prop_assert!(request.is_none_or(|place| fit.kept[place]));
                prop_assert!(answer.filter(|place| Some(*place) > request).is_none_or(|place| fit.kept[place]));
                prop_assert!(turns.is_empty() || fit.kept[turns.len() - 1]);
            }
        }

        #[test]
        fn a_larger_budget_keeps_at_least_as_much(turns in lists(), budget in 0u64..600, more in 0u64..200) {
            if let Ok(small) = fit_turns(&turns, Tokens(budget)) {
                let large = fit_turns(&turns, Tokens(budget + more)).unwrap();
                prop_assert!(small.kept.iter().zip(&large.kept).all(|(small, large)| large >= small));
            }
        }

        #[test]
        fn earlier_rounds_are_cut_whole_and_oldest_first(turns in conversation(), budget in 0u64..600) {
            if let Ok(fit) = fit_turns(&turns, Tokens(budget)) {
                let earlier: Vec<bool> =
                    rounds(&turns).earlier.into_iter().map(|round| {
                        let kept = &fit.kept[round];
                        assert!(kept.iter().all(|is_kept| *is_kept == kept[0]));
                        kept[0]
                    }).collect();
                prop_assert!(earlier.is_sorted());
            }
        }

        #[test]
        fn every_turn_is_either_required_or_once_in_the_order(turns in lists()) {
            let layout = layout(&turns);
            let mut places: Vec<usize> = layout.required.into_iter().chain(layout.cuts).flatten().collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..turns.len()).collect::<Vec<_>>());
        }
    }
}
