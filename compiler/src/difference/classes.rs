//! Who is told of each class of accesses that all rules treat alike.

use policy_lang::reference::Access;

use super::Domain;
use super::cells::Cells;

/// Told of classes, in an order that depends on nothing but the policies.
pub(crate) trait Classes {
    /// What follows is of this domain, and this is what is done in it.
    fn enter(&mut self, domain: Domain, verb: &str);

    /// A class that has members, of which `witness` makes one.
    fn class(&mut self, class: &Class<'_>, witness: &dyn Fn() -> Access);

    /// Something could not be looked at within bounds.
    fn undecided(&mut self, reason: &str);
}

/// One class of accesses.
pub(crate) struct Class<'a> {
    pub(crate) cells: &'a Cells,
    /// Whether decisions name the rule that the reference names. If not, only the effect is the same.
    pub(crate) is_named: bool,
}
