-- A replay asks orders and payments for what happened, an order after the other, and nothing is kept here for it.
drop index events_merchant;

update replays set from_at = reached_at, events = 0 where finished_at is null;
alter table replays
  drop column kept_since, drop column reached_at, drop column reached_sequence, drop column reached_id,
  -- The place of the last order of which all is queued; of the one after it, what is queued up to a place.
  add column reached_order text,
  add column order_id text,
  add column order_place text,
  -- How many events were queued.
  alter column events set default 0,
  -- The instance that is at it, and when another try is due.
  add column leased_by text,
  add column failures int not null default 0,
  add column retry_at timestamptz not null default 'epoch';
