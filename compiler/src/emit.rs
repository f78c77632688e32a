//! [`Plan`] to [`Artifact`]: numbered, shared and sorted.

use std::collections::HashMap;
use std::rc::Rc;

use artifact::network::{NetworkTables, PortInterval, PrefixEntry, order};
use artifact::{Artifact, PolicyIdentity};

use crate::plan::{NetworkPlan, Plan};

/// Lays out a plan. The same plan gives the same artifact, byte for byte once encoded.
#[must_use]
pub fn emit(plan: &Plan) -> Artifact {
    Artifact {
        policy: PolicyIdentity {
            name: plan.name.clone(),
            summary: plan.summary.clone(),
        },
        parameters: plan.parameters.clone(),
        layers: plan.layers.clone(),
        unlocks: plan.unlocks.clone(),
        rules: plan.rules.clone(),
        requirements: plan.requirements.clone(),
        filesystem: plan.files.clone(),
        network: network(&plan.network),
        environment: plan.environment.clone(),
        brokers: plan.brokers.clone(),
        workspace: plan.workspace.clone(),
        process: plan.process.clone(),
        seccomp: plan.seccomp.clone(),
        record: plan.record,
    }
}

fn network(plan: &NetworkPlan) -> NetworkTables {
    let mut prefixes: Vec<_> = plan.prefixes.iter().collect();
    prefixes.sort_unstable_by_key(|prefix| order(prefix.address, prefix.prefix_len));
    let mut lists = Lists::default();
    let prefixes = prefixes
        .into_iter()
        .map(|prefix| PrefixEntry {
            address: prefix.address,
            prefix_len: prefix.prefix_len,
            lists: prefix.lists.each_ref().map(|list| lists.number(list)),
        })
        .collect();
    NetworkTables {
        prefixes,
        port_lists: lists.lists,
        landlock_connect_ports: plan.landlock_connect_ports.clone(),
        landlock_bind_ports: plan.landlock_bind_ports.clone(),
        hosts: plan.hosts.clone(),
    }
}

/// Port lists in the order of their first use.
#[derive(Default)]
struct Lists<'p> {
    lists: Vec<Vec<PortInterval>>,
    numbers: HashMap<&'p [PortInterval], u32>,
    /// Lists that are shared already need not be compared again.
    by_address: HashMap<*const PortInterval, (usize, u32)>,
}

impl<'p> Lists<'p> {
    fn number(&mut self, list: &'p Rc<[PortInterval]>) -> u32 {
        if let Some((len, number)) = self.by_address.get(&list.as_ptr())
            && *len == list.len()
        {
            return *number;
        }
        let number = match self.numbers.get(&**list) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.lists.len()).unwrap_or(u32::MAX);
                self.lists.push(list.to_vec());
                self.numbers.insert(list, number);
                number
            }
        };
        self.by_address.insert(list.as_ptr(), (list.len(), number));
        number
    }
}
