//! Random histories: writes while hosts stop and come back and the network is cut, slow and lossy. What was acknowledged is
//! there once at the end, what was not is there at most once, and all copies are alike.

use std::collections::BTreeSet;
use std::time::Duration;

use undercroft_crypto::{Entropy, SeededEntropy};

use super::{Cluster, vault};
use crate::Error;

const STEPS: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_once_whatever_happened_meanwhile() {
    for seed in [41, 42] {
        history(seed).await;
    }
}

/// Asks everybody a few times, as a client does that looks for the leader.
async fn is_taken(cluster: &Cluster, text: &str) -> bool {
    for _ in 0..20 {
        for node in cluster.hosts.keys() {
            match cluster.try_save(*node, vault(1), text).await {
                Ok(_) => return true,
                // It waited long enough for one step.
                Err(Error::OutcomeUnknown(_) | Error::InDoubt(_)) => return false,
                Err(_) => {}
            }
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    false
}

async fn history(seed: u64) {
    let dice = SeededEntropy::new(seed);
    let roll = |sides: u8| {
        let mut drawn = [0];
        dice.fill(&mut drawn);
        u64::from(drawn[0] % sides)
    };
    let mut cluster = Cluster::new(3).await;
    // In every other history, who was away is behind what the others' journals have.
    cluster.kept_entries = seed % 2 * 1024;
    cluster.restart().await;
    cluster.create(vault(1)).await;
    let (mut acknowledged, mut asked) = (BTreeSet::new(), BTreeSet::new());
    let mut down = None;
    for step in 0..STEPS {
        match roll(10) {
            0 => match down.take() {
                Some(node) => cluster.reopen(node).await,
                None => {
                    let node = 1 + roll(3);
                    cluster.kill(node).await;
                    down = Some(node);
                }
            },
            1 => cluster.net.isolate(1 + roll(3), 1..=3),
            2 => cluster.net.cut(1 + roll(3), 1 + roll(3)),
            3 | 4 => cluster.net.mend(),
            5 => cluster.net.rough(40, Duration::from_millis(20)),
            6 => {
                let nodes: Vec<u64> = cluster.hosts.keys().copied().collect();
                let _ = cluster.group(nodes[step % nodes.len()]).checkpoint().await;
            }
            _ => {}
        }
        let text = format!("seed {seed} step {step:02}");
        asked.insert(text.clone());
        // Whoever takes it; where nobody does, it may still be done.
        if is_taken(&cluster, &text).await {
            acknowledged.insert(text);
        }
    }
    cluster.net.mend();
    if let Some(node) = down {
        cluster.reopen(node).await;
    }
    acknowledged.insert(String::from("the last"));
    asked.insert(String::from("the last"));
    let at = cluster.save(vault(1), "the last").await;
    let texts = cluster.texts(vault(1)).await;
    let found: BTreeSet<String> = texts.iter().cloned().collect();
    assert_eq!(found.len(), texts.len(), "seed {seed}: something is there twice: {texts:?}");
    assert!(found.is_superset(&acknowledged), "seed {seed}: lost {:?}", acknowledged.difference(&found));
    assert!(found.is_subset(&asked), "seed {seed}: nobody asked for {:?}", found.difference(&asked));
    cluster.assert_alike(vault(1), at).await;
    cluster.assert_nobody_suspect();
    cluster.stop().await;
}
