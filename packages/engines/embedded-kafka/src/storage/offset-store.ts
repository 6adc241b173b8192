import type { Pool, QueryResultRow } from 'pg';
import { KafkaError, StorageUnavailable, errorCode } from '../errors.ts';
import type { Catalogue } from './catalogue.ts';
import { GroupCommit } from './group-commit.ts';
import type { Topic } from './partition.ts';
import type { StorageWriter } from './storage-writer.ts';

export interface CommittedOffset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly leaderEpoch: number;
  readonly metadata: Buffer;
}

export interface GroupOffset extends CommittedOffset {
  readonly groupId: string;
  readonly protocolType: string;
}

const MAX_OFFSETS_PER_COMMIT = 5_000;

/** Stores the committed offsets of consumer groups. It keeps none of them in memory. */
export class OffsetStore {
  private readonly writer: StorageWriter;
  private readonly reads: Pool;
  private readonly catalogue: Catalogue;
  private readonly commits: GroupCommit<readonly GroupOffset[], true>;

  constructor(writer: StorageWriter, reads: Pool, catalogue: Catalogue) {
    this.writer = writer;
    this.reads = reads;
    this.catalogue = catalogue;
    this.commits = new GroupCommit(
      (requests) => this.store(requests),
      (offsets) => offsets.length,
      MAX_OFFSETS_PER_COMMIT,
    );
  }

  /** Resolves once all offsets are committed. A later call overwrites an earlier one. */
  commit = async (offsets: readonly GroupOffset[]): Promise<void> => {
    if (offsets.length > 0) await this.commits.submit(offsets);
  };

  /** All offsets of the group for topics that still exist. */
  async committedOffsets(groupId: string): Promise<CommittedOffset[]> {
    return this.read(
      `select t.name as topic, o.partition, o.committed_offset::float8 as offset, o.leader_epoch as "leaderEpoch", o.metadata
       from kafka.group_offset o join kafka.topic t on t.id = o.topic_id and not t.deleted
       where o.group_id = $1 order by t.name, o.partition`,
      [groupId],
    );
  }

  /** The groups with committed offsets. */
  listGroups = (): Promise<{ id: string; protocolType: string }[]> =>
    this.read('select id, protocol_type as "protocolType" from kafka.consumer_group order by id', []);

  /** Throws KafkaError(groupIdNotFound) if the group has no committed offsets. */
  deleteGroup(groupId: string): Promise<void> {
    return this.writer.run(async (db) => {
      const { rowCount } = await db.query('delete from kafka.consumer_group where id = $1', [groupId]);
      if (!rowCount) throw new KafkaError(errorCode.groupIdNotFound, `group ${groupId} does not exist`);
    });
  }

  private store(requests: (readonly GroupOffset[])[]): Promise<true[]> {
    return this.writer.run(async (db) => {
      // One statement may change a row only once, so only the last commit of a row is stored.
      const groups = new Map<string, string>();
      const rows = new Map<string, readonly [Topic, GroupOffset]>();
      for (const offset of requests.flat()) {
        const topic = this.catalogue.topic(offset.topic);
        if (!topic) continue;
        groups.set(offset.groupId, offset.protocolType);
        rows.set(`${topic.id}/${offset.partition}/${offset.groupId}`, [topic, offset]);
      }
      const offsets = [...rows.values()];
      const column = <T>(of: (offset: GroupOffset, topic: Topic) => T) =>
        offsets.map(([topic, offset]) => of(offset, topic));
      await db.query({
        name: 'offsets',
        text: STORE_OFFSETS,
        values: [
          [...groups.keys()],
          [...groups.values()],
          column((o) => o.groupId),
          column((_, topic) => topic.id),
          column((o) => o.partition),
          column((o) => o.offset),
          column((o) => o.leaderEpoch),
          column((o) => o.metadata),
        ],
      });
      return requests.map(() => true);
    });
  }

  private async read<T extends QueryResultRow>(text: string, values: unknown[]): Promise<T[]> {
    try {
      return (await this.reads.query<T>(text, values)).rows;
    } catch (error) {
      throw new StorageUnavailable(error);
    }
  }
}

const STORE_OFFSETS = `
  with groups as (
    insert into kafka.consumer_group (id, protocol_type) select * from unnest($1::text[], $2::text[])
    on conflict (id) do update set protocol_type = excluded.protocol_type
    where consumer_group.protocol_type <> excluded.protocol_type and excluded.protocol_type <> ''
  )
  insert into kafka.group_offset (group_id, topic_id, partition, committed_offset, leader_epoch, metadata)
  select * from unnest($3::text[], $4::int[], $5::int[], $6::bigint[], $7::int[], $8::bytea[])
  on conflict (group_id, topic_id, partition)
  do update set committed_offset = excluded.committed_offset, leader_epoch = excluded.leader_epoch, metadata = excluded.metadata`;
