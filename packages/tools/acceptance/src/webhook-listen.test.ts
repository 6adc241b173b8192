import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ADMIN, openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { type Receiver, startReceiver, verifyDelivery } from './harness/receiver.ts';
import { sharedStack } from './harness/stack-files.ts';
import { until } from './harness/until.ts';

const stack = sharedStack();
let shop: Shop;
let receiver: Receiver;
const children: ChildProcess[] = [];
let lines: string[] = [];

const ARGUMENTS = () => [
  ...[ADMIN, 'webhooks', 'listen', '--forward', receiver.urlOf('/hook'), '--events', 'order:created'],
  ...['--key', shop.key, '--api', stack.baseUrl],
];

const start = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess => {
  lines = [];
  const child = spawn(program, args, {
    env: { ...process.env, NODE_OPTIONS: '', ...stack.environment, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return child;
};

beforeAll(async () => {
  [shop, receiver] = await Promise.all([openShop(stack), startReceiver()]);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([shop.api.close(), receiver.close()]);
});

const printed = (pattern: RegExp) =>
  until(`the listener to print ${pattern}`, () =>
    lines.map((line) => pattern.exec(line)).find((match) => match !== null),
  );

test('`webhooks listen` forwards events with retries and removes its webhook at Ctrl-C', async () => {
  const child = start(process.execPath, ARGUMENTS());
  await printed(/^Ctrl-C removes webhook whk_/);
  const [, secret] = await printed(/^the signing secret is (whsec_.+)$/);
  receiver.answer('/hook', (_, index) => (index === 0 ? 500 : 204));
  const order = await shop.api.createOrder(orderBody());
  const attempts = await receiver.attempts('/hook', 2);
  for (const attempt of attempts) expect(verifyDelivery(attempt, secret!)).toMatchObject({ data: { id: order.id } });
  await printed(/order:created +evt_\w+ +500 in/);
  await printed(/order:created +evt_\w+ +204 in/);
  const { items } = await shop.api.webhooks();
  expect(items).toMatchObject([{ is_enabled: true, events: ['order:created'] }]);

  const ended = new Promise<number | null>((done) => child.once('exit', done));
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  expect((await shop.api.webhooks()).total).toBe(0);
});

test('`webhooks listen` removes its webhook when npm was killed', async () => {
  // Like npm, the shell stays while the command runs, and passes no signal on.
  const npm = start('sh', ['-c', '"$0" "$@"; true', process.execPath, ...ARGUMENTS()], {
    npm_lifecycle_event: 'admin',
  });
  await printed(/^Ctrl-C removes webhook whk_/);
  expect((await shop.api.webhooks()).total).toBe(1);
  npm.kill('SIGKILL');
  await until('the webhook to be removed', async () => (await shop.api.webhooks()).total === 0);
});
