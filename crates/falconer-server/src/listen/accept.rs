//! The loop that takes connections and gives each to HTTP, within the caps.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::config::Caps;
use crate::listen::patience::Patience;

/// How long TLS may take to greet.
const GREETING: Duration = Duration::from_secs(10);
/// How long open requests may take after the end was asked for.
const LEAVING: Duration = Duration::from_secs(5);

/// Who is at the other end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Peer {
    /// Somebody on the network.
    Network(IpAddr),
    /// Somebody on this machine who may open the socket; no browser can.
    Socket,
}

impl Peer {
    pub(crate) fn address(self) -> IpAddr {
        match self {
            Self::Network(address) => address,
            Self::Socket => IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }
}

/// Where connections come in.
#[derive(Debug)]
pub(crate) enum Door {
    Tcp(TcpListener, Option<Encryption>),
    Unix(UnixListener),
}

/// What speaks TLS.
#[derive(Clone)]
pub(crate) struct Encryption(pub(crate) TlsAcceptor);

impl std::fmt::Debug for Encryption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Encryption")
    }
}

/// Serves until `end`; returns when every connection is closed.
pub(crate) async fn run(doors: Vec<Door>, router: Router, caps: Caps, end: CancellationToken) {
    let room = Arc::new(Semaphore::new(caps.connections));
    let mut loops = JoinSet::new();
    for door in doors {
        let house = House {
            router: router.clone(),
            caps: caps.clone(),
            room: Arc::clone(&room),
            end: end.clone(),
        };
        loops.spawn(house.open(door));
    }
    while loops.join_next().await.is_some() {}
}

/// What a connection needs.
#[derive(Clone)]
struct House {
    router: Router,
    caps: Caps,
    room: Arc<Semaphore>,
    end: CancellationToken,
}

impl House {
    async fn open(self, door: Door) {
        let mut guests = JoinSet::new();
        loop {
            // Room first: who cannot be served waits in the system's queue.
            let Ok(place) = Arc::clone(&self.room).acquire_owned().await else {
                break;
            };
            tokio::select! {
                () = self.end.cancelled() => break,
                accepted = self.take(&door, place, &mut guests) => {
                    if let Err(error) = accepted {
                        tracing::warn!(%error, "failed to accept a connection");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
            while guests.try_join_next().is_some() {}
        }
        let _ = tokio::time::timeout(LEAVING, async {
            while guests.join_next().await.is_some() {}
        })
        .await;
        guests.shutdown().await;
    }

    async fn take(
        &self,
        door: &Door,
        place: OwnedSemaphorePermit,
        guests: &mut JoinSet<()>,
    ) -> io::Result<()> {
        match door {
            Door::Tcp(listener, encryption) => {
                let (stream, address) = listener.accept().await?;
                let peer = Peer::Network(address.ip());
                let _ = stream.set_nodelay(true);
                let house = self.clone();
                match encryption.clone() {
                    None => guests.spawn(house.serve(stream, peer, place)),
                    Some(encryption) => guests.spawn(async move {
                        let greeting = encryption.0.accept(stream);
                        if let Ok(Ok(stream)) = tokio::time::timeout(GREETING, greeting).await {
                            house.serve(stream, peer, place).await;
                        }
                    }),
                };
            }
            Door::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                guests.spawn(self.clone().serve(stream, Peer::Socket, place));
            }
        }
        Ok(())
    }

    async fn serve<T>(self, stream: T, peer: Peer, place: OwnedSemaphorePermit)
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = TokioIo::new(Patience::new(stream, self.caps.write_time));
        let router = self.router;
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let mut request: Request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(peer);
            router.clone().oneshot(request)
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.caps.header_time)
            .max_headers(64)
            .max_buf_size(self.caps.headers.max(8 << 10))
            .serve_connection(stream, service)
            .with_upgrades();
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => {}
            () = self.end.cancelled() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
        drop(place);
    }
}
