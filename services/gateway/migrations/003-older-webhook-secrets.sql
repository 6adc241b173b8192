-- The secret before the previous one, and when it stops signing: each old secret keeps its own 24 hours.
alter table webhooks
  add column older_secret_box text,
  add column older_secret_until timestamptz;
