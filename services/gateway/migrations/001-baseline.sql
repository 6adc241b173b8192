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

-- What changed of merchants, their keys, users and webhooks, and who changed it. It has no secrets and no personal data. Rows are only added.
create table merchant_events (
  id text primary key,
  merchant_id text not null references merchants (id),
  -- Numbers the events of a merchant from 0, without a gap: as the stream of the merchant does.
  sequence int not null check (sequence >= 0),
  type text not null,
  created_at timestamptz not null,
  actor text not null,
  -- Null for commands of operators, and for services.
  request_id text,
  -- The id of the key, user, webhook or merchant that changed.
  subject text not null,
  -- As `packages/contracts/src/merchant-events.ts` defines it for the type.
  data jsonb not null,
  -- The revision of the event in the stream of the merchant. Null while it waits to be appended.
  revision int check (revision = sequence),
  unique (merchant_id, sequence)
);
create index merchant_events_waiting on merchant_events (merchant_id, created_at) where revision is null;
create index merchant_events_of_merchant on merchant_events (merchant_id, created_at, id);

-- Records an event, unless one has this id: then a request is repeated.
create function record_merchant_event(event_id text, event_type text, by_actor text, by_request text, event_data jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  merchant constant text := event_data ->> 'merchantId';
begin
  -- Until the transaction ends, so that the numbers are in the order of the commits.
  perform pg_advisory_xact_lock(hashtextextended('events of ' || merchant, 1));
  insert into gateway.merchant_events (id, merchant_id, sequence, type, created_at, actor, request_id, subject, data)
  select event_id, merchant, coalesce(max(sequence) + 1, 0), event_type, (event_data ->> 'at')::timestamptz, by_actor, by_request,
         event_data ->> 'subject', event_data
    from gateway.merchant_events where merchant_id = merchant
  on conflict (id) do nothing;
end $$;

-- The transparency log: made of the stream `transparency-log`, and made again of it when it is lost.
create table transparency_log (
  -- There is one row, or none before the first checkpoint.
  is_only boolean primary key default true check (is_only),
  -- Of the last event of the stream that the tables include.
  revision bigint not null,
  -- A signed note, which says how many leaves the log has.
  checkpoint text not null
);

-- Tiles by C2SP tlog-tiles: up to 256 hashes of 32 bytes each.
create table transparency_log_tiles (
  level smallint not null,
  index bigint not null,
  hashes bytea not null,
  primary key (level, index)
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

-- The last day, in UTC, on which a key was used with a scope.
create table api_key_scopes (
  kid text not null,
  scope text not null,
  last_used_on date not null,
  primary key (kid, scope)
);

-- People who sign in for a merchant, and how.

create table users (
  id text primary key,
  merchant_id text not null references merchants (id),
  email text not null,
  name text,
  role text not null check (role in ('owner', 'admin', 'developer', 'support', 'viewer')),
  -- Argon2id in PHC form. Null until the user sets a password: a link signs in.
  password_hash text,
  -- The encrypted secret of the user's authenticator app. Codes are asked for once it is confirmed.
  totp_box text,
  totp_confirmed_at timestamptz,
  -- The time step of the last accepted code: a code works once.
  totp_step bigint,
  -- Issuer and subject of the account with which the user signed in by OpenID Connect first. No other one signs them in.
  oidc_subject text unique,
  created_at timestamptz not null,
  -- The actor that created it.
  created_by text not null,
  updated_at timestamptz,
  last_signed_in_at timestamptz,
  disabled_at timestamptz
);
create unique index users_by_email on users (lower(email));
create index users_of_merchant on users (merchant_id, created_at, id);

-- Each code replaces one code of the authenticator app. A used one is deleted.
create table recovery_codes (
  user_id text not null references users (id) on delete cascade,
  code_hash text not null,
  primary key (user_id, code_hash)
);

create table sessions (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  -- SHA-256 of the token in the cookie.
  token_hash text not null unique,
  method text not null check (method in ('password', 'link', 'passkey', 'oidc')),
  -- Where the user signed in.
  address text not null,
  user_agent text,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index sessions_of_user on sessions (user_id, created_at);
create index sessions_by_expiry on sessions (expires_at);

-- Links that sign a user in, once.
create table sign_in_links (
  token_hash text primary key,
  user_id text not null references users (id) on delete cascade,
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz not null
);
create index sign_in_links_of_user on sign_in_links (user_id);

-- WebAuthn credentials that sign a user in without password and code.
create table passkeys (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  -- As the authenticator chose it, in base64url.
  credential_id text not null unique,
  -- In COSE form.
  public_key bytea not null,
  -- How often it was used, as the authenticator says. Many always say 0.
  counter bigint not null,
  -- How browsers reach the authenticator.
  transports text[] not null,
  name text not null,
  -- Whether a copy of it is elsewhere, such as in the account of a phone.
  is_backed_up boolean not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_of_user on passkeys (user_id, created_at);

-- Challenges of passkeys, and states of OpenID Connect, that were answered, until they expire: each is answered once.
create table used_challenges (
  challenge_hash text primary key,
  expires_at timestamptz not null
);

-- Browsers in which a user has signed in. Wrong passwords from elsewhere do not lock them out.
create table known_browsers (
  user_id text not null references users (id) on delete cascade,
  token_hash text not null,
  last_used_at timestamptz not null,
  primary key (user_id, token_hash)
);

-- Sign-ins that failed or still run. The account is the SHA-256 of what was typed as email address, because it can be a password.
create table sign_in_attempts (
  id bigint generated always as identity primary key,
  account text not null,
  -- The hash of a known browser; empty for all others together.
  browser text not null,
  attempted_at timestamptz not null
);
create index sign_in_attempts_of_account on sign_in_attempts (account, browser, attempted_at);

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

-- The answered requests of keys and users, for their merchants. Rows may be missing: they are written after the answer, in batches.
create table request_log (
  -- The request id.
  id text primary key,
  merchant_id text not null,
  -- Of the key or the user that authenticated the request.
  api_key_id text,
  user_id text,
  method text not null,
  -- As sent, without the query.
  path text not null,
  status smallint not null,
  -- The code of the error. Null for other answers.
  code text,
  duration_ms int not null,
  -- Of the client.
  address text not null,
  -- When the request arrived.
  created_at timestamptz not null,
  check ((api_key_id is null) <> (user_id is null))
);
create index request_log_of_merchant on request_log (merchant_id, created_at, id);
create index request_log_errors on request_log (merchant_id, created_at, id) where status >= 400;
create index request_log_by_age on request_log (created_at);

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

-- Disables webhooks, and records it under the event id that belongs to each. Merchants can read the reason.
create function disable_webhooks(ids text[], event_ids text[], reason text, disabled_at text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  disabled record;
begin
  for disabled in
    with locked as materialized (
      select id from gateway.webhooks where id = any (ids) and is_enabled order by id for update),
    changed as (
      update gateway.webhooks set is_enabled = false, disabled_reason = reason, updated_at = disabled_at::timestamptz
       where id in (select id from locked) returning id, merchant_id)
    select id, merchant_id from changed order by merchant_id, id
  loop
    perform gateway.record_merchant_event(event_ids[array_position(ids, disabled.id)], 'WebhookDisabled',
      'service:webhook-dispatcher', null, jsonb_build_object('merchantId', disabled.merchant_id, 'subject', disabled.id,
        'changes', '{}'::jsonb, 'reason', reason, 'at', disabled_at));
  end loop;
end $$;

revoke execute on function lock_webhooks, disable_webhooks, record_merchant_event from public;

create view newest_clock_confirmation as
  select id, confirmed_at, ahead_ms from clock_confirmations order by id desc limit 1;
