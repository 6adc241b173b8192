-- What each service may do in this schema. "admin migrate" revokes everything else.
grant usage on schema payments to cpg_gateway, cpg_orders, cpg_payments, cpg_webhook_dispatcher;

grant select, insert, update, delete on all tables in schema payments to cpg_payments;
revoke insert, update, delete on migrations, environment_stamp from cpg_payments;

-- Payments, refunds, lists of them, the ledger, where orders can be paid, and what the page of a payment shows of its chain.
grant select on api_payments, api_payment_counts, api_refunds, api_refund_counts, api_postings, api_payables, api_chains, api_transfers to cpg_gateway;

-- The times of the newest blocks, which each service compares its clock with.
grant select on newest_blocks to cpg_gateway, cpg_orders, cpg_webhook_dispatcher;
