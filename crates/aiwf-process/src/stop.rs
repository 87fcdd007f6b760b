//! A flag that ends calls: raised by Ctrl-C, looked at while a call is under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Says when to give a call up; clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
}

impl Stop {
    /// How often a call under way looks at the flag.
    pub const EVERY: Duration = Duration::from_millis(50);

    /// A stop that is raised when the flag is set from elsewhere, such as a signal handler.
    pub fn on(flag: Arc<AtomicBool>) -> Self {
        Self { flag }
    }

    /// Ends the calls that look at it.
    pub fn raise(&self) {
        self.flag.store(true, Ordering::SeqCst);
    }

    /// Lets calls continue again: what was asked to stop has stopped.
    pub fn lower(&self) {
        self.flag.store(false, Ordering::SeqCst);
    }

    /// Whether the call is to be abandoned.
    pub fn is_raised(&self) -> bool {
        self.flag.load(Ordering::SeqCst)
    }
}
