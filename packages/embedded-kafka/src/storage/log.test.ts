import type { Pool } from 'pg';
import type { Partition } from './catalogue.ts';
import { Log } from './log.ts';
import { TailCache } from './tail-cache.ts';
import type { StorageWriter } from './storage-writer.ts';

test('what is appended while retention looks for what is old enough is not taken for old', async () => {
  const partition = { topic: { id: 1 }, index: 0, logEnd: 3 } as Partition;
  const query = async () => {
    partition.logEnd = 4;
    return { rows: [] };
  };
  const log = new Log({} as StorageWriter, { query } as unknown as Pool, {} as never, new TailCache(0));
  expect(await log.startForRetentionTime(partition, 1_700_000_000_000)).toBe(3);
});
