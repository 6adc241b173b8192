import { PaymentCurrency, type Order } from '@cpg/contracts';
import { type Api, createApi } from '../harness/api.ts';
import { item, orderBody } from '../harness/order-bodies.ts';
import { payablesIn, reportDeposit } from '../harness/payables.ts';
import { serviceAdmin } from '../harness/service-admin.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { buildEarlierVersion, type EarlierVersion, hasCommit } from './earlier-version.ts';

/** The last commit whose addresses and references were rows of two tables, and whose answers were kept by key. */
const EARLIER = 'f1a57bd';
const SLOW = 600_000;
const RECOVERS_WITHIN_MS = 60_000;

const isThere = await hasCommit(EARLIER);
if (!isThere) console.warn(`skipped: this checkout does not have commit ${EARLIER}; a full clone has it`);
const onEarlierData = isThere ? test : test.skip;

let earlier: EarlierVersion;
let stack: Stack;
let api: Api;
/** One open order for each currency that is paid on a chain or by a provider, with the key that created it. */
const open: { order: Order; create: { body: unknown; headers: Record<string, string> } }[] = [];

beforeAll(async () => {
  if (!isThere) return;
  earlier = await buildEarlierVersion(EARLIER);
  const old = await startStack({ launcher: earlier.launcher });
  api = createApi(old);
  for (const currency of PaymentCurrency.options) {
    const body = orderBody({ items: [item('100', 'USD')], payment_currency: currency });
    const create = { body, headers: { 'idempotency-key': `earlier-${currency}` } };
    const { status, body: order, text } = await api.send('POST', '/v1/orders', create);
    if (status !== 201) throw new Error(`refused with ${status}: ${text}`);
    open.push({ order: order as Order, create });
  }
  await old.interrupt();
  stack = await old.startThisVersion();
}, SLOW);

afterAll(async () => {
  await api?.close();
  await stack?.stop();
  earlier?.remove();
}, SLOW);

onEarlierData('repeats the answer to each key, without another order', async () => {
  for (const { order, create } of open) {
    const { status, headers, body } = await api.send('POST', '/v1/orders', create);
    expect([status, headers['idempotency-replayed'], body]).toEqual([201, 'true', order]);
    const changed = { ...create, body: { ...(create.body as object), external_reference_id: 'another' } };
    expect((await api.send('POST', '/v1/orders', changed)).status).toBe(422);
  }
});

onEarlierData('new orders show no address and no reference of an earlier one', async () => {
  const shown = new Set(open.flatMap(({ order }) => payablesIn(order)));
  for (let round = 0; round < 3; round += 1)
    for (const { create } of open)
      for (const payable of payablesIn(await api.createOrder(create.body as never))) {
        expect(shown.has(payable)).toBe(false);
        shown.add(payable);
      }
});

onEarlierData(
  'money at the addresses that earlier orders show pays these orders',
  async () => {
    let deposits = 0;
    for (const { order } of open) {
      const deposit = order.deposit_instructions.find((instruction) => instruction.rail === 'crypto_deposit');
      if (!deposit) continue;
      const { address, amount, currency } = deposit;
      const report = () => reportDeposit(stack, { address, amount, currency, provider_id: `tx-${order.id}` });
      const found = await until(`the money at ${address}`, report, { withinMs: RECOVERS_WITHIN_MS });
      expect(found.payment).toMatchObject({ order_id: order.id, merchant_id: order.merchant_id });
      const isPaid = async () => (await api.order(order.id)).status === 'paid';
      await until(`order ${order.id} is paid`, isPaid, { withinMs: RECOVERS_WITHIN_MS });
      deposits += 1;
    }
    expect(deposits).toBeGreaterThan(0);
  },
  SLOW,
);

onEarlierData(
  'passes audit verify and projections verify',
  async () => {
    for (const command of ['audit verify', 'projections verify'])
      for (const service of ['orders', 'payments'] as const) {
        const outcome = await serviceAdmin(stack, service, command).outcome();
        expect([command, outcome]).toEqual([command, { code: 0, output: expect.any(String) }]);
      }
  },
  SLOW,
);
