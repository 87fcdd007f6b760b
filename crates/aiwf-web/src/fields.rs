//! Reads the query of an address and the fields of a form.

use std::borrow::Cow;

/// The fields of a form or a query, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

/// More fields than any form of the page has.
const MAX_FIELDS: usize = 400;

impl Fields {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let owned = |(name, value): (Cow<'_, str>, Cow<'_, str>)| (name.into_owned(), value.into_owned());
        Self(form_urlencoded::parse(bytes).take(MAX_FIELDS).map(owned).collect())
    }

    pub(crate) fn of_query(query: Option<&str>) -> Self {
        Self::parse(query.unwrap_or_default().as_bytes())
    }

    /// The value of a field; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// The value of a field that was filled in, with line ends as files have them.
    pub(crate) fn filled(&self, name: &str) -> Option<String> {
        let text = self.text(name).replace("\r\n", "\n");
        (!text.trim().is_empty()).then_some(text)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(field, _)| field == name)
    }

    pub(crate) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.text(name).parse().ok()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_and_line_ends_are_those_of_files() {
        let fields = Fields::parse(b"a=1&text=x%0D%0Ay+z&a=2&empty=+");
        assert_eq!(fields.text("a"), "1");
        assert_eq!(fields.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(fields.filled("text").as_deref(), Some("x\ny z"));
        assert_eq!(fields.filled("empty"), None);
        assert_eq!(fields.number("a"), Some(1));
        assert!(fields.has("empty") && !fields.has("other"));
    }
}
