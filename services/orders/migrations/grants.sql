-- What each service may do in this schema. "admin migrate" revokes everything else.
grant usage on schema orders to cpg_gateway, cpg_orders;

grant select, insert, update, delete on all tables in schema orders to cpg_orders;
revoke insert, update, delete on migrations, environment_stamp from cpg_orders;

-- Orders and lists of them.
grant select on api_orders, api_order_counts, api_order_metadata to cpg_gateway;
