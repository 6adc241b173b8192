-- Finds the payables of accounts that the deposit settings do not know, for each block of a chain.
create index payables_by_account on payables (account) where account is not null;
