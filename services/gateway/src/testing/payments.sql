create schema payments;
create table payments.payments (
  id text primary key,
  merchant_id text not null,
  order_id text,
  status text,
  currency text,
  payment_rail text,
  created_at timestamptz,
  revision bigint not null,
  deleted boolean not null default false,
  resource json
);
