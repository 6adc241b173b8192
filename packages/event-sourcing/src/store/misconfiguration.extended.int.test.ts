import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Access, type EventStoreServer, startEventStore } from '@cpg/embedded-eventstore';
import { freePort } from '@cpg/ports';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createServiceLog } from '@cpg/platform';
import { openEventStore } from './open.ts';
import { certificates } from '../testing/jest-certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
const authority = join(folder, 'authority.pem');
const changing = join(folder, 'changing.pem');
const rightTls = { key: certificates.key, cert: certificates.localhost };
const wrongNameTls = { key: certificates.key, cert: certificates.elsewhere };
let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  database = await testDatabase();
  writeFileSync(authority, certificates.authority);
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

interface Settings {
  readonly tls?: typeof rightTls;
  readonly access?: Access;
}

const serve = (settings: Settings, port = 0, host = '127.0.0.1') =>
  startEventStore({ databaseUrl: database.url, host, port, ...settings });

/** Opens the store as a service does, with its log. */
const open = (address: string, { port }: EventStoreServer) => {
  const lines: { msg: string; level: string; reason?: string }[] = [];
  const { log, outages } = createServiceLog({
    name: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  });
  const store = openEventStore({ url: address.replace('PORT', String(port)), log });
  const check = outages.watch('eventstore', store);
  return {
    check,
    told: () => lines.filter(({ level }) => level === 'error').map(({ reason }) => reason),
    untilReady: async () => {
      while (
        await check().then(
          () => false,
          () => true,
        )
      )
        await new Promise((resolve) => setTimeout(resolve, 10));
    },
    close: async () => {
      outages.stop();
      await store.close();
    },
  };
};

const password =
  (right: string): Access =>
  (user) =>
    user === null || user === right ? (user ? 'granted' : 'denied') : 'unauthenticated';
const withoutAll: Access = (_, asked) => (asked === 'all' ? 'denied' : 'granted');
const withoutWrites: Access = (_, asked) => (asked === 'append' ? 'denied' : 'granted');

const CA = `tlsCAFile=${authority}`;

test.each<[what: string, wrong: Settings, address: string, sentence: RegExp, right: Settings | null]>([
  [
    'a wrong password',
    { tls: rightTls, access: password('pay:other') },
    `esdb://pay:secret@127.0.0.1:PORT?${CA}`,
    /refuses the password of user "pay".*correct EVENTSTORE_URL/,
    { tls: rightTls, access: password('pay:secret') },
  ],
  [
    'no user, where the store requires one',
    { tls: rightTls, access: password('pay:secret') },
    `esdb://127.0.0.1:PORT?${CA}`,
    /requires a user: add one to EVENTSTORE_URL, as in esdb:\/\/user:password@host:2113/,
    { tls: rightTls },
  ],
  [
    'a user who may not read $all',
    { tls: rightTls, access: withoutAll },
    `esdb://pay:secret@127.0.0.1:PORT?${CA}`,
    /user "pay" .*may not read \$all: .*\{"\$acl":\{"\$r":\["\$admins","pay"\]\}\}, or add the user to the group \$admins/,
    { tls: rightTls, access: password('pay:secret') },
  ],
  [
    'a user who may not append',
    { tls: rightTls, access: withoutWrites },
    `esdb://pay:secret@127.0.0.1:PORT?${CA}`,
    /user "pay" .*may not append events: .*\$userStreamAcl/,
    { tls: rightTls },
  ],
  [
    'a certificate for another name',
    { tls: wrongNameTls },
    `esdb://localhost:PORT?${CA}`,
    /certificate of the event store is for another name \(.*localhost.*DNS:eventstore.example\)/,
    { tls: rightTls },
  ],
  [
    'a certificate for another name, found by gossip',
    { tls: wrongNameTls },
    `esdb+discover://localhost:PORT?${CA}&maxDiscoverAttempts=1`,
    /certificate of the event store is for another name/,
    { tls: rightTls },
  ],
  [
    'no tlsCAFile for a private authority',
    { tls: rightTls },
    'esdb://127.0.0.1:PORT',
    /not signed by an authority that Node.js trusts: add tlsCAFile=/,
    // Only another address helps.
    null,
  ],
  [
    'tls=false, where the store requires TLS',
    { tls: rightTls },
    'esdb://127.0.0.1:PORT?tls=false',
    /the event store requires TLS: remove tls=false from EVENTSTORE_URL/,
    {},
  ],
  [
    'TLS, where the store has none',
    {},
    `esdb+discover://127.0.0.1:PORT?${CA}&maxDiscoverAttempts=1`,
    /answers without TLS: turn on TLS in the event store, or add tls=false/,
    { tls: rightTls },
  ],
])('%s is logged once, with how to correct it', async (_, wrong, address, sentence, right) => {
  // Where the address names it, `localhost`: that may be ::1 alone.
  const host = /localhost|127\.0\.0\.1/.exec(address)![0];
  let server = await serve(wrong, await freePort(), host);
  const { check, told, untilReady, close } = open(address, server);
  for (let n = 0; n < 3; n += 1) await expect(check()).rejects.toThrow();
  await expect(check()).rejects.toThrow(sentence);
  expect(told()).toEqual([expect.stringMatching(sentence)]);
  expect(told()[0]).not.toContain('secret');
  await server.stop();
  if (right) {
    server = await serve(right, server.port, host);
    await untilReady();
    await server.stop();
  }
  await close();
});

test('a wrong certificate authority is logged once, and needs no restart when its file is corrected', async () => {
  const server = await serve({ tls: rightTls });
  writeFileSync(changing, certificates.otherAuthority);
  const { check, told, untilReady, close } = open(`esdb+discover://127.0.0.1:PORT?tlsCAFile=${changing}`, server);
  const sentence = /not signed by an authority in .*changing.pem: put the certificate of the authority/;
  await expect(check()).rejects.toThrow();
  await expect(check()).rejects.toThrow(sentence);
  expect(told()).toEqual([expect.stringMatching(sentence)]);
  writeFileSync(changing, certificates.authority);
  await untilReady();
  await close();
  await server.stop();
});
