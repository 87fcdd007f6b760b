//! Follows lines from one version of a text into the next.
//!
//! In: two versions and a range of lines of the first. Out: where these lines are in the second: unchanged, perhaps
//! elsewhere; edited, with the nearest place that survived; or deleted. The work is bounded for any input: large
//! regions without common lines are aligned by lines that occur once, and what cannot be aligned counts as new.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The largest region, in pairs of lines, that is compared line by line.
const MAX_PAIRS: usize = 1_000_000;
/// How often a larger region is split before the rest counts as changed.
const MAX_SPLITS: u32 = 8;
/// Comparisons of lines when a block of lines is looked for elsewhere.
const MAX_BLOCK_COMPARISONS: usize = 1_000_000;
/// Lines of a range, and new lines, that are compared by their characters.
const MAX_SIMILAR: (usize, usize) = (20, 200);
/// Characters of a line that are compared.
const MAX_LINE_CHARS: usize = 400;

/// Lines of a text, both ends included; the first line is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineRange {
    pub first: u32,
    pub last: u32,
}

impl LineRange {
    /// Parses `12` or `12-14`. `None` if it names no lines.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u32>().ok().filter(|number| is_plain && *number > 0)
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (number(first)?, number(last)?);
        (first <= last).then_some(Self { first, last })
    }

    /// The lines of this range in a text; `None` if the text is shorter.
    pub fn of(self, text: &str) -> Option<String> {
        let first = usize::try_from(self.first).ok()?;
        let n_lines = usize::try_from(self.last.checked_sub(self.first)?).ok()?.checked_add(1)?;
        let lines: Vec<&str> = text.lines().skip(first.checked_sub(1)?).take(n_lines).collect();
        (lines.len() == n_lines).then(|| lines.join("\n"))
    }
}

impl std::fmt::Display for LineRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.first == self.last {
            write!(formatter, "{}", self.first)
        } else {
            write!(formatter, "{}-{}", self.first, self.last)
        }
    }
}

/// Where lines are in a later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
pub enum Place {
    /// The same lines.
    Unchanged { lines: LineRange },
    /// Some of them changed: the place of those that survived, or of the most similar lines.
    Edited { lines: LineRange },
    /// None of them is left.
    Deleted,
}

impl Place {
    pub fn lines(self) -> Option<LineRange> {
        match self {
            Self::Unchanged { lines } | Self::Edited { lines } => Some(lines),
            Self::Deleted => None,
        }
    }
}

/// Follows lines through successive versions of a text, from the first to the last.
pub fn follow_through<'t>(texts: impl IntoIterator<Item = &'t str>, lines: LineRange) -> Place {
    let texts: Vec<&str> = texts.into_iter().collect();
    let pairs = texts.iter().zip(texts.iter().skip(1));
    let mut place = Place::Unchanged { lines };
    for (old, new) in pairs {
        place = LineMap::between(old, new).follow(place);
    }
    place
}

/// The lines that two versions of a text have in common.
#[derive(Clone, Debug)]
pub struct LineMap<'t> {
    old: Vec<u32>,
    new: Vec<u32>,
    old_lines: Vec<&'t str>,
    new_lines: Vec<&'t str>,
    /// For each old line, its new line.
    to: Vec<Option<usize>>,
    /// For each new line, its old line.
    from: Vec<Option<usize>>,
}

