//! A running member and its listeners.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server as Grpc;

use super::{Options, address, entering};
use crate::service::{ControlService, Desk, Lead, Peers};
use crate::{Error, leading};

/// How long what was accepted may take to be answered when the member stops.
const DRAIN: Duration = Duration::from_secs(3);

/// Where a member listens.
#[derive(Debug, Clone, Copy)]
pub struct Listening {
    /// For members, nodes and routers.
    pub address: SocketAddr,
}

/// A running member.
pub struct Server {
    desk: Desk,
    lead: Lead,
    listening: Listening,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a member: listens, comes to its group, serves.
    ///
    /// # Errors
    /// [`Error::Exposed`], [`Error::Listen`], [`Error::Enter`], and whatever opening the folder gives.
    pub async fn start(options: Options) -> Result<Self, Error> {
        address::only_here("--listen", &options.listen)?;
        let (listener, at) = listen(&options.listen).await?;
        let advertised = options.advertise.clone().unwrap_or_else(|| at.to_string());
        address::only_here("--advertise", &advertised)?;
        let peers = Peers::new(options.connect.clone());
        let member = Arc::new(entering::member(&options, &peers, &advertised).await?);
        let desk = Desk { member, peers, ports: options.ports.clone() };
        let (lead, (stop, stopped)) = (Lead::default(), watch::channel(false));
        let raft = desk.member.service().into_server();
        let control = ControlService::new(desk.clone(), lead.clone(), options.keys.join, stopped.clone());
        let routes = Grpc::builder().tcp_nodelay(true).add_service(raft).add_service(control.into_server());
        let until = ended(stopped.clone());
        let serving = async move {
            let served = routes.serve_with_incoming_shutdown(TcpListenerStream::new(listener), until).await;
            if let Err(error) = served {
                tracing::error!(%error, "the listener for members and nodes has ended");
            }
        };
        let tasks = vec![
            tokio::spawn(serving),
            tokio::spawn(leading::run(desk.clone(), lead.clone(), stopped.clone())),
            tokio::spawn(until_stopped(stopped, entering::announce(desk.clone(), advertised))),
        ];
        Ok(Self { desk, lead, listening: Listening { address: at }, stop, tasks })
    }

    /// Where it listens.
    #[must_use]
    pub const fn listening(&self) -> Listening {
        self.listening
    }

    /// Where decisions are asked for.
    #[must_use]
    pub const fn desk(&self) -> &Desk {
        &self.desk
    }

    /// What it has seen as a leader.
    #[must_use]
    pub const fn lead(&self) -> &Lead {
        &self.lead
    }

    /// Stops: hands leadership over, answers what was accepted, and ends.
    pub async fn stop(self) {
        let member = self.desk.member.clone();
        if member.leads()
            && let Some((heir, _, _)) =
                member.group().into_iter().find(|(id, _, votes)| *votes && *id != member.id())
            && let Err(error) = member.hand_over(heir).await
        {
            tracing::debug!(%error, "leadership was not handed over");
        }
        self.stop.send_replace(true);
        for mut task in self.tasks {
            if tokio::time::timeout(DRAIN, &mut task).await.is_err() {
                task.abort();
            }
        }
        self.desk.member.stop().await;
    }

    /// Ends at once, as if the process had gone: nothing is handed over or answered.
    pub async fn kill(self) {
        for task in &self.tasks {
            task.abort();
        }
        self.stop.send_replace(true);
        self.desk.member.stop().await;
    }
}

pub(super) async fn listen(address: &str) -> Result<(TcpListener, SocketAddr), Error> {
    let failed = |source| Error::Listen { address: address.to_owned(), source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let at = listener.local_addr().map_err(failed)?;
    Ok((listener, at))
}

/// Resolves when the member is told to stop.
pub(super) async fn ended(mut stopped: watch::Receiver<bool>) {
    // Whoever tells is gone: that is an end as well.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// Does something until it is done or the member stops.
async fn until_stopped(stopped: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = ended(stopped) => {}
        () = work => {}
    }
}
