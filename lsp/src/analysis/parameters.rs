//! Values for parameters that have none while a policy is being written.
//!
//! A value is given when a policy is compiled. So that the rest can be judged now, a parameter without a default stands
//! for something of its type that grants as good as nothing.

use std::collections::BTreeMap;

use policy_lang::ast::{Ast, Item, Param, ParamType};

use super::Settings;

/// Values by name: those of the settings, and for the rest of those without a default a placeholder.
pub(super) fn placeholders(ast: &Ast, settings: &Settings) -> BTreeMap<String, String> {
    let items = ast.policy.iter().flat_map(|policy| &policy.items);
    let parameters = items.filter_map(|item| match item {
        Item::Param(param) => Some(param),
        _ => None,
    });
    parameters
        .filter_map(|param| {
            let set = settings.parameters.get(&param.name.text).cloned();
            let value = set.or_else(|| param.default.is_none().then(|| placeholder(param)))?;
            Some((param.name.text.clone(), value))
        })
        .collect()
}

fn placeholder(param: &Param) -> String {
    let value = match param.kind.value {
        ParamType::Path => ".",
        // Addresses and names for documentation (RFC 5737, RFC 2606).
        ParamType::Host => "192.0.2.1",
        ParamType::Cidr => "192.0.2.0/24",
        ParamType::Port => "1",
        ParamType::Duration => "1m",
        ParamType::Size => "1MiB",
        ParamType::String => param
            .members
            .iter()
            .find_map(policy_lang::ast::Text::literal)
            .unwrap_or_default(),
    };
    value.to_owned()
}
