//! One request in, at most one answer out.

use artifact::filesystem::FileAccess;

use super::tree::{MaskKind, MaskTree, NodeId};

/// A look at a hidden path that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The path as the run named it, as far as the first hidden name.
    pub path: String,
    /// Thread (in the supervisor's PID namespace) that asked.
    pub tid: u32,
    /// Its file-system user id.
    pub uid: u32,
    /// What was meant, as far as the kernel says. A name is looked up before anything is done to it, so below a
    /// masked directory this is [`FileAccess::Read`] whatever was to follow.
    pub access: FileAccess,
}

/// The outcome of one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Bytes to write back to the FUSE device, if the request wants an answer.
    pub reply: Option<Vec<u8>>,
    /// The refusal to record, if it was one.
    pub refused: Option<Refused>,
}

/// `FUSE_*` opcodes that are not simply refused.
mod opcode {
    pub(super) const LOOKUP: u32 = 1;
    pub(super) const FORGET: u32 = 2;
    pub(super) const GETATTR: u32 = 3;
    pub(super) const SETATTR: u32 = 4;
    pub(super) const SYMLINK: u32 = 6;
    pub(super) const MKNOD: u32 = 8;
    pub(super) const MKDIR: u32 = 9;
    pub(super) const UNLINK: u32 = 10;
    pub(super) const RMDIR: u32 = 11;
    pub(super) const RENAME: u32 = 12;
    pub(super) const LINK: u32 = 13;
    pub(super) const OPEN: u32 = 14;
    pub(super) const STATFS: u32 = 17;
    pub(super) const SETXATTR: u32 = 21;
    pub(super) const GETXATTR: u32 = 22;
    pub(super) const LISTXATTR: u32 = 23;
    pub(super) const REMOVEXATTR: u32 = 24;
    pub(super) const INIT: u32 = 26;
    pub(super) const ACCESS: u32 = 34;
    pub(super) const CREATE: u32 = 35;
    pub(super) const INTERRUPT: u32 = 36;
    pub(super) const DESTROY: u32 = 38;
    pub(super) const BATCH_FORGET: u32 = 42;
    pub(super) const RENAME2: u32 = 45;
    pub(super) const STATX: u32 = 52;
}

const EACCES: i32 = 13;
const ENOSYS: i32 = 38;
const EPROTO: i32 = 71;

/// `O_ACCMODE`.
const ACCESS_MODE: u32 = 3;
/// `__FMODE_EXEC`, with which the kernel opens a program to start.
const FOR_EXECUTION: u32 = 0x20;

/// Seconds the kernel may cache what never changes.
const CACHE_SECONDS: u64 = 86_400;

struct Request<'a> {
    opcode: u32,
    unique: u64,
    node: NodeId,
    uid: u32,
    tid: u32,
    body: &'a [u8],
}

/// Answers one request that was read from the FUSE device. Anything malformed or unknown is refused.
#[must_use]
pub fn serve(tree: &MaskTree, bytes: &[u8]) -> Served {
    let Some(request) = parse(bytes) else {
        return Served::default();
    };
    match request.opcode {
        opcode::INIT => only(init(&request)),
        opcode::FORGET | opcode::BATCH_FORGET | opcode::INTERRUPT => Served::default(),
        opcode::DESTROY => only(reply(&request, 0, &[])),
        opcode::GETATTR => match tree.kind(request.node) {
            Some(kind) => only(reply(&request, 0, &attr_out(request.node, kind))),
            None => only(reply(&request, -EACCES, &[])),
        },
        opcode::STATX | opcode::STATFS | opcode::GETXATTR | opcode::LISTXATTR => {
            only(reply(&request, -ENOSYS, &[]))
        }
        opcode::LOOKUP => lookup(tree, &request),
        opcode::SETATTR
        | opcode::SETXATTR
        | opcode::REMOVEXATTR
        | opcode::SYMLINK
        | opcode::MKNOD
        | opcode::MKDIR
        | opcode::UNLINK
        | opcode::RMDIR
        | opcode::RENAME
        | opcode::RENAME2
        | opcode::LINK
        | opcode::CREATE => refuse(tree, &request, None, FileAccess::Write),
        opcode::ACCESS => refuse(tree, &request, None, asked_for(request.body)),
        opcode::OPEN => refuse(tree, &request, None, opened_for(request.body)),
        _ => refuse(tree, &request, None, FileAccess::Read),
    }
}