impl<'t> LineMap<'t> {
    pub fn between(old: &'t str, new: &'t str) -> Self {
        let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let mut ids: BTreeMap<&str, u32> = BTreeMap::new();
        let mut id_of = |line: &'t str| {
            let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
            *ids.entry(line).or_insert(next)
        };
        let old: Vec<u32> = old_lines.iter().map(|line| id_of(line)).collect();
        let new: Vec<u32> = new_lines.iter().map(|line| id_of(line)).collect();
        let mut map =
            Self { to: vec![None; old.len()], from: vec![None; new.len()], old, new, old_lines, new_lines };
        for (old, new) in align(&map.old, &map.new) {
            if let (Some(to), Some(from)) = (map.to.get_mut(old), map.from.get_mut(new)) {
                *to = Some(new);
                *from = Some(old);
            }
        }
        map
    }

    /// Follows lines that an earlier version led to.
    #[must_use]
    pub fn follow(&self, place: Place) -> Place {
        let Some(lines) = place.lines() else { return Place::Deleted };
        match self.place_of(lines) {
            Place::Unchanged { lines } if matches!(place, Place::Edited { .. }) => Place::Edited { lines },
            place @ (Place::Unchanged { .. } | Place::Edited { .. } | Place::Deleted) => place,
        }
    }

    fn place_of(&self, lines: LineRange) -> Place {
        let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        let (first, end) = (index(lines.first), index(lines.last).saturating_add(1).min(self.old.len()));
        let (Some(block), Some(mapped)) = (self.old.get(first..end), self.to.get(first..end)) else {
            return Place::Deleted;
        };
        if block.is_empty() {
            return Place::Deleted;
        }
        let is_whole = mapped.iter().zip(0..).all(|(new, offset)| {
            new.is_some_and(|new| {
                mapped.first().copied().flatten().is_some_and(|start| new == start + offset)
            })
        });
        let start = mapped.first().copied().flatten().filter(|_| is_whole);
        if let Some(start) = start.or_else(|| self.find_block(block, first, end)) {
            return Place::Unchanged { lines: range(start, start + block.len() - 1) };
        }
        let survivors = mapped.iter().flatten().copied();
        if let (Some(least), Some(most)) = (survivors.clone().min(), survivors.max()) {
            return Place::Edited { lines: range(least, most) };
        }
        match self.most_similar(first, end) {
            Some((least, most)) => Place::Edited { lines: range(least, most) },
            None => Place::Deleted,
        }
    }

    /// Looks for a block of lines that was moved: the nearest place whose lines come from nowhere else.
    fn find_block(&self, block: &[u32], first: usize, end: usize) -> Option<usize> {
        let mut n_left = MAX_BLOCK_COMPARISONS;
        let mut best: Option<usize> = None;
        for (start, window) in self.new.windows(block.len()).enumerate() {
            n_left = n_left.checked_sub(1)?;
            if window.first() != block.first() {
                continue;
            }
            n_left = n_left.checked_sub(block.len())?;
            let is_free = |from: &Option<usize>| from.is_none_or(|old| (first..end).contains(&old));
            let sources = self.from.get(start..start + block.len())?;
            if window == block && sources.iter().all(is_free) {
                let is_nearer = |known: usize| start.abs_diff(first) < known.abs_diff(first);
                if best.is_none_or(is_nearer) {
                    best = Some(start);
                }
            }
        }
        best
    }

    /// The new lines between the same unchanged neighbours that are most like the old ones.
    fn most_similar(&self, first: usize, end: usize) -> Option<(usize, usize)> {
        let before = self.to.get(..first)?.iter().rev().find_map(|new| *new);
        let after = self.to.get(end..)?.iter().find_map(|new| *new);
        let gap = before.map_or(0, |before| before + 1)..after.unwrap_or(self.new.len());
        let candidates: Vec<usize> = gap
            .filter(|index| self.from.get(*index).is_some_and(Option::is_none))
            .take(MAX_SIMILAR.1)
            .collect();
        let best_of = |old: &&str| {
            let old = pairs_of(old);
            let like = |index: &usize| {
                let new = pairs_of(self.new_lines.get(*index).copied().unwrap_or_default());
                (n_common_pairs(&old, &new), old.len() + new.len())
            };
            let found = candidates.iter().map(|index| (like(index), *index));
            // At least half of the pairs of characters must be the same.
            let similar = found.filter(|((common, all), _)| *common > 0 && common * 4 >= *all);
            let closer = |a: &((usize, usize), usize), b: &((usize, usize), usize)| {
                let ((common_a, all_a), (common_b, all_b)) = (a.0, b.0);
                (common_a * all_b).cmp(&(common_b * all_a)).then(b.1.cmp(&a.1))
            };
            similar.max_by(closer).map(|(_, index)| index)
        };
        let lines = self.old_lines.get(first..end)?.iter().take(MAX_SIMILAR.0);
        let found: Vec<usize> = lines.filter_map(best_of).collect();
        Some((*found.iter().min()?, *found.iter().max()?))
    }
}

fn range(first: usize, last: usize) -> LineRange {
    let number = |index: usize| u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX);
    LineRange { first: number(first), last: number(last) }
}

/// The pairs of neighbouring characters of a line, sorted.
fn pairs_of(line: &str) -> Vec<(char, char)> {
    let chars: Vec<char> = line.trim().chars().take(MAX_LINE_CHARS).collect();
    let mut pairs: Vec<(char, char)> = chars.iter().copied().zip(chars.iter().copied().skip(1)).collect();
    pairs.sort_unstable();
    pairs
}

