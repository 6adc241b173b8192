import { startEventStore } from '@cpg/embedded-eventstore';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { checkEventStore, connectEventStore } from './connect.ts';
import { loseStore } from '../testing/jest-lost-store.ts';

test('a store found by gossip is written and followed again after its return', async () => {
  const { writtenMs, receivedMs } = await loseStore('esdb+discover:', 1_500);
  expect(writtenMs).toBeLessThan(Infinity);
  expect(receivedMs).toBeLessThan(Infinity);
});

// The client calls it without waiting: its rejection would end the process.
test('an error of a call does not reject while the discovery of another call fails', async () => {
  const client = connectEventStore('esdb+discover://127.0.0.1:1?tls=false&maxDiscoverAttempts=1') as unknown as {
    readonly capabilities: Promise<unknown>;
    readonly handleError: (grpcClient: unknown, error: unknown) => Promise<void>;
  };
  const discovering = client.capabilities;
  await Promise.resolve();
  const handled = client.handleError({ getChannel: () => null }, { code: 14, details: '', message: 'unavailable' });
  await expect(discovering).rejects.toThrow('Failed to discover');
  await expect(handled).resolves.toBeUndefined();
});

test('a cluster is found by gossip although the first node of the address is down', async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const client = connectEventStore(`esdb+discover://127.0.0.1:1,127.0.0.1:${server.port}?tls=false`);
  await checkEventStore(client);
  await client.dispose();
  await server.stop();
  await database.drop();
});
