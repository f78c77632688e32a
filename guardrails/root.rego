# No run is root, not even without capabilities: root owns most files of the host.
package remit.guardrails.root

deny contains {
	"id": "root",
	"message": "the run has its caller's user id, which may be root's; `identity dynamic` has one of its own",
	"rule": input.identity.rule,
} if {
	input.identity.kind == "user"
}

# The language has no such identity. Should it ever have one, it is refused.
deny contains {"id": "root", "message": "the run has the user or group id of root", "rule": input.identity.rule} if {
	input.identity.kind == "ids"
	0 in {input.identity.uid, input.identity.gid}
}
