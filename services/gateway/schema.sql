-- What the migrations of gateway make. "pnpm schema" writes this file: do not edit it.

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

create table merchant_status_changes (
  id bigint not null generated always as identity,
  merchant_id text not null,
  status text not null,
  changed_at timestamp with time zone not null,
  changed_by text not null,
  reason text not null,
  constraint merchant_status_changes_pkey PRIMARY KEY (id),
  constraint merchant_status_changes_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  constraint merchant_status_changes_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
);
CREATE INDEX merchant_status_changes_of_merchant ON gateway.merchant_status_changes USING btree (merchant_id, id);

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

CREATE OR REPLACE FUNCTION gateway.disable_webhooks(ids text[], reason text, disabled_at timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update gateway.webhooks set is_enabled = false, disabled_reason = reason, updated_at = disabled_at where id in (
    select id from gateway.webhooks where id = any (ids) and is_enabled order by id for update)
$function$;
revoke execute on function disable_webhooks(text[],text,timestamp with time zone) from public;

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
