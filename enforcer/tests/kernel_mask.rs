//! The mask file system on the real kernel, in a mount namespace of the test's own.
#![allow(
    unsafe_code,
    reason = "unshare(2) has no safe wrapper that covers a thread's file-system context"
)]
#![allow(clippy::indexing_slicing, reason = "a panic here is a failed test")]

use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::sync::mpsc;
use std::thread;

use enforcer::mask::{MaskKind, MaskTree, Refused, serve};
use rustix::fs::CWD;
use rustix::mount;
use rustix::thread::UnshareFlags;

/// Serves `tree` until the file system is gone, and sends each refusal.
fn serve_in_background(tree: MaskTree, device: fs::File) -> mpsc::Receiver<Refused> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut device = device;
        let mut buffer = vec![0; 16_384];
        while let Ok(len) = device.read(&mut buffer) {
            let served = serve(&tree, &buffer[..len]);
            // Before the answer, so that it is there when the test goes on.
            if let Some(refused) = served.refused {
                let _ = send.send(refused);
            }
            if let Some(reply) = served.reply {
                let _ = device.write(&reply);
            }
        }
    });
    receive
}

#[test]
fn a_masked_directory_refuses_every_look_with_a_record_and_keeps_its_passage_open() {
    let scratch = tempfile::tempdir().unwrap();
    let base = scratch.path().canonicalize().unwrap();
    let hidden = base.join("hidden");
    fs::create_dir_all(hidden.join("open")).unwrap();
    fs::write(hidden.join("key"), "secret").unwrap();
    fs::write(hidden.join("open/note"), "note").unwrap();

    let hidden_path = hidden.to_str().unwrap().to_owned();
    let observed = thread::spawn(move || {
        // SAFETY: the flags touch only this thread's mount namespace and file-system context, which no other
        // thread of the test looks at.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::FS) }.unwrap();
        mount::mount_change(
            "/",
            mount::MountPropagationFlags::REC | mount::MountPropagationFlags::PRIVATE,
        )
        .unwrap();

        let mut tree = MaskTree::default();
        let name = tree.add_mask(&hidden_path, MaskKind::Directory);
        assert!(tree.add_passage(&name, &format!("{hidden_path}/open"), MaskKind::Directory));
        let device = fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .unwrap();
        let filesystem = mount::fsopen("fuse", mount::FsOpenFlags::FSOPEN_CLOEXEC).unwrap();
        for (key, value) in [
            ("fd", device.as_raw_fd().to_string()),
            ("rootmode", "40000".into()),
            ("user_id", "0".into()),
            ("group_id", "0".into()),
        ] {
            mount::fsconfig_set_string(&filesystem, key, value).unwrap();
        }
        mount::fsconfig_set_flag(&filesystem, "allow_other").unwrap();
        mount::fsconfig_create(&filesystem).unwrap();
        let refusals = serve_in_background(tree, device);
        let masks = mount::fsmount(
            &filesystem,
            mount::FsMountFlags::FSMOUNT_CLOEXEC,
            mount::MountAttrFlags::MOUNT_ATTR_NOSUID,
        )
        .unwrap();
        let clone = mount::OpenTreeFlags::OPEN_TREE_CLONE | mount::OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let passage = mount::open_tree(CWD, format!("{hidden_path}/open"), clone).unwrap();
        let mask = mount::open_tree(&masks, name.as_str(), clone).unwrap();
        let to_path = mount::MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        mount::move_mount(&mask, "", CWD, hidden_path.as_str(), to_path).unwrap();
        mount::move_mount(&passage, "", CWD, format!("{hidden_path}/open"), to_path).unwrap();

        let read = fs::read(format!("{hidden_path}/key"));
        let create = fs::write(format!("{hidden_path}/new"), "x");
        let list = fs::read_dir(&hidden_path).map(|_| ());
        let note = fs::read_to_string(format!("{hidden_path}/open/note")).unwrap();
        let rename = fs::rename(&hidden_path, format!("{hidden_path}.old"));
        let errors: Vec<_> = [read.map(|_| ()), create, list, rename]
            .into_iter()
            .map(|r| r.unwrap_err().raw_os_error())
            .collect();
        let records: Vec<_> = refusals.try_iter().collect();
        (
            errors,
            note,
            records,
            rustix::thread::gettid().as_raw_nonzero().get() as u32,
        )
    })
    .join()
    .unwrap();

    let (errors, note, records, tid) = observed;
    let (eacces, ebusy) = (Some(13), Some(16));
    assert_eq!(errors, [eacces, eacces, eacces, ebusy]);
    assert_eq!(note, "note");
    let paths: Vec<_> = records.iter().map(|refused| refused.path.as_str()).collect();
    let hidden = hidden.to_str().unwrap();
    assert!(paths.contains(&format!("{hidden}/key").as_str()), "{paths:?}");
    assert!(paths.contains(&hidden), "{paths:?}");
    assert!(records.iter().all(|refused| refused.tid == tid));
    assert!(scratch.path().join("hidden/key").exists());
}
