//! An example on its stage: a fresh workspace, a listener on the granted port, an instance of its own.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::remit::{self, Outcome};

pub(crate) struct Scene {
    example: PathBuf,
    folder: tempfile::TempDir,
    instance: String,
    port: u16,
    parameters: Vec<String>,
}

impl Scene {
    pub(crate) fn new(name: &str) -> Self {
        let example = remit::root().join("examples").join(name);
        let folder = remit::folder();
        open_to_all(folder.path());
        let workspace = folder.path().join("workspace");
        std::fs::create_dir(&workspace).expect("a workspace");
        if example.join("fixture").exists() {
            shell(&example, &format!("cp -R fixture/. '{}'", workspace.display()));
        }
        shell(&example, &format!("cp agent.* '{}'", workspace.display()));
        if example.join("setup.sh").exists() {
            shell(
                &workspace,
                &format!("bash '{}'", example.join("setup.sh").display()),
            );
        }
        let port = listen();
        let mut parameters = Vec::new();
        if std::fs::read_to_string(example.join("policy.remit"))
            .expect("a policy")
            .contains("param port:")
        {
            parameters.push(format!("port={port}"));
        }
        if example.join("parameters.sh").exists() {
            let script = example.join("parameters.sh");
            let printed = Command::new("bash")
                .arg(script)
                .current_dir(remit::root())
                .output()
                .expect("bash");
            let printed = String::from_utf8(printed.stdout).expect("text");
            parameters.extend(printed.lines().map(str::to_owned));
        }
        Self {
            instance: format!("x{}-{}", std::process::id(), name),
            example,
            folder,
            port,
            parameters,
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.example.join(name)
    }

    pub(crate) fn policy(&self) -> PathBuf {
        self.file("policy.remit")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub(crate) fn parameters(&self) -> &[String] {
        &self.parameters
    }

    pub(crate) fn bindings(&self) -> Vec<OsString> {
        self.parameters
            .iter()
            .flat_map(|parameter| [OsString::from("--param"), parameter.into()])
            .collect()
    }

    pub(crate) fn events_file(&self) -> PathBuf {
        self.folder.path().join("events.jsonl")
    }

    /// Runs the agent within the policy. It and a stray variable are the caller's.
    pub(crate) fn run(&self) -> Outcome {
        let port = self.port.to_string();
        let agent: &[&str] = match () {
            () if self.file("agent.sh").exists() => &["bash", "agent.sh"],
            () if self.file("agent.py").exists() => &["/usr/bin/python3", "agent.py"],
            () => &["node", "agent.mjs"],
        };
        let mut command = remit::remit();
        command
            .current_dir(self.workspace())
            .env("REMIT_EXAMPLE_SECRET", "from the caller");
        command.arg("run").arg(self.policy()).args(self.bindings());
        command
            .args(["--instance", &self.instance, "--events"])
            .arg(self.events_file());
        command.arg("--").args(agent).arg(port);
        remit::output(&mut command)
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.events_file()).expect("events");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("an event"))
            .collect()
    }

    /// What was refused, one line each, for whoever reads a failure.
    pub(crate) fn refusals(&self) -> String {
        let refused = |event: &Value| event["effect"] == "deny" || event["effect"] == "forbid";
        self.events()
            .iter()
            .filter(|event| refused(event))
            .map(|event| format!("{event}\n"))
            .collect()
    }

    /// Placeholders of expected.json.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut filled = text.replace("${workspace}", &self.workspace().display().to_string());
        filled = filled.replace("${port}", &self.port.to_string());
        for (name, value) in self
            .parameters
            .iter()
            .filter_map(|parameter| parameter.split_once('='))
        {
            filled = filled.replace(&format!("${{{name}}}"), value);
        }
        filled
    }

    pub(crate) fn fill_json(&self, value: &Value) -> Value {
        serde_json::from_str(&self.fill(&value.to_string())).expect("still JSON")
    }

    /// The table of an example that has one.
    pub(crate) fn report(&self) {
        let script = self.file("report.py");
        if !script.exists() {
            return;
        }
        let output = Command::new("/usr/bin/python3")
            .arg(script)
            .arg(self.workspace().join("attempts.json"))
            .arg(self.events_file())
            .output()
            .expect("python3");
        println!("{}", String::from_utf8_lossy(&output.stdout));
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Unloads, and looks for what should be gone: processes, cgroup, state, pins.
    pub(crate) fn leave_nothing(&self) {
        let workspace = self.workspace();
        let left = processes_in(&workspace);
        assert!(left.is_empty(), "processes outlived the run: {left:?}");
        remit::output(remit::remit().args(["unload", "--instance", &self.instance])).expect_code(0);
        assert!(
            !Path::new("/run").join(&self.instance).exists(),
            "the state directory is left"
        );
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        assert!(!mounts.contains(&self.instance), "a mount is left");
        for mount in mounts.lines().filter(|line| line.contains(" - cgroup")) {
            let point = mount.split(' ').nth(4).expect("a mount point");
            assert!(
                !Path::new(point).join(&self.instance).exists(),
                "a cgroup is left below {point}"
            );
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Also after a failed assertion nothing may stay on the host.
        let _ = remit::remit()
            .args(["unload", "--instance", &self.instance])
            .output();
    }
}

/// Accepts and drops connections until the test ends.
fn listen() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("its address").port();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    port
}

fn shell(directory: &Path, command: &str) {
    let status = Command::new("bash")
        .args(["-euc", command])
        .current_dir(directory)
        .status()
        .expect("bash");
    assert!(status.success(), "{command}");
}

/// A run under another user id must get through to its workspace.
fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).expect("mode 755");
}

fn processes_in(workspace: &Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let here = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|directory| directory.starts_with(workspace))
    };
    processes
        .filter(here)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}
