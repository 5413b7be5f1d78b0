//! Writes are acknowledged when a majority has them, and all copies come to hold the same.

use futures_util::future::join_all;
use parking_lot::Mutex;
use undercroft_proto::NodeId;
use undercroft_vault::replica::{Command, NoOp, Outcome};

use super::{Cluster, TERMS, saving, until, vault};
use crate::Error;
use crate::journal::Sizes;
use crate::shards::{Consistency, Verdict, What};

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_many_land_once_on_every_copy_and_survive_a_restart_of_all() {
    let mut cluster = Cluster::new(3).await;
    let vaults = [vault(1), vault(2)];
    for id in vaults {
        cluster.create(id).await;
    }
    let texts: Vec<String> = (0..12).map(|number| format!("text {number:02}")).collect();
    let writes = texts.iter().flat_map(|text| vaults.map(|id| cluster.save(id, text)));
    let reached = join_all(writes).await;
    // Sent again, each finds what it did.
    cluster.save(vaults[0], &texts[0]).await;
    let last = reached.into_iter().max().expect("positions");
    for id in vaults {
        assert_eq!(cluster.texts(id).await, texts);
        cluster.assert_alike(id, last).await;
    }
    for node in 1..=3 {
        // One of them has its floor moved, the others replay from the beginning.
        if node == 2 {
            assert!(cluster.group(node).checkpoint().await.expect("moves").is_some());
        }
        cluster.kill(node).await;
    }
    for node in 1..=3 {
        cluster.reopen(node).await;
    }
    assert!(cluster.group(2).status().floor > 0);
    for id in vaults {
        assert_eq!(cluster.texts(id).await, texts);
        cluster.assert_alike(id, last).await;
    }
    let after = cluster.save(vaults[0], "text 99").await;
    cluster.assert_alike(vaults[0], after).await;
    cluster.assert_nobody_suspect();
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_vault_takes_no_writes_and_a_dropped_one_is_absent_everywhere() {
    let cluster = Cluster::new(3).await;
    cluster.create(vault(1)).await;
    cluster.save(vault(1), "before").await;
    let leader = cluster.leader().await;
    let group = cluster.group(leader);
    let freeze = What::Change(Command::Freeze { move_id: 1, epoch: 1 });
    let frozen = group.command(vault(1), freeze.clone()).await.expect("is proposed");
    assert!(matches!(frozen, Verdict::Said(Outcome::Applied(_))), "{frozen:?}");
    let again = group.command(vault(1), freeze).await.expect("is proposed");
    assert_eq!(again, Verdict::Said(Outcome::NoOp(NoOp::NothingToDo)));
    let refused = cluster.try_save(leader, vault(1), "after").await;
    assert!(
        matches!(&refused, Err(Error::Vault(error)) if error.to_string().contains("frozen")),
        "{refused:?}"
    );
    let rotate = What::Change(Command::Rotate { generation: 2 });
    let answered = group.command(vault(1), rotate).await.expect("is proposed");
    assert!(matches!(answered, Verdict::Said(Outcome::NotAvailable(_))), "{answered:?}");
    let gone = What::Drop(undercroft_vault::replica::DropVault { epoch: 1 });
    assert_eq!(group.command(vault(1), gone).await.expect("is proposed"), Verdict::Said(Outcome::Gone));
    until("the copies gone", || async { (1..=3).all(|node| !cluster.copy(node, vault(1)).exists()) }).await;
    let absent = cluster.try_save(leader, vault(1), "after").await;
    assert!(matches!(absent, Err(Error::NotInShard { .. })), "{absent:?}");
    let unknown = group.command(vault(9), What::Change(Command::ArchivedUpTo { index: 1 })).await;
    assert_eq!(unknown.expect("is proposed"), Verdict::Absent);
    cluster.assert_nobody_suspect();
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_learner_that_comes_after_the_log_was_purged_fetches_copies_and_follows() {
    let mut cluster = Cluster::new(3).await;
    cluster.kept_entries = 0;
    cluster.restart().await;
    cluster.create(vault(1)).await;
    for number in 0..5 {
        cluster.save(vault(1), &format!("early {number}")).await;
    }
    for node in 1..=3 {
        let group = cluster.group(node);
        until("a floor and a purge", || async {
            let _ = group.checkpoint().await;
            let (purged, _) = group.replica().log.ends();
            purged.is_some_and(|at| at.index >= 6)
        })
        .await;
    }
    cluster.begin(4).await;
    let leader = cluster.leader().await;
    cluster.group(leader).add_learner(NodeId::new(4), "4").await.expect("adds");
    let at = cluster.save(vault(1), "late").await;
    cluster.assert_alike(vault(1), at).await;
    let served = cluster.group(4).read(vault(1), Consistency::Eventual(std::time::Duration::MAX)).await;
    assert_eq!(served.expect("is fresh enough").position, at);
    let strong = cluster.group(4).read(vault(1), Consistency::Strong).await;
    assert!(matches!(strong, Err(Error::NotLeader { leader: Some(_), .. })), "{strong:?}");
    cluster.assert_nobody_suspect();
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_is_nearly_full_refuses_writes_until_floors_have_moved() {
    let mut cluster = Cluster::new(3).await;
    cluster.kept_entries = 0;
    cluster.sizes = Sizes { segment_bytes: 64 << 10, journal_bytes: 1 << 20, ..Sizes::default() };
    cluster.restart().await;
    cluster.create(vault(1)).await;
    let refused = Mutex::new(None);
    until("a full journal", || async {
        let leader = cluster.leader().await;
        let text = format!("{} {}", refused.lock().get_or_insert((0, None)).0, "words ".repeat(8_000));
        let written = cluster.group(leader).write(vault(1), saving(&text).into(), TERMS).await;
        let mut refused = refused.lock();
        let (count, error) = refused.get_or_insert((0, None));
        *count += 1;
        *error = written.err();
        matches!(error, Some(Error::Busy(_)))
    })
    .await;
    until("room in the journals", || async {
        for node in 1..=3 {
            let _ = cluster.group(node).checkpoint().await;
        }
        let leader = cluster.leader().await;
        cluster.try_save(leader, vault(1), "there is room").await.is_ok()
    })
    .await;
    let at = cluster.save(vault(1), "there is room").await;
    cluster.assert_alike(vault(1), at).await;
    cluster.assert_nobody_suspect();
    cluster.stop().await;
}
