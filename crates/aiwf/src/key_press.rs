//! Reads single keys and pasted texts from a terminal, without Enter.
//!
//! The terminal has its usual mode before and after each call, whatever ends the wait: Ctrl-C arrives as a key, and a
//! signal ends the wait before it ends the program. Input typed before a question is dropped: it was not an answer to
//! it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// How often a wait looks at the signals that arrived.
const EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// The largest text that is taken from a terminal.
const MAX_PASTED_BYTES: usize = 64 * 1024 * 1024;

const CTRL_C: u8 = 0x03;
const CTRL_D: u8 = 0x04;
const BACKSPACE: [u8; 2] = [0x08, 0x7f];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPress {
    Key(char),
    /// Ctrl-C, Ctrl-D, a signal, or the terminal went away.
    End,
    /// An arrow or another key of several bytes, or a pasted text: no answer.
    Other,
}

/// Asks, and waits for one key.
pub(crate) fn press(ask: impl FnOnce()) -> io::Result<KeyPress> {
    let terminal = KeyMode::enter(Echo::Off)?;
    ask();
    let mut bytes = [0; 64];
    let n_read = terminal.read(&mut bytes)?;
    Ok(meaning(bytes.get(..n_read).unwrap_or_default()))
}

/// Interprets the bytes of one read.
fn meaning(bytes: &[u8]) -> KeyPress {
    match bytes {
        [] | [CTRL_C | CTRL_D] => KeyPress::End,
        bytes => {
            match std::str::from_utf8(bytes).ok().map(|text| (text.chars().next(), text.chars().count())) {
                Some((Some(key), 1)) if !key.is_control() || key == '\n' => {
                    KeyPress::Key(key.to_ascii_lowercase())
                }
                _ => KeyPress::Other,
            }
        }
    }
}

/// Asks, and reads a text of several lines; it ends with a line of only `.` or with Ctrl-D, and Ctrl-C drops it.
///
/// Turns off the terminal's own line editing, which cuts lines at 4,096 bytes.
pub(crate) fn paste(ask: impl FnOnce()) -> io::Result<Option<Vec<u8>>> {
    let terminal = KeyMode::enter(Echo::On)?;
    ask();
    let mut pasted = Pasted::default();
    let mut bytes = [0; 4096];
    loop {
        let n_read = terminal.read(&mut bytes)?;
        match pasted.take(bytes.get(..n_read).unwrap_or_default()) {
            Taken::More => {}
            Taken::Whole => return Ok(Some(pasted.text)),
            Taken::Dropped => return Ok(None),
        }
    }
}

/// A text while it arrives.
#[derive(Debug, Default)]
struct Pasted {
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    More,
    Whole,
    Dropped,
}

impl Pasted {
    fn take(&mut self, bytes: &[u8]) -> Taken {
        if bytes.is_empty() {
            return Taken::Dropped;
        }
        for byte in bytes {
            match *byte {
                CTRL_C => return Taken::Dropped,
                CTRL_D => return Taken::Whole,
                byte if BACKSPACE.contains(&byte) => self.erase(),
                _ if self.text.len() >= MAX_PASTED_BYTES => return Taken::Dropped,
                byte => self.text.push(byte),
            }
            if self.text == b".\n" || self.text.ends_with(b"\n.\n") {
                self.text.truncate(self.text.len() - 2);
                return Taken::Whole;
            }
        }
        Taken::More
    }

    /// Takes back the last character of the line.
    fn erase(&mut self) {
        while let Some(last) = self.text.pop_if(|last| *last != b'\n') {
            let continues_a_character = last & 0xc0 == 0x80;
            if !continues_a_character {
                break;
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Echo {
    On,
    Off,
}

/// A terminal that gives each key at once, until this is dropped.
struct KeyMode {
    usual: Termios,
    signals: Vec<SigId>,
    is_ending: Arc<AtomicBool>,
}

impl KeyMode {
    fn enter(echo: Echo) -> io::Result<Self> {
        let usual = tcgetattr(stdin())?;
        let is_ending = Arc::new(AtomicBool::new(false));
        let register = |signal| signal_hook::flag::register(signal, Arc::clone(&is_ending));
        let signals = [SIGINT, SIGTERM, SIGHUP].into_iter().map(register).collect::<io::Result<Vec<_>>>()?;
        let mut modes = usual.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN);
        if echo == Echo::Off {
            modes.local_modes.remove(LocalModes::ECHO);
        }
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        let entered = Self { usual, signals, is_ending };
        tcsetattr(stdin(), OptionalActions::Flush, &modes)?;
        Ok(entered)
    }

    /// Waits for input; reads nothing if the wait was interrupted.
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        while !self.is_ending.load(Ordering::SeqCst) {
            match poll(&mut [PollFd::new(&stdin(), PollFlags::IN)], Some(&EVERY)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => match rustix::io::read(stdin(), &mut *bytes) {
                    Ok(n_read) => return Ok(n_read),
                    // The other side of the terminal is closed.
                    Err(rustix::io::Errno::IO) => return Ok(0),
                    Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                },
                Err(error) => return Err(error.into()),
            }
        }
        Ok(0)
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        // A terminal that went away needs no mode.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.usual);
        for signal in self.signals.drain(..) {
            signal_hook::low_level::unregister(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_is_an_answer_and_a_pasted_text_is_none() {
        assert_eq!(meaning(b"a"), KeyPress::Key('a'));
        assert_eq!(meaning(b"A"), KeyPress::Key('a'));
        assert_eq!(meaning("é".as_bytes()), KeyPress::Key('é'));
        assert_eq!(meaning(b"\n"), KeyPress::Key('\n'));
        assert_eq!(meaning(b"approve"), KeyPress::Other);
        assert_eq!(meaning(b"\x1b[A"), KeyPress::Other);
        assert_eq!(meaning(b"\x1b"), KeyPress::Other);
        assert_eq!(meaning(b"\xff"), KeyPress::Other);
        for end in [b"".as_slice(), &[CTRL_C], &[CTRL_D]] {
            assert_eq!(meaning(end), KeyPress::End);
        }
    }

    /// Taken byte by byte and at once, a text comes out the same.
    fn check(typed: &[u8], expected: Option<&str>) {
        for size in [1, typed.len()] {
            let mut pasted = Pasted::default();
            let mut taken = Taken::More;
            for bytes in typed.chunks(size) {
                taken = pasted.take(bytes);
                if taken != Taken::More {
                    break;
                }
            }
            assert_eq!(taken, if expected.is_some() { Taken::Whole } else { Taken::Dropped });
            if let Some(expected) = expected {
                assert_eq!(String::from_utf8(pasted.text).unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_pasted_text_ends_with_a_dot_on_its_own_line_or_with_ctrl_d() {
        check(b"one\ntwo.\n.\n", Some("one\ntwo.\n"));
        check(b".\n", Some(""));
        check(b"one\n .\n..\n\x04", Some("one\n .\n..\n"));
        check(b"one\n.\x7f\x7f\x7f..\n.\n", Some("one\n..\n"));
        check("onéé\x7f\x7fe\n.\n".as_bytes(), Some("one\n"));
        check(b"one\n\x03", None);
    }

    #[test]
    fn a_line_may_be_longer_than_a_terminal_takes_at_once() {
        let line = "x".repeat(100_000);
        check(format!("{line}\n.\n").as_bytes(), Some(&format!("{line}\n")));
    }
}
