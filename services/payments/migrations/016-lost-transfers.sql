-- An applied payment whose block left the chain stays open: it fails, or is mined again.
drop index chain_transfers_open;
alter table chain_transfers drop column open;
alter table chain_transfers add column open boolean not null generated always as (
  pending is not null or case reported
    when 'received' then true
    when 'confirmed' then height is null or hash is distinct from reported_hash
    when 'failed' then height is not null
    when 'ignored' then false
    when 'refused' then false
    else height is not null or vanished_at is null
  end
) stored;
create index chain_transfers_open on chain_transfers (network) where open;

-- What an address received in all decides how many confirmations each part of it needs.
create index chain_transfers_by_address on chain_transfers (network, address);
