-- The failed attempts to report a transfer as a payment: all null while no report fails.
alter table chain_transfers
  add column attempts int,
  add column first_failed_at timestamptz,
  add column last_failed_at timestamptz,
  -- When the next attempt is due; null once the report is refused.
  add column retry_at timestamptz,
  add column failure text;
