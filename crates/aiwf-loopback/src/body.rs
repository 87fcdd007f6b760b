//! Reads the body of a request, bounded in size and time.

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::StatusCode;
use hyper::body::{Body, Bytes};

use crate::accept::Limits;

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFault {
    TooLarge,
    /// The client closed the connection in the middle of the request.
    Incomplete,
    TooSlow,
}

impl BodyFault {
    pub fn status(self) -> StatusCode {
        match self {
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Incomplete => StatusCode::BAD_REQUEST,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::TooLarge => "the request is too large",
            Self::Incomplete => "the request is incomplete",
            Self::TooSlow => "the request took too long",
        }
    }
}

/// Reads a whole body. After a fault the connection cannot be used again.
pub async fn read_body<B>(body: B, limits: &Limits) -> Result<Bytes, BodyFault>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if body.size_hint().lower() > limits.max_body_bytes {
        return Err(BodyFault::TooLarge);
    }
    let max_bytes = usize::try_from(limits.max_body_bytes).unwrap_or(usize::MAX);
    match tokio::time::timeout(limits.body, Limited::new(body, max_bytes).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyFault::TooLarge),
        Ok(Err(_)) => Err(BodyFault::Incomplete),
        Err(_) => Err(BodyFault::TooSlow),
    }
}
