//! `aiwf mcp`: serves the sessions of this project to MCP clients.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use aiwf_engine::config;
use aiwf_engine::machine::Surface;
use aiwf_engine::{Engine, read_text};
use aiwf_mcp::{Approvals, Ended, LoopbackAddress, Options, Token};
use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// The variable that holds the token.
const TOKEN_VARIABLE: &str = "AIWF_MCP_TOKEN";

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Serve over HTTP at /mcp instead of stdio: PORT or HOST:PORT, loopback only.
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// File with the token that clients must send [default: `AIWF_MCP_TOKEN`, else a new token, printed at start].
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Let clients approve and reject: a model may then approve its own work.
    #[arg(long)]
    allow_approve: bool,
}

pub(crate) fn run(args: &McpArgs, engine: &Engine) -> Result<Exit, Failure> {
    let engine = &engine.clone().on_surface(Surface::Mcp);
    let options = Options {
        approvals: if args.allow_approve { Approvals::Offered } else { Approvals::Withheld },
        version: env!("CARGO_PKG_VERSION"),
    };
    let ended = match &args.http {
        None => {
            if std::io::stdin().is_terminal() {
                output::note("waiting for an MCP client on stdin; press Ctrl-D to stop\n");
            }
            aiwf_mcp::serve_stdio(engine.clone(), options)?
        }
        Some(address) => {
            let address = LoopbackAddress::parse(address)?;
            let (token, is_made) = token(args, engine)?;
            let shown = is_made.then(|| token.reveal().to_owned());
            let on_listening = |bound| {
                output::note(&format!("listening on http://{bound}/mcp\n"));
                if let Some(token) = shown {
                    output::note(&format!("token {token}\n"));
                }
            };
            aiwf_mcp::serve_http(engine.clone(), options, address, token, on_listening)?
        }
    };
    Ok(match ended {
        Ended::ByClient => Exit::Done,
        Ended::BySignal => Exit::Interrupted,
    })
}

/// The token, and whether it was made just now.
fn token(args: &McpArgs, engine: &Engine) -> Result<(Token, bool), Failure> {
    if let Some(file) = &args.token_file {
        let text = read_text(&engine.settings().current_dir.join(file)).map_err(|error| error.about(file))?;
        return Ok((Token::given(&text)?, false));
    }
    match config::variable(TOKEN_VARIABLE) {
        Some(text) => Ok((Token::given(&text)?, false)),
        None => Ok((Token::random()?, true)),
    }
}
