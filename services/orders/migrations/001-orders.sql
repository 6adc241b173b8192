-- The read model of orders: `resource` is the order exactly as the API shows it. It can be dropped and made anew from the streams.
-- A deleted order keeps its id and merchant, so that news that comes late cannot bring it back.
create table orders (
  id text primary key,
  merchant_id text not null,
  external_reference_id text,
  status text,
  currency text,
  created_at timestamptz,
  revision bigint not null,
  deleted boolean not null default false,
  resource json,
  -- When the clock has something to do for the order, and until when an instance has taken that on.
  due_at timestamptz,
  claimed_until timestamptz
);
create index orders_newest on orders (merchant_id, created_at desc, id desc) where not deleted;
create index orders_by_status on orders (merchant_id, status, created_at desc, id desc) where not deleted;
create index orders_by_reference on orders (merchant_id, external_reference_id) where not deleted;

create index orders_due on orders (due_at) where due_at is not null;

create table checkpoints (name text primary key, epoch bigint not null, commit_position numeric, prepare_position numeric);
