//! A path as the kernel follows it, step by step: unlike a policy's, a person's may have `..` in it.

use policy_lang::resolve::Resolution;

use super::query::Surroundings;

/// Every run has its own of these, so the host's links in them mean nothing.
const PRIVATE: [&str; 2] = ["/proc", "/dev"];

/// Where a path leads.
pub(super) struct Followed {
    pub(super) path: String,
    pub(super) notes: Vec<String>,
}

/// Follows a path from the root, the home or the working directory.
pub(super) fn follow(asked: &str, surroundings: &Surroundings<'_>) -> Result<Followed, String> {
    if asked.is_empty() {
        return Err("it is empty".to_owned());
    }
    if asked.contains('\0') {
        return Err("a path has no NUL".to_owned());
    }
    let whole = match asked.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", surroundings.home),
        Some(_) => return Err("`~name` is not understood; write the home directory out".to_owned()),
        None if asked.starts_with('/') => asked.to_owned(),
        None => format!("{}/{asked}", surroundings.working_directory),
    };
    let names: Vec<&str> = whole
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".")
        .collect();
    let mut path = String::from("/");
    let mut absent = false;
    // Names up to a `..` are looked up together; the kernel leaves the directory that they lead to.
    for (index, part) in names.split(|name| *name == "..").enumerate() {
        if index > 0 {
            path = parent(&path).to_owned();
        }
        if part.is_empty() {
            continue;
        }
        let next = format!("{}/{}", path.trim_end_matches('/'), part.join("/"));
        (path, absent) = look_up(next, surroundings)?;
    }
    let mut notes = Vec::new();
    if path != format!("/{}", names.join("/")) {
        notes.push(format!(
            "`{asked}` leads to {path}, and that is what the kernel judges"
        ));
    }
    if absent {
        notes.push(format!(
            "{path} does not exist here; the answer is for when it does"
        ));
    }
    Ok(Followed { path, notes })
}

/// Where a path leads, and whether nothing is there.
fn look_up(path: String, surroundings: &Surroundings<'_>) -> Result<(String, bool), String> {
    let private = PRIVATE.iter().any(|tree| {
        path.strip_prefix(tree)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if private {
        return Ok((path, false));
    }
    match surroundings.paths.resolve(&path) {
        Resolution::Present { path, .. } => Ok((path, false)),
        Resolution::Absent { path } => Ok((path, true)),
        Resolution::Unknown { reason } => Err(reason),
    }
}

fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}
