create table merchants (
  id text primary key,
  external_reference_id text not null unique,
  type text not null check (type in ('individual', 'business')),
  payment_methods json not null,
  individual_profile json,
  business_profile json,
  metadata json not null,
  created_at timestamptz not null,
  updated_at timestamptz
);

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
  last4 text not null,
  version int not null default 1,
  environment text not null check (environment in ('live', 'sandbox')),
  -- Addresses or CIDR blocks that may use the key; empty means any.
  allowed_ips text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz,
  last_used_at timestamptz,
  rotated_at timestamptz,
  revoked_at timestamptz,
  expires_at timestamptz
);
create index api_keys_of_merchant on api_keys (merchant_id, created_at);

create table webhooks (
  id text primary key,
  merchant_id text not null references merchants (id),
  url text not null,
  events text[] not null,
  is_enabled boolean not null default false,
  disabled_reason text,
  secret_box text not null,
  -- The old secret signs along until then.
  previous_secret_box text,
  previous_secret_until timestamptz,
  -- Which request made the current secret, so that a repeat of it does not make another.
  secret_seed text not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  deleted_at timestamptz
);
create index webhooks_of_merchant on webhooks (merchant_id, created_at desc, id desc) where deleted_at is null;

create table idempotency_keys (
  merchant_id text not null,
  key text not null,
  request_hash text not null,
  -- The ULID that ids made by the request end in: a repeat after a crash makes the same ids.
  seed text not null,
  -- Who works on it, and until when nobody else may; no holder and no answer means that anyone may take it up.
  holder text,
  leased_until timestamptz not null,
  status int,
  answer text,
  sealed boolean not null default false,
  expires_at timestamptz not null,
  primary key (merchant_id, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