fn lookup(tree: &MaskTree, request: &Request<'_>) -> Served {
    let name = request.body.split(|byte| *byte == 0).next().unwrap_or_default();
    let known = std::str::from_utf8(name)
        .ok()
        .and_then(|name| tree.child(request.node, name));
    match known.and_then(|node| tree.kind(node).map(|kind| (node, kind))) {
        Some((node, kind)) => only(reply(request, 0, &entry_out(node, kind))),
        None => refuse(
            tree,
            request,
            Some(&String::from_utf8_lossy(name)),
            FileAccess::Read,
        ),
    }
}

fn refuse(tree: &MaskTree, request: &Request<'_>, name: Option<&str>, access: FileAccess) -> Served {
    let path = tree.path(request.node, name);
    Served {
        reply: Some(reply(request, -EACCES, &[])),
        refused: Some(Refused {
            path,
            tid: request.tid,
            uid: request.uid,
            access,
        }),
    }
}

const fn only(reply: Vec<u8>) -> Served {
    Served {
        reply: Some(reply),
        refused: None,
    }
}

/// `struct fuse_in_header` and what follows it.
fn parse(bytes: &[u8]) -> Option<Request<'_>> {
    Some(Request {
        opcode: u32_at(bytes, 4)?,
        unique: u64_at(bytes, 8)?,
        node: NodeId(u64_at(bytes, 16)?),
        uid: u32_at(bytes, 24)?,
        tid: u32_at(bytes, 32)?,
        body: bytes.get(40..)?,
    })
}

/// `struct fuse_out_header` and `body`.
fn reply(request: &Request<'_>, error: i32, body: &[u8]) -> Vec<u8> {
    let len = 16 + body.len();
    let mut out = Vec::with_capacity(len);
    out.extend((len as u32).to_ne_bytes());
    out.extend(error.to_ne_bytes());
    out.extend(request.unique.to_ne_bytes());
    out.extend(body);
    out
}

/// `struct fuse_init_out`: version 7.31, no optional feature.
fn init(request: &Request<'_>) -> Vec<u8> {
    const MINOR: u32 = 31;
    let (Some(major), Some(minor)) = (u32_at(request.body, 0), u32_at(request.body, 4)) else {
        return reply(request, -EPROTO, &[]);
    };
    if major != 7 || minor < MINOR {
        return reply(request, -EPROTO, &[]);
    }
    let mut body = [0_u8; 64];
    let fields = [7, MINOR, 0, 0, 0, 4096, 1];
    for (slot, field) in body.as_chunks_mut::<4>().0.iter_mut().zip(fields) {
        *slot = u32::to_ne_bytes(field);
    }
    reply(request, 0, &body)
}

/// `struct fuse_entry_out`.
fn entry_out(node: NodeId, kind: MaskKind) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    for field in [node.0, 0, CACHE_SECONDS, CACHE_SECONDS, 0] {
        out.extend(field.to_ne_bytes());
    }
    out.extend(attr(node, kind));
    out
}

/// `struct fuse_attr_out`.
fn attr_out(node: NodeId, kind: MaskKind) -> Vec<u8> {
    let mut out = Vec::with_capacity(104);
    out.extend(CACHE_SECONDS.to_ne_bytes());
    out.extend([0; 8]);
    out.extend(attr(node, kind));
    out
}

/// `struct fuse_attr`: owned by root. A file looks like a program, since otherwise the kernel would refuse to start it
/// without asking here, and nothing would be recorded.
fn attr(node: NodeId, kind: MaskKind) -> Vec<u8> {
    let mode: u32 = match kind {
        MaskKind::Directory => 0o040_000,
        MaskKind::File => 0o100_111,
    };
    let mut out = Vec::with_capacity(88);
    for field in [node.0, 0, 0, 0, 0, 0] {
        out.extend(u64::to_ne_bytes(field));
    }
    for field in [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0] {
        out.extend(u32::to_ne_bytes(field));
    }
    out
}

