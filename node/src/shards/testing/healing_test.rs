//! A copy that is not like the others is found, not served, kept as evidence and replaced, and nobody has to do anything.

use super::{Cluster, until, vault};
use crate::shards::Consistency;

/// Edits the copy of a node behind its back.
fn edit(cluster: &Cluster, node: u64, sql: &str) {
    let conn = rusqlite::Connection::open(cluster.copy(node, vault(1)).join("vault.db")).expect("opens");
    conn.execute_batch(sql).expect("edits");
}

async fn healed(cluster: &Cluster, node: u64) {
    let told = &cluster.told[&node];
    until("a copy healed", || async { !told.healed.lock().is_empty() }).await;
    assert_eq!(told.suspect.lock().len(), 1, "{:?}", told.suspect.lock());
    assert_eq!(cluster.evidence(node), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_copy_is_found_at_the_next_write_and_replaced() {
    let cluster = Cluster::new(3).await;
    cluster.create(vault(1)).await;
    let at = cluster.save(vault(1), "first").await;
    cluster.assert_alike(vault(1), at).await;
    let leader = cluster.leader().await;
    let follower = (1..=3).find(|node| *node != leader).expect("three nodes");
    edit(&cluster, follower, "DELETE FROM audit");
    let at = cluster.save(vault(1), "second").await;
    healed(&cluster, follower).await;
    cluster.assert_alike(vault(1), at).await;
    let at = cluster.save(vault(1), "third").await;
    cluster.assert_alike(vault(1), at).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_leaders_own_edited_copy_is_refused_and_replaced_and_nothing_is_lost() {
    let cluster = Cluster::new(3).await;
    cluster.create(vault(1)).await;
    let at = cluster.save(vault(1), "first").await;
    cluster.assert_alike(vault(1), at).await;
    let leader = cluster.leader().await;
    edit(&cluster, leader, "UPDATE meta SET value = zeroblob(34) WHERE key = 'ownership'");
    let refused = cluster.try_save(leader, vault(1), "second").await;
    assert!(refused.is_err(), "{refused:?}");
    let at = cluster.save(vault(1), "second").await;
    healed(&cluster, leader).await;
    cluster.assert_alike(vault(1), at).await;
    assert_eq!(cluster.texts(vault(1)).await, ["first", "second"]);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_was_rolled_back_below_its_floor_is_found_when_it_is_opened() {
    let mut cluster = Cluster::new(3).await;
    cluster.create(vault(1)).await;
    let at = cluster.save(vault(1), "first").await;
    cluster.assert_alike(vault(1), at).await;
    let leader = cluster.leader().await;
    let follower = (1..=3).find(|node| *node != leader).expect("three nodes");
    cluster.group(follower).checkpoint().await.expect("moves");
    cluster.kill(follower).await;
    let (dir, old) = (cluster.copy(follower, vault(1)), cluster.copy(follower, vault(99)));
    std::fs::create_dir(&old).expect("makes");
    for entry in std::fs::read_dir(&dir).expect("reads") {
        let entry = entry.expect("reads");
        std::fs::copy(entry.path(), old.join(entry.file_name())).expect("copies");
    }
    cluster.reopen(follower).await;
    let at = cluster.save(vault(1), "second").await;
    cluster.assert_alike(vault(1), at).await;
    cluster.group(follower).checkpoint().await.expect("moves");
    cluster.kill(follower).await;
    std::fs::remove_dir_all(&dir).expect("removes");
    std::fs::rename(&old, &dir).expect("rolls back");
    cluster.reopen(follower).await;
    let group = cluster.group(follower);
    // Whoever asks first finds it: it is not served as it is.
    let served = group.read(vault(1), Consistency::Session(at)).await;
    assert!(served.is_err(), "{served:?}");
    healed(&cluster, follower).await;
    cluster.assert_alike(vault(1), at).await;
    cluster.stop().await;
}
