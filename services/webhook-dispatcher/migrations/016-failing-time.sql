-- How long a dispatcher has run since the first of the failures: a stop is no time in which a webhook fails. `changed_at` is the webhook's
-- `updated_at` as of the last count: the time begins anew when it differs.
alter table failing
  add column failed_ms bigint not null default 0,
  add column changed_at timestamptz;
