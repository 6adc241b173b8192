-- What each service may do in this schema. "admin migrate" revokes everything else.
grant usage on schema gateway to cpg_gateway, cpg_orders, cpg_payments, cpg_webhook_dispatcher;

grant select, insert, update, delete on all tables in schema gateway to cpg_gateway;
revoke insert, update, delete on migrations, environment_stamp from cpg_gateway;

-- The word of an operator on the clocks.
grant select on clock_confirmations to cpg_orders, cpg_payments, cpg_webhook_dispatcher;

-- Whether a merchant exists.
grant select (id) on merchants to cpg_orders, cpg_payments;

-- The dispatcher delivers to webhooks, and disables those that fail.
grant select, update (is_enabled, disabled_reason, updated_at) on webhooks to cpg_webhook_dispatcher;
