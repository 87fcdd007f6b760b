//! A terminal of its own for the program: what is typed into it, what stands on it.

use std::io::{Read as _, Write as _};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::scene::{KEY, Scene};

/// How long a text may take: only a program that hangs takes as long, and then the test shows what was printed.
const PATIENCE: Duration = Duration::from_mins(5);

/// A terminal with the program in it.
pub(crate) struct Terminal {
    pty: std::fs::File,
    child: Child,
    seen: Arc<Mutex<String>>,
    /// Whether everything the program printed has been read.
    is_read: Arc<AtomicBool>,
    /// How much of what was seen an expectation has used up.
    n_read: usize,
}

impl Terminal {
    /// Starts the program in a terminal, with the environment of the scene.
    pub(crate) fn open(scene: &Scene, arguments: &[&str]) -> Self {
        Self::sized(scene, arguments, pty_process::Size::new(40, 200), &[])
    }

    /// The same in a terminal of a size, with more variables.
    pub(crate) fn sized(
        scene: &Scene,
        arguments: &[&str],
        size: pty_process::Size,
        variables: &[(&str, &str)],
    ) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(size).unwrap();
        let child = pty_process::blocking::Command::new(env!("CARGO_BIN_EXE_aiwf"))
            .args(arguments)
            .env_clear()
            .env("HOME", scene.project.home())
            .env("XDG_CACHE_HOME", scene.project.cache())
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env("MODEL_KEY", KEY)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .envs(variables.iter().copied())
            .current_dir(scene.project.root())
            .spawn(pts)
            .unwrap();
        let pty = std::fs::File::from(std::os::fd::OwnedFd::from(pty));
        let mut reader = pty.try_clone().unwrap();
        let seen = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&seen);
        let is_read = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_read);
        // Ends with the program: reading from a terminal that nobody holds is an error.
        std::thread::spawn(move || {
            let (mut buffer, mut pending) = ([0; 4096], Vec::new());
            while let Ok(n_bytes @ 1..) = reader.read(&mut buffer) {
                pending.extend_from_slice(&buffer[..n_bytes]);
                let n_valid = match std::str::from_utf8(&pending) {
                    Ok(text) => text.len(),
                    Err(error) => error.valid_up_to(),
                };
                let rest = pending.split_off(n_valid);
                let text = String::from_utf8(std::mem::replace(&mut pending, rest)).unwrap();
                written.lock().unwrap().push_str(&text);
            }
            ended.store(true, Ordering::SeqCst);
        });
        Self { pty, child, seen, is_read, n_read: 0 }
    }

    /// Types something.
    pub(crate) fn send(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until a text stands there, after what was expected before.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) {
        let started_at = Instant::now();
        loop {
            let is_read = self.is_read.load(Ordering::SeqCst);
            let seen = self.seen();
            let new = seen.get(self.n_read..).unwrap_or_default();
            if let Some(found) = new.find(text) {
                self.n_read += found + text.len();
                return;
            }
            let is_late = is_read || started_at.elapsed() > PATIENCE;
            assert!(!is_late, "`{text}` never came; after the last expected text stands:\n{new}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Everything that stood there.
    pub(crate) fn seen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until everything the program printed is there.
    pub(crate) fn read_to_end(&mut self) -> String {
        self.wait();
        while !self.is_read.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.seen()
    }

    /// The program's exit code, once it ends.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> i32 {
        let started_at = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(started_at.elapsed() < PATIENCE, "the program goes on:\n{}", self.seen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
