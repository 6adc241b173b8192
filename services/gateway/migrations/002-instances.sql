-- The gateway that works on a request: while it lives, it holds an advisory lock on this name, and nobody else takes its request up.
alter table idempotency_keys add column instance text;
