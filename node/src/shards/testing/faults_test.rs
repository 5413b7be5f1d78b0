//! Leaders that stop, are cut off, or come back with what nobody waits for any more.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use undercroft_crypto::ErrorClass;
use undercroft_vault::replica::{NoOp, Outcome};

use super::{Cluster, TERMS, until, vault};
use crate::journal::GroupTypes as _;
use crate::shards::types::{Proposal, Types, theirs};
use crate::shards::{Consistency, Health, ShardEntry, Verdict, What};

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_stops_in_the_middle_loses_nothing_that_was_acknowledged_and_doubles_nothing() {
    let mut cluster = Cluster::new(3).await;
    cluster.create(vault(1)).await;
    cluster.save(vault(1), "text 00").await;
    let leader = cluster.leader().await;
    let group = cluster.group(leader);
    // What is under way when the leader stops ends in any way; sent again it is there once.
    let requests: Vec<String> = (1..10).map(|number| format!("text {number:02}")).collect();
    let under_way: Vec<_> = requests
        .iter()
        .map(|text| {
            let (group, request) = (Arc::clone(&group), super::keyed(text));
            tokio::spawn(async move { group.write(vault(1), request, TERMS).await })
        })
        .collect();
    drop(group);
    cluster.kill(leader).await;
    for write in under_way {
        let _ = write.await.expect("no panic");
    }
    let mut last = cluster.save(vault(1), "text 10").await;
    for text in &requests {
        last = last.max(cluster.save(vault(1), text).await);
    }
    cluster.reopen(leader).await;
    let expected: Vec<String> = (0..=10).map(|number| format!("text {number:02}")).collect();
    assert_eq!(cluster.texts(vault(1)).await, expected);
    cluster.assert_alike(vault(1), last).await;
    cluster.assert_nobody_suspect();
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_segment_of_an_older_head_changes_nothing_anywhere_and_makes_nobody_suspect() {
    let cluster = Cluster::new(3).await;
    cluster.create(vault(1)).await;
    cluster.save(vault(1), "first").await;
    let leader = cluster.leader().await;
    let group = cluster.group(leader);
    let log = &group.replica().log;
    let (_, last) = log.ends();
    let mut stale = None;
    for (at, payload) in log.read(1, last.expect("entries").index + 1).await.expect("reads") {
        let entry = Types::decode(theirs(at), payload).expect("decodes");
        if let openraft::EntryPayload::Normal(proposal) = entry.payload {
            stale = Some(ShardEntry::decode(proposal.as_bytes()).expect("reads"));
        }
    }
    let at = cluster.save(vault(1), "second").await;
    let stale = stale.expect("the first write");
    assert!(matches!(stale.what, What::Segment(_)));
    let written = group.raft().client_write(Proposal::new(&stale)).await.expect("is proposed");
    assert_eq!(written.data.verdict, Some(Verdict::Said(Outcome::NoOp(NoOp::OlderHead))));
    cluster.assert_alike(vault(1), at).await;
    assert_eq!(cluster.texts(vault(1)).await, ["first", "second"]);
    cluster.save(vault(1), "third").await;
    cluster.assert_nobody_suspect();
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_is_cut_off_acknowledges_nothing_and_serves_no_strong_read() {
    for one_way in [false, true] {
        let cluster = Cluster::new(3).await;
        cluster.create(vault(1)).await;
        cluster.save(vault(1), "before").await;
        let cut_off = cluster.leader().await;
        let others: Vec<u64> = (1..=3).filter(|node| *node != cut_off).collect();
        match one_way {
            // Its messages arrive nowhere; the others' still reach it.
            true => others.iter().for_each(|other| cluster.net.cut(cut_off, *other)),
            false => cluster.net.isolate(cut_off, 1..=3),
        }
        let refused = cluster.try_save(cut_off, vault(1), "cut off").await;
        let error = refused.map(drop).expect_err("is not acknowledged");
        assert_eq!(error.class(), ErrorClass::Unavailable, "{error}");
        let read = cluster.group(cut_off).read(vault(1), Consistency::Strong).await;
        assert!(read.is_err(), "a strong read was served");
        // The others go on.
        until("a write of the majority", || async {
            for other in &others {
                if cluster.try_save(*other, vault(1), "majority").await.is_ok() {
                    return true;
                }
            }
            false
        })
        .await;
        cluster.net.mend();
        let at = cluster.save(vault(1), "cut off").await;
        cluster.assert_alike(vault(1), at).await;
        assert_eq!(cluster.texts(vault(1)).await, ["before", "cut off", "majority"]);
        cluster.assert_nobody_suspect();
        cluster.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_that_cannot_go_on_here_holds_up_no_other_and_catches_up_from_the_journal() {
    let cluster = Cluster::new(3).await;
    cluster.create(vault(1)).await;
    let leader = cluster.leader().await;
    let follower = (1..=3).find(|node| *node != leader).expect("three nodes");
    let withheld = &cluster.drawn[&follower].withheld;
    withheld.store(true, Ordering::Relaxed);
    cluster.create(vault(2)).await;
    // More than is kept in memory of one vault that waits.
    let long = "word ".repeat(undercroft_vault::limits::MAX_TEXT_BYTES / 5 - 10);
    let texts: Vec<String> = (0..100).map(|number| format!("{number:02} {long}")).collect();
    let mut last = cluster.save(vault(2), "short").await;
    for twenty in texts.chunks(20) {
        let group = cluster.group(leader);
        let writes = twenty.iter().enumerate().map(|(number, text)| {
            let request = super::saving(text).into();
            let group = Arc::clone(&group);
            async move {
                group.write(vault(2), request, TERMS).await.map_err(|error| format!("{number}: {error}"))
            }
        });
        for written in join_all(writes).await {
            last = last.max(written.expect("is written").position);
        }
    }
    let at = cluster.save(vault(1), "not held up").await;
    cluster.assert_alike(vault(1), at).await;
    let status = cluster.group(follower).status();
    assert!(matches!(&status.unwell[..], [(id, Health::Stalled(_))] if *id == vault(2)), "{status:?}");
    let floor = cluster.group(follower).checkpoint().await.expect("moves").expect("a floor");
    assert!(floor.index < cluster.group(follower).applied(), "the floor passed what waits");
    withheld.store(false, Ordering::Relaxed);
    cluster.assert_alike(vault(2), last).await;
    cluster.assert_nobody_suspect();
    cluster.stop().await;
}
