use proptest::prelude::*;

use super::*;

/// Sorted ranges that do not overlap, from the bits of a number.
fn ranges() -> impl Strategy<Value = Vec<Range<usize>>> {
    prop::collection::vec(any::<bool>(), 0..40).prop_map(|bits| {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (at, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
            match ranges.last_mut() {
                Some(range) if range.end == at && at % 3 > 0 => range.end += 1,
                _ => ranges.push(at..at + 1),
            }
        }
        ranges
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_rest_is_in_a_range_and_in_no_hole(ranges in ranges(), holes in ranges()) {
        let left: Vec<usize> = without(ranges.iter().cloned(), &holes).into_iter().flatten().collect();
        let expected: Vec<usize> =
            ranges.into_iter().flatten().filter(|at| !holes.iter().any(|hole| hole.contains(at))).collect();
        prop_assert_eq!(left, expected);
    }
}
