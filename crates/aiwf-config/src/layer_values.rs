//! The kinds of values that settings have: each is read with its origin, or reported with what was expected.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use crate::layer_reader::{LayerReader, Setting};
use crate::name::{PROVIDER_NAME_RULE, is_provider_name, nearest, ticked};
use crate::origin::Sourced;
use crate::vocabulary::FsAbility;

impl LayerReader<'_> {
    pub(crate) fn fs_ability(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<FsAbility>> {
        self.choice(setting, FsAbility::from_name, &FsAbility::ALL.map(FsAbility::as_str))
    }

    pub(crate) fn choice<T>(
        &mut self,
        setting: &Setting<'_, '_>,
        from_name: fn(&str) -> Option<T>,
        legal: &[&str],
    ) -> Option<Sourced<T>> {
        let name = setting.value.get_ref().as_str().unwrap_or_default();
        let expected = || format!("one of {}", ticked(legal.iter().copied()));
        self.expect(setting, from_name(name), expected, nearest(name, legal.iter().copied()))
    }

    pub(crate) fn provider_name(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<String>> {
        let name = setting.value.get_ref().as_str().filter(|name| is_provider_name(name));
        self.expect(setting, name.map(str::to_owned), || format!("a name of {PROVIDER_NAME_RULE}"), None)
    }

    pub(crate) fn dir(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<PathBuf>> {
        let is_path = |path: &&str| {
            // `~` would name a directory called `~`: nobody means that.
            !path.trim().is_empty() && !path.starts_with('~') && !path.contains(char::is_control)
        };
        let dir = setting.value.get_ref().as_str().filter(is_path).map(|path| self.root.join(path));
        let expected = || "a path without `~`, absolute or relative to the directory of `.aiwf/`".to_owned();
        self.expect(setting, dir, expected, None)
    }

    pub(crate) fn boolean(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<bool>> {
        self.expect(setting, setting.value.get_ref().as_bool(), || "`true` or `false`".to_owned(), None)
    }

    pub(crate) fn count(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<NonZeroU32>> {
        let count = integer(setting).and_then(NonZeroU32::new);
        self.expect(setting, count, || format!("a whole number from 1 to {}", u32::MAX), None)
    }

    pub(crate) fn count_or_zero(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<u32>> {
        self.expect(setting, integer(setting), || format!("a whole number from 0 to {}", u32::MAX), None)
    }

    pub(crate) fn large_count(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<NonZeroU64>> {
        let number = setting.value.get_ref().as_integer();
        let count = number
            .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok())
            .and_then(NonZeroU64::new);
        self.expect(setting, count, || "a whole number from 1".to_owned(), None)
    }

    /// An amount of money: a number that is not negative.
    pub(crate) fn amount(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<f64>> {
        let float = setting.value.get_ref().as_float();
        let number = float.and_then(|float| float.as_str().parse::<f64>().ok());
        let number = number.or_else(|| integer(setting).map(f64::from));
        let amount = number.filter(|amount| amount.is_finite() && *amount >= 0.0);
        self.expect(setting, amount, || "a number of dollars, such as `5.00`".to_owned(), None)
    }

    /// A time such as `90s`, `10m` or `1h`.
    pub(crate) fn duration(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<Duration>> {
        let duration = setting.value.get_ref().as_str().and_then(parse_duration);
        self.expect(setting, duration, || "a time such as `500ms`, `90s`, `10m` or `1h`".to_owned(), None)
    }

    /// A text on one line.
    pub(crate) fn text(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<String>> {
        let text = setting.value.get_ref().as_str().filter(|text| is_line(text)).map(str::to_owned);
        self.expect(setting, text, || "a text on one line".to_owned(), None)
    }

    /// A list of texts that is not empty.
    pub(crate) fn texts(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<Vec<String>>> {
        let list = setting.value.get_ref().as_array().and_then(|array| {
            array
                .iter()
                .map(|item| item.get_ref().as_str().filter(|text| !text.contains('\0')).map(str::to_owned))
                .collect::<Option<Vec<String>>>()
        });
        let list = list.filter(|list| !list.is_empty());
        self.expect(setting, list, || "a list of texts, such as `[\"a\", \"b\"]`".to_owned(), None)
    }

    /// A web address; the slash at its end is left out.
    pub(crate) fn url(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<String>> {
        let is_url = |url: &&str| {
            let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
                && !url.contains(|character: char| character.is_whitespace() || character.is_control())
        };
        let url = setting.value.get_ref().as_str().filter(is_url);
        let url = url.map(|url| url.trim_end_matches('/').to_owned());
        self.expect(setting, url, || "an address that begins with `https://` or `http://`".to_owned(), None)
    }

    /// The name of a variable of the environment.
    pub(crate) fn variable(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<String>> {
        let name = setting.value.get_ref().as_str().filter(|name| is_variable(name)).map(str::to_owned);
        let expected = || "the name of a variable, such as `OPENAI_API_KEY`".to_owned();
        self.expect(setting, name, expected, None)
    }
}

fn integer(setting: &Setting<'_, '_>) -> Option<u32> {
    let number = setting.value.get_ref().as_integer()?;
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(char::is_control)
}

pub(crate) fn is_variable(name: &str) -> bool {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.len() - text.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok().filter(|number| (1..=10_000_000).contains(number))?;
    match unit.trim() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_mins(number)),
        "h" => Some(Duration::from_hours(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_number_and_a_unit() {
        assert_eq!(parse_duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(parse_duration("10m"), Some(Duration::from_mins(10)));
        assert_eq!(parse_duration("1 h"), Some(Duration::from_hours(1)));
        for wrong in ["", "10", "m", "-1s", "0s", "1.5h", "1d", "99999999999999999999s", "１s"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }
}
