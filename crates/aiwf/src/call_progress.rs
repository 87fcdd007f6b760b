//! Shows progress while a provider is asked: one live line on a terminal, or lines of JSON.

use std::sync::Mutex;
use std::time::Duration;

use aiwf_engine::provider::Progress;
use aiwf_engine::{CallEvent, CheckState};
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::escape::escaped_line;
use crate::output;

/// How often the clock of the line moves on.
const TICK: Duration = Duration::from_millis(200);

/// One live line per call on a terminal, with provider, purpose, size and duration, and a line for each step of a
/// session.
pub(crate) fn line() -> impl Fn(CallEvent<'_>) + Send + Sync {
    let is_watched = output::is_watched();
    let current: Mutex<Option<ProgressBar>> = Mutex::new(None);
    move |event| {
        let Ok(mut current) = current.lock() else { return };
        if let CallEvent::Performed(done) = event {
            output::say(&done.to_string());
        } else if let CallEvent::LeftOut(left_out) = event {
            output::left_out(left_out);
        }
        if !is_watched {
            return;
        }
        match event {
            CallEvent::Started { provider, name } => *current = Some(bar(&format!("{provider} {name}"))),
            CallEvent::Check { name, state: CheckState::Started { .. } } => {
                *current = Some(bar(&format!("check {name}")));
            }
            CallEvent::Progress(progress) => {
                if let Some(bar) = current.as_ref() {
                    bar.set_message(match progress {
                        Progress::Bytes(n_bytes) => HumanBytes(n_bytes).to_string(),
                        Progress::Retry { attempt, wait } => {
                            format!("attempt {attempt} in {:.1} s", wait.as_secs_f64())
                        }
                    });
                }
            }
            CallEvent::PromptBuilt { .. }
            | CallEvent::ProviderOpened { .. }
            | CallEvent::Text(_)
            | CallEvent::Restarted
            | CallEvent::Performed(_)
            | CallEvent::LeftOut(_)
            | CallEvent::ToolStarted { .. }
            | CallEvent::ToolEnded { .. } => {}
            CallEvent::Ended { .. } | CallEvent::Check { state: CheckState::Ended(_), .. } => {
                if let Some(bar) = current.take() {
                    bar.finish_and_clear();
                }
            }
        }
    }
}

/// A live line that counts the time.
fn bar(prefix: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.set_prefix(escaped_line(prefix));
    bar.enable_steady_tick(TICK);
    bar
}

/// Progress as JSON lines; byte counts at most once a second.
pub(crate) fn events() -> impl Fn(CallEvent<'_>) + Send + Sync {
    let last: Mutex<Option<std::time::Instant>> = Mutex::new(None);
    move |event| {
        let line = match event {
            CallEvent::Started { provider, name } => {
                json!({ "event": "call-started", "provider": provider, "name": name })
            }
            CallEvent::Progress(Progress::Bytes(n_bytes)) => {
                let Ok(mut last) = last.lock() else { return };
                if last.is_some_and(|last| last.elapsed() < Duration::from_secs(1)) {
                    return;
                }
                *last = Some(std::time::Instant::now());
                json!({ "event": "call-progress", "bytes": n_bytes })
            }
            CallEvent::Progress(Progress::Retry { attempt, wait }) => {
                json!({ "event": "call-retry", "attempt": attempt, "wait_ms": millis(wait) })
            }
            CallEvent::PromptBuilt { .. }
            | CallEvent::ProviderOpened { .. }
            | CallEvent::Text(_)
            | CallEvent::Restarted => return,
            CallEvent::Performed(done) => return output::say(&done.to_string()),
            CallEvent::LeftOut(left_out) => json!({ "event": "left-out", "left_out": left_out }),
            CallEvent::ToolStarted { name, about } => {
                json!({ "event": "tool-started", "tool": name, "about": about })
            }
            CallEvent::ToolEnded { name, error, elapsed } => {
                json!({ "event": "tool-ended", "tool": name, "error": error, "elapsed_ms": millis(elapsed) })
            }
            CallEvent::Check { name, state: CheckState::Started { run } } => {
                json!({ "event": "check-started", "check": name, "run": run })
            }
            CallEvent::Check { name, state: CheckState::Ended(result) } => {
                let (passed, outcome, elapsed) = (result.passed, result.outcome(), result.millis);
                json!({ "event": "check-ended", "check": name, "passed": passed, "outcome": outcome, "elapsed_ms": elapsed })
            }
            CallEvent::Ended { is_ok, elapsed } => {
                json!({ "event": "call-ended", "ok": is_ok, "elapsed_ms": millis(elapsed) })
            }
        };
        output::note(&format!("{line}\n"));
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
