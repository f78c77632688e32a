//! The run's processes, from the ring's exec, fork and exit records.
//!
//! Ancestry is who forked whom, which does not change when a parent dies and the child is given to another. What
//! was not seen in the ring (the first process, or a process after a loss) is read from /proc once.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use crate::event::{Ancestor, Process, Text};

/// Dead processes that are remembered: their last records may still be on their way.
const REMEMBERED_DEAD: usize = 4_096;
/// Longest ancestry in an event.
const DEPTH_MAX: usize = 64;
/// Audit records carry the kernel's coarse clock, which is late by up to a tick (10 ms at 100 Hz), in whole
/// milliseconds.
const LATE_NS: u64 = 11_000_000;
/// How far the ring's clock, converted, may be from it.
const SKEW_NS: u64 = 1_000_000;
/// What the launcher is called in an ancestry.
const LAUNCHER: &str = "remit-launch";

#[derive(Debug)]
struct Node {
    parent: Option<u32>,
    uid: u32,
    comm: Text,
    exe: Option<Text>,
    born_ns: u64,
    died_ns: Option<u64>,
    /// The process as an event shows it, and the generation it was made in.
    shown: Option<(u64, Arc<Process>)>,
}

#[derive(Debug, Default)]
pub(super) struct Processes {
    nodes: HashMap<u32, Node>,
    alive: BTreeSet<u32>,
    dead: VecDeque<(u32, u64)>,
    root: Option<u32>,
    /// Grows when something changes that other processes' ancestries show.
    generation: u64,
    /// Threads that were looked up, for records that name a thread only.
    threads: HashMap<u32, u32>,
}

impl Processes {
    /// The first process: the launcher, which never becomes another program.
    pub(super) fn root(&mut self, pid: u32) {
        self.root = Some(pid);
        let own = std::env::current_exe().ok();
        let node = Node {
            parent: None,
            uid: 0,
            comm: Text::from(LAUNCHER),
            exe: own.map(|own| Text::new(own.as_os_str().as_bytes())),
            born_ns: 0,
            died_ns: None,
            shown: None,
        };
        self.nodes.insert(pid, node);
        self.alive.insert(pid);
    }

    pub(super) const fn root_pid(&self) -> Option<u32> {
        self.root
    }

    /// Whether this process was seen as one of the run's.
    pub(super) fn knows(&self, pid: u32) -> bool {
        self.nodes.contains_key(&pid)
    }

    /// Whether `pid` is the first process or one that it forked.
    pub(super) fn is_near_root(&self, pid: u32) -> bool {
        self.root == Some(pid)
            || self
                .nodes
                .get(&pid)
                .is_some_and(|node| node.parent.is_some() && node.parent == self.root)
    }

    pub(super) fn forked(&mut self, parent: u32, child: u32, uid: u32, at_ns: u64) {
        let (comm, exe) = {
            let parent = self.node(parent, Some(uid));
            (parent.comm.clone(), parent.exe.clone())
        };
        self.generation += u64::from(self.nodes.contains_key(&child));
        let node = Node {
            parent: Some(parent),
            uid,
            comm,
            exe,
            born_ns: at_ns,
            died_ns: None,
            shown: None,
        };
        self.nodes.insert(child, node);
        self.alive.insert(child);
    }

    /// A process started a program. The launcher's own start is none of the run's.
    pub(super) fn executed(&mut self, pid: u32, parent: u32, uid: u32, comm: Text, path: Text) -> bool {
        if self.root == Some(pid) {
            return false;
        }
        self.generation += 1;
        let known_parent = self.nodes.contains_key(&parent).then_some(parent);
        let node = self.node(pid, Some(uid));
        node.parent = node.parent.or(known_parent);
        node.comm = comm;
        node.exe = Some(path);
        node.uid = uid;
        node.shown = None;
        true
    }

    pub(super) fn exited(&mut self, pid: u32, at_ns: u64) {
        self.alive.remove(&pid);
        let Some(node) = self.nodes.get_mut(&pid) else {
            return;
        };
        node.died_ns = Some(at_ns);
        self.dead.push_back((pid, at_ns));
        if self.dead.len() > REMEMBERED_DEAD
            && let Some((old, died)) = self.dead.pop_front()
            && self
                .nodes
                .get(&old)
                .is_some_and(|node| node.died_ns == Some(died))
            && self.root != Some(old)
        {
            self.nodes.remove(&old);
        }
    }

    /// The process a record names.
    pub(super) fn of(&mut self, pid: u32, uid: u32, comm: Option<&[u8]>) -> Arc<Process> {
        let generation = self.generation;
        // A forked launcher still has its file's name as a command name.
        let comm = comm.filter(|_| self.root != Some(pid));
        let node = self.node(pid, Some(uid));
        let renamed = comm.is_some_and(|comm| comm != node.comm.as_bytes());
        if !renamed
            && node.uid == uid
            && let Some((made, process)) = &node.shown
            && *made == generation
        {
            return Arc::clone(process);
        }
        if let Some(comm) = comm {
            node.comm = Text::new(comm);
        }
        node.uid = uid;
        let process = Arc::new(self.describe(pid, true));
        if let Some(node) = self.nodes.get_mut(&pid) {
            node.shown = Some((generation, Arc::clone(&process)));
        }
        process
    }

