-- Merchants, and what belongs to them.

create table merchants (
  id text primary key,
  external_reference_id text not null unique,
  type text not null check (type in ('individual', 'business')),
  payment_methods json not null,
  individual_profile json,
  business_profile json,
  metadata json not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  -- What new orders get for fields that their creates leave out.
  order_defaults json not null default '{}',
  -- While it is set, the keys of the merchant are refused.
  disabled_at timestamptz
);

-- Who disabled or enabled a merchant, and why. Rows are only added.
create table merchant_status_changes (
  id bigint generated always as identity primary key,
  merchant_id text not null references merchants (id),
  status text not null check (status in ('active', 'disabled')),
  changed_at timestamptz not null,
  changed_by text not null,
  reason text not null
);
create index merchant_status_changes_of_merchant on merchant_status_changes (merchant_id, id);

create table api_keys (
  id text primary key,
  merchant_id text not null references merchants (id),
  kid text not null unique,
  status text not null default 'active' check (status in ('active', 'revoked')),
  scopes text[] not null,
  -- Never the key: a salted hash of its secret part.
  secret_hash text not null,
  salt text not null,
  alg text not null check (alg in ('HMAC-SHA256', 'ARGON2ID', 'SCRYPT')),
  -- Which pepper the secret is hashed with. Null: not known, or the algorithm uses none.
  pepper_id text,
  last4 text not null,
  -- What the operator calls it.
  label text,
  version int not null default 1,
  environment text not null check (environment in ('live', 'sandbox')),
  -- Addresses or CIDR blocks that may use the key; empty means any.
  allowed_ips text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz,
  last_used_at timestamptz,
  -- The address of the client then.
  last_used_from text,
  rotated_at timestamptz,
  revoked_at timestamptz,
  expires_at timestamptz
);
create index api_keys_of_merchant on api_keys (merchant_id, created_at);

-- How the payment page looks for a merchant. Without a row it has the name of the merchant's profile and no logo.
create table payment_page_settings (
  merchant_id text primary key references merchants (id),
  display_name text,
  accent_color text,
  -- How payers reach the merchant.
  contact text,
  -- Origins whose pages may embed the payment page; empty means none.
  frame_ancestors text[] not null,
  -- A PNG that the gateway encoded, and the SHA-256 of its bytes.
  logo bytea,
  logo_hash text,
  updated_at timestamptz not null,
  check ((logo is null) = (logo_hash is null))
);
create index payment_page_logos on payment_page_settings (logo_hash) where logo_hash is not null;

create table webhooks (
  id text primary key,
  merchant_id text not null references merchants (id),
  url text not null,
  events text[] not null,
  -- The merchant's name for it.
  label text,
  -- The key and value that the metadata of an order has whose events it receives: {"shop": "b2c"}. Null for all orders.
  filter jsonb,
  is_enabled boolean not null default false,
  disabled_reason text,
  secret_box text not null,
  -- Secrets that were rotated out, newest first. Each signs along for 24 hours of its own.
  previous_secret_box text,
  previous_secret_until timestamptz,
  older_secret_box text,
  older_secret_until timestamptz,
  -- Which request made the current secret, so that a repeat of it does not make another.
  secret_seed text not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  deleted_at timestamptz,
  -- False while the request that deleted it may have got no answer: a repeat is 200 once more.
  deletion_answered boolean not null default true
);
create index webhooks_of_merchant on webhooks (merchant_id, created_at desc, id desc) where deleted_at is null;

-- Requests: each one once.

create table idempotency_keys (
  merchant_id text not null,
  key text not null,
  request_hash text not null,
  -- The ULID that ids made by the request end in: a repeat after a crash makes the same ids.
  seed text not null,
  -- Who works on it, and until when nobody else may; no holder and no answer means that anyone may start on it.
  holder text,
  -- The gateway that works on it: while it lives, it holds an advisory lock on this name, and nobody else starts on the request.
  instance text,
  leased_until timestamptz not null,
  status int,
  answer text,
  sealed boolean not null default false,
  -- The order or webhook that the stored response shows. The response is deleted with it: then the status is 410, without an answer.
  resource_id text,
  expires_at timestamptz not null,
  primary key (merchant_id, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
create index idempotency_keys_by_resource on idempotency_keys (resource_id) where resource_id is not null;

-- Orders that a gateway is deleting, so that another one deletes their stored responses when it crashes in between.
create table order_deletions (
  order_id text primary key,
  merchant_id text not null,
  started_at timestamptz not null default now(),
  -- Whether the stored responses are deleted. The row stays for two days if the request got no answer: a repeat is 200 once more.
  completed boolean not null default false
);

-- What operators said about the clocks. Every service reads the newest row.
create table clock_confirmations (
  id bigint generated always as identity primary key,
  confirmed_at timestamptz not null,
  -- How far the right time was ahead of the clock of PostgreSQL.
  ahead_ms bigint not null,
  confirmed_by text not null,
  reason text not null
);

-- Published: other services are granted these views and functions, and no table.

create view merchant_ids as select id from merchants;

-- Webhooks that are not deleted. `version` changes whenever one of them changes.
create view webhook_endpoints as
  select id, merchant_id, url, events, filter, is_enabled, secret_box, previous_secret_box, previous_secret_until, older_secret_box,
    older_secret_until, updated_at, xmin::text as version
  from webhooks where deleted_at is null;

-- Keeps the webhooks of these merchants as they are until the transaction ends. New webhooks do not wait.
create function lock_webhooks(merchant_ids text[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform from gateway.webhooks where merchant_id = any (merchant_ids) and deleted_at is null order by id for share;
end $$;

-- Disables webhooks. Merchants can read the reason.
create function disable_webhooks(ids text[], reason text, disabled_at timestamptz) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update gateway.webhooks set is_enabled = false, disabled_reason = reason, updated_at = disabled_at where id in (
    select id from gateway.webhooks where id = any (ids) and is_enabled order by id for update)
$$;

revoke execute on function lock_webhooks, disable_webhooks from public;

create view newest_clock_confirmation as
  select id, confirmed_at, ahead_ms from clock_confirmations order by id desc limit 1;
