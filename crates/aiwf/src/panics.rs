//! Turns a panic into an ordinary failure with a message, a hint and an exit code.

use std::panic::{self, PanicHookInfo, UnwindSafe};
use std::sync::{Mutex, PoisonError};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// The message of the last panic, printed once stdout is no longer locked.
static FAULT: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program; a panic becomes an error message and exit code 70.
pub(crate) fn guarded(run: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    panic::set_hook(Box::new(|panic| {
        *FAULT.lock().unwrap_or_else(PoisonError::into_inner) = Some(described(panic));
    }));
    panic::catch_unwind(run).unwrap_or_else(|_| {
        let fault = FAULT.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        Output::new(output::is_json_asked_for(), "").failure(&Failure::bug(fault))
    })
}

fn described(panic: &PanicHookInfo<'_>) -> String {
    let message = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map_or_else(String::new, ToString::to_string);
    format!("internal error at {place}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug_with_its_own_exit_code() {
        let exit = guarded(|| panic!("made for this test"));
        drop(panic::take_hook());
        assert_eq!(exit.code(), 70);
    }
}
