//! `cluster member list|add|remove`.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::access::Fleet;
use super::cluster::members;
use super::shown::items;
use crate::args::{MemberArgs, MemberCommand};
use crate::context::Context;
use crate::error::{Failure, Outcome};
use crate::print::quoted;

const ROUTE: &str = "/admin/members";

pub(in crate::commands) fn run(args: &MemberArgs, context: &mut Context) -> Outcome {
    let fleet = Fleet::of(&args.fleet, context, "cluster member list")?;
    match &args.command {
        MemberCommand::List => {
            let said = fleet.get(ROUTE)?;
            if context.out.is_json() {
                return context.out.line(&said.text);
            }
            members(&said.value).iter().try_for_each(|line| context.out.stored_line(line))
        }
        MemberCommand::Add { address, data } => {
            let new = New::of(address, data)?;
            add(&new, &fleet.get(ROUTE)?.value, context)
        }
        MemberCommand::Remove { id } => {
            let said = fleet.delete(&format!("{ROUTE}/{id}"))?;
            if context.out.is_json() {
                return context.out.line(&said.text);
            }
            context.out.line(&format!(
                "Member {id} is taken out, and its id never comes back. Stop its process; it enters anew from an empty folder."
            ))
        }
    }
}

/// A member that is to be.
struct New<'a> {
    address: &'a str,
    host: &'a str,
    data: &'a str,
}

impl<'a> New<'a> {
    fn of(address: &'a str, data: &'a str) -> Outcome<Self> {
        let parts =
            address.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0));
        let host = parts.map(|(host, _)| host.trim_start_matches('[').trim_end_matches(']'));
        let plain = |host: &str| host.chars().all(|c| c.is_ascii_alphanumeric() || ".:-_".contains(c));
        match host {
            Some(host) if !host.is_empty() && plain(host) => Ok(Self { address, host, data }),
            _ => Err(Failure::invalid(
                "the address of the new member must be host:port, for example control-2.example.org:7800",
            )),
        }
    }

    fn is_here(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// What makes its certificate where the CA is; none is needed on one machine.
    fn certificate(&self) -> Option<String> {
        let flag = if self.host.parse::<IpAddr>().is_ok() { "--ip" } else { "--host" };
        let name: String =
            self.host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let name = name.trim_matches('-').to_ascii_lowercase();
        (!self.is_here()).then(|| {
            format!(
                "undercroft cluster certs --cert-dir ca --role control --name {name} {flag} {}",
                self.host
            )
        })
    }

    /// What starts it.
    fn command(&self, join: &[&str]) -> String {
        let data = quoted(self.data);
        let mut command = format!("undercroft control-plane --data {data} --listen {}", self.address);
        for address in join {
            command.push_str(&format!(" --join {address}"));
        }
        command.push_str(" --join-key-file join.key");
        command.push_str(if self.is_here() { " --admin-listen 127.0.0.1:0" } else { " --cert-dir FOLDER" });
        command
    }
}

/// A member enters by itself, so there is nothing to ask for but whom it enters through: those that vote.
fn add(new: &New<'_>, answer: &Value, context: &mut Context) -> Outcome {
    let voting = items(answer, "members").iter().filter(|member| member["votes"] == true);
    let join: Vec<&str> = voting.filter_map(|member| member["address"].as_str()).collect();
    if join.is_empty() {
        let message = "no member votes yet; wait a moment, then look again: undercroft cluster status";
        return Err(Failure::Refused {
            class: undercroft_palace::ErrorClass::Unavailable,
            message: message.into(),
        });
    }
    let (certificate, command) = (new.certificate(), new.command(&join));
    if context.out.is_json() {
        return context.out.object(&json!({ "certificate": certificate, "command": command, "join": join }));
    }
    context.out.line("A member enters by itself, and votes once it has caught up.")?;
    if let Some(certificate) = certificate {
        context
            .out
            .line("Where the CA is, make its certificate, and copy the folder that is named to its host:")?;
        context.out.line(&format!("  {certificate}"))?;
    }
    context.out.line("On its host, with UNDERCROFT_ORCH_KEY and UNDERCROFT_ORCH_ADMIN_TOKEN, and a copy of join.key, as the other members have them:")?;
    context.out.stored_line(&format!("  {command}"))?;
    context.out.line("Then it is in: undercroft cluster member list")
}

#[cfg(test)]
mod tests {
    use super::New;

    #[test]
    fn what_is_run_follows_from_the_address() {
        let here = New::of("127.0.0.1:7802", "c 2").expect("an address");
        assert_eq!(here.certificate(), None);
        assert_eq!(
            here.command(&["127.0.0.1:7800"]),
            "undercroft control-plane --data 'c 2' --listen 127.0.0.1:7802 --join 127.0.0.1:7800 --join-key-file join.key --admin-listen 127.0.0.1:0"
        );
        let far = New::of("C2.example.org:7800", "c2").expect("an address");
        assert!(far.certificate().expect("one").ends_with("--name c2-example-org --host C2.example.org"));
        assert!(
            far.command(&["a:1", "b:1"])
                .ends_with("--join a:1 --join b:1 --join-key-file join.key --cert-dir FOLDER")
        );
        let six = New::of("[fd00::7]:7800", "c2").expect("an address");
        assert!(six.certificate().expect("one").ends_with("--name fd00--7 --ip fd00::7"));
    }

    #[test]
    fn what_is_no_address_or_would_steer_a_shell_is_refused() {
        for bad in ["", "c2", ":1", "c2:", "c2:0", "c2:x", "a;b:1", "$(a):1", "a b:1", "c2:70000"] {
            assert!(New::of(bad, "c").is_err(), "{bad}");
        }
    }
}
