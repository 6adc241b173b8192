-- What each node of a network showed last, and when.
alter table chain_cursors add column nodes jsonb;

-- The last rescan of each network, which goes beside the reading.
create table chain_rescans (
  network text primary key,
  from_height bigint not null,
  -- The last block to read again; null until the rescan begins.
  to_height bigint,
  next_height bigint not null,
  -- Whether missing transfers are added, or only shown.
  apply boolean not null,
  -- The first transfers that differ from what was read, and the number of all.
  findings jsonb not null default '[]',
  found bigint not null default 0,
  finished_at timestamptz
);
