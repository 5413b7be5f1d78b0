//! Who holds a certificate: a role and a name, as a URI in its subject alternative names.
//!
//! The form is `undercroft:role/<role>/<name>`, for example `undercroft:role/node/berlin-1`. A certificate has exactly one. An
//! operator's own CA issues the same.

use std::fmt;
use std::str::FromStr;

use crate::{Error, limits};

/// What every URI of a role begins with. Others in the same certificate are none of ours.
pub(crate) const PREFIX: &str = "undercroft:role/";

/// What a process, or a person, is in a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A member of the control group.
    Control,
    /// A process that holds vaults.
    Node,
    /// A process that forwards tenants' requests.
    Router,
    /// An operator.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Control, Self::Node, Self::Router, Self::Admin];

    /// The role as it is written in certificates and typed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Node => "node",
            Self::Router => "router",
            Self::Admin => "admin",
        }
    }

    /// Whether others of the fleet connect to it, and so check its host name.
    #[must_use]
    pub const fn listens(self) -> bool {
        matches!(self, Self::Control | Self::Node)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Role {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| Error::text("a role", "control, node, router or admin", text))
    }
}

/// A set of roles: who may make a call.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles(u8);

impl Roles {
    /// Exactly these.
    #[must_use]
    pub const fn of(roles: &[Role]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < roles.len() {
            bits |= 1 << roles[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// Whether this role is among them.
    #[must_use]
    pub const fn contains(self, role: Role) -> bool {
        self.0 >> role as u8 & 1 == 1
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            Role::ALL.into_iter().filter(|role| self.contains(*role)).map(Role::as_str).collect();
        f.write_str(if names.is_empty() { "nobody".into() } else { names.join(", ") }.as_str())
    }
}

impl fmt::Debug for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roles({self})")
    }
}

/// A role and a name within it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    role: Role,
    name: String,
}

impl Identity {
    /// The identity of this role and name.
    ///
    /// # Errors
    /// [`Error::Text`] for a name that is not 1 to 63 small letters, digits and inner hyphens.
    pub fn new(role: Role, name: &str) -> Result<Self, Error> {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let edges = name.starts_with('-') || name.ends_with('-');
        if name.is_empty() || name.len() > limits::NAME_CHARS || edges || !name.bytes().all(inner) {
            let expected =
                "1 to 63 small letters, digits and hyphens, no hyphen at an end, for example berlin-1";
            return Err(Error::text("a name for a certificate", expected, name));
        }
        Ok(Self { role, name: name.into() })
    }

    /// The role.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URI that stands in the certificate.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("{PREFIX}{}/{}", self.role, self.name)
    }

    /// Reads the URI of a certificate.
    ///
    /// # Errors
    /// [`Error::Text`].
    pub fn from_uri(uri: &str) -> Result<Self, Error> {
        let expected = "undercroft:role/<role>/<name>";
        let wrong = || Error::text("the URI of a role", expected, uri);
        let (role, name) =
            uri.strip_prefix(PREFIX).and_then(|rest| rest.split_once('/')).ok_or_else(wrong)?;
        Self::new(role.parse()?, name)
    }

    /// The folder of its files below the CA's: `<role>-<name>`. Roles have no hyphen, so no two identities share one.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("{}-{}", self.role, self.name)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} '{}'", self.role, self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_identity_is_read_back_from_its_uri(role in 0..4_usize, name in "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?") {
            let identity = Identity::new(Role::ALL[role], &name).unwrap();
            prop_assert_eq!(Identity::from_uri(&identity.uri()).unwrap(), identity);
        }

        #[test]
        fn no_text_has_two_readings(text in "undercroft:role/[a-zA-Z0-9/%. -]{0,70}") {
            if let Ok(identity) = Identity::from_uri(&text) {
                prop_assert_eq!(identity.uri(), text);
            }
        }
    }

    #[test]
    fn names_that_could_be_mistaken_are_refused() {
        let long = "a".repeat(64);
        for name in ["", "-a", "a-", "A", "a b", "a/b", "..", "a.b", "ä", "a\n", &long] {
            assert!(Identity::new(Role::Node, name).is_err(), "{name:?}");
        }
        for uri in [
            "node/a",
            "undercroft:role/node",
            "undercroft:role/node/",
            "undercroft:role/root/a",
            "UNDERCROFT:role/node/a",
        ] {
            assert!(Identity::from_uri(uri).is_err(), "{uri}");
        }
    }

    #[test]
    fn a_set_of_roles_holds_what_it_was_given_and_nothing_else() {
        let some = Roles::of(&[Role::Node, Role::Router]);
        let held: Vec<Role> = Role::ALL.into_iter().filter(|role| some.contains(*role)).collect();
        assert_eq!(held, [Role::Node, Role::Router]);
        assert_eq!(
            (some.to_string(), Roles::default().to_string()),
            ("node, router".into(), "nobody".into())
        );
    }
}
