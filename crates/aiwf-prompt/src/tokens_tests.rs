use proptest::prelude::*;

use super::*;

fn count(tokenizer: Tokenizer, text: &str) -> u64 {
    tokenizer.count(&[vec![text]])[0].0
}

#[test]
fn vocabularies_match_the_published_counts() {
    assert_eq!(count(Tokenizer::O200kBase, "hello world"), 2);
    assert_eq!(count(Tokenizer::Cl100kBase, "hello world"), 2);
    assert_eq!(count(Tokenizer::Cl100kBase, "tiktoken is great!"), 6);
    assert_eq!(count(Tokenizer::O200kBase, "お誕生日おめでとう"), 8);
    assert_eq!(count(Tokenizer::Cl100kBase, "お誕生日おめでとう"), 9);
}

#[test]
fn an_estimate_counts_other_scripts_by_the_character() {
    assert_eq!(count(Tokenizer::Estimate, "abcde"), 2);
    assert_eq!(count(Tokenizer::Estimate, "日本語"), 3);
    assert_eq!(count(Tokenizer::Estimate, ""), 0);
}

#[test]
fn numbers_are_written_with_commas() {
    assert_eq!(Tokens(0).to_string(), "0");
    assert_eq!(Tokens(1_234_567).to_string(), "1,234,567");
    assert_eq!(Tokens(999).to_string(), "999");
}

#[test]
fn a_hostile_text_of_one_word_is_counted() {
    let word = "a".repeat(300_000);
    assert_eq!(count(Tokenizer::O200kBase, &word), bpe_openai::o200k_base().count(word.as_str()) as u64);
}

#[test]
fn many_threads_count_the_same_as_one() {
    let text = "fn main() {\n    println!(\"{}\", 1 + 2);\n}\n\n\n  // end\n".repeat(20_000);
    assert_eq!(count(Tokenizer::O200kBase, &text), bpe_openai::o200k_base().count(text.as_str()) as u64);
}

fn prose() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            Just("\n".to_owned()),
            Just("\r\n".to_owned()),
            Just("  \n".to_owned()),
            Just("/".to_owned()),
            Just("};\n".to_owned()),
            Just("'s".to_owned()),
            Just("\u{2028}".to_owned()),
            Just("\t".to_owned()),
            "[a-zA-Z0-9 ]{0,6}",
            "\\PC{0,3}",
        ],
        0..30,
    )
    .prop_map(|pieces| pieces.concat())
}

mod properties {
    use super::*;

    proptest! {
        #[test]
        fn counts_of_pieces_add_up_to_the_count_of_the_whole(text in prose(), size in 1usize..20) {
            for vocabulary in [bpe_openai::o200k_base(), bpe_openai::cl100k_base()] {
                let pieces: Vec<&str> = split_at_boundaries(&text, size).collect();
                prop_assert_eq!(pieces.concat(), text.clone());
                let sum: usize = pieces.iter().map(|piece| vocabulary.count(*piece)).sum();
                prop_assert_eq!(sum, vocabulary.count(text.as_str()), "{:?}", pieces);
            }
        }
    }
}
