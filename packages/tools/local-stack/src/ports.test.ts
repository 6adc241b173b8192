import { createServer } from 'node:net';
import { readConfig } from './config.ts';
import { planPorts, requireFreePorts, type Scale } from './ports.ts';

const portsOf = (env: NodeJS.ProcessEnv, scale: Scale = {}) =>
  Object.fromEntries(planPorts(readConfig(env), scale).map(({ process, port }) => [process, port]));

const STANDARD = {
  gateway: 4000,
  orders: 4001,
  payments: 4002,
  'webhook-dispatcher-1': 4003,
  eventstore: 2113,
  kafka: 9092,
  postgres: 5433,
  chain: 8545,
};

test('uses the standard ports by default', () => expect(portsOf({})).toEqual(STANDARD));

test('adds the offset to all ports, including configured ones', () => {
  const moved = Object.fromEntries(Object.entries(STANDARD).map(([name, port]) => [name, port + 100]));
  expect(portsOf({ PORT_OFFSET: '100', KAFKA_PORT: '9000' })).toEqual({ ...moved, kafka: 9100 });
});

test('numbers the ports of further dispatchers consecutively', () =>
  expect(portsOf({}, { 'webhook-dispatcher': 3 })).toEqual({
    ...STANDARD,
    'webhook-dispatcher-2': 4004,
    'webhook-dispatcher-3': 4005,
  }));

test('gives a service with several instances a proxy on its port, and each instance a port of its own', () => {
  const plans = planPorts(readConfig({ HOST: '0.0.0.0', PORT_OFFSET: '7' }), { orders: 2 });
  const ofOrders = plans.filter(({ process }) => process.startsWith('orders'));
  expect(ofOrders.map(({ process, host, port, instances }) => [process, host, port, instances])).toEqual([
    ['orders', '0.0.0.0', 4008, ['orders-1', 'orders-2']],
    ['orders-1', '127.0.0.1', 4108, undefined],
    ['orders-2', '127.0.0.1', 4208, undefined],
  ]);
});

test('assigns no port to an external engine', () =>
  expect(Object.keys(portsOf({ DATABASE_URL: 'postgres://db/app', KAFKA_BROKERS: 'kafka:9092' }))).toEqual([
    'gateway',
    'orders',
    'payments',
    'webhook-dispatcher-1',
    'eventstore',
    'chain',
  ]));

test('assigns no port to a chain that is off', () => expect(portsOf({ CHAIN: 'off' })).not.toHaveProperty('chain'));

test('rejects a port that two processes would share', () =>
  expect(() => portsOf({ POSTGRES_PORT: '4004' }, { 'webhook-dispatcher': 2 })).toThrow(
    'postgres and webhook-dispatcher-2 would both listen on port 4004: set POSTGRES_PORT to another port',
  ));

test('rejects an offset that leads to invalid ports', () =>
  expect(() => portsOf({ PORT_OFFSET: '60000' })).toThrow(/64000|69092 for kafka is not a valid port: set KAFKA_PORT/));

test('reports all ports in use, with the variables to set', async () => {
  const occupied = await Promise.all([occupy(), occupy()]);
  const [gateway, kafka] = occupied.map(({ port }) => port);
  const plans = planPorts(readConfig({ GATEWAY_PORT: String(gateway), KAFKA_PORT: String(kafka) }));
  const wanted = plans.filter(({ process }) => process === 'gateway' || process === 'kafka');
  await expect(requireFreePorts(wanted)).rejects.toThrow(
    new RegExp(
      `port ${gateway} for gateway is in use: set GATEWAY_PORT .*\\nport ${kafka} for kafka is in use: set KAFKA_PORT`,
    ),
  );
  await Promise.all(occupied.map(({ free }) => free()));
  await requireFreePorts(wanted);
});

const occupy = (): Promise<{ port: number; free: () => Promise<unknown> }> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      done({ port, free: () => new Promise((closed) => server.close(closed)) });
    });
  });

test.each([
  [{ PORT_OFFSET: '2000' }, 'browsers block port 6000, which gateway would use: set GATEWAY_PORT to another port, or'],
  [{ GATEWAY_PORT: '5060' }, 'browsers block port 5060, which gateway would use'],
  [{ CHAIN_PORT: '10080' }, 'browsers block port 10080, which chain would use'],
])('refuses ports that browsers block: %j', (env, message) => expect(() => portsOf(env)).toThrow(message));

test('a port that no browser opens may be one that browsers block', () =>
  expect(portsOf({ KAFKA_PORT: '6000' })).toMatchObject({ kafka: 6000 }));
