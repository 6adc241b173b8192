import type { CommittedOffset } from './offsets.ts';
import type { Statement } from './changes.ts';

/** An offset of a consumer group that counts once its transaction is committed. */
export interface TransactionOffset extends CommittedOffset {
  readonly transactionalId: string;
  readonly groupId: string;
  readonly topicId: number;
}

/** Keeps offsets beside those of the groups until their transaction ends. */
export const storeOffsets = (offsets: readonly TransactionOffset[]): Statement => {
  // One statement may touch a row once: of several offsets for a partition the last one counts.
  const rows = [
    ...new Map(offsets.map((o) => [`${o.topicId}/${o.partition}/${o.groupId}/${o.transactionalId}`, o])).values(),
  ];
  const column = <T>(of: (offset: TransactionOffset) => T) => rows.map(of);
  return {
    name: 'store-transaction-offsets',
    text: STORE,
    values: [
      column((o) => o.transactionalId),
      column((o) => o.groupId),
      column((o) => o.topicId),
      column((o) => o.partition),
      column((o) => o.offset),
      column((o) => o.leaderEpoch),
      column((o) => o.metadata),
    ],
  };
};

/** Makes them the groups' own where the transaction was committed, and forgets them all. */
export const endOffsets = (ended: ReadonlyMap<string, boolean>): Statement => ({
  name: 'end-transaction-offsets',
  text: END,
  values: [[...ended.keys()], [...ended.keys()].filter((id) => ended.get(id))],
});

const STORE = `
  insert into kafka.transaction_offset
    (transactional_id, group_id, topic_id, partition, committed_offset, leader_epoch, metadata)
  select * from unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::bigint[], $6::int[], $7::bytea[])
  on conflict (transactional_id, group_id, topic_id, partition)
  do update set committed_offset = excluded.committed_offset, leader_epoch = excluded.leader_epoch, metadata = excluded.metadata`;

const END = `
  with ended as (delete from kafka.transaction_offset where transactional_id = any($1::text[]) returning *),
  committed as (select * from ended where transactional_id = any($2::text[])),
  groups as (
    insert into kafka.consumer_group (id, protocol_type) select distinct group_id, '' from committed on conflict do nothing
  )
  insert into kafka.group_offset (group_id, topic_id, partition, committed_offset, leader_epoch, metadata)
  select distinct on (group_id, topic_id, partition)
    group_id, topic_id, partition, committed_offset, leader_epoch, metadata from committed
  on conflict (group_id, topic_id, partition)
  do update set committed_offset = excluded.committed_offset, leader_epoch = excluded.leader_epoch, metadata = excluded.metadata`;
