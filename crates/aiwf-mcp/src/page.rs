//! Pagination: a page starts after the session in its cursor.

/// Items of sessions in pages, newest session first.
///
/// A cursor is a session id, and ids sort by time, so new sessions do not shift the pages.
pub(crate) fn page<T>(
    mut ids: Vec<String>,
    cursor: Option<&str>,
    n_items: usize,
    items_of: impl Fn(&str) -> Vec<T>,
) -> (Vec<T>, Option<String>) {
    ids.sort_by(|one, other| other.cmp(one));
    ids.retain(|id| cursor.is_none_or(|cursor| id.as_str() < cursor));
    let mut items = Vec::new();
    let mut ids = ids.into_iter().peekable();
    while let Some(id) = ids.next() {
        items.extend(items_of(&id));
        if items.len() >= n_items && ids.peek().is_some() {
            return (items, Some(id));
        }
    }
    (items, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_on_one_page() {
        let ids = || ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let items_of = |id: &str| vec![format!("{id}1"), format!("{id}2")];
        let (first, cursor) = page(ids(), None, 3, items_of);
        assert_eq!(first, ["e1", "e2", "d1", "d2"]);
        let (second, cursor) = page(ids(), cursor.as_deref(), 3, items_of);
        assert_eq!(second, ["c1", "c2", "b1", "b2"]);
        let (third, cursor) = page(ids(), cursor.as_deref(), 3, items_of);
        assert_eq!(third, ["a1", "a2"]);
        assert_eq!(cursor, None);
    }
}
