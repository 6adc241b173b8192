-- What a lane has that made its first attempt is never in the way, and may be very much: it is not to be read past for each event to come.
drop index queue_lane;
create index queue_lane on queue (order_id, webhook_id, attempts, position);
