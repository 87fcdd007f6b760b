//! A person who pastes the prompt into any chat and saves the reply.

use crate::ask::{Answer, Ask, AskError};
use crate::payload::Payload;

/// The provider `manual`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manual;

impl Ask for Manual {
    fn is_free(&self) -> bool {
        true
    }

    fn ask(&self, _: &Payload) -> Result<Answer, AskError> {
        Ok(Answer::AwaitsPerson)
    }
}
