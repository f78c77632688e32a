package remit.guardrails.root_test

import data.remit.guardrails.root

identity(kind, uid, gid) := {"identity": {"kind": kind, "uid": uid, "gid": gid, "rule": 7}}

test_a_user_of_its_own_passes if {
	root.deny == set() with input as identity("dynamic", null, null)
}

test_fixed_ids_pass if {
	root.deny == set() with input as identity("ids", 1000, 1000)
}

test_the_user_root_is_denied if {
	count(root.deny) == 1 with input as identity("ids", 0, 1000)
}

test_the_group_root_is_denied if {
	count(root.deny) == 1 with input as identity("ids", 1000, 0)
}

test_the_caller_is_denied if {
	count(root.deny) == 1 with input as identity("user", null, null)
}
