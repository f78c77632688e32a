package remit.guardrails.egress_test

import data.remit.guardrails.egress

base := {
	"rule": 7,
	"kind": "network",
	"effect": "allow",
	"via": null,
	"built_in": false,
	"accesses": ["connect"],
	"addresses": [{"cidr": "192.0.2.1/32"}],
	"hosts": [],
	"label": null,
	"text": "allow connect tcp \"192.0.2.1:443\"",
}

with_rule(changes) := {"rules": [object.union(base, changes)], "difference": null}

test_an_unlabelled_way_out_is_denied if {
	some finding in egress.deny with input as with_rule({})
	finding.id == "egress-owner"
	finding.rule == 7
}

test_a_host_name_is_a_way_out if {
	hosts := [{"pattern": "*.example.com"}]
	count(egress.deny) == 1 with input as with_rule({"addresses": [], "hosts": hosts})
}

test_an_owner_passes if {
	every label in ["owner:web", "owner:web-platform/npm"] {
		egress.deny == set() with input as with_rule({"label": label})
	}
}

test_another_label_is_not_an_owner if {
	every label in ["npm", "owner:", "owner:Web", "the owner:web"] {
		count(egress.deny) == 1 with input as with_rule({"label": label})
	}
}

test_loopback_and_listening_need_no_owner if {
	every cidr in ["127.0.0.1/32", "127.0.0.0/8", "::1/128"] {
		egress.deny == set() with input as with_rule({"addresses": [{"cidr": cidr}]})
	}
	egress.deny == set() with input as with_rule({"accesses": ["bind"]})
	egress.deny == set() with input as with_rule({"effect": "deny"})
}

test_everything_is_more_than_loopback if {
	every cidr in ["0.0.0.0/0", "::/0", "126.0.0.0/7"] {
		count(egress.deny) == 1 with input as with_rule({"addresses": [{"cidr": cidr}]})
	}
}

test_a_new_way_out_is_shown_in_a_comparison if {
	grant := {
		"domain": "network",
		"witness": "connect tcp \"192.0.2.1:443\"",
		"after": {"rule": 7, "text": "allow connect tcp \"192.0.2.1:443\""},
	}
	some finding in egress.warn with input as {"rules": [], "difference": {"added": [grant]}}
	finding.id == "new-egress"
	finding.grant == 0
}
