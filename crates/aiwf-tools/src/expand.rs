//! `${VAR}` in settings.

/// Replaces every `${VAR}` by its value from `lookup`; the error is the first name without a value.
///
/// `$${` stands for `${`. Anything else stays as it is, including a lone `$`: values are not shell code.
pub(crate) fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            expanded.push_str(before);
            expanded.push_str("${");
            rest = after;
            continue;
        }
        expanded.push_str(before);
        match after.split_once('}') {
            Some((name, after)) if is_variable(name) => {
                expanded.push_str(&lookup(name).ok_or_else(|| name.to_owned())?);
                rest = after;
            }
            _ => {
                expanded.push_str("${");
                rest = after;
            }
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn is_variable(name: &str) -> bool {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let lookup = |name: &str| match name {
            "A" => Some("one".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${A}".to_owned()),
            _ => None,
        };
        assert_eq!(expand(text, &lookup), expected.map(str::to_owned).map_err(str::to_owned), "{text}");
    }

    #[test]
    fn variables_are_replaced_and_nothing_else_is() {
        check("Bearer ${A}!", Ok("Bearer one!"));
        check("${A}${A}", Ok("oneone"));
        check("${EMPTY}", Ok(""));
        check("$A ${ A} ${1} ${} $", Ok("$A ${ A} ${1} ${} $"));
        check("${A", Ok("${A"));
        check("$${A}", Ok("${A}"));
    }

    #[test]
    fn a_value_is_not_expanded_again() {
        check("${NESTED}", Ok("${A}"));
    }

    #[test]
    fn a_missing_variable_is_named() {
        check("${A} ${MISSING} ${OTHER}", Err("MISSING"));
    }

    mod properties {
        use proptest::prelude::*;

        use super::super::expand;

        proptest! {
            #[test]
            fn a_text_without_a_dollar_stays(text in "[^$]*") {
                prop_assert_eq!(expand(&text, &|_| None), Ok(text));
            }

            #[test]
            fn any_text_gives_a_value_or_a_name(text in ".*") {
                match expand(&text, &|_| Some("x".to_owned())) {
                    Ok(_) => {}
                    Err(name) => prop_assert!(false, "{}", name),
                }
            }
        }
    }
}
