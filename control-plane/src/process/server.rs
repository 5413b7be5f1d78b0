//! A running member and its listeners.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server as Grpc;
use undercroft_certs::Tls;
use undercroft_certs::accept::Incoming;

use super::{Options, address, entering, operators};
use crate::raft::RaftService;
use crate::service::{ControlService, Desk, Lead, Peers};
use crate::{Error, admin, leading, limits};

/// How long what was accepted may take to be answered when the member stops.
const DRAIN: Duration = Duration::from_secs(3);

/// Where a member listens.
#[derive(Debug, Clone, Copy)]
pub struct Listening {
    /// For members, nodes and routers.
    pub address: SocketAddr,
    /// For operators.
    pub admin: Option<SocketAddr>,
    /// Whether both are TLS.
    pub secured: bool,
}

/// A running member.
pub struct Server {
    desk: Desk,
    lead: Lead,
    listening: Listening,
    tls: Option<Arc<Tls>>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a member: listens, comes to its group, serves.
    ///
    /// # Errors
    /// [`Error::Exposed`], [`Error::Listen`], [`Error::Enter`], and whatever opening the folder gives.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let certified = options.connect.certificates().is_some();
        let judge = |what, address: &str| if certified { Ok(()) } else { address::only_here(what, address) };
        judge("--listen", &options.listen)?;
        let (listener, address) = listen(&options.listen).await?;
        let advertised = options.advertise.clone().unwrap_or_else(|| address.to_string());
        judge("--advertise", &advertised)?;
        // Bound before the member starts: a port that is taken must not cost a new member its id.
        let admin = match &options.admin {
            None => None,
            Some(admin) => {
                judge("--admin-listen", &admin.listen)?;
                Some(listen(&admin.listen).await?)
            }
        };
        let listening = Listening { address, admin: admin.as_ref().map(|(_, at)| *at), secured: certified };
        let peers = Peers::new(options.connect.clone());
        let member = Arc::new(entering::member(&options, &peers, &advertised).await?);
        let desk = Desk { member, peers, ports: options.ports, key: Arc::new(options.keys.group) };
        let me = match entering::me(&desk, advertised, options.connect.certificates()) {
            Ok(me) => me,
            Err(error) => {
                desk.member.stop().await;
                return Err(error);
            }
        };
        let (lead, (stop, stopped)) = (Lead::default(), watch::channel(false));
        let control = ControlService::new(desk.clone(), lead.clone(), options.keys.join, stopped.clone());
        let services = (desk.member.service(), control);
        let tls = options.connect.certificates().cloned();
        let mut tasks = vec![
            tokio::spawn(fleet(listener, tls.clone(), services, ended(stopped.clone()))),
            tokio::spawn(leading::run(desk.clone(), lead.clone(), stopped.clone())),
            tokio::spawn(until_stopped(stopped.clone(), entering::announce(desk.clone(), me))),
            tokio::spawn(until_stopped(stopped.clone(), told_of_a_fault(desk.clone()))),
        ];
        if let Some(tls) = tls.clone() {
            let look = async move { tls.watch(undercroft_certs::limits::LOOK).await };
            tasks.push(tokio::spawn(until_stopped(stopped.clone(), look)));
        }
        if let (Some(admin), Some((listener, _))) = (options.admin, admin) {
            let app = admin::App::new(desk.clone(), admin.token);
            let routes = admin::router(app);
            tasks.push(tokio::spawn(operators::serve(listener, tls.clone(), routes, ended(stopped))));
        }
        Ok(Self { desk, lead, listening, tls, stop, tasks })
    }

    /// Where it listens.
    #[must_use]
    pub const fn listening(&self) -> Listening {
        self.listening
    }

    /// Its certificates; `None` when connections are plain.
    #[must_use]
    pub const fn certificates(&self) -> Option<&Arc<Tls>> {
        self.tls.as_ref()
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

/// Serves members, nodes and routers until told to stop.
async fn fleet(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    (raft, control): (RaftService, ControlService),
    until: impl Future<Output = ()>,
) {
    let mut grpc = Grpc::builder().tcp_nodelay(true);
    let routes = grpc.add_service(raft.into_server()).add_service(control.into_server());
    let served = match tls {
        None => routes.serve_with_incoming_shutdown(TcpListenerStream::new(listener), until).await,
        Some(tls) => routes.serve_with_incoming_shutdown(Incoming::new(listener, tls), until).await,
    };
    if let Err(error) = served {
        tracing::error!(%error, "the listener for members and nodes has ended");
    }
}

async fn listen(address: &str) -> Result<(TcpListener, SocketAddr), Error> {
    let failed = |source| Error::Listen { address: address.to_owned(), source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let at = listener.local_addr().map_err(failed)?;
    Ok((listener, at))
}

/// Resolves when the member is told to stop.
async fn ended(mut stopped: watch::Receiver<bool>) {
    // Whoever tells is gone: that is an end as well.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// Says in the log, once, why the member takes part in nothing any more.
async fn told_of_a_fault(desk: Desk) {
    loop {
        if let Some(fault) = desk.member.fault() {
            tracing::error!(member = %desk.member.id(), fault, "this member takes part in nothing any more");
            return;
        }
        desk.ports.clock.pause(limits::CALL).await;
    }
}

/// Does something until it is done or the member stops.
async fn until_stopped(stopped: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = ended(stopped) => {}
        () = work => {}
    }
}
