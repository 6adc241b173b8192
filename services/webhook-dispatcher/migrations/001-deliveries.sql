-- Three histories, partitioned by the UTC day on which their event happened: the day follows from the event, so one event has one
-- place for ever and (event, webhook) stays unique, and retention drops whole partitions. Beside them one small table of work.

-- What happened, as merchants are told: the body is the bytes of every attempt, to every endpoint.
create table events (
  day date not null,
  id text not null,
  merchant_id text not null,
  order_id text not null,
  type text not null,
  occurred_at timestamptz not null,
  sequence text not null,
  body text not null,
  primary key (id, day)
) partition by range (day);
-- Compressing costs more than it saves here: bodies are read back within seconds, and live for weeks.
alter table events alter column body set storage external;
create index events_order on events (order_id);
create index events_merchant on events (merchant_id, occurred_at);

-- One event for one webhook, and what became of it: `pending`, `delivered` or `failed`. Nothing that changes is indexed, so an
-- update stays on its page.
create table deliveries (
  day date not null,
  event_id text not null,
  webhook_id text not null,
  id text not null,
  event_type text not null,
  status text not null default 'pending',
  attempts int not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz,
  primary key (event_id, webhook_id, day)
) partition by range (day);
create index deliveries_webhook on deliveries (webhook_id, id);

create table attempts (
  day date not null,
  delivery_id text not null,
  number int not null,
  started_at timestamptz not null,
  duration_ms int not null,
  outcome text not null,
  status_code int,
  error text,
  response text,
  primary key (delivery_id, started_at, day)
) partition by range (day);

-- The work: one row per pending delivery, gone when it ends. `leased_by` is the instance that holds it in memory; `position` is the
-- order in which events were taken in.
create table queue (
  position bigint generated always as identity primary key,
  day date not null,
  event_id text not null,
  webhook_id text not null,
  delivery_id text not null,
  order_id text not null,
  bytes int not null,
  attempts int not null default 0,
  is_test boolean not null default false,
  due_at timestamptz not null,
  leased_by text
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index queue_due on queue (webhook_id, due_at, position) where leased_by is null;
create index queue_leased on queue (leased_by) where leased_by is not null;
create index queue_lane on queue (order_id, webhook_id, position);

-- Who is alive. An instance that does not renew in time has lost what it leased.
create table instances (
  id text primary key,
  expires_at timestamptz not null
);

-- Webhooks of which every attempt failed since then.
create table failing (
  webhook_id text primary key,
  since timestamptz not null
);

-- Orders that were deleted: what arrives about them later, from the other topic or from a replay, is not told.
create table forgotten_orders (
  order_id text primary key,
  forgotten_at timestamptz not null
);
