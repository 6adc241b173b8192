import { testDatabase } from '@cpg/platform/postgres/testing';
import { WriterLockTaken, startKafka } from './index.ts';
import { until } from './testing/cluster.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.drop());

const start = () => startKafka({ databaseUrl: database.url, port: 0 });

test('a second broker waits until the first one has stopped', async () => {
  const first = await start();
  const lines: string[] = [];
  const starting = startKafka({ databaseUrl: database.url, port: 0, log: (line) => lines.push(line) });
  await until(() => lines.length > 0);
  expect(lines).toEqual([expect.stringContaining('another broker writes to this database')]);
  await first.stop();
  const second = await starting;
  await second.stop();
});

test('a second broker fails if the first one keeps running', async () => {
  const first = await start();
  await expect(startKafka({ databaseUrl: database.url, port: 0, lockWaitMs: 100 })).rejects.toThrow(WriterLockTaken);
  await first.stop();
});
