-- How many attempts failed since then, and when the last one did. A webhook that recovered has none, and is failing since infinity.
-- Attempts before this migration are not counted.
alter table failing
  add column attempts bigint not null default 0,
  add column last_at timestamptz not null default '-infinity';
