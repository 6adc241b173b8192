import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@cpg/embedded-postgres';
import { freePort } from '@cpg/ports';
import { binaryEvent } from '@eventstore/db-client';
import { startEventStore } from './index.ts';
import { connect, counted, isReclaimed, newStream, until } from './testing/jest-store.ts';

test('the bytes of a tombstoned stream leave every file of the data folder', async () => {
  const base = mkdtempSync(join(tmpdir(), 'removal-'));
  const dataDir = join(base, 'postgres');
  const postgres = await startPostgres({ dataDir, port: await freePort(), password: 'secret' });
  await postgres.createDatabase('eventstore');
  const databaseUrl = postgres.url('eventstore');
  const server = await startEventStore({ databaseUrl, port: 0, reclaimDelayMs: 20 });
  const client = connect(server.url);
  const [stream, secret] = [newStream(), randomBytes(50_000)];
  await client.appendToStream(newStream(), counted(1));
  await client.appendToStream(stream, binaryEvent({ type: 'Secret', data: secret, metadata: secret.subarray(0, 100) }));
  const filesWithSecret = () =>
    readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => readFileSync(file).includes(secret.subarray(0, 100)));
  expect(filesWithSecret()).not.toEqual([]);

  await client.tombstoneStream(stream);
  await until(() => isReclaimed(databaseUrl));
  expect(filesWithSecret()).toEqual([]);

  await client.dispose();
  await server.stop();
  await postgres.stop();
  rmSync(base, { recursive: true });
});
