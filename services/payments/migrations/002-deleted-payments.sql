-- Of a deleted payment only its id stays, so that news that comes late cannot bring it back. Its stream says no more than that either:
-- the row comes out the same when it is made anew.
alter table payments alter column merchant_id drop not null;
update payments set merchant_id = null, revision = 0 where deleted;
