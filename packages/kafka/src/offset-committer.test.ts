import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@cpg/runtime';
import type { OffsetsByTopicPartition } from 'kafkajs';
import { createOffsetCommitter } from './offset-committer.ts';

const log = createLogger({ name: 'test', level: 'silent' });

/** A partition whose messages are resolved one by one, at a broker whose next answers to commits are these errors. */
const partition = (...errors: Error[]) => {
  const [resolved, committed]: [string[], string[]] = [[], []];
  const batch = {
    uncommittedOffsets: (): OffsetsByTopicPartition => ({
      topics: [{ topic: 't', partitions: [{ partition: 0, offset: resolved.at(-1)! }] }],
    }),
    commitOffsetsIfNecessary: async (offsets?: OffsetsByTopicPartition) => {
      const error = errors.shift();
      if (error) throw error;
      committed.push(offsets!.topics[0]!.partitions[0]!.offset);
    },
  };
  const resolve = (offset: string) => {
    resolved.push(offset);
    return batch;
  };
  return { committed, resolve };
};

const until = async (look: () => boolean) => {
  while (!look()) await sleep(10);
};

test('what is resolved in quick succession is one commit, of the last, without being asked for', async () => {
  const commits = createOffsetCommitter(log);
  const { committed, resolve } = partition();
  for (const offset of ['1', '2', '3']) commits.schedule(resolve(offset));
  await until(() => committed.length > 0);
  commits.schedule(resolve('4'));
  await commits.stop();
  expect(committed).toEqual(['3', '4']);
});

test('a commit that fails is tried again, with what was resolved since', async () => {
  const commits = createOffsetCommitter(log);
  const { committed, resolve } = partition(new Error('away'));
  commits.schedule(resolve('1'));
  await commits.flush();
  expect(committed).toEqual([]);
  commits.schedule(resolve('2'));
  await until(() => committed.length > 0);
  expect(committed).toEqual(['2']);
  await commits.stop();
});

test('what another member will read again is not tried again', async () => {
  const commits = createOffsetCommitter(log);
  const { committed, resolve } = partition(Object.assign(new Error('gone'), { type: 'ILLEGAL_GENERATION' }));
  commits.schedule(resolve('1'));
  await commits.flush();
  await commits.flush();
  expect(committed).toEqual([]);
  await commits.stop();
});
