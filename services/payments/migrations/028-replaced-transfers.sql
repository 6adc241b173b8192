-- The transaction that spends the outputs of a transfer in block conflict_at, if it pays the same address.
alter table chain_transfers add column replaced_by text;
