-- How far the comparison of orders with their payments has read the event store. One row.
create table books_check (
  only_row boolean primary key default true check (only_row),
  -- The last event that it read. Null at the start of the log.
  position jsonb,
  -- It is complete once it has read up to here.
  ends_at jsonb,
  completed_at timestamptz
);
insert into books_check default values;

-- What the comparison found. `looks`: how often in a row, about a minute apart.
create table books_differences (
  order_id text not null,
  payment_id text not null,
  kind text not null,
  description text not null,
  looks int not null default 1,
  looked_at timestamptz not null default now(),
  primary key (order_id, payment_id, kind)
);
