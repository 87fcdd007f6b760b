//! A person who pastes the prompt into any chat and saves the reply.

use crate::ask::{Answer, Ask, Check, Request};
use crate::ask_error::AskError;
use crate::sink::Sink;

/// The provider `manual`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manual;

impl Ask for Manual {
    fn is_free(&self) -> bool {
        true
    }

    fn ask(&self, _: &Request<'_>, _: &mut dyn Sink) -> Result<Answer, AskError> {
        Ok(Answer::AwaitsPerson)
    }

    fn check(&self) -> Vec<Check> {
        vec![Check::ok("person", "you")]
    }
}
