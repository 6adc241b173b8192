import { freePort } from '@cpg/ports';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { connect, counted, newStream, numbersIn, range, type TestDatabase } from './testing/jest-store.ts';
import { compileMain, type ServerProcess, spawnMain } from './testing/jest-process.ts';

let compiled: ReturnType<typeof compileMain>;
let database: TestDatabase;
beforeAll(async () => {
  compiled = compileMain();
  database = await testDatabase();
});
const children: ServerProcess[] = [];
afterEach(async () => {
  for (const { child, exited } of children.splice(0)) {
    child.kill('SIGKILL');
    await exited;
  }
});
afterAll(async () => {
  compiled.remove();
  await database.drop();
});

const run = (env: Record<string, string>): ServerProcess => {
  const server = spawnMain(compiled.main, env);
  children.push(server);
  return server;
};

const start = async (port: number): Promise<{ server: ServerProcess; url: string }> => {
  const server = run({ EVENTSTORE_DATABASE_URL: database.url, EVENTSTORE_PORT: String(port) });
  const url = (await server.line(/listening on/)).split('listening on ')[1]!;
  return { server, url };
};

test('acknowledged events survive kill -9 during writes', async () => {
  const port = await freePort();
  const stream = newStream();
  const acknowledged: number[] = [];
  for (const round of range(0, 3)) {
    const { server, url } = await start(port);
    const client = connect(url);
    const before = acknowledged.length;
    const writing = (async () => {
      for (let n = round * 1000; ; n++) {
        await client.appendToStream(stream, counted(n));
        acknowledged.push(n);
        if (acknowledged.length === before + 30) server.child.kill('SIGKILL');
      }
    })();
    await expect(writing).rejects.toThrow();
    expect(acknowledged.length).toBeGreaterThanOrEqual(before + 30);
    expect((await server.exited).code).toBeNull();
    await client.dispose();
  }
  const { server, url } = await start(port);
  const client = connect(url);
  const kept = await numbersIn(client, stream);
  const isAcknowledged = new Set(acknowledged);
  expect(kept.filter((n) => isAcknowledged.has(n))).toEqual(acknowledged);
  expect(kept.length - acknowledged.length).toBeLessThanOrEqual(3); // at most the append in flight of each round
  await client.dispose();
  server.child.kill('SIGTERM');
  expect(await server.exited).toMatchObject({ code: 0 });
});

test.each(['SIGTERM', 'SIGINT'] as const)('exits with code 0 on %s while subscribers are connected', async (signal) => {
  const { server, url } = await start(await freePort());
  const client = connect(url);
  const subscription = client.subscribeToAll().resume();
  const ended = new Promise<Error>((resolve) => subscription.once('error', resolve));
  await new Promise((resolve) => subscription.once('caughtUp', resolve));
  server.child.kill(signal);
  expect(await ended).toMatchObject({ type: 'unavailable' });
  expect(await server.exited).toMatchObject({ code: 0 });
  await client.dispose();
});

test('reports a taken port in one line that names the variable to set', async () => {
  const port = await freePort();
  const { server } = await start(port);
  const second = run({ EVENTSTORE_DATABASE_URL: database.url, EVENTSTORE_PORT: String(port) });
  expect(await second.exited).toEqual({
    code: 1,
    output: `port ${port} for the event store is taken: set EVENTSTORE_PORT (or PORT_OFFSET) to a free one\n`,
  });
  server.child.kill('SIGTERM');
  await server.exited;
});

test('waits for an unavailable database, and can be stopped while it waits', async () => {
  const url = `postgres://nobody:nothing@127.0.0.1:${await freePort()}/nowhere`;
  const server = run({ EVENTSTORE_DATABASE_URL: url, EVENTSTORE_PORT: String(await freePort()) });
  await server.line(/waiting for the database/);
  server.child.kill('SIGTERM');
  expect(await server.exited).toMatchObject({ code: 0 });
});

test('reports a missing EVENTSTORE_DATABASE_URL', async () => {
  const server = run({});
  const { code, output } = await server.exited;
  expect(code).toBe(1);
  expect(output).toMatch(/EVENTSTORE_DATABASE_URL is missing/);
});
