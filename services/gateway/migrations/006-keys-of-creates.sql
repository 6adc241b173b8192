-- The keys of order creates that an earlier version stored; later versions store none. `resource_id` is null where an even earlier
-- version stored the key.
create index idempotency_keys_of_creates on idempotency_keys (expires_at)
  where resource_id = 'ord_' || seed or (resource_id is null and (status is null or status < 300));
