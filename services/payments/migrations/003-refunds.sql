-- The read model of refunds: `resource` is the refund exactly as the API shows it. The projection of payments writes it.
create table refunds (
  id text primary key,
  payment_id text not null,
  merchant_id text not null,
  order_id text not null,
  currency text not null,
  created_at timestamptz not null,
  resource json not null
);
create index refunds_newest on refunds (merchant_id, created_at desc, id desc);
create index refunds_by_payment on refunds (payment_id);
create index refunds_by_order on refunds (order_id);
