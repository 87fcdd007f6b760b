//! What the page's decisions do right now: a decision may ask an agent for an hour, and its form is answered at once.
//!
//! Nothing here is state of a session: the journal has that. A job that is lost is a call that a killed process left.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aiwf_engine::provider::Stop;
use aiwf_engine::{CallEvent, CheckState, Engine};
use serde::Serialize;

use crate::site::Site;
use crate::words::Refusal;

/// How long a form waits for its decision before the page shows it as under way.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How much of what arrives is shown.
const MAX_TEXT: usize = 6_000;
const MAX_LINES: usize = 40;
/// Finished jobs whose failure is still shown.
const MAX_FAILED: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Jobs(Mutex<BTreeMap<String, Job>>);

#[derive(Debug)]
struct Job {
    stop: Stop,
    live: Arc<Mutex<LiveLog>>,
    /// `None` while it runs.
    failure: Option<Refusal>,
    is_running: bool,
}

/// What happens during a call, as the page shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct LiveLog {
    /// Checks and tools, oldest first.
    pub(crate) lines: Vec<String>,
    /// The end of the reply as it arrives.
    pub(crate) text: String,
}

impl LiveLog {
    fn line(&mut self, line: String) {
        self.lines.push(line);
        if self.lines.len() > MAX_LINES {
            self.lines.remove(0);
        }
    }

    fn take(&mut self, event: &CallEvent<'_>) {
        match event {
            CallEvent::Started { provider, name } => {
                self.text.clear();
                self.line(format!("asking {provider} ({name})"));
            }
            CallEvent::Text(text) => {
                self.text.push_str(text);
                let excess = self.text.len().saturating_sub(MAX_TEXT);
                let start = (excess..self.text.len()).find(|at| self.text.is_char_boundary(*at));
                if let (1.., Some(start)) = (excess, start) {
                    self.text.drain(..start);
                }
            }
            CallEvent::Restarted => {
                self.text.clear();
                self.line("making the call again".to_owned());
            }
            CallEvent::ToolStarted { name, about } => self.line(format!("tool {name} {about}")),
            CallEvent::ToolEnded { name, error: Some(error), .. } => {
                self.line(format!("tool {name}: {error}"));
            }
            CallEvent::Performed(done) => self.line(done.to_string()),
            CallEvent::Check { name, state: CheckState::Started { run } } => {
                self.line(format!("check {name}: {run}"));
            }
            CallEvent::Check { name, state: CheckState::Ended(result) } => {
                self.line(format!("check {name} {}", result.outcome()));
            }
            CallEvent::PromptBuilt { .. }
            | CallEvent::ProviderOpened { .. }
            | CallEvent::Progress(_)
            | CallEvent::ToolEnded { error: None, .. }
            | CallEvent::LeftOut(_)
            | CallEvent::Ended { .. } => {}
        }
    }
}

impl Jobs {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What runs for a session.
    pub(crate) fn live(&self, id: &str) -> Option<LiveLog> {
        let jobs = self.lock();
        let job = jobs.get(id).filter(|job| job.is_running)?;
        Some(job.live.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Why the last decision about a session came to nothing, once it is over.
    pub(crate) fn failure(&self, id: &str) -> Option<Refusal> {
        self.lock().get(id).filter(|job| !job.is_running)?.failure.clone()
    }

    pub(crate) fn stop(&self, id: &str) -> bool {
        self.lock().get(id).filter(|job| job.is_running).map(|job| job.stop.raise()).is_some()
    }

    pub(crate) fn stop_all(&self) {
        self.lock().values().filter(|job| job.is_running).for_each(|job| job.stop.raise());
    }

    fn begin(&self, id: &str) -> Result<(Stop, Arc<Mutex<LiveLog>>), Refusal> {
        let mut jobs = self.lock();
        if jobs.len() > MAX_FAILED {
            jobs.retain(|_, job| job.is_running);
        }
        let job = Job { stop: Stop::default(), live: Arc::default(), failure: None, is_running: true };
        let begun = (job.stop.clone(), Arc::clone(&job.live));
        match jobs.entry(id.to_owned()) {
            Entry::Occupied(entry) if entry.get().is_running => Err(Refusal::busy()),
            Entry::Occupied(mut entry) => {
                entry.insert(job);
                Ok(begun)
            }
            Entry::Vacant(entry) => {
                entry.insert(job);
                Ok(begun)
            }
        }
    }

    fn end(&self, id: &str, failure: Option<Refusal>) {
        let mut jobs = self.lock();
        match failure {
            None => drop(jobs.remove(id)),
            Some(failure) => {
                if let Some(job) = jobs.get_mut(id) {
                    (job.failure, job.is_running) = (Some(failure), false);
                }
            }
        }
    }
}

/// How far a decision came while its form waited.
#[derive(Debug)]
pub(crate) enum Progress<T> {
    Done(T),
    UnderWay,
}

/// Runs a decision. After a moment the page shows it as under way, and its end is in the journal.
pub(crate) async fn run<T: Send + 'static>(
    site: &Arc<Site>,
    id: &str,
    work: impl FnOnce(&Engine) -> Result<T, Refusal> + Send + 'static,
) -> Result<Progress<T>, Refusal> {
    let (stop, live) = site.jobs.begin(id)?;
    let changes = Arc::clone(&site.changes);
    let session = id.to_owned();
    let engine = site.engine.clone().stopped_by(stop).watched_by(move |event| {
        live.lock().unwrap_or_else(PoisonError::into_inner).take(&event);
        if matches!(event, CallEvent::Text(_) | CallEvent::Progress(_)) {
            changes.notify_words(&session);
        } else {
            changes.notify(&session);
        }
    });
    let working = tokio::task::spawn_blocking(move || work(&engine));
    let (tell, told) = tokio::sync::oneshot::channel();
    let (site, id) = (Arc::clone(site), id.to_owned());
    tokio::spawn(async move {
        let outcome = working.await.unwrap_or_else(|_| Err(Refusal::bug()));
        let failure = outcome.as_ref().err().cloned();
        // A form that still waits shows the failure itself.
        site.jobs.end(&id, failure.filter(|_| tell.is_closed()));
        drop(tell.send(outcome));
        site.changes.notify(&id);
    });
    match tokio::time::timeout(PATIENCE, told).await {
        Ok(Ok(outcome)) => outcome.map(Progress::Done),
        Ok(Err(_)) => Err(Refusal::bug()),
        Err(_) => Ok(Progress::UnderWay),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reply_is_cut_at_its_start_and_between_characters() {
        let mut log = LiveLog::default();
        for _ in 0..2_000 {
            log.take(&CallEvent::Text("äöü\n"));
        }
        assert!(log.text.len() <= MAX_TEXT && log.text.ends_with("äöü\n"));
        for number in 0..100 {
            log.take(&CallEvent::ToolStarted { name: "search", about: &number.to_string() });
        }
        assert_eq!((log.lines.len(), log.lines[0].as_str()), (MAX_LINES, "tool search 60"));
    }

    #[test]
    fn a_session_has_one_job_at_a_time_and_keeps_why_it_failed() {
        let jobs = Jobs::default();
        let (stop, _) = jobs.begin("one").unwrap();
        assert!(jobs.begin("one").is_err() && jobs.begin("other").is_ok());
        assert!(jobs.stop("one") && stop.is_raised());
        jobs.end("one", Some(Refusal::busy()));
        assert!(jobs.failure("one").is_some() && jobs.live("one").is_none() && !jobs.stop("one"));
        jobs.begin("one").unwrap();
        assert!(jobs.failure("one").is_none());
    }
}