/// `struct fuse_access_in`: a mask of `R_OK`, `W_OK`, `X_OK`.
fn asked_for(body: &[u8]) -> FileAccess {
    match u32_at(body, 0).unwrap_or(0) {
        mask if mask & 2 != 0 => FileAccess::Write,
        mask if mask & 1 != 0 => FileAccess::Execute,
        _ => FileAccess::Read,
    }
}

/// `struct fuse_open_in`: flags of open(2).
fn opened_for(body: &[u8]) -> FileAccess {
    match u32_at(body, 0).unwrap_or(0) {
        flags if flags & FOR_EXECUTION != 0 => FileAccess::Execute,
        flags if flags & ACCESS_MODE != 0 => FileAccess::Write,
        _ => FileAccess::Read,
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|chunk| u32::from_ne_bytes(*chunk))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|chunk| u64::from_ne_bytes(*chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(opcode: u32, node: u64, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((40 + body.len() as u32).to_ne_bytes());
        bytes.extend(opcode.to_ne_bytes());
        bytes.extend(7_u64.to_ne_bytes());
        bytes.extend(node.to_ne_bytes());
        for field in [1000_u32, 1000, 4242, 0] {
            bytes.extend(field.to_ne_bytes());
        }
        bytes.extend(body);
        bytes
    }

    fn error(served: &Served) -> i32 {
        i32::from_ne_bytes(*served.reply.as_ref().unwrap()[4..].first_chunk().unwrap())
    }

    #[test]
    fn a_name_below_a_mask_is_refused_and_reported() {
        let mut tree = MaskTree::default();
        let mask = tree.add_mask("/home/u/.ssh", MaskKind::Directory);
        let root = serve(&tree, &request(opcode::LOOKUP, 1, format!("{mask}\0").as_bytes()));
        assert_eq!((error(&root), root.refused), (0, None));
        let served = serve(&tree, &request(opcode::LOOKUP, 2, b"id_ed25519\0"));
        assert_eq!(error(&served), -EACCES);
        let refused = served.refused.unwrap();
        assert_eq!(
            (refused.path.as_str(), refused.tid, refused.access),
            ("/home/u/.ssh/id_ed25519", 4242, FileAccess::Read)
        );
    }

    #[test]
    fn a_passage_is_found_and_its_neighbour_is_not() {
        let mut tree = MaskTree::default();
        let mask = tree.add_mask("/p", MaskKind::Directory);
        assert!(tree.add_passage(&mask, "/p/w", MaskKind::Directory));
        assert_eq!(error(&serve(&tree, &request(opcode::LOOKUP, 2, b"w\0"))), 0);
        assert_eq!(
            error(&serve(&tree, &request(opcode::LOOKUP, 2, b"ww\0"))),
            -EACCES
        );
    }

    #[test]
    fn changes_and_unknown_requests_are_refused() {
        let mut tree = MaskTree::default();
        tree.add_mask("/p", MaskKind::Directory);
        let create = serve(&tree, &request(opcode::CREATE, 2, &[]));
        let refused = create.refused.as_ref().unwrap();
        assert_eq!((error(&create), refused.access), (-EACCES, FileAccess::Write));
        for (flags, access) in [
            (0, FileAccess::Read),
            (1, FileAccess::Write),
            (2, FileAccess::Write),
            (FOR_EXECUTION, FileAccess::Execute),
        ] {
            let open = serve(&tree, &request(opcode::OPEN, 2, &u32::to_ne_bytes(flags)));
            let refused = open.refused.as_ref().unwrap();
            assert_eq!((error(&open), refused.access), (-EACCES, access));
        }
        assert_eq!(error(&serve(&tree, &request(9_999, 2, &[]))), -EACCES);
    }

    #[test]
    fn a_truncated_request_gets_no_answer() {
        assert_eq!(serve(&MaskTree::default(), &[0; 39]), Served::default());
    }

    #[test]
    fn answers_have_the_sizes_of_the_kernel_structs() {
        assert_eq!(attr(NodeId(2), MaskKind::File).len(), 88);
        assert_eq!(entry_out(NodeId(2), MaskKind::File).len(), 128);
        assert_eq!(attr_out(NodeId(2), MaskKind::File).len(), 104);
        let served = serve(
            &MaskTree::default(),
            &request(opcode::INIT, 0, &[7, 0, 0, 0, 45, 0, 0, 0]),
        );
        assert_eq!(served.reply.unwrap().len(), 16 + 64);
    }
}
