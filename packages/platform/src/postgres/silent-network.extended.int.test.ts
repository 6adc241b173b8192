import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../log/logger.ts';
import { joinGroup, type Membership } from './group-membership.ts';
import { startLeaderElection } from './leader-election.ts';
import { testDatabase } from './testing/database.ts';

const log = createLogger({ name: 'test', level: 'silent' });

/** Forwards to PostgreSQL until it swallows all bytes, without closing a connection. */
const startSwallower = async (target: URL) => {
  let isSilent = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (bytes) => void (isSilent || to.write(bytes)));
      from.on('end', () => void (isSilent || to.end()));
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = new URL(target);
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.toString(),
    setSilent: (silent: boolean) => void (isSilent = silent),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(10);
};

let database: Awaited<ReturnType<typeof testDatabase>>;
let network: Awaited<ReturnType<typeof startSwallower>>;
beforeEach(async () => {
  database = await testDatabase();
  network = await startSwallower(new URL(database.url));
});
afterEach(async () => {
  network.close();
  await database.drop();
});

test('a leader that gets no answers steps down, and leads again when the network is back', async () => {
  const led: string[] = [];
  let isLeading = false;
  const { stop } = startLeaderElection({
    url: network.url,
    role: 'tests.silent',
    log,
    lead: async (signal) => {
      led.push('began');
      isLeading = true;
      await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
      isLeading = false;
    },
  });
  try {
    await until(() => isLeading);
    network.setSilent(true);
    await until(() => !isLeading);
    network.setSilent(false);
    await until(() => isLeading);
    expect(led).toHaveLength(2);
  } finally {
    await stop();
  }
});

test('another process leads while the network of the leader swallows its bytes', async () => {
  const leading = new Set<string>();
  const campaign = (name: string, url: string) =>
    startLeaderElection({
      url,
      role: 'tests.silent',
      log,
      lead: async (signal) => {
        leading.add(name);
        await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
        leading.delete(name);
      },
    });
  const cutOff = campaign('cut off', network.url);
  await until(() => leading.has('cut off'));
  const other = campaign('other', database.url);
  try {
    network.setSilent(true);
    await until(() => leading.has('other') && !leading.has('cut off'));
  } finally {
    network.setSilent(false);
    await Promise.all([cutOff.stop(), other.stop()]);
  }
});

test('a member that gets no answers knows that it is none, and joins again', async () => {
  let membership: Membership | null = null;
  const { stop } = joinGroup({
    url: network.url,
    group: 'tests.silent',
    log,
    onMembership: (now) => void (membership = now),
  });
  const isMember = () => membership !== null;
  try {
    await until(isMember);
    network.setSilent(true);
    await until(() => !isMember());
    network.setSilent(false);
    await until(isMember);
    expect(membership).toEqual({ rank: 0, members: 1 });
  } finally {
    await stop();
  }
});
