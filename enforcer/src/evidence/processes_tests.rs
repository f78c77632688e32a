use super::Processes;
use crate::event::Text;

/// Numbers that no process has (the kernel's highest is 4,194,304), so /proc tells nothing about them.
const ROOT: u32 = 5_000_000;
const SHELL: u32 = 5_000_001;
const CAT: u32 = 5_000_002;
const MAKE: u32 = 5_000_003;

fn family() -> Processes {
    let mut processes = Processes::default();
    processes.root(ROOT);
    processes.forked(ROOT, SHELL, 7, 1_000);
    processes.executed(SHELL, ROOT, 7, Text::from("sh"), Text::from("/bin/sh"));
    processes.forked(SHELL, CAT, 7, 2_000);
    processes.executed(CAT, SHELL, 7, Text::from("cat"), Text::from("/bin/cat"));
    processes
}

#[test]
fn ancestry_goes_up_to_the_first_process() {
    let cat = family().of(CAT, 7, None);
    assert_eq!((cat.comm.lossy().as_ref(), cat.exact), ("cat", true));
    let parents: Vec<_> = cat
        .ancestry
        .iter()
        .map(|parent| (parent.pid, parent.comm.lossy().into_owned()))
        .collect();
    assert_eq!(
        parents,
        [(SHELL, "sh".to_owned()), (ROOT, "remit-launch".to_owned())]
    );
}

#[test]
fn ancestry_shows_what_a_parent_became_and_stays_when_it_dies() {
    let mut processes = family();
    let before = processes.of(CAT, 7, None);
    processes.executed(SHELL, ROOT, 7, Text::from("make"), Text::from("/bin/make"));
    processes.exited(SHELL, 3_000);
    let after = processes.of(CAT, 7, None);
    assert_eq!(before.ancestry[0].comm, Text::from("sh"));
    assert_eq!(after.ancestry[0].comm, Text::from("make"));
    assert_eq!(after.ancestry.len(), 2);
}

#[test]
fn a_renamed_process_keeps_its_program() {
    let renamed = family().of(CAT, 7, Some(b"systemd"));
    assert_eq!(renamed.comm, Text::from("systemd"));
    assert_eq!(renamed.exe, Some(Text::from("/bin/cat")));
}

#[test]
fn a_refusal_without_a_process_is_certain_when_only_one_lives() {
    let mut processes = family();
    processes.exited(CAT, 3_000);
    let later = 3_000 + 1_000_000_000;
    let process = processes.at(later).unwrap();
    assert_eq!((process.pid, process.exact), (SHELL, true));
}

#[test]
fn a_refusal_without_a_process_is_the_common_ancestors_when_several_live() {
    let mut processes = family();
    let process = processes.at(2_500).unwrap();
    assert_eq!((process.pid, process.exact), (SHELL, false));
    processes.forked(ROOT, MAKE, 7, 2_600);
    assert_eq!(processes.at(2_700).unwrap().pid, ROOT);
}

#[test]
fn a_process_that_died_later_than_the_record_is_still_a_candidate() {
    let mut processes = family();
    processes.exited(CAT, 5_000_000);
    assert!(!processes.at(4_000_000).unwrap().exact);
    assert!(!processes.at(5_900_000).unwrap().exact, "two clocks may differ");
    assert!(processes.at(7_000_000).unwrap().exact);
}

#[test]
fn a_reused_number_is_a_new_process() {
    let mut processes = family();
    processes.exited(CAT, 3_000);
    processes.forked(ROOT, CAT, 8, 9_000);
    let new = processes.of(CAT, 8, None);
    assert_eq!((new.uid, new.ancestry.len()), (8, 1));
    assert_ne!(new.exe, Some(Text::from("/bin/cat")));
}

#[test]
fn the_dead_are_forgotten_in_order() {
    let mut processes = family();
    for pid in 6_000_000..6_010_000 {
        processes.forked(SHELL, pid, 7, 1);
        processes.exited(pid, 2);
    }
    assert!(processes.nodes.len() <= super::REMEMBERED_DEAD + 8);
    assert!(processes.knows(SHELL) && processes.knows(ROOT));
    assert!(!processes.knows(6_000_000) && processes.knows(6_009_999));
}
