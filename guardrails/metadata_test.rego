package remit.guardrails.metadata_test

import data.remit.guardrails.metadata

probe(effect) := {
	"subject": "metadata",
	"access": "connect tcp \"169.254.169.254:80\"",
	"effect": effect,
	"rule": 7,
}

test_a_closed_floor_passes if {
	metadata.deny == set() with input as {"probes": [probe("forbid"), probe("deny")], "unlocks": []}
}

test_an_open_service_is_denied_with_its_rule if {
	some finding in metadata.deny with input as {"probes": [probe("allow")], "unlocks": []}
	finding.id == "metadata"
	finding.rule == 7
}

test_asking_first_is_not_enough if {
	count(metadata.deny) == 1 with input as {"probes": [probe("ask")], "unlocks": []}
}

test_an_unlock_is_denied_although_nothing_uses_it if {
	unlock := {"name": "metadata", "because": "x", "place": "p.remit:3"}
	some finding in metadata.deny with input as {"probes": [], "unlocks": [unlock]}
	finding.id == "metadata-unlock"
}

test_another_unlock_is_not_this_ones_concern if {
	unlock := {"name": "io-uring", "because": "x", "place": "p.remit:3"}
	metadata.deny == set() with input as {"probes": [], "unlocks": [unlock]}
}
