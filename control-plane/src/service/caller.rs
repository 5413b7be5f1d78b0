//! Who asks: the holder of the connection's certificate, or whom a member passes a call on for. Without certificates nobody can
//! be told from anybody, and nothing is bound to anybody.

use std::fmt;

use tonic::metadata::MetadataValue;
use tonic::{Request, Status};
use undercroft_certs::grpc::Access;
use undercroft_certs::{Identity, Role};

use crate::limits;

/// Marks a call that was passed on, so that it is not passed on again, and says for whom. Read from members alone.
const PASSED_ON: &str = "undercroft-passed-on";
/// Stands there when the caller showed no certificate.
const NOBODY: &str = "-";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller(Option<Identity>);

impl Caller {
    /// Who makes a call that is for one role. `access` lets that role pass, and members, who pass calls on.
    pub(super) fn of<T>(access: Access, role: Role, call: &Request<T>) -> Result<Self, Status> {
        let Some(peer) = access.check(call.extensions())? else { return Ok(Self(None)) };
        let passed_on = call.metadata().get(PASSED_ON).filter(|_| peer.role() == Role::Control);
        let caller = match passed_on {
            None => peer.clone(),
            Some(uri) => {
                let uri = uri.to_str().unwrap_or_default();
                let unknown = |_| Status::permission_denied("this call was passed on for nobody");
                Identity::from_uri(uri).map_err(unknown)?
            }
        };
        if caller.role() == role {
            return Ok(Self(Some(caller)));
        }
        let what = format!("this call is for {role}, and the certificate is of {caller}");
        Err(Status::permission_denied(what))
    }

    /// The URI in the caller's certificate.
    pub(super) fn certificate(&self) -> Option<String> {
        self.0.as_ref().map(Identity::uri)
    }

    /// Whether the caller holds the certificate that something is bound to.
    pub(super) fn holds(&self, what: impl fmt::Display, bound: Option<&str>) -> Result<(), Status> {
        match (&self.0, bound) {
            (None, _) => Ok(()),
            (Some(caller), Some(bound)) if caller.uri() == bound => Ok(()),
            (Some(caller), Some(bound)) => Err(Status::permission_denied(format!(
                "{what} is bound to the certificate {bound}, and this call came with that of {caller}; \
                 give each process the folder of its own certificate"
            ))),
            (Some(_), None) => Err(Status::failed_precondition(format!(
                "{what} came without a certificate and is bound to none; let it join again with this one"
            ))),
        }
    }

    /// A call as it is passed on for this caller.
    pub(super) fn pass_on<T>(&self, message: T) -> Request<T> {
        let mut call = Request::new(message);
        let uri = self.certificate();
        // A URI of this cluster is ASCII.
        let value = uri.and_then(|uri| MetadataValue::try_from(uri).ok());
        call.metadata_mut().insert(PASSED_ON, value.unwrap_or(MetadataValue::from_static(NOBODY)));
        call.set_timeout(limits::CALL);
        call
    }
}

/// Whether a call was passed on already.
pub(super) fn was_passed_on<T>(call: &Request<T>) -> bool {
    call.metadata().contains_key(PASSED_ON)
}

#[cfg(test)]
mod tests {
    use tonic::{Code, Request};
    use undercroft_certs::grpc::{Access, Peer};
    use undercroft_certs::{Identity, Role, Roles};

    use super::{Caller, was_passed_on};

    const NODES: Access = Access::Only(Roles::of(&[Role::Node, Role::Control]));

    fn shown(mut call: Request<()>, role: Role, name: &str) -> Request<()> {
        call.extensions_mut().insert(Peer(Identity::new(role, name).expect("an identity")));
        call
    }

    #[test]
    fn a_caller_is_who_holds_the_certificate_or_whom_a_member_names() {
        let direct = shown(Request::new(()), Role::Node, "a");
        let caller = Caller::of(NODES, Role::Node, &direct).expect("a node");
        assert_eq!(caller.certificate().as_deref(), Some("undercroft:role/node/a"));
        let passed = shown(caller.pass_on(()), Role::Control, "c1");
        assert!(was_passed_on(&passed) && !was_passed_on(&direct));
        assert_eq!(Caller::of(NODES, Role::Node, &passed).expect("the node"), caller);
    }

    #[test]
    fn a_node_cannot_name_another_and_a_member_speaks_for_somebody_or_not_at_all() {
        let b = Caller::of(NODES, Role::Node, &shown(Request::new(()), Role::Node, "b")).expect("a node");
        let posing = shown(b.pass_on(()), Role::Node, "a");
        let found = Caller::of(NODES, Role::Node, &posing).expect("a node");
        assert_eq!(
            found.certificate().as_deref(),
            Some("undercroft:role/node/a"),
            "what it says is not read"
        );
        let nobody = Caller(None).pass_on(());
        for call in [shown(Request::new(()), Role::Control, "c1"), shown(nobody, Role::Control, "c1")] {
            let refused = Caller::of(NODES, Role::Node, &call).expect_err("for nobody");
            assert_eq!(refused.code(), Code::PermissionDenied);
        }
        let router = shown(Request::new(()), Role::Router, "r");
        assert_eq!(
            Caller::of(NODES, Role::Node, &router).expect_err("a router").code(),
            Code::PermissionDenied
        );
    }

    #[test]
    fn what_is_bound_is_its_holders_alone() {
        let a = Caller(Some(Identity::new(Role::Node, "a").expect("an identity")));
        assert!(a.holds("node 1", Some("undercroft:role/node/a")).is_ok());
        let other = a.holds("node 2", Some("undercroft:role/node/b")).expect_err("another's");
        assert!(other.code() == Code::PermissionDenied && other.message().contains("node 2"), "{other}");
        assert_eq!(a.holds("node 3", None).expect_err("unbound").code(), Code::FailedPrecondition);
        assert!(Caller(None).holds("node 2", Some("undercroft:role/node/b")).is_ok(), "without certificates");
    }
}
