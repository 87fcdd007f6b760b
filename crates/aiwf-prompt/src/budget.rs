//! Fits items into a token budget.
//!
//! In: items in final order, each with its need and its token count. Out: the items to leave out. Keeps optional items
//! from the highest priority down as long as they fit; never reorders, never splits, never cuts a required one. Does
//! not count tokens itself: counts come with the items, so this file knows no tokenizer.

use crate::section::Need;
use crate::tokens::Tokens;

/// Something that is kept or cut as a whole: a section, or one file of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Whether it may be cut.
    pub need: Need,
    pub tokens: Tokens,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its index among the items.
    pub index: usize,
    /// The priority it was cut by.
    pub priority: u32,
}

/// The required items exceed the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequiredTooLarge {
    /// The sum of the required items.
    pub needed: Tokens,
}

/// Returns the items to leave out so that the rest costs at most `budget`, least important first.
///
/// Required items come first. Then every optional item that still fits stays, by descending priority and, among equals,
/// in order, so that the text a model reads first is the most stable between runs. An item that is too large does not
/// prevent a smaller one after it from staying.
pub fn fit(items: &[Item], budget: Tokens) -> Result<Vec<Cut>, RequiredTooLarge> {
    let total: Tokens = items.iter().map(|item| item.tokens).sum();
    if total <= budget {
        return Ok(Vec::new());
    }
    let mut optional = Vec::with_capacity(items.len());
    let mut needed = Tokens(0);
    for (index, item) in items.iter().enumerate() {
        match item.need {
            Need::Required => needed += item.tokens,
            Need::Optional(priority) => optional.push((std::cmp::Reverse(priority), index, item.tokens)),
        }
    }
    if needed > budget {
        return Err(RequiredTooLarge { needed });
    }
    optional.sort_unstable();
    let mut room = budget;
    room -= needed;
    let mut cuts = Vec::new();
    for (std::cmp::Reverse(priority), index, tokens) in optional {
        if tokens <= room {
            room -= tokens;
        } else {
            cuts.push(Cut { index, priority });
        }
    }
    cuts.reverse();
    Ok(cuts)
}

pub(crate) fn cut_all(items: &[Item]) -> Vec<Cut> {
    let optional = |(index, item): (usize, &Item)| match item.need {
        Need::Required => None,
        Need::Optional(priority) => Some(Cut { index, priority }),
    };
    items.iter().enumerate().filter_map(optional).collect()
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
