-- What was read from chains. The chain and the stream `chain-<network>` bring it back.

-- How far each network was read.
create table chain_cursors (
  network text primary key,
  -- Hash of block 0. Another one is another chain.
  genesis text,
  -- The last block that was read; null before reading began.
  height bigint,
  hash text,
  -- The time of the block; null for the block at which reading began.
  time timestamptz,
  -- When there was no further block, and everything up to then was read.
  read_at timestamptz,
  -- The highest block that the nodes had then.
  tip bigint,
  -- Why reading stands still; null while it goes on.
  halted text,
  -- An operator's request: read again from this height.
  rescan_from bigint
);

-- The hashes of the blocks read last, to find where a reorganization began.
create table chain_blocks (
  network text not null references chain_cursors on delete cascade,
  height bigint not null,
  hash text not null,
  time timestamptz,
  primary key (network, height)
);

-- Transfers to watched addresses, and what was reported about them.
create table chain_transfers (
  network text not null,
  -- Position in the chain, the same in every block that contains the transaction.
  id text not null,
  tx_hash text,
  address text not null,
  asset text not null,
  -- Units of the asset on its chain.
  units numeric not null,
  -- Confirmations that its chain asks for before it can be spent; and those that it needs, once known.
  min_confirmations int,
  required int,
  -- The outputs that its transaction spends.
  spends text[],
  seen_at timestamptz not null,
  -- The block that contains it; null for none.
  height bigint,
  hash text,
  -- The height that had been read when a reorganization removed it.
  lost_at bigint,
  -- Since when neither a block nor the mempool has it.
  vanished_at timestamptz,
  -- A block that spends one of its outputs otherwise.
  conflict_at bigint,
  -- What its payment was told, and about which block; and what it is being told.
  reported text,
  reported_hash text,
  pending text,
  pending_hash text,
  open boolean not null generated always as (
    pending is not null or case reported
      when 'received' then true
      when 'confirmed' then hash is distinct from reported_hash
      when 'failed' then height is not null
      when 'ignored' then false
      when 'refused' then false
      else height is not null or vanished_at is null
    end
  ) stored,
  primary key (network, id)
);
create index chain_transfers_open on chain_transfers (network) where open;
create index chain_transfers_by_height on chain_transfers (network, height);
