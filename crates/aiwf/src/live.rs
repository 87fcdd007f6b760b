//! Shows a run while a model works on it: its text as it arrives, and the tools it calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aiwf_engine::provider::Progress;
use aiwf_engine::{CallEvent, CheckState};
use anstyle::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::escape::escaped_line;
use crate::output;

/// How often the clock of the waiting line moves on.
const TICK: Duration = Duration::from_millis(200);
/// A tool that took longer is worth a second line.
const LONG: Duration = Duration::from_secs(2);

/// Whether the model's text is shown as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streaming {
    /// They are.
    Live,
    /// The caller prints it at the end.
    AtEnd,
}

/// The screen; clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    shown: Arc<Mutex<Shown>>,
}

#[derive(Debug)]
struct Shown {
    streaming: Streaming,
    is_watched: bool,
    waiting: Option<ProgressBar>,
    is_at_line_start: bool,
    /// The text of the current call.
    current: String,
    /// The texts of earlier calls in this turn.
    said: Vec<String>,
}

impl Screen {
    pub(crate) fn new(streaming: Streaming) -> Self {
        let shown = Shown {
            streaming,
            is_watched: output::is_watched(),
            waiting: None,
            is_at_line_start: true,
            current: String::new(),
            said: Vec::new(),
        };
        Self { shown: Arc::new(Mutex::new(shown)) }
    }

    /// A watcher that shows the engine's events on this screen.
    pub(crate) fn watcher(&self) -> impl Fn(CallEvent<'_>) + Send + Sync + use<> {
        let screen = self.clone();
        move |event| screen.lock().show(event)
    }

    /// Forgets the texts of earlier turns.
    pub(crate) fn begin_turn(&self) {
        let mut shown = self.lock();
        shown.current.clear();
        shown.said.clear();
    }

    /// Clears the waiting line, and ends the line that is begun.
    pub(crate) fn end_turn(&self) {
        let mut shown = self.lock();
        shown.stop_waiting();
        shown.end_line();
    }

    /// Whether a reply is already on the screen.
    pub(crate) fn has_shown(&self, reply: &str) -> bool {
        let shown = self.lock();
        shown.said.iter().chain([&shown.current]).any(|said| said.trim() == reply.trim())
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn show(&mut self, event: CallEvent<'_>) {
        match event {
            CallEvent::Started { provider, .. } => {
                let before = std::mem::take(&mut self.current);
                self.said.push(before);
                self.end_line();
                self.wait_for(provider);
            }
            CallEvent::Progress(Progress::Retry { attempt, wait }) => {
                if let Some(waiting) = &self.waiting {
                    waiting.set_message(format!("attempt {attempt} in {:.1} s", wait.as_secs_f64()));
                }
            }
            CallEvent::Text(text) => self.text(text),
            CallEvent::Restarted => {
                if !self.current.is_empty() {
                    self.current.clear();
                    self.dim("(the reply starts over)");
                }
            }
            CallEvent::ToolStarted { name, about } => self.dim(format!("· {name} {about}").trim_end()),
            CallEvent::ToolEnded { name, error: Some(error), .. } => self.dim(&format!("  {name}: {error}")),
            CallEvent::ToolEnded { name, error: None, elapsed } if elapsed >= LONG => {
                self.dim(&format!("  {name}: {:.1} s", elapsed.as_secs_f64()));
            }
            CallEvent::Check { name, state: CheckState::Started { .. } } => {
                self.dim(&format!("· check {name}"));
            }
            CallEvent::Check { name, state: CheckState::Ended(result) } => {
                self.dim(&format!("  {name} {}", result.outcome()));
            }
            CallEvent::Performed(done) => self.dim(&done.to_string()),
            CallEvent::LeftOut(left_out) => {
                self.end_line();
                output::left_out(left_out);
            }
            CallEvent::PromptBuilt { .. }
            | CallEvent::ProviderOpened { .. }
            | CallEvent::Progress(Progress::Bytes(_))
            | CallEvent::ToolEnded { .. } => {}
            CallEvent::Ended { .. } => {
                self.stop_waiting();
                self.end_line();
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.streaming == Streaming::AtEnd || text.is_empty() {
            return;
        }
        self.stop_waiting();
        self.current.push_str(text);
        self.is_at_line_start = text.ends_with('\n');
        output::print_piece(text);
    }

    fn end_line(&mut self) {
        if !self.is_at_line_start {
            self.is_at_line_start = true;
            output::print_piece("\n");
        }
    }

    /// Prints a dimmed line between the texts.
    fn dim(&mut self, line: &str) {
        self.stop_waiting();
        self.end_line();
        output::note_styled(&[(Style::new().dimmed(), escaped_line(line)), (Style::new(), "\n".to_owned())]);
    }

    fn wait_for(&mut self, provider: &str) {
        self.stop_waiting();
        if !self.is_watched {
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(escaped_line(provider));
        bar.enable_steady_tick(TICK);
        self.waiting = Some(bar);
    }

    fn stop_waiting(&mut self) {
        if let Some(bar) = self.waiting.take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(events: &[CallEvent<'_>]) -> Screen {
        let screen = Screen::new(Streaming::Live);
        screen.lock().is_watched = false;
        screen.begin_turn();
        let watcher = screen.watcher();
        for event in events {
            watcher(*event);
        }
        screen
    }

    const CALL: CallEvent<'_> = CallEvent::Started { provider: "p", name: "run" };
    const END: CallEvent<'_> = CallEvent::Ended { is_ok: true, elapsed: Duration::ZERO };

    #[test]
    fn texts_of_all_calls_of_the_turn_count_as_shown() {
        let screen = told(&[CALL, CallEvent::Text("Let me "), CallEvent::Text("look.\n"), END, CALL, END]);
        assert!(screen.has_shown("Let me look."));
        assert!(!screen.has_shown("Done."));
        screen.begin_turn();
        assert!(!screen.has_shown("Let me look."));
    }

    #[test]
    fn an_answer_that_begins_again_is_the_second_one_alone() {
        let screen =
            told(&[CALL, CallEvent::Text("Hal"), CallEvent::Restarted, CallEvent::Text("Hello"), END]);
        assert!(screen.has_shown("Hello"));
        assert!(!screen.has_shown("HalHello"));
    }
}
