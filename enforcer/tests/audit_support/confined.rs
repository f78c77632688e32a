//! A child under Landlock and seccomp, and evidence of it, without a launcher: the child is its own first process.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use artifact::environment::EnvironmentPlan;
use artifact::filesystem::{FileAccess, FilesystemPlan, PathPattern, PathRule};
use artifact::network::NetworkTables;
use artifact::process::{Identity, ProcessPlan, RecordOptions};
use artifact::rule::{Domain, Lowering, Mechanism, Origin};
use artifact::seccomp::{Architecture, Refusal, SeccompFilter};
use artifact::{Artifact, Effect, Layer, PolicyIdentity, RuleId, RuleRecord};
use enforcer::Instance;
use enforcer::audit::AuditStream;
use enforcer::bpf::{CgroupId, ProcessStamp, Record};
use enforcer::event::{Receipt, RunId};
use enforcer::evidence::{Evidence, RunInfo};
use enforcer::sink::{JsonLines, Sinks};
use landlock::{
    ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
};
use serde_json::Value;

/// An instance of the test's own; its directory and its claim on the audit settings go when it is dropped.
pub struct OwnInstance(pub Instance);

impl OwnInstance {
    pub fn new(name: &str) -> Self {
        let instance = Instance::new(&format!("test-{name}-{}", std::process::id())).unwrap();
        drop(instance.enter().unwrap());
        Self(instance)
    }
}

impl Drop for OwnInstance {
    fn drop(&mut self) {
        enforcer::audit::restore(&self.0).unwrap();
        std::fs::remove_dir_all(self.0.state_dir()).unwrap();
        std::fs::remove_dir(self.0.cgroup()).unwrap();
    }
}

/// Evidence with a file behind it.
pub struct Recording {
    pub stream: AuditStream,
    pub evidence: Evidence,
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Recording {
    pub fn start(instance: &Instance, artifact: Artifact) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        let info = RunInfo {
            run: RunId::new(instance.name()),
            host: "here".to_owned(),
            digest: "sha256:0".to_owned(),
            cgroup: 0,
        };
        let sinks = Sinks {
            lines: Some(JsonLines::open(&path).unwrap()),
            person: None,
        };
        Self {
            stream: AuditStream::open(instance).unwrap(),
            evidence: Evidence::new(Arc::new(artifact), info, sinks),
            _folder: folder,
            path,
        }
    }

    /// Takes the test for the launcher and `child` for what it forked, as the ring would say.
    pub fn adopt(&mut self, child: &Child) {
        let launcher = std::process::id();
        self.evidence.launched(launcher);
        let process = ProcessStamp {
            time_ns: 0,
            cgroup: CgroupId(0),
            pid: launcher,
            tid: launcher,
            uid: 0,
            comm: String::new(),
        };
        let record = Record::Fork {
            process,
            child: child.id(),
        };
        self.evidence.on_ring(Ok(record)).unwrap();
    }

    /// Settles, ends the run, and returns the lines and the receipt.
    pub fn finish(mut self) -> (Vec<Value>, Receipt) {
        self.evidence
            .settle(&mut self.stream, Duration::from_secs(10))
            .unwrap();
        let receipt = self.evidence.finish(0, "exited").unwrap();
        let text = std::fs::read(&self.path).unwrap();
        let verified = enforcer::event::verify_chain(text.as_slice()).unwrap();
        let run = verified.runs.values().next().unwrap();
        assert!(run.ended);
        assert_eq!((run.events, &run.head), (receipt.events, &receipt.chain));
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        (
            lines.map(|line| serde_json::from_slice(line).unwrap()).collect(),
            receipt,
        )
    }
}

/// Lines of one kind.
pub fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

/// Starts a command that may read and execute the system's own files, and may do nothing else.
pub fn spawn(command: &mut Command) -> Child {
    // SAFETY: between fork and exec the closure makes system calls and allocates; the C library's allocator is
    // usable there, and no lock of this test is taken.
    unsafe {
        command.pre_exec(|| {
            restrict().map_err(|error| std::io::Error::other(error.to_string()))?;
            refuse_ptrace()
        });
    }
    command.spawn().unwrap()
}

