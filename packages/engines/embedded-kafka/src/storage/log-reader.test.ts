import type { Pool } from 'pg';
import { LogReader } from './log-reader.ts';
import type { Partition } from './partition.ts';

test('retention keeps a batch that is appended during its query', async () => {
  const partition = { topic: { id: 1 }, index: 0, logEnd: 3 } as Partition;
  const query = async () => {
    partition.logEnd = 4;
    return { rows: [] };
  };
  const log = new LogReader({ query } as unknown as Pool);
  expect(await log.startForRetentionTime(partition, 1_700_000_000_000)).toBe(3);
});
