//! Following symbolic links with each component looked at once.
//!
//! A policy's paths share most of their components, and realpath(3) looks at all of them for each path.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::{HostPaths, absent};
use crate::resolve::{PathResolver, Resolution};

/// As many links as realpath(3) follows.
const LINKS_MAX: u32 = 40;
/// Linux, every architecture that the language has system-call tables for.
const ELOOP: i32 = 40;

/// Follows symbolic links on this machine, and remembers what it saw: one value answers for one moment.
#[derive(Debug, Default)]
pub struct HostTree {
    seen: RefCell<HashMap<PathBuf, Step>>,
}

/// What a component is.
#[derive(Debug, Clone)]
enum Step {
    Missing,
    Link(PathBuf),
    Directory,
    Other,
    /// For people.
    Unknown(String),
}

/// A path without a link in it.
struct Place {
    path: PathBuf,
    directory: bool,
}

/// Why there is no such place.
enum Lost {
    Missing,
    Unknown(String),
}

impl HostTree {
    fn step(&self, path: &Path) -> Step {
        if let Some(step) = self.seen.borrow().get(path) {
            return step.clone();
        }
        let step = look(path).unwrap_or_else(|error| {
            if absent(&error) {
                Step::Missing
            } else {
                Step::Unknown(error.to_string())
            }
        });
        self.seen.borrow_mut().insert(path.to_owned(), step.clone());
        step
    }

    /// One component down; through a link, wherever that leads.
    fn enter(&self, from: &Place, name: &OsStr, links: &mut u32) -> Result<Place, Lost> {
        let path = from.path.join(name);
        let target = match self.step(&path) {
            Step::Missing => return Err(Lost::Missing),
            Step::Unknown(reason) => return Err(Lost::Unknown(reason)),
            Step::Directory => {
                return Ok(Place {
                    path,
                    directory: true,
                });
            }
            Step::Other => {
                return Ok(Place {
                    path,
                    directory: false,
                });
            }
            Step::Link(target) => target,
        };
        *links += 1;
        if *links > LINKS_MAX {
            let error = io::Error::from_raw_os_error(ELOOP);
            return Err(Lost::Unknown(error.to_string()));
        }
        let mut place = Place {
            path: from.path.clone(),
            directory: true,
        };
        for component in target.components() {
            if !place.directory {
                return Err(Lost::Missing);
            }
            match component {
                Component::RootDir | Component::Prefix(_) => place.path = PathBuf::from("/"),
                Component::CurDir => {}
                Component::ParentDir => {
                    place.path.pop();
                }
                Component::Normal(name) => place = self.enter(&place, name, links)?,
            }
        }
        // Neither ending is a component.
        let ending = |ending: &[u8]| target.as_os_str().as_bytes().ends_with(ending);
        if (ending(b"/") || ending(b"/.")) && !place.directory {
            return Err(Lost::Missing);
        }
        Ok(place)
    }
}

impl PathResolver for HostTree {
    fn resolve(&self, path: &str) -> Resolution {
        let normal = |component| matches!(component, Component::RootDir | Component::Normal(_));
        if !path.starts_with('/') || !Path::new(path).components().all(normal) {
            return HostPaths.resolve(path);
        }
        let mut place = Place {
            path: PathBuf::from("/"),
            directory: true,
        };
        let (mut links, mut link) = (0, false);
        let mut names = Path::new(path).iter().skip(1);
        while let Some(name) = names.next() {
            match self.enter(&place, name, &mut links) {
                Ok(next) => {
                    link = matches!(self.step(&place.path.join(name)), Step::Link(_));
                    place = next;
                }
                Err(Lost::Unknown(reason)) => return Resolution::Unknown { reason },
                Err(Lost::Missing) => {
                    let mut rest: Vec<&OsStr> = std::iter::once(name).chain(names).collect();
                    rest.reverse();
                    return super::finish(place.path, &rest, false);
                }
            }
        }
        super::finish(place.path, &[], link)
    }
}

fn look(path: &Path) -> io::Result<Step> {
    let kind = std::fs::symlink_metadata(path)?.file_type();
    Ok(if kind.is_symlink() {
        Step::Link(std::fs::read_link(path)?)
    } else if kind.is_dir() {
        Step::Directory
    } else {
        Step::Other
    })
}
