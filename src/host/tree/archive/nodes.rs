//! The names of an archive and how its links resolve.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use crate::core::model::outcome::FaultReason;

/// Links followed in one path, as the kernel's own limit.
const LINKS: usize = 40;

/// What is in a file; hard links share it.
pub(super) type Content = Arc<[u8]>;

/// One name.
#[derive(Debug)]
pub(super) enum Node {
    /// A directory and the names in it.
    Directory(BTreeSet<String>),
    /// A file.
    File(Content),
    /// A file longer than any of a capture.
    TooLong,
    /// A symlink's target as written.
    Link(String),
    /// A device node, a FIFO: nothing a capture is read from.
    Special,
}

/// Every name by its path without links; the root is the empty path.
#[derive(Debug)]
pub(super) struct Nodes(HashMap<String, Node>);

impl Nodes {
    /// A root with nothing in it.
    pub(super) fn new() -> Self {
        Self(HashMap::from([(
            String::new(),
            Node::Directory(BTreeSet::new()),
        )]))
    }

    /// How many names there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// What lies at a path without links.
    pub(super) fn get(&self, path: &str) -> Option<&Node> {
        self.0.get(path)
    }

    /// Puts a name in. The last of duplicates holds, as in unpacking; what would lie beneath a file
    /// or replace a directory is ignored. Returns the bytes of names this took.
    pub(super) fn insert(&mut self, path: &str, node: Node) -> usize {
        let mut spent = 0;
        let ends = path.match_indices('/').map(|(end, _)| end);
        for parent in ends.filter_map(|end| path.get(..end)) {
            if !matches!(self.0.get(parent), None | Some(Node::Directory(_))) {
                return spent;
            }
            spent += self.put(parent, Node::Directory(BTreeSet::new()));
        }
        spent + self.put(path, node)
    }

    fn put(&mut self, path: &str, node: Node) -> usize {
        if let Some(there) = self.0.get_mut(path) {
            if !matches!(there, Node::Directory(_)) && !matches!(node, Node::Directory(_)) {
                *there = node;
            }
            return 0;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if let Some(Node::Directory(names)) = self.0.get_mut(parent) {
            names.insert(name.to_owned());
            self.0.insert(path.to_owned(), node);
        }
        path.len().saturating_add(name.len())
    }

    /// The capture itself: at the root, or in the one directory that holds a `sys`.
    pub(super) fn rooted(self) -> Option<Self> {
        let holds_sys = |at: &str| matches!(self.0.get(at), Some(Node::Directory(_)));
        if holds_sys("sys") {
            return Some(self);
        }
        let Some(Node::Directory(tops)) = self.0.get("") else {
            return None;
        };
        let mut inner = tops.iter().filter(|top| holds_sys(&format!("{top}/sys")));
        let (Some(top), None) = (inner.next(), inner.next()) else {
            return None;
        };
        let top = top.clone();
        let beneath = format!("{top}/");
        let moved = self.0.into_iter().filter_map(|(path, node)| {
            if path == top {
                return Some((String::new(), node));
            }
            let path = path.strip_prefix(&beneath)?;
            Some((path.to_owned(), node))
        });
        Some(Self(moved.collect()))
    }

    /// The path with every link followed; it never leaves the root.
    pub(super) fn resolve(&self, path: &str) -> Result<String, FaultReason> {
        let mut todo: VecDeque<String> = parts(path).collect();
        let mut done = String::new();
        let mut links = 0;
        while let Some(part) = todo.pop_front() {
            if !matches!(self.0.get(&done), Some(Node::Directory(_))) {
                return Err(FaultReason::NotAFile);
            }
            if part == ".." {
                done.truncate(done.rfind('/').unwrap_or(0));
                continue;
            }
            let next = joined(&done, &part);
            match self.0.get(&next) {
                None => return Err(FaultReason::NotExposed),
                Some(Node::Link(target)) => {
                    links += 1;
                    if links > LINKS {
                        return Err(FaultReason::SymlinkLoop);
                    }
                    if target.starts_with('/') {
                        done.clear();
                    }
                    for part in parts(target).collect::<Vec<_>>().into_iter().rev() {
                        todo.push_front(part);
                    }
                }
                Some(_) => done = next,
            }
        }
        Ok(done)
    }

    /// A link's target as written.
    pub(super) fn link(&self, path: &str) -> Result<String, FaultReason> {
        let path = path.trim_matches('/');
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let at = joined(&self.resolve(parent)?, name);
        match self.0.get(&at) {
            Some(Node::Link(target)) => Ok(target.clone()),
            Some(_) => Err(FaultReason::InvalidArgument),
            None => Err(FaultReason::NotExposed),
        }
    }
}

fn parts(path: &str) -> impl Iterator<Item = String> + '_ {
    let parts = path.split('/');
    parts
        .filter(|part| !matches!(*part, "" | "."))
        .map(str::to_owned)
}

fn joined(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        _ => format!("{directory}/{name}"),
    }
}
