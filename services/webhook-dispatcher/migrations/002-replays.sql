-- Samples are stored as events are, but nobody means them by a replay.
alter table events add column is_test boolean not null default false;

-- Attempts made before the delivery was queued anew, by a redelivery or a replay; null when it never was.
alter table queue add column attempts_before int;

-- Ranges of events on their way into the queue once more, a batch at a time. `reached_*` is the place of the last one that was queued.
create table replays (
  id text primary key,
  webhook_id text not null,
  merchant_id text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  event_types text[] not null,
  events int not null,
  kept_since timestamptz not null,
  reached_at timestamptz not null,
  reached_sequence text not null default '',
  reached_id text not null default '',
  created_at timestamptz not null,
  -- Replays take turns by this.
  stepped_at timestamptz not null,
  finished_at timestamptz
);
create unique index replays_running on replays (webhook_id) where finished_at is null;
create index replays_turn on replays (stepped_at) where finished_at is null;
