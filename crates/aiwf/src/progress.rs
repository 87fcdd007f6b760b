//! A bar for long work, on a terminal only.

use std::cell::RefCell;

use aiwf_engine::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// Below this many files a bar would only flicker.
const MANY_FILES: usize = 500;

/// A progress bar for reading files.
pub(crate) struct FileBar {
    bar: RefCell<Option<ProgressBar>>,
    is_watched: bool,
}

impl FileBar {
    pub(crate) fn new() -> Self {
        Self { bar: RefCell::new(None), is_watched: output::is_watched() }
    }

    pub(crate) fn show(&self, progress: Progress) {
        if !self.is_watched || progress.n_total < MANY_FILES {
            return;
        }
        let mut bar = self.bar.borrow_mut();
        let bar = bar.get_or_insert_with(|| {
            let bar =
                ProgressBar::with_draw_target(Some(progress.n_total as u64), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("reading files {bar:30} {pos}/{len}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_position(progress.n_done as u64);
        if progress.n_done == progress.n_total {
            bar.finish_and_clear();
        }
    }
}
