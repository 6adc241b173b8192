import { testDatabase } from '@cpg/platform/postgres/testing';
import { vacuumBatches } from './cleanup.ts';

test('a vacuum that is stopped while it connects ends', async () => {
  const database = await testDatabase();
  const stopping = new AbortController();
  const vacuum = vacuumBatches(database.url, stopping.signal);
  stopping.abort();
  await expect(vacuum).rejects.toThrow('aborted');
  await database.drop();
});