    /// The process of a thread, which /proc knows while the thread waits for its answer.
    pub(super) fn of_thread(&mut self, tid: u32, uid: u32) -> Arc<Process> {
        let pid = if self.nodes.contains_key(&tid) {
            tid
        } else if let Some(pid) = self.threads.get(&tid).filter(|pid| self.alive.contains(pid)) {
            *pid
        } else {
            let pid = status_field(tid, "Tgid:").unwrap_or(tid);
            if self.threads.len() >= REMEMBERED_DEAD {
                self.threads.clear();
            }
            self.threads.insert(tid, pid);
            pid
        };
        self.of(pid, uid, None)
    }

    /// Who may have been refused something at this time, when the record says only which run it was: the nearest
    /// process that all who lived then descend from. Exact when only one did.
    pub(super) fn at(&mut self, at_ns: u64) -> Option<Arc<Process>> {
        let root = self.root?;
        let until = at_ns.saturating_add(LATE_NS);
        let living = self
            .alive
            .iter()
            .copied()
            .filter(|pid| self.nodes.get(pid).is_some_and(|node| node.born_ns <= until));
        let just_dead = self
            .dead
            .iter()
            .rev()
            .take_while(|(_, died)| died.saturating_add(SKEW_NS) >= at_ns);
        let mut candidates: BTreeSet<u32> = living.chain(just_dead.map(|(pid, _)| *pid)).collect();
        // The first process is the enforcer's own and confined by nothing of this.
        if candidates.len() > 1 {
            candidates.remove(&root);
        }
        let mut each = candidates.iter().copied();
        let first = each.next().unwrap_or(root);
        let common = each.fold(self.lineage(first), |common, pid| {
            let other = self.lineage(pid);
            common.into_iter().filter(|pid| other.contains(pid)).collect()
        });
        let pid = common.first().copied().unwrap_or(root);
        let exact = candidates.len() == 1 && candidates.contains(&pid);
        let uid = self.node(pid, None).uid;
        if exact {
            Some(self.of(pid, uid, None))
        } else {
            Some(Arc::new(self.describe(pid, false)))
        }
    }

    /// A process and its parents, the nearest first.
    fn lineage(&self, pid: u32) -> Vec<u32> {
        let mut line = vec![pid];
        let mut at = pid;
        while Some(at) != self.root
            && line.len() < DEPTH_MAX
            && let Some(parent) = self.nodes.get(&at).and_then(|node| node.parent)
            && !line.contains(&parent)
        {
            line.push(parent);
            at = parent;
        }
        line
    }

    fn describe(&self, pid: u32, exact: bool) -> Process {
        let line = self.lineage(pid);
        let node = self.nodes.get(&pid);
        Process {
            pid,
            uid: node.map_or(0, |node| node.uid),
            comm: node.map(|node| node.comm.clone()).unwrap_or_default(),
            exe: node.and_then(|node| node.exe.clone()),
            exact,
            ancestry: line
                .into_iter()
                .skip(1)
                .filter_map(|pid| {
                    let node = self.nodes.get(&pid)?;
                    Some(Ancestor {
                        pid,
                        comm: node.comm.clone(),
                        exe: node.exe.clone(),
                    })
                })
                .collect(),
        }
    }

    /// The node of a process, read from /proc when it is new.
    fn node(&mut self, pid: u32, uid: Option<u32>) -> &mut Node {
        let known_parent = if self.nodes.contains_key(&pid) {
            None
        } else {
            self.alive.insert(pid);
            let parent = status_field(pid, "PPid:").filter(|parent| self.nodes.contains_key(parent));
            parent.or(self.root.filter(|root| *root != pid))
        };
        self.nodes.entry(pid).or_insert_with(|| Node {
            parent: known_parent,
            uid: uid.or_else(|| status_field(pid, "Uid:")).unwrap_or(0),
            comm: std::fs::read(format!("/proc/{pid}/comm"))
                .map(|comm| Text::new(comm.strip_suffix(b"\n").unwrap_or(&comm)))
                .unwrap_or_default(),
            exe: std::fs::read_link(format!("/proc/{pid}/exe"))
                .ok()
                .map(|path| Text::new(path.as_os_str().as_bytes())),
            born_ns: 0,
            died_ns: None,
            shown: None,
        })
    }
}

/// The first number behind `name` in a process's status.
fn status_field(pid: u32, name: &str) -> Option<u32> {
    let status = std::fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
#[path = "processes_tests.rs"]
mod tests;
