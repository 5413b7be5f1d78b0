//! Random histories of many groups on a disk that fails, tears and forgets: what was acknowledged is there.

use proptest::prelude::*;

use super::model_test::{Ask, Host};
use super::sim_test::{Dice, Fault, SimDisk};

#[derive(Debug, Clone)]
enum Step {
    Ask(u64, Ask),
    Pump,
    Check,
    Kill,
    LosePower(u64),
    Fail(usize, Fault, usize),
    CloseAndOpen,
}

fn any_ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        8 => (1_u64..6, 0_usize..200).prop_map(|(count, size)| Ask::Append { count, size }),
        2 => (0_u64..3).prop_map(Ask::Vote),
        2 => (0_u64..20).prop_map(Ask::Committed),
        2 => (0_u64..5).prop_map(Ask::Truncate),
        3 => (0_u64..12).prop_map(Ask::Purge),
        1 => (0_u64..99).prop_map(Ask::Floor),
        2 => (0_u64..99).prop_map(Ask::FloorChange),
        1 => Just(Ask::Remove),
    ]
}

fn any_fault() -> impl Strategy<Value = Fault> {
    prop_oneof![Just(Fault::Eio), Just(Fault::Full), Just(Fault::Flush)]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0_u64..5, any_ask()).prop_map(|(group, ask)| Step::Ask(group, ask)),
        8 => Just(Step::Pump),
        1 => Just(Step::Check),
        1 => Just(Step::Kill),
        2 => any::<u64>().prop_map(Step::LosePower),
        1 => (0_usize..12, any_fault(), prop_oneof![Just(1_usize), Just(1000)])
            .prop_map(|(after, fault, calls)| Step::Fail(after, fault, calls)),
        1 => Just(Step::CloseAndOpen),
    ]
}

fn run(steps: &[Step]) {
    let mut host = Host::create(SimDisk::new());
    for step in steps {
        match step {
            Step::Ask(group, ask) => host.ask(*group, ask),
            Step::Pump => host.pump(),
            Step::Check => host.check(),
            Step::Kill => {
                let disk = host.disk.killed();
                host = host.reopen(disk);
            }
            Step::LosePower(seed) => {
                let disk = host.disk.lost_power(&mut Dice(*seed));
                host = host.reopen(disk);
            }
            Step::Fail(after, fault, calls) => host.disk.fail(*after, *fault, *calls),
            Step::CloseAndOpen => {
                host.pump();
                host.keeper.finish();
                let disk = host.disk.killed();
                host = host.reopen(disk);
            }
        }
    }
    host.check();
    let disk = host.disk.lost_power(&mut Dice(1));
    host.reopen(disk).check();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn what_was_acknowledged_survives_and_nothing_is_invented(steps in proptest::collection::vec(any_step(), 1..120)) {
        run(&steps);
    }
}

/// `JOURNAL_HISTORIES=100000` runs more.
fn cases() -> u32 {
    let declared = std::env::var("JOURNAL_HISTORIES").ok();
    declared.map_or(1_000, |text| text.parse().expect("JOURNAL_HISTORIES is a number"))
}

#[test]
fn a_loss_of_power_while_recovering_from_one_is_survived() {
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let mut host = Host::create(SimDisk::new());
        for _ in 0..30 {
            let group = dice.below(3) as u64;
            host.ask(group, &Ask::Append { count: 1 + dice.below(4) as u64, size: dice.below(150) });
            if dice.below(3) == 0 {
                host.pump();
            }
        }
        let mut disk = host.disk.lost_power(&mut dice);
        for after in 0..6 {
            // The recovery gets a little further each time, and is cut short again.
            disk.fail(after, Fault::Eio, 1000);
            let opened = super::journal::opened(
                std::sync::Arc::new(disk.clone()),
                super::model_test::folder(),
                super::model_test::SMALL,
            );
            if let Ok(Err(retired)) = &opened {
                panic!("retired: {}", retired.why);
            }
            drop(opened);
            disk = disk.lost_power(&mut dice);
        }
        host.reopen(disk).check();
    }
}

#[test]
fn a_flush_that_failed_is_not_believed_after_a_restart() {
    let mut host = Host::create(SimDisk::new());
    host.ask(1, &Ask::Append { count: 2, size: 50 });
    host.pump();
    host.ask(1, &Ask::Append { count: 2, size: 50 });
    // Writing works, flushing does not, and the system then takes the pages for written.
    host.disk.fail(0, Fault::Flush, 10);
    host.pump();
    assert!(host.journal.status().failed.is_some());
    host.check();
    let disk = host.disk.killed();
    let mut host = host.reopen(disk);
    host.ask(1, &Ask::Append { count: 1, size: 50 });
    host.pump();
    // Had the pages been believed, this flush would have acknowledged an entry behind a hole.
    let disk = host.disk.lost_power(&mut Dice(0));
    host.reopen(disk).check();
}
