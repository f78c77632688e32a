package remit.guardrails.home_test

import data.remit.guardrails.home

probe(subject, effect) := {"subject": subject, "access": "read \"/home/me/x\"", "effect": effect, "rule": 7}

test_a_closed_home_passes if {
	home.deny == set() with input as {"probes": [probe("home", "deny"), probe("keys", "forbid")]}
}

test_a_granted_home_is_denied_with_its_rule if {
	some finding in home.deny with input as {"probes": [probe("home", "allow")]}
	finding.id == "home"
	finding.rule == 7
}

test_keys_are_denied_also_behind_an_approval if {
	some finding in home.deny with input as {"probes": [probe("keys", "ask")]}
	finding.id == "keys"
}

test_what_is_open_elsewhere_is_not_this_ones_concern if {
	home.deny == set() with input as {"probes": [probe("internet", "allow")]}
}
