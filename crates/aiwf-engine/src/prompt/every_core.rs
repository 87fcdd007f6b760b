//! Distributes work over all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// With fewer items, a second thread costs more than it saves.
pub(crate) const PARALLEL_ITEMS: usize = 64;
const MAX_THREADS: usize = 8;

/// Distributes the indices of `n_items` items over all cores; results keep their order.
///
/// `work` runs once on every thread and takes indices until there are none. `on_taken` is called for those that this
/// thread takes.
pub(crate) fn on_every_core<T: Send>(
    n_items: usize,
    on_taken: &dyn Fn(usize),
    work: impl Fn(&dyn Fn() -> Option<usize>) -> Vec<(usize, T)> + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < n_items);
    let n_threads = if n_items < PARALLEL_ITEMS {
        1
    } else {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_THREADS)
    };
    let mut made = std::thread::scope(|scope| {
        // This thread works too: one fewer to start, and its memory grows in larger steps.
        // If the system provides no other thread, this one does everything.
        let others: Vec<_> = (1..n_threads)
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, || work(&take)).ok())
            .collect();
        let mut made = work(&|| take().inspect(|number| on_taken(*number)));
        for other in others {
            made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    });
    made.sort_unstable_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, item)| item).collect()
}

/// Maps items in parallel; results keep their order.
pub(crate) fn map_on_every_core<I: Sync, T: Send>(items: &[I], make: impl Fn(&I) -> T + Sync) -> Vec<T> {
    on_every_core(items.len(), &|_| (), |take| {
        let numbers = std::iter::from_fn(take);
        numbers.filter_map(|number| Some((number, make(items.get(number)?)))).collect()
    })
}

/// Runs `other` on another core while this thread runs `here`; on this thread, after it, if the system provides no other.
pub(crate) fn side_by_side<T: Send, U>(other: impl Fn() -> T + Sync, here: impl FnOnce() -> U) -> (T, U) {
    std::thread::scope(|scope| {
        let spawned = std::thread::Builder::new().spawn_scoped(scope, &other).ok();
        let made_here = here();
        let made = match spawned {
            Some(spawned) => spawned.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => other(),
        };
        (made, made_here)
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn every_item_is_processed_once_and_keeps_its_position() {
        for n_items in [0, 1, PARALLEL_ITEMS - 1, PARALLEL_ITEMS, 10_000] {
            let items: Vec<usize> = (0..n_items).collect();
            let doubled: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(map_on_every_core(&items, |item| item * 2), doubled);
        }
    }

    #[test]
    fn this_thread_says_what_it_takes() {
        let last = Cell::new(None);
        let made = on_every_core(3, &|number| last.set(Some(number)), |take| {
            std::iter::from_fn(take).map(|number| (number, ())).collect()
        });
        assert_eq!((made.len(), last.get()), (3, Some(2)));
    }
}
