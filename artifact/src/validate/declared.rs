//! Layers, unlocks, the workspace and credentials.

use super::{Check, Invalid, Rules, at_most, text};
use crate::bounds;
use crate::declared::{Broker, Destination, Keep, Layer, Scheme, SecretSource, Unlock, Workspace};
use crate::filesystem::path;
use crate::network::network;
use crate::rule::{Domain, Effect, Origin};

pub(super) fn check_layers(layers: &[Layer]) -> Check {
    if layers.is_empty() {
        return Err(Invalid::new("layers", "there is none"));
    }
    at_most("layers", layers.len(), bounds::LAYERS)?;
    for layer in layers {
        text("layers", &layer.name)?;
        text("layers", &layer.file)?;
    }
    Ok(())
}

pub(super) fn check_unlocks(unlocks: &[Unlock]) -> Check {
    at_most("unlocks", unlocks.len(), bounds::UNLOCKS)?;
    for unlock in unlocks {
        text("unlocks", &unlock.name)?;
        text("unlocks", &unlock.because)?;
        origin("unlocks", &unlock.origin)?;
    }
    Ok(())
}

pub(super) fn check_workspace(workspace: &Workspace) -> Check {
    if let Some(from) = &workspace.from
        && (!path::is_normal(from) || from.len() > bounds::PATH_BYTES)
    {
        let problem = format!("{from:?} is not an absolute, normalised path, or too long");
        return Err(Invalid::new("workspace.from", problem));
    }
    if let Keep::Matching(globs) = &workspace.keep {
        at_most("workspace.keep", globs.len(), bounds::KEEP)?;
        globs.iter().try_for_each(|glob| text("workspace.keep", glob))?;
    }
    origin("workspace.origin", &workspace.origin)
}

pub(super) fn check_brokers(brokers: &[Broker], rules: Rules<'_>) -> Check {
    at_most("brokers", brokers.len(), bounds::BROKERS)?;
    for (number, broker) in brokers.iter().enumerate() {
        let at = || format!("brokers[{number}]");
        rules.agrees(broker.rule, Domain::Credentials, Effect::Allow, at)?;
        text(&at(), &broker.name)?;
        match &broker.destination {
            Destination::Host(name) => text(&at(), name)?,
            Destination::Address(address, prefix_len) => {
                let bits = if address.is_ipv4() { 32 } else { 128 };
                if *prefix_len > bits || network(*address, *prefix_len) != *address {
                    return Err(Invalid::new(at(), "its address is no prefix"));
                }
            }
        }
        if broker.last_port < broker.first_port {
            return Err(Invalid::new(at(), "its ports end before they start"));
        }
        if let Scheme::Header(name) = &broker.scheme {
            text(&at(), name)?;
        }
        match &broker.source {
            SecretSource::Env(name) => text(&at(), name)?,
            SecretSource::File(file) if !path::is_normal(file) => {
                return Err(Invalid::new(at(), "its file is not an absolute, normalised path"));
            }
            SecretSource::File(file) => text(&at(), file)?,
        }
    }
    Ok(())
}

fn origin(at: &str, origin: &Origin) -> Check {
    match origin {
        Origin::BuiltIn => Ok(()),
        Origin::Policy { file, .. } => text(at, file),
    }
}
