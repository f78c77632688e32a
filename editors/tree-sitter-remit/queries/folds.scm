[
  (policy)
  (group_block)
  (test)
  (filesystem)
  (network)
  (credentials)
  (process)
  (workspace)
  (audit)
  (block_comment)
] @fold
