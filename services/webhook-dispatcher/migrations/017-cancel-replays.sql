-- When the merchant canceled the replay, or deleted its webhook.
alter table replays add column canceled_at timestamptz;
create index replays_newest on replays (webhook_id, created_at, id);
