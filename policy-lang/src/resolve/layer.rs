//! One policy of the chain: its header, its rules and those of the groups it uses.

use std::collections::BTreeMap;

use super::files::LayerTree;
use super::header::Header;
use super::rules::Said;
use super::unlock::Opened;
use super::workspace::SaidWorkspace;
use super::{Bound, Place, Resolver};
use crate::policy::LayerId;

use crate::source::FileId;

/// What is to be joined with what the other layers say.
pub(super) struct Facts {
    pub(super) id: LayerId,
    pub(super) file: FileId,
    pub(super) name: Option<String>,
    /// The quoted name.
    pub(super) named: Place,
    pub(super) parameters: BTreeMap<String, Bound>,
    pub(super) header: Header,
    pub(super) said: Said,
    pub(super) opened: BTreeMap<String, Opened>,
    pub(super) workspace: SaidWorkspace,
}

impl<'a> Resolver<'a> {
    /// Goes to a layer's own file and parameters.
    pub(super) fn enter(&mut self, layer: &LayerTree<'a>) {
        self.layer = layer.id;
        self.file = layer.file;
        self.via = None;
        self.parameters = layer.parameters.clone();
    }

    /// What must be known of every layer before the rules of any.
    pub(super) fn prepare(&mut self, layer: &mut LayerTree<'a>) {
        self.enter(layer);
        let tree = layer.tree.clone();
        let Some(policy) = &tree.policy else { return };
        self.bind_parameters(policy, layer.asked);
        layer.parameters = std::mem::take(&mut self.parameters);
        self.enter(layer);
        layer.used = self.used(&policy.items, &layer.groups);
        self.find_scratches(&policy.items);
        self.parameters.clear();
        for group in &layer.used {
            self.file = group.file;
            self.find_scratches(group.items());
        }
    }

    /// The rules of a layer, and what it says besides them. The policy's own rules come first.
    pub(super) fn resolve_layer(&mut self, layer: &LayerTree<'a>) -> Option<Facts> {
        self.enter(layer);
        self.labels.clear();
        let policy = layer.tree.policy.as_ref()?;
        let name = self.fixed(&policy.name, "the name of a policy");
        let named = self.here(policy.name.span);
        let mut header = self.header(&policy.items);
        let opened = self.unlocks(&policy.items);
        let workspace = self.workspace(&policy.items);
        let mut said = Said::default();
        self.blocks(&policy.items, &mut said);
        // A group has no parameters, and does not see those of who uses it.
        let parameters = std::mem::take(&mut self.parameters);
        for group in &layer.used {
            self.file = group.file;
            self.via = Some(group.name.clone());
            // A group's summary is for who reads it.
            self.summary_of(group.items());
            self.blocks(group.items(), &mut said);
        }
        self.via = None;
        self.file = layer.file;
        header.requirements.dedup();
        Some(Facts {
            id: layer.id,
            file: layer.file,
            name,
            named,
            parameters,
            header,
            said,
            opened,
            workspace,
        })
    }
}
