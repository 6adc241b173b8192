-- Why the chain is not current although its nodes answer; null while it is.
alter table chain_cursors add column stalled text;