fn restrict() -> Result<(), landlock::RulesetError> {
    let abi = ABI::V6;
    let open = |path| PathFd::new(path).unwrap();
    let read = AccessFs::from_read(abi);
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?;
    for path in [
        "/usr",
        "/lib",
        "/lib64",
        "/bin",
        "/etc/ld.so.cache",
        "/dev",
        "/proc",
    ] {
        let allowed = if path.ends_with(".cache") {
            read & AccessFs::from_file(abi)
        } else {
            read
        };
        rules = rules.add_rule(PathBeneath::new(open(path), allowed))?;
    }
    rules.log_new_exec(true)?.restrict_self()?;
    Ok(())
}

/// ptrace gives EPERM and everything else is allowed.
fn refuse_ptrace() -> std::io::Result<()> {
    let instruction = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut program = [
        instruction(0x20, 0, 0, 0),
        instruction(0x15, 0, 1, u32::try_from(libc::SYS_ptrace).unwrap_or(0)),
        instruction(0x06, 0, 0, 0x0005_0001),
        instruction(0x06, 0, 0, 0x7fff_0000),
    ];
    let filter = libc::sock_fprog {
        len: 4,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: `filter` and `program` outlive the call, and the kernel copies them.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_LOG,
            &raw const filter,
        )
    };
    if result < 0 {
        Err(std::io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn rule(id: u32, effect: Effect, domain: Domain, text: &str, because: Option<&str>) -> RuleRecord {
    let origin = if id == 0 {
        Origin::BuiltIn
    } else {
        Origin::Policy {
            file: "test.remit".to_owned(),
            line: id * 10,
            column: 5,
        }
    };
    RuleRecord {
        id: RuleId(id),
        effect,
        domain,
        text: text.to_owned(),
        label: None,
        because: because.map(str::to_owned),
        origin,
        layer: None,
        via: None,
        permit_degraded: false,
        lowering: vec![Lowering {
            mechanism: Mechanism::LandlockFs,
            needs: Vec::new(),
            gap: None,
            note: None,
        }],
    }
}

/// A policy with a rule for a file and one for a call; what it says about the rest does not matter here.
pub fn policy(denied_path: &str) -> Artifact {
    Artifact {
        policy: PolicyIdentity {
            name: "audit-test".to_owned(),
            summary: None,
        },
        parameters: std::collections::BTreeMap::new(),
        layers: vec![Layer {
            name: "audit-test".to_owned(),
            file: "test.remit".to_owned(),
        }],
        unlocks: Vec::new(),
        rules: vec![
            rule(
                0,
                Effect::Deny,
                Domain::Process,
                "nothing is allowed that no rule allows",
                None,
            ),
            rule(
                1,
                Effect::Deny,
                Domain::Filesystem,
                "deny read",
                Some("it is private"),
            ),
            rule(
                2,
                Effect::Forbid,
                Domain::Process,
                "forbid syscall @debug",
                Some("nobody traces"),
            ),
        ],
        requirements: Vec::new(),
        filesystem: FilesystemPlan {
            rules: vec![PathRule {
                rule: RuleId(1),
                effect: Effect::Deny,
                layer: None,
                access: FileAccess::Read,
                pattern: PathPattern::Literal(denied_path.to_owned()),
                if_present: false,
                yields_to: Vec::new(),
            }],
            ..FilesystemPlan::default()
        },
        network: NetworkTables::default(),
        environment: EnvironmentPlan::default(),
        brokers: Vec::new(),
        workspace: None,
        process: ProcessPlan {
            identity: Identity::User,
            identity_rule: RuleId(0),
            limits: Vec::new(),
        },
        seccomp: vec![SeccompFilter {
            architecture: Architecture::X86_64,
            program: Vec::new(),
            refusals: vec![Refusal {
                number: u32::try_from(libc::SYS_ptrace).unwrap(),
                name: "ptrace".to_owned(),
                rules: vec![RuleId(2)],
            }],
        }],
        record: RecordOptions {
            exec: true,
            connect: true,
            bind: true,
            ..RecordOptions::default()
        },
    }
}
