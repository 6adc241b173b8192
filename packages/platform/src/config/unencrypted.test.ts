import { PrivateHosts, unencryptedConnections } from './connection-urls.ts';

const namesIn = (env: Record<string, string>): string[] =>
  unencryptedConnections(env).map((fault) => /^([A-Z_]+): is not encrypted: /.exec(fault)![1]!);

const OPEN: [string, string][] = [
  ['DATABASE_URL', 'postgres://cpg:secret@db.example/cpg'],
  ['DATABASE_URL', 'postgres://cpg:secret@db.example/cpg?sslmode=disable'],
  ['DATABASE_URL', 'postgres://cpg:secret@db.example/cpg?sslmode=no-verify'],
  ['DATABASE_URL', 'postgres://cpg:secret@db.example/cpg?sslmode=require&uselibpqcompat=true'],
  ['DATABASE_URL', 'postgres://cpg:secret@localhost/cpg?host=db.example'],
  ['EVENTSTORE_URL', 'esdb://ops:secret@a.example:2113?tls=false'],
  ['EVENTSTORE_URL', 'esdb+discover://ops:secret@127.0.0.1:2113,b.example:2113?TLS=false'],
  ['KAFKA_BROKERS', '127.0.0.1:9092,two.example:9092'],
  ['ORDERS_URL', 'http://orders.example:4001'],
  ['WEBHOOK_PROXY_URL', 'http://user:secret@proxy.example:3128'],
  ['CHAIN_URLS', '{"bitcoin":["http://127.0.0.1:8332","http://user:secret@node.example:8332"]}'],
];

test.each(OPEN)('refuses %s=%s, and shows no part of it', (name, value) => {
  const faults = unencryptedConnections({ [name]: value });
  expect(faults.map((fault) => fault.split(':')[0])).toEqual([name]);
  expect(faults[0]).not.toMatch(/secret|example/);
});

test.each(OPEN)('accepts %s=%s on a private network', (name, value) => {
  expect(namesIn({ [name]: value, PRIVATE_HOSTS: 'other.host, .example' })).toEqual([]);
});

test.each([
  ['DATABASE_URL', 'postgres://cpg:secret@db.example/cpg?sslmode=verify-full'],
  ['DATABASE_URL', 'postgres://cpg:secret@db.example/cpg?sslmode=require'],
  ['DATABASE_URL', 'postgres://cpg:secret@db.example/cpg?ssl=true'],
  ['DATABASE_URL', 'postgres://cpg:secret@127.0.0.1:5433/cpg'],
  ['DATABASE_URL', 'postgres://cpg@localhost/cpg?host=/var/run/postgresql'],
  ['EVENTSTORE_URL', 'esdb+discover://ops:secret@store.example:2113'],
  ['EVENTSTORE_URL', 'esdb://127.0.0.1:2113?tls=false'],
  ['KAFKA_BROKERS', '127.0.0.1:9092'],
  ['ORDERS_URL', 'http://[::1]:4001'],
  ['PAYMENTS_URL', 'https://payments.example'],
  ['CHAIN_URLS', '{"bitcoin":["https://node.example/key"]}'],
])('accepts %s=%s', (name, value) => expect(namesIn({ [name]: value })).toEqual([]));

test('accepts Kafka with TLS', () =>
  expect(namesIn({ KAFKA_BROKERS: 'one.example:9093', KAFKA_TLS: 'true' })).toEqual([]));

test('a private host is a name, all names below one, an address or a block', () => {
  const open = (host: string, PRIVATE_HOSTS: string) => namesIn({ ORDERS_URL: `http://${host}:4001`, PRIVATE_HOSTS });
  expect(open('Orders', 'orders')).toEqual([]);
  expect(open('orders.evil.example', 'orders')).toEqual(['ORDERS_URL']);
  expect(open('orders.shop.svc', '.svc')).toEqual([]);
  expect(open('evilsvc', '.svc')).toEqual(['ORDERS_URL']);
  expect(open('10.1.2.3', '10.0.0.0/8')).toEqual([]);
  expect(open('11.1.2.3', '10.0.0.0/8')).toEqual(['ORDERS_URL']);
  for (const wrong of ['', 'a b', 'http://orders', '*', '10.0.0.0/33'])
    expect(PrivateHosts.safeParse(wrong).success).toBe(false);
});
