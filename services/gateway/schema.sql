-- What the migrations of gateway make. "pnpm schema" writes this file: do not edit it.

create table api_key_scopes (
  kid text not null,
  scope text not null,
  last_used_on date not null,
  constraint api_key_scopes_pkey PRIMARY KEY (kid, scope)
);

create table api_keys (
  id text not null,
  merchant_id text not null,
  kid text not null,
  status text not null default 'active'::text,
  scopes text[] not null,
  secret_hash text not null,
  salt text not null,
  alg text not null,
  pepper_id text,
  last4 text not null,
  label text,
  version integer not null default 1,
  environment text not null,
  allowed_ips text[] not null default '{}'::text[],
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  last_used_at timestamp with time zone,
  last_used_from text,
  rotated_at timestamp with time zone,
  revoked_at timestamp with time zone,
  expires_at timestamp with time zone,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_kid_key UNIQUE (kid),
  constraint api_keys_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  constraint api_keys_alg_check CHECK ((alg = ANY (ARRAY['HMAC-SHA256'::text, 'ARGON2ID'::text, 'SCRYPT'::text]))),
  constraint api_keys_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'sandbox'::text]))),
  constraint api_keys_status_check CHECK ((status = ANY (ARRAY['active'::text, 'revoked'::text])))
);
CREATE INDEX api_keys_of_merchant ON gateway.api_keys USING btree (merchant_id, created_at);

create table clock_confirmations (
  id bigint not null generated always as identity,
  confirmed_at timestamp with time zone not null,
  ahead_ms bigint not null,
  confirmed_by text not null,
  reason text not null,
  constraint clock_confirmations_pkey PRIMARY KEY (id)
);

create table idempotency_keys (
  merchant_id text not null,
  key text not null,
  request_hash text not null,
  seed text not null,
  holder text,
  instance text,
  leased_until timestamp with time zone not null,
  status integer,
  answer text,
  sealed boolean not null default false,
  resource_id text,
  expires_at timestamp with time zone not null,
  constraint idempotency_keys_pkey PRIMARY KEY (merchant_id, key)
);
CREATE INDEX idempotency_keys_by_expiry ON gateway.idempotency_keys USING btree (expires_at);
CREATE INDEX idempotency_keys_by_resource ON gateway.idempotency_keys USING btree (resource_id) WHERE (resource_id IS NOT NULL);

