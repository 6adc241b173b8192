-- The identity of the event store, and the event at the position: they show whether the store still is the one that a checkpoint
-- belongs to. Versions before this one move a checkpoint without them, so `event_position` names the position of that event.
alter table checkpoints
  add column store_id text,
  add column event_id text,
  add column event_stream text,
  add column event_position numeric;
