import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@cpg/runtime';
import type { OffsetsByTopicPartition } from 'kafkajs';
import { createOffsetCommitter } from './offset-committer.ts';
import { RewindError } from './rewind.ts';

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

test('does not commit offsets that were computed before a rebalance', async () => {
  const { committed, resolve } = partition();
  const commits = createOffsetCommitter({ log, delayMs: DELAY_MS, beforeCommit: async () => commits.reset() });
  commits.schedule(resolve('1'));
  await commits.stop();
  expect(committed).toEqual([]);
});

test('commits only what was handled before the flush, and nothing when that was lost', async () => {
  const { committed, resolve } = partition();
  const rewinds: string[] = [];
  const flushes = [async () => void resolve('2'), () => Promise.reject(new RewindError('lost'))];
  const commits = createOffsetCommitter({
    log,
    delayMs: DELAY_MS,
    beforeCommit: () => flushes.shift()!(),
    onRewind: () => rewinds.push('rewind'),
  });
  commits.schedule(resolve('1'));
  await commits.flush();
  expect(committed).toEqual(['1']);
  commits.schedule(resolve('3'));
  await commits.flush();
  await commits.flush();
  expect(committed).toEqual(['1']);
  expect(rewinds).toEqual(['rewind']);
});