create table known_browsers (
  user_id text not null,
  token_hash text not null,
  last_used_at timestamp with time zone not null,
  constraint known_browsers_pkey PRIMARY KEY (user_id, token_hash),
  constraint known_browsers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table merchant_events (
  id text not null,
  merchant_id text not null,
  sequence integer not null,
  type text not null,
  created_at timestamp with time zone not null,
  actor text not null,
  request_id text,
  subject text not null,
  data jsonb not null,
  revision integer,
  constraint merchant_events_pkey PRIMARY KEY (id),
  constraint merchant_events_merchant_id_sequence_key UNIQUE (merchant_id, sequence),
  constraint merchant_events_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  constraint merchant_events_check CHECK ((revision = sequence)),
  constraint merchant_events_sequence_check CHECK ((sequence >= 0))
);
CREATE INDEX merchant_events_of_merchant ON gateway.merchant_events USING btree (merchant_id, created_at, id);
CREATE INDEX merchant_events_waiting ON gateway.merchant_events USING btree (merchant_id, created_at) WHERE (revision IS NULL);

create table merchants (
  id text not null,
  external_reference_id text not null,
  type text not null,
  payment_methods json not null,
  individual_profile json,
  business_profile json,
  metadata json not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  order_defaults json not null default '{}'::json,
  disabled_at timestamp with time zone,
  constraint merchants_pkey PRIMARY KEY (id),
  constraint merchants_external_reference_id_key UNIQUE (external_reference_id),
  constraint merchants_type_check CHECK ((type = ANY (ARRAY['individual'::text, 'business'::text])))
);

create table order_deletions (
  order_id text not null,
  merchant_id text not null,
  started_at timestamp with time zone not null default now(),
  completed boolean not null default false,
  constraint order_deletions_pkey PRIMARY KEY (order_id)
);

create table passkeys (
  id text not null,
  user_id text not null,
  credential_id text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  is_backed_up boolean not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_credential_id_key UNIQUE (credential_id),
  constraint passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX passkeys_of_user ON gateway.passkeys USING btree (user_id, created_at);

create table payment_page_settings (
  merchant_id text not null,
  display_name text,
  accent_color text,
  contact text,
  frame_ancestors text[] not null,
  logo bytea,
  logo_hash text,
  updated_at timestamp with time zone not null,
  constraint payment_page_settings_pkey PRIMARY KEY (merchant_id),
  constraint payment_page_settings_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  constraint payment_page_settings_check CHECK (((logo IS NULL) = (logo_hash IS NULL)))
);
CREATE INDEX payment_page_logos ON gateway.payment_page_settings USING btree (logo_hash) WHERE (logo_hash IS NOT NULL);

create table recovery_codes (
  user_id text not null,
  code_hash text not null,
  constraint recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table request_log (
  id text not null,
  merchant_id text not null,
  api_key_id text,
  user_id text,
  method text not null,
  path text not null,
  status smallint not null,
  code text,
  duration_ms integer not null,
  address text not null,
  created_at timestamp with time zone not null,
  constraint request_log_pkey PRIMARY KEY (id),
  constraint request_log_check CHECK (((api_key_id IS NULL) <> (user_id IS NULL)))
);
CREATE INDEX request_log_by_age ON gateway.request_log USING btree (created_at);
CREATE INDEX request_log_errors ON gateway.request_log USING btree (merchant_id, created_at, id) WHERE (status >= 400);
CREATE INDEX request_log_of_merchant ON gateway.request_log USING btree (merchant_id, created_at, id);

create table sessions (
  id text not null,
  user_id text not null,
  token_hash text not null,
  method text not null,
  address text not null,
  user_agent text,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_token_hash_key UNIQUE (token_hash),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint sessions_method_check CHECK ((method = ANY (ARRAY['password'::text, 'link'::text, 'passkey'::text, 'oidc'::text])))
);
CREATE INDEX sessions_by_expiry ON gateway.sessions USING btree (expires_at);
CREATE INDEX sessions_of_user ON gateway.sessions USING btree (user_id, created_at);

create table sign_in_attempts (
  id bigint not null generated always as identity,
  account text not null,
  browser text not null,
  attempted_at timestamp with time zone not null,
  constraint sign_in_attempts_pkey PRIMARY KEY (id)
);
CREATE INDEX sign_in_attempts_of_account ON gateway.sign_in_attempts USING btree (account, browser, attempted_at);

create table sign_in_links (
  token_hash text not null,
  user_id text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_links_pkey PRIMARY KEY (token_hash),
  constraint sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX sign_in_links_of_user ON gateway.sign_in_links USING btree (user_id);

create table transparency_log (
  is_only boolean not null default true,
  revision bigint not null,
  checkpoint text not null,
  constraint transparency_log_pkey PRIMARY KEY (is_only),
  constraint transparency_log_is_only_check CHECK (is_only)
);

create table transparency_log_tiles (
  level smallint not null,
  index bigint not null,
  hashes bytea not null,
  constraint transparency_log_tiles_pkey PRIMARY KEY (level, index)
);

create table used_challenges (
  challenge_hash text not null,
  expires_at timestamp with time zone not null,
  constraint used_challenges_pkey PRIMARY KEY (challenge_hash)
);

create table users (
  id text not null,
  merchant_id text not null,
  email text not null,
  name text,
  role text not null,
  password_hash text,
  totp_box text,
  totp_confirmed_at timestamp with time zone,
  totp_step bigint,
  oidc_subject text,
  created_at timestamp with time zone not null,
  created_by text not null,
  updated_at timestamp with time zone,
  last_signed_in_at timestamp with time zone,
  disabled_at timestamp with time zone,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_oidc_subject_key UNIQUE (oidc_subject),
  constraint users_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  constraint users_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'support'::text, 'viewer'::text])))
);
CREATE UNIQUE INDEX users_by_email ON gateway.users USING btree (lower(email));
CREATE INDEX users_of_merchant ON gateway.users USING btree (merchant_id, created_at, id);

create table webhooks (
  id text not null,
  merchant_id text not null,
  url text not null,
  events text[] not null,
  label text,
  filter jsonb,
  is_enabled boolean not null default false,
  disabled_reason text,
  secret_box text not null,
  previous_secret_box text,
  previous_secret_until timestamp with time zone,
  older_secret_box text,
  older_secret_until timestamp with time zone,
  secret_seed text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  deleted_at timestamp with time zone,
  deletion_answered boolean not null default true,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
CREATE INDEX webhooks_of_merchant ON gateway.webhooks USING btree (merchant_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);

create view merchant_ids as
 SELECT id
   FROM merchants;

create view newest_clock_confirmation as
 SELECT id,
    confirmed_at,
    ahead_ms
   FROM clock_confirmations
  ORDER BY id DESC
 LIMIT 1;

create view webhook_endpoints as
 SELECT id,
    merchant_id,
    url,
    events,
    filter,
    is_enabled,
    secret_box,
    previous_secret_box,
    previous_secret_until,
    older_secret_box,
    older_secret_until,
    updated_at,
    xmin::text AS version
   FROM webhooks
  WHERE deleted_at IS NULL;

CREATE OR REPLACE FUNCTION gateway.disable_webhooks(ids text[], event_ids text[], reason text, disabled_at text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;
revoke execute on function disable_webhooks(text[],text[],text,text) from public;

CREATE OR REPLACE FUNCTION gateway.lock_webhooks(merchant_ids text[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform from gateway.webhooks where merchant_id = any (merchant_ids) and deleted_at is null order by id for share;
end $function$;
revoke execute on function lock_webhooks(text[]) from public;

CREATE OR REPLACE FUNCTION gateway.record_merchant_event(event_id text, event_type text, by_actor text, by_request text, event_data jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;
revoke execute on function record_merchant_event(text,text,text,text,jsonb) from public;
