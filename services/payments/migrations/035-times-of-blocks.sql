-- How far the time of a new block may be behind and ahead of the clock; null for a chain whose blocks come on demand.
alter table chain_cursors add column block_lag_ms bigint, add column block_lead_ms bigint;
