-- What operators said about the clocks. Every service reads the newest row.
create table clock_confirmations (
  id bigint generated always as identity primary key,
  confirmed_at timestamptz not null,
  -- How far the right time was ahead of the clock of PostgreSQL.
  ahead_ms bigint not null,
  confirmed_by text not null,
  reason text not null
);
