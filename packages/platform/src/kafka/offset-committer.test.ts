import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../log/logger.ts';
import type { OffsetsByTopicPartition } from 'kafkajs';
import { createOffsetCommitter } from './offset-committer.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const DELAY_MS = 20;

/** A fake partition. Its first commits fail with the given errors. */
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

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(10);
};

test('commits offsets resolved in quick succession with one commit', async () => {
  const commits = createOffsetCommitter({ log, delayMs: DELAY_MS });
  const { committed, resolve } = partition();
  for (const offset of ['1', '2', '3']) commits.schedule(resolve(offset));
  await until(() => committed.length > 0);
  commits.schedule(resolve('4'));
  await commits.stop();
  expect(committed).toEqual(['3', '4']);
});

test('retries a failed commit with the newest offset', async () => {
  const commits = createOffsetCommitter({ log, delayMs: DELAY_MS });
  const { committed, resolve } = partition(new Error('unavailable'));
  commits.schedule(resolve('1'));
  await commits.flush();
  expect(committed).toEqual([]);
  commits.schedule(resolve('2'));
  await until(() => committed.length > 0);
  expect(committed).toEqual(['2']);
  await commits.stop();
});

test('does not retry a commit after the partition was lost', async () => {
  const commits = createOffsetCommitter({ log, delayMs: DELAY_MS });
  const { committed, resolve } = partition(Object.assign(new Error('partition lost'), { type: 'ILLEGAL_GENERATION' }));
  commits.schedule(resolve('1'));
  await commits.flush();
  await commits.flush();
  expect(committed).toEqual([]);
  await commits.stop();
});

test('does not commit offsets from before a rebalance', async () => {
  const { committed, resolve } = partition();
  const commits = createOffsetCommitter({ log, delayMs: DELAY_MS });
  commits.schedule(resolve('1'));
  commits.reset();
  await commits.stop();
  expect(committed).toEqual([]);
});
