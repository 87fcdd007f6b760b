//! The clients of all calls of a process: each keeps the connections that servers leave open.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, redirect};

use crate::address::Address;

/// What clients differ by; keys and headers travel with each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ClientKind {
    is_loopback: bool,
    is_plain: bool,
    connect: Duration,
}

static CLIENTS: Mutex<BTreeMap<ClientKind, Client>> = Mutex::new(BTreeMap::new());

/// The client for an address, made when it is first needed.
pub(super) fn client(address: &Address, connect: Duration) -> Result<Client, reqwest::Error> {
    let is_plain = address.base.scheme() == "http";
    let kind = ClientKind { is_loopback: address.is_loopback, is_plain, connect };
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(client) = clients.get(&kind) {
        return Ok(client.clone());
    }
    let client = build(kind)?;
    clients.insert(kind, client.clone());
    Ok(client)
}

fn build(kind: ClientKind) -> Result<Client, reqwest::Error> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have been faster; then its choice holds.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(kind.connect)
        .referer(false)
        .retry(reqwest::retry::never());
    if kind.is_loopback {
        builder = builder.no_proxy();
    }
    if kind.is_plain {
        // Nothing will be verified, so the system's certificates need not be read.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}