fn n_common_pairs(a: &[(char, char)], b: &[(char, char)]) -> usize {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut n_common = 0;
    while let (Some(left), Some(right)) = (a.peek(), b.peek()) {
        match left.cmp(right) {
            std::cmp::Ordering::Less => drop(a.next()),
            std::cmp::Ordering::Greater => drop(b.next()),
            std::cmp::Ordering::Equal => {
                n_common += 1;
                a.next();
                b.next();
            }
        }
    }
    n_common
}

/// A region of both texts that is not aligned yet.
#[derive(Clone, Copy)]
struct Region<'t> {
    old: &'t [u32],
    new: &'t [u32],
    old_at: usize,
    new_at: usize,
    n_splits: u32,
}

/// Pairs of equal lines in the order of both texts.
fn align(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut open = vec![Region { old, new, old_at: 0, new_at: 0, n_splits: 0 }];
    while let Some(region) = open.pop() {
        let region = trimmed(region, &mut pairs);
        let (old, new) = (region.old, region.new);
        if old.is_empty() || new.is_empty() {
            continue;
        }
        if old.len().saturating_mul(new.len()) <= MAX_PAIRS {
            for op in capture_diff_slices(Algorithm::Myers, old, new) {
                if let DiffOp::Equal { old_index, new_index, len } = op {
                    let at = |offset: usize| {
                        (region.old_at + old_index + offset, region.new_at + new_index + offset)
                    };
                    pairs.extend((0..len).map(at));
                }
            }
        } else if region.n_splits < MAX_SPLITS {
            split(&region, &mut open, &mut pairs);
        }
    }
    pairs
}

/// Pairs the lines that both ends of a region have in common, and returns the rest.
fn trimmed<'t>(region: Region<'t>, pairs: &mut Vec<(usize, usize)>) -> Region<'t> {
    let Region { mut old, mut new, mut old_at, mut new_at, n_splits } = region;
    while let (Some((a, old_rest)), Some((b, new_rest))) = (old.split_first(), new.split_first()) {
        if a != b {
            break;
        }
        pairs.push((old_at, new_at));
        (old, new, old_at, new_at) = (old_rest, new_rest, old_at + 1, new_at + 1);
    }
    while let (Some((a, old_rest)), Some((b, new_rest))) = (old.split_last(), new.split_last()) {
        if a != b {
            break;
        }
        pairs.push((old_at + old_rest.len(), new_at + new_rest.len()));
        (old, new) = (old_rest, new_rest);
    }
    Region { old, new, old_at, new_at, n_splits }
}

/// Splits a large region at the lines that occur exactly once on each side.
fn split<'t>(region: &Region<'t>, open: &mut Vec<Region<'t>>, pairs: &mut Vec<(usize, usize)>) {
    let mut places: BTreeMap<u32, [(usize, usize); 2]> = BTreeMap::new();
    for (side, lines) in [region.old, region.new].into_iter().enumerate() {
        for (index, id) in lines.iter().enumerate() {
            if let Some((n_times, at)) = places.entry(*id).or_default().get_mut(side) {
                *n_times += 1;
                *at = index;
            }
        }
    }
    let unique =
        places.values().filter_map(|[old, new]| (old.0 == 1 && new.0 == 1).then_some((old.1, new.1)));
    let mut unique: Vec<(usize, usize)> = unique.collect();
    unique.sort_unstable();
    let (mut old_from, mut new_from) = (0, 0);
    let ends = (region.old.len(), region.new.len());
    for (old_to, new_to) in increasing(&unique).into_iter().chain([ends]) {
        if (old_to, new_to) != ends {
            pairs.push((region.old_at + old_to, region.new_at + new_to));
        }
        if let (Some(old), Some(new)) = (region.old.get(old_from..old_to), region.new.get(new_from..new_to))
            && (old_from, new_from, old_to, new_to) != (0, 0, ends.0, ends.1)
        {
            let (old_at, new_at) = (region.old_at + old_from, region.new_at + new_from);
            open.push(Region { old, new, old_at, new_at, n_splits: region.n_splits + 1 });
        }
        (old_from, new_from) = (old_to + 1, new_to + 1);
    }
}

/// The longest part of the pairs, sorted by the first number, whose second numbers increase.
fn increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the index of the pair with the least second number that ends such a part.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |index: &usize| pairs.get(*index).map(|pair| pair.1);
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| second(end) < Some(pair.1));
        previous.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut found = Vec::new();
    let mut at = ends.last().copied();
    while let Some(index) = at {
        found.extend(pairs.get(index));
        at = previous.get(index).copied().flatten();
    }
    found.reverse();
    found
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
