-- The height up to which blocks were read again, to find what the first reading missed; null before reading began.
alter table chain_cursors add column rechecked bigint;
update chain_cursors as cursor set rechecked = coalesce(
  (select min(block.height) from chain_blocks as block where block.network = cursor.network), cursor.height);

-- The numbers of the nodes that showed the transfers of a block at its first reading.
alter table chain_blocks add column nodes int[] not null default '{}';

alter table chain_transfers
  -- Whether the last reading of its block showed it, how many readings in a row said so, and which nodes showed it or not.
  add column shown boolean not null default true,
  add column readings int not null default 1,
  add column shown_by int[] not null default '{}',
  add column missed_by int[] not null default '{}',
  -- The block that contained it last, while none does.
  add column lost_hash text;
create index chain_transfers_by_lost_block on chain_transfers (network, lost_hash) where lost_hash is not null;

-- A transfer about which readings differ stays open, also when its payment is applied.
drop index chain_transfers_open;
alter table chain_transfers drop column open;
alter table chain_transfers add column open boolean not null generated always as (
  pending is not null or (height is not null and not shown) or case reported
    when 'received' then true
    when 'confirmed' then height is null or hash is distinct from reported_hash
    when 'failed' then height is not null
    when 'ignored' then false
    when 'refused' then false
    else height is not null or vanished_at is null
  end
) stored;
create index chain_transfers_open on chain_transfers (network) where open;
