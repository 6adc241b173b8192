-- What each service may do in this schema. "admin migrate" revokes everything else.
grant usage on schema gateway to cpg_gateway, cpg_orders, cpg_payments, cpg_webhook_dispatcher;

grant select, insert, update, delete on all tables in schema gateway to cpg_gateway;
revoke insert, update, delete on migrations, environment_stamp from cpg_gateway;
revoke update, delete on merchant_events from cpg_gateway;
grant update (revision) on merchant_events to cpg_gateway;
grant execute on function record_merchant_event to cpg_gateway;

-- The word of an operator on the clocks.
grant select on newest_clock_confirmation to cpg_orders, cpg_payments, cpg_webhook_dispatcher;

-- Whether a merchant exists.
grant select on merchant_ids to cpg_orders, cpg_payments;

-- The dispatcher delivers to webhooks, and disables those that fail.
grant select on webhook_endpoints to cpg_webhook_dispatcher;
grant execute on function lock_webhooks, disable_webhooks to cpg_webhook_dispatcher;
