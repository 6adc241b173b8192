-- The order or webhook that the stored response shows. The response is deleted with it: then the status is 410, without an answer.
-- Null for responses that an earlier version stored; they expire within 24 hours.
alter table idempotency_keys add column resource_id text;
create index idempotency_keys_by_resource on idempotency_keys (resource_id) where resource_id is not null;

-- Orders that a gateway is deleting, so that another one deletes their stored responses when it crashes in between.
create table order_deletions (
  order_id text primary key,
  merchant_id text not null,
  started_at timestamptz not null default now()
);
