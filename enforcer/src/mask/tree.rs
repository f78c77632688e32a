//! The nodes of the mask file system: one root, a numbered child for each mask, and below a masked directory the
//! names that lead to trees which are granted again.

use std::collections::BTreeMap;

/// A FUSE node id. The root is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

impl NodeId {
    /// `FUSE_ROOT_ID`.
    pub const ROOT: Self = Self(1);
}

/// What a node looks like from outside: a mount point must be of the kind that it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskKind {
    /// Covers a directory.
    Directory,
    /// Covers anything else.
    File,
}

#[derive(Debug)]
struct Node {
    /// The path of the run that this node covers; empty for the root.
    path: String,
    kind: MaskKind,
    children: BTreeMap<String, NodeId>,
}

/// All masks of one run.
#[derive(Debug)]
pub struct MaskTree {
    nodes: BTreeMap<NodeId, Node>,
}

impl Default for MaskTree {
    fn default() -> Self {
        let root = Node {
            path: String::new(),
            kind: MaskKind::Directory,
            children: BTreeMap::new(),
        };
        Self {
            nodes: BTreeMap::from([(NodeId::ROOT, root)]),
        }
    }
}

impl MaskTree {
    /// Whether there is no mask at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Adds a mask over `path` and returns the name of its node in the root directory, from which the launcher
    /// binds it over the path.
    pub fn add_mask(&mut self, path: &str, kind: MaskKind) -> String {
        let name = self
            .nodes
            .get(&NodeId::ROOT)
            .map_or(0, |root| root.children.len())
            .to_string();
        self.add_child(NodeId::ROOT, &name, path, kind);
        name
    }

    /// Adds a passage below the mask named `mask`: a place for the mount point of a path that is granted again.
    /// Directories in between are made. Returns whether the mask exists and covers `path`.
    pub fn add_passage(&mut self, mask: &str, path: &str, kind: MaskKind) -> bool {
        let Some(mut at) = self.child(NodeId::ROOT, mask) else {
            return false;
        };
        let Some(base) = self.nodes.get(&at).map(|node| node.path.clone()) else {
            return false;
        };
        let Some(rest) = path.strip_prefix(&base).and_then(|rest| rest.strip_prefix('/')) else {
            return false;
        };
        let mut so_far = base;
        let mut components = rest.split('/').peekable();
        while let Some(component) = components.next() {
            so_far.push('/');
            so_far.push_str(component);
            let kind = if components.peek().is_some() {
                MaskKind::Directory
            } else {
                kind
            };
            at = match self.child(at, component) {
                Some(existing) => existing,
                None => self.add_child(at, component, &so_far, kind),
            };
        }
        true
    }

    fn add_child(&mut self, parent: NodeId, name: &str, path: &str, kind: MaskKind) -> NodeId {
        let id = NodeId(self.nodes.len() as u64 + 1);
        self.nodes.insert(
            id,
            Node {
                path: path.to_owned(),
                kind,
                children: BTreeMap::new(),
            },
        );
        if let Some(parent) = self.nodes.get_mut(&parent) {
            parent.children.insert(name.to_owned(), id);
        }
        id
    }

    pub(super) fn child(&self, parent: NodeId, name: &str) -> Option<NodeId> {
        self.nodes.get(&parent)?.children.get(name).copied()
    }

    pub(super) fn kind(&self, node: NodeId) -> Option<MaskKind> {
        self.nodes.get(&node).map(|node| node.kind)
    }

    /// The path of the run that `node` covers, and `name` below it.
    pub(super) fn path(&self, node: NodeId, name: Option<&str>) -> String {
        let base = self.nodes.get(&node).map_or("", |node| node.path.as_str());
        match name {
            Some(name) => format!("{base}/{name}"),
            None => base.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_lies_below_its_mask_only() {
        let mut tree = MaskTree::default();
        let mask = tree.add_mask("/home/u/p", MaskKind::Directory);
        assert!(tree.add_passage(&mask, "/home/u/p/a/b", MaskKind::File));
        assert!(!tree.add_passage(&mask, "/home/u/px", MaskKind::File));
        assert!(!tree.add_passage("7", "/home/u/p/a", MaskKind::File));
        let node = tree.child(NodeId::ROOT, &mask).unwrap();
        let a = tree.child(node, "a").unwrap();
        let b = tree.child(a, "b").unwrap();
        assert_eq!(tree.kind(a), Some(MaskKind::Directory));
        assert_eq!(tree.kind(b), Some(MaskKind::File));
        assert_eq!(tree.path(a, Some("x")), "/home/u/p/a/x");
    }

    #[test]
    fn two_passages_share_their_directories() {
        let mut tree = MaskTree::default();
        let mask = tree.add_mask("/p", MaskKind::Directory);
        assert!(tree.add_passage(&mask, "/p/a/b", MaskKind::Directory));
        assert!(tree.add_passage(&mask, "/p/a/c", MaskKind::Directory));
        assert_eq!(tree.nodes.len(), 1 + 1 + 3);
    }
}
