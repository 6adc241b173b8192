-- What each service may do in this schema. "admin migrate" revokes everything else.
grant usage on schema webhooks to cpg_gateway, cpg_webhook_dispatcher;

-- Partitions by day are among the tables. `create_partition` grants the same on new ones.
grant select, insert, update, delete on all tables in schema webhooks to cpg_webhook_dispatcher;
revoke insert, update, delete on migrations, environment_stamp from cpg_webhook_dispatcher;
grant execute on function create_partition, drop_partition to cpg_webhook_dispatcher;

-- Deliveries, replays, and lists of them.
grant select on api_deliveries, api_order_deliveries, api_attempts, api_delivery_counts, api_replays to cpg_gateway;
grant execute on function list_deliveries, minute_of_delivery to cpg_gateway;
