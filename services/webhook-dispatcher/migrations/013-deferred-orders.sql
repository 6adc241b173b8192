-- Orders of a replay whose events could not be read: they are tried again after all others.
alter table replays add column deferred text[] not null default '{}';
