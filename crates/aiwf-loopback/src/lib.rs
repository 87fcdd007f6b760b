//! Serves HTTP to this machine only, for every server of aiwf.
//!
//! In: a loopback address and a function that answers requests. Any web page the user visits can send requests to a
//! loopback port, so [`Authority`] checks `Host` and `Origin` first, and the caller then checks its [`Token`] or cookie.
//! [`accept`] limits connections, times and strangers; [`read_body`] limits bodies. Knows no route and no session.

mod accept;
mod address;
mod authority;
mod body;
mod run;
mod token;

pub use accept::{ClientKnown, Limits, accept};
pub use address::{AddressError, LoopbackAddress};
pub use authority::{Authority, ForgedHeader, Navigation};
pub use body::{BodyFault, read_body};
pub use run::{Ended, ServeError, Threads, run};
pub use token::{Token, TokenError};
