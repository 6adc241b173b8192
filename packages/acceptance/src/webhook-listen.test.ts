import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ADMIN, openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { sharedStack } from './harness/shared-stack.ts';
import { verified } from './harness/signatures.ts';
import { until } from './harness/until.ts';

const stack = sharedStack();
let shop: Shop;
let receiver: Receiver;
let child: ChildProcess;
const lines: string[] = [];

beforeAll(async () => {
  [shop, receiver] = await Promise.all([openShop(stack), startReceiver()]);
  const options = ['--forward', receiver.urlOf('/hook'), '--events', 'order:created'];
  child = spawn(
    process.execPath,
    [ADMIN, 'webhooks', 'listen', ...options, '--key', shop.key, '--api', stack.baseUrl],
    { env: { ...process.env, NODE_OPTIONS: '', ...stack.environment }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line));
});
afterAll(async () => {
  child.kill('SIGKILL');
  await Promise.all([shop.api.close(), receiver.close()]);
});

const said = (words: RegExp) =>
  until(`the listener to say ${words}`, () => lines.map((line) => words.exec(line)).find((match) => match !== null));

test('a developer hears of an order on their machine, again after a failure, until Ctrl-C', async () => {
  await said(/^Ctrl-C removes webhook whk_/);
  const [, secret] = await said(/^the signing secret is (whsec_.+)$/);
  receiver.answer('/hook', (_, index) => (index === 0 ? 500 : 204));
  const order = await shop.api.createOrder(orderBody());
  const attempts = await receiver.attempts('/hook', 2);
  for (const attempt of attempts) expect(verified(attempt, secret!)).toMatchObject({ data: { id: order.id } });
  await said(/order:created +evt_\w+ +500 in/);
  await said(/order:created +evt_\w+ +204 in/);
  const { items } = await shop.api.webhooks();
  expect(items).toMatchObject([{ is_enabled: true, events: ['order:created'] }]);

  const ended = new Promise<number | null>((done) => child.once('exit', done));
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  expect((await shop.api.webhooks()).total).toBe(0);
});
