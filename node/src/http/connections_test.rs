//! Who ends for whom, without a socket.

use std::net::IpAddr;
use std::time::Duration;

use super::{Connections, Seat};
use crate::http::app::Capacity;

fn connections() -> Connections {
    let capacity =
        Capacity { connections: 4, connections_of_one: 3, spare_connections: 1, ..Capacity::default() };
    Connections::new(capacity)
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

async fn passes() {
    tokio::time::advance(Duration::from_millis(10)).await;
}

async fn was_told(seat: &Seat) -> bool {
    tokio::time::timeout(Duration::from_millis(1), seat.told_to_end()).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn the_longest_idle_of_an_address_ends_for_its_newcomer() {
    let (connections, peer) = (connections(), address("10.0.0.1"));
    let mut seats = Vec::new();
    for _ in 0..3 {
        let admitted = connections.admit(peer).unwrap();
        assert!(!admitted.ended_another);
        seats.push(admitted.seat);
        passes().await;
    }
    let busy = seats[0].begin();
    let newcomer = connections.admit(peer).unwrap();
    assert!(newcomer.ended_another && !newcomer.seat.is_spare());
    assert!(!was_told(&seats[0]).await && was_told(&seats[1]).await && !was_told(&seats[2]).await);
    drop(busy);
}

#[tokio::test(start_paused = true)]
async fn the_address_with_most_idle_connections_makes_room_for_others() {
    let connections = connections();
    let quiet = connections.admit(address("10.0.0.2")).unwrap().seat;
    passes().await;
    let many: Vec<_> = (0..3).map(|_| connections.admit(address("10.0.0.1")).unwrap().seat).collect();
    let newcomer = connections.admit(address("10.0.0.3")).unwrap();
    assert!(newcomer.ended_another && !newcomer.seat.is_spare());
    assert!(!was_told(&quiet).await);
    let mut ended = 0;
    for seat in &many {
        ended += usize::from(was_told(seat).await);
    }
    assert_eq!(ended, 1);
}

#[tokio::test(start_paused = true)]
async fn where_nobody_is_idle_a_newcomer_gets_a_place_for_health_or_none() {
    let (connections, peer) = (connections(), address("10.0.0.1"));
    let seats: Vec<_> = (0..3).map(|_| connections.admit(peer).unwrap().seat).collect();
    let busy: Vec<_> = seats.iter().map(Seat::begin).collect();
    let first = connections.admit(peer).unwrap();
    assert!(first.seat.is_spare() && !first.ended_another);
    let second = connections.admit(peer).unwrap();
    assert!(second.seat.is_spare() && second.ended_another && was_told(&first.seat).await);
    let _health = second.seat.begin();
    assert!(connections.admit(peer).is_none());
    // Others have places of their own.
    assert!(!connections.admit(address("10.0.0.2")).unwrap().seat.is_spare());
    drop(busy);
    assert!(!connections.admit(peer).unwrap().seat.is_spare());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_ends_its_connection() {
    let connections = connections();
    let seat = connections.admit(address("10.0.0.1")).unwrap().seat;
    let leaving = seat.begin().answered(false);
    passes().await;
    leaving.taken();
    passes().await;
    assert_eq!(connections.end_stalled(Duration::from_millis(20)), 0);
    assert_eq!(connections.end_idle(Duration::ZERO), 0, "an answer is on its way");
    assert_eq!(connections.end_stalled(Duration::from_millis(10)), 1);
    assert!(was_told(&seat).await);
    assert_eq!(connections.end_stalled(Duration::ZERO), 0, "told once");
}

#[test]
fn a_network_of_ipv6_is_one_client_and_mapped_addresses_are_those_they_stand_for() {
    assert_eq!(super::share_of(address("2001:db8::1:2:3:4")), super::share_of(address("2001:db8::9")));
    assert_ne!(super::share_of(address("2001:db8::1")), super::share_of(address("2001:db8:0:1::1")));
    assert_eq!(super::share_of(address("::ffff:10.0.0.1")), address("10.0.0.1"));
}
