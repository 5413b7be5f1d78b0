//! Makes the Raft group what the state says of its members: new ones learn and then vote, removed ones go. One step a round.

use std::collections::BTreeMap;

use undercroft_proto::MemberId;

use crate::raft::Member;
use crate::state::Member as Known;
use crate::{Error, limits};

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// A known member is to copy.
    Learn(MemberId, String),
    /// A member is reached elsewhere now.
    Move(MemberId, String),
    /// These are to vote.
    Vote(Vec<MemberId>),
    /// One that only copies is to go.
    Forget(MemberId),
    /// This member was removed: another is to lead, and then takes it out.
    Yield(MemberId),
}

pub(super) async fn settle(member: &Member) -> Result<(), Error> {
    let known: Vec<Known> = member.map().read(|state| state.cluster().members().cloned().collect());
    let caught_up = |id| {
        member
            .matched(id)
            .is_some_and(|(matched, last)| last.saturating_sub(matched) <= limits::CAUGHT_UP_LAG)
    };
    match next(member.id(), &known, &member.group(), caught_up) {
        None => Ok(()),
        Some(Change::Learn(id, address)) => member.add_learner(id, &address).await,
        Some(Change::Move(id, address)) => member.set_address(id, &address).await,
        Some(Change::Vote(voters)) => member.set_voters(voters).await,
        Some(Change::Forget(id)) => member.forget(id).await,
        Some(Change::Yield(to)) => member.hand_over(to).await,
    }
}

/// The next step, by what is known of the members and what the group is: its members, where they are, whether they vote.
fn next(
    me: MemberId,
    known: &[Known],
    group: &[(MemberId, String, bool)],
    caught_up: impl Fn(MemberId) -> bool,
) -> Option<Change> {
    // Before the first member is known, the group is as it was founded.
    if known.is_empty() {
        return None;
    }
    let in_group: BTreeMap<MemberId, (&str, bool)> =
        group.iter().map(|(id, address, votes)| (*id, (address.as_str(), *votes))).collect();
    let voters = || group.iter().filter(|(_, _, votes)| *votes).map(|(id, _, _)| *id);
    for member in known {
        match in_group.get(&member.id) {
            None => return Some(Change::Learn(member.id, member.address.clone())),
            Some((address, _)) if *address != member.address => {
                return Some(Change::Move(member.id, member.address.clone()));
            }
            Some((_, false)) if caught_up(member.id) => {
                let mut with: Vec<MemberId> = voters().collect();
                with.push(member.id);
                return Some(Change::Vote(with));
            }
            Some(_) => {}
        }
    }
    let removed = |id: &MemberId| !known.iter().any(|member| member.id == *id);
    if let Some((id, _, _)) = group.iter().find(|(id, _, votes)| !votes && removed(id)) {
        return Some(Change::Forget(*id));
    }
    let gone = voters().find(removed)?;
    let rest: Vec<MemberId> = voters().filter(|id| *id != gone).collect();
    match rest.first() {
        // The last voter stays: without it nothing could be decided any more.
        None => None,
        Some(heir) if gone == me => Some(Change::Yield(*heir)),
        Some(_) => Some(Change::Vote(rest)),
    }
}

#[cfg(test)]
mod tests {
    use undercroft_proto::MemberId;

    use super::{Change, next};
    use crate::state::Member as Known;

    fn id(number: u64) -> MemberId {
        MemberId::new(number)
    }

    fn address(number: u64) -> String {
        format!("10.0.0.{number}:7800")
    }

    fn known(numbers: &[u64]) -> Vec<Known> {
        numbers
            .iter()
            .map(|n| Known { id: id(*n), address: address(*n), speaks: 1, certificate: None })
            .collect()
    }

    fn group(voters: &[u64], learners: &[u64]) -> Vec<(MemberId, String, bool)> {
        let of = |numbers: &[u64], votes| {
            numbers.iter().map(move |n| (id(*n), address(*n), votes)).collect::<Vec<_>>()
        };
        [of(voters, true), of(learners, false)].concat()
    }

    fn step(known_: &[u64], voters: &[u64], learners: &[u64], caught_up: bool) -> Option<Change> {
        next(id(1), &known(known_), &group(voters, learners), |_| caught_up)
    }

    #[test]
    fn a_new_member_learns_and_votes_only_when_it_has_caught_up() {
        assert_eq!(step(&[1, 2], &[1], &[], false), Some(Change::Learn(id(2), address(2))));
        assert_eq!(step(&[1, 2], &[1], &[2], false), None);
        assert_eq!(step(&[1, 2], &[1], &[2], true), Some(Change::Vote(vec![id(1), id(2)])));
        assert_eq!(step(&[1, 2], &[1, 2], &[], true), None);
    }

    #[test]
    fn a_removed_member_goes_and_the_last_voter_stays() {
        assert_eq!(step(&[1, 2], &[1, 2, 3], &[], true), Some(Change::Vote(vec![id(1), id(2)])));
        assert_eq!(step(&[1, 2], &[1, 2], &[3], true), Some(Change::Forget(id(3))));
        assert_eq!(step(&[2, 3], &[1, 2, 3], &[], true), Some(Change::Yield(id(2))));
        assert_eq!(step(&[], &[1], &[], true), None, "nobody is known yet");
        let only = next(id(1), &known(&[2]), &group(&[1], &[2]), |_| false);
        assert_eq!(only, None, "the last voter stays until another votes");
    }

    #[test]
    fn a_member_is_followed_to_its_new_address() {
        let mut moved = known(&[1, 2]);
        moved[1].address = "10.0.0.9:7800".into();
        let change = next(id(1), &moved, &group(&[1, 2], &[]), |_| true);
        assert_eq!(change, Some(Change::Move(id(2), "10.0.0.9:7800".into())));
    }
}
