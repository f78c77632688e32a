# Who answers for what is denied all the same, and until when. For example:
#
# exception contains {
# 	"id": "egress-owner",
# 	"reason": "the mirror has no owner until the migration of March",
# 	"owner": "platform",
# 	"expires": "2027-03-31",
# } if {
# 	input.policy.name == "web-build"
# }
package remit.guardrails.exceptions
