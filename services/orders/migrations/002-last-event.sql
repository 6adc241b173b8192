-- When something last happened to an order: what looks for events of a range passes over orders that were done with before it.
alter table orders add column last_event_at timestamptz;
update orders set last_event_at = (resource ->> 'updated_at')::timestamptz where not deleted;
