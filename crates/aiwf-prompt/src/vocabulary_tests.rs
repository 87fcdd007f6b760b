use proptest::prelude::*;

use super::*;

fn pairs() -> [(&'static Vocabulary, &'static bpe_openai::Tokenizer); 2] {
    [(o200k_base(), bpe_openai::o200k_base()), (cl100k_base(), bpe_openai::cl100k_base())]
}

fn words<'t>(vocabulary: &Vocabulary, text: &'t str) -> Vec<&'t str> {
    let mut counter = vocabulary.counter();
    let mut rest = text;
    std::iter::from_fn(|| {
        let word = counter.first_word(rest)?;
        rest = rest.strip_prefix(word).unwrap();
        Some(word)
    })
    .collect()
}

fn check(text: &str) {
    for (ours, theirs) in pairs() {
        let found = words(ours, text);
        assert_eq!(found, theirs.split(text).collect::<Vec<_>>());
        assert_eq!(found.concat(), text);
        for word in found {
            let count = ours.counter().count_word(word.as_bytes());
            assert_eq!(count, theirs.bpe.count(word.as_bytes()), "{word:?}");
        }
    }
}

#[test]
fn every_token_is_found_by_its_bytes() {
    for (ours, theirs) in pairs() {
        for rank in 0..u32::try_from(theirs.bpe.num_tokens()).unwrap() {
            assert_eq!(ours.rank(theirs.bpe.token_bytes(rank)), Some(u64::from(rank)));
        }
        assert_eq!(ours.rank(b""), None);
        assert_eq!(ours.rank("no token at all".as_bytes()), None);
    }
}

#[test]
fn a_slot_round_trips() {
    let slot = Slot { start: (1 << 24) - 1, len: 128, rank: 199_997, tag: (1 << 14) - 1 };
    assert_eq!(Slot::unpack(slot.pack().unwrap()), slot);
    assert_eq!(Slot { len: 256, ..slot }.pack(), None);
}

#[test]
fn long_words_and_unusual_bytes_count_as_in_the_library() {
    check(&"ab".repeat(5_000));
    check(&"aaaaaaaaab".repeat(700));
    check(&" ".repeat(3_000));
    check("a  b\t\tc \u{2028}\u{00a0} x\r\n\r\n  /y/\n/z");
    check(&"\u{1f469}\u{200d}\u{1f467}日本語 ñandú ".repeat(20));
}

mod properties {
    use super::*;

    proptest! {
        #[test]
        fn counts_are_those_of_the_library(text in "(\\PC|[ \\t\\r\\n]|[a-z]{1,12}|'(s|T|re|LL)|[0-9]{1,5}|[-/{}()\";=]){0,40}") {
            check(&text);
        }

        #[test]
        fn any_bytes_count_as_in_the_library(word in prop::collection::vec(any::<u8>(), 1..60)) {
            for (ours, theirs) in pairs() {
                prop_assert_eq!(ours.counter().count_word(&word), theirs.bpe.count(&word));
            }
        }

        #[test]
        fn concatenated_tokens_count_as_in_the_library(ranks in prop::collection::vec(0u32..100_000, 1..8)) {
            for (ours, theirs) in pairs() {
                let word: Vec<u8> = ranks.iter().flat_map(|rank| theirs.bpe.token_bytes(*rank)).copied().collect();
                prop_assert_eq!(ours.counter().count_word(&word), theirs.bpe.count(&word));
            }
        }
    }
}
