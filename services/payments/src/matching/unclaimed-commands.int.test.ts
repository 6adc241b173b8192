import { rebuild, verify, verifyCounts } from '@cpg/operations';
import { createServiceMetrics, newId } from '@cpg/platform';
import { UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { paymentProjection } from '../read/payment-projection.ts';
import { applied, CONTEXT, MERCHANT, report, until } from '../testing/jest-fixtures.ts';
import type { Decide } from '../testing/jest-orders-stub-views.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { executeUnclaimed } from '../testing/jest-commands.ts';
import { unclaimedMetrics } from './unclaimed-payments.ts';

let payments: PaymentsService;

beforeAll(async () => {
  payments = await startPayments();
  await payments.pool.query('create schema gateway; create table gateway.merchant_ids (id text primary key)');
  await payments.pool.query('insert into gateway.merchant_ids values ($1)', [MERCHANT]);
});
afterAll(() => payments.stop());

const [BEGINNING, END] = ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
const SEPOLIA = 'eip155:11155111';
const REASON = ['--reason', 'ticket 7', '--by', 'ana'];

/** Runs `unclaimed …`. */
const unclaimed = async (...args: string[]) => {
  const lines: string[] = [];
  const { client, pool: db } = payments;
  const networks = [{ name: 'sepolia', chainId: SEPOLIA }];
  const print = (line: string) => void lines.push(line);
  const code = await executeUnclaimed(args, { client, db, networks, now: () => new Date(), print });
  return { code, lines };
};
const refusalOf = (...args: string[]): Promise<string> =>
  unclaimed(...args).then(
    ({ lines }) => `no refusal: ${lines.join()}`,
    (error: Error) => error.message,
  );

/** As orders, which names the sighting that it decides on. */
const appliedAsSeen: Decide = (payment, confirmed) => ({ ...applied(payment, confirmed), sighting: payment.sighting });

let deposits = 0;
/** A report of money at an address of no order. */
const deposit = (changes: object = {}) => {
  deposits += 1;
  return {
    ...report('', { order_id: undefined, address: `0xUNKNOWN${deposits}`, rail: 'crypto_deposit' }),
    provider_id: `${SEPOLIA}/0xf00d${deposits}:0`,
    tx_hash: `0xf00d${deposits}`,
    asset: `${SEPOLIA}/erc20:0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238`,
    ...changes,
  };
};
const receive = async (body: object = deposit()) => {
  const { payment } = await payments.register(body);
  expect(payment).toMatchObject({ status: 'orphan', merchant_id: UNCLAIMED_MERCHANT });
  return { id: payment.id, body };
};
const projected = (id: string, row: object) =>
  until(async () => {
    const found = (await payments.rowOf(id)) as Record<string, unknown>;
    return Object.entries(row).every(([name, value]) => found[name] === value) && found;
  });

/** Makes a payment older in the read model. */
const ageBy = (interval: string, id: string) =>
  payments.pool.query('update payments.payments set created_at = now() - $1::interval where id = $2', [interval, id]);

test('lists money of no known order with its age, network and address, and no character of a provider harms', async () => {
  const toAddress = await receive();
  const toOrder = await receive(report('=cmd,"x"\n\u001b[2J'));
  const ofToday = await receive();
  const { provider_id, asset, tx_hash, address } = toAddress.body as ReturnType<typeof deposit> & { address: string };
  await payments.pool.query("insert into payments.unshown_addresses values ($1, 'f00dcafe', 7)", [address]);
  await ageBy('3 days 4 hours', toAddress.id);
  await ageBy('24 hours', toOrder.id);
  await ageBy('23 hours 30 minutes', ofToday.id);
  const { code, lines } = await unclaimed('list');
  expect(code).toBe(1);
  expect(lines[0]).toBe(
    'payment,network,asset,amount,currency,address,account,order,transaction,provider_id,received_at,age',
  );
  const lineOf = (id: string) => lines.find((line) => line.startsWith(id))!;
  expect(lineOf(toAddress.id)).toMatch(
    new RegExp(
      `^${toAddress.id},sepolia,${asset},10.000000,USDC,${address},f00dcafe,,${tx_hash},${provider_id},[^,]+,3d 4h$`,
    ),
  );
  expect(lineOf(toOrder.id)).toMatch(/,,"'=cmd,""x"" \[2J",,tx-\d+,[^,]+,1d 0h$/);
  expect(lineOf(ofToday.id)).toMatch(/,23h 30m$/);
  await payments.pool.query(
    `update payments.payments set resource = jsonb_set(resource::jsonb, '{provider_id}', '"eip155:999/0x1:0"') where id = $1`,
    [toAddress.id],
  );
  expect((await unclaimed('list')).lines.join('\n')).toContain(`${toAddress.id},eip155:999,`);
  for (const { id } of [toAddress, toOrder, ofToday]) {
    await unclaimed('return', id, ...REASON);
    await projected(id, { status: 'refunded' });
  }
  expect(await unclaimed('list')).toEqual({ code: 0, lines: [lines[0]] });
});

test('gives money to an order, which decides on it', async () => {
  const orderId = await payments.createOrder(appliedAsSeen);
  const { id, body } = await receive();
  const { lines } = await unclaimed('assign', id, '--order', orderId, ...REASON);
  expect(lines).toEqual([expect.stringContaining(`${id}: 10.000000 USDC was assigned to ${orderId} of ${MERCHANT}`)]);
  await projected(id, { merchant_id: MERCHANT, order_id: orderId, status: 'received' });
  // The next report goes to the order; so does the message on Kafka.
  const { payment, order } = await payments.register(body);
  expect(payment).toMatchObject({ order_id: orderId, merchant_id: MERCHANT, status: 'applied' });
  expect(order).toMatchObject({ id: orderId });
  expect(await payments.typesOf(id)).toEqual([
    'PaymentReceived',
    'PaymentOrphaned',
    'PaymentAssigned',
    'PaymentApplied',
  ]);
  expect(await payments.call('GET', `/orders/${orderId}/history?from=${BEGINNING}&to=${END}`)).toMatchObject({
    status: 200,
    body: {
      messages: [
        { message: { type: 'PaymentReceived' } },
        { message: { type: 'PaymentOrphaned' } },
        { message: { type: 'PaymentAssigned', data: { by: 'ana', reason: 'ticket 7' } } },
        { message: { type: 'PaymentApplied' } },
      ],
    },
  });
  const { lines: again } = await unclaimed('assign', id, '--order', orderId, '--reason', 'again', '--by', 'ben');
  expect(again).toEqual([expect.stringContaining('was already assigned')]);
  const other = await payments.createOrder(appliedAsSeen);
  const already = `the payment was already assigned to ${orderId} of ${MERCHANT} by ana`;
  expect(await refusalOf('assign', id, '--order', other, ...REASON)).toContain(already);
  expect(await refusalOf('assign', id, '--merchant', MERCHANT, ...REASON)).toContain(already);
  expect(await refusalOf('return', id, ...REASON)).toContain(already);
  expect(await payments.typesOf(id)).toHaveLength(4);
});

test('gives money to a merchant, who refunds it through the service that knew it as unclaimed', async () => {
  const { id } = await receive();
  const refund = { merchant_id: MERCHANT, refund_id: newId('refund'), amount: '4' };
  expect((await payments.call('POST', `/payments/${id}/refunds`, refund)).status).toBe(404);
  await unclaimed('assign', id, '--merchant', MERCHANT, ...REASON);
  const row = await projected(id, { merchant_id: MERCHANT, status: 'orphan' });
  expect(row.resource).toMatchObject({ orphan_reason: 'unknown_address', merchant_id: MERCHANT });
  expect(await payments.call('POST', `/payments/${id}/refunds`, refund)).toMatchObject({
    status: 200,
    body: { payment: { status: 'orphan', refunded_amount: '4.000000' } },
  });
});

test('records that money was returned, and shows who decided why', async () => {
  const { id } = await receive();
  await unclaimed('return', id, '--tx', '0xback', ...REASON);
  expect((await unclaimed('return', id, ...REASON)).lines).toEqual([
    `${id}: 10.000000 USDC was already marked as returned to its sender`,
  ]);
  const { lines } = await unclaimed('show', id);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { type: 'PaymentReceived' },
    { type: 'PaymentOrphaned' },
    {
      type: 'PaymentRefunded',
      actor: 'service:admin',
      data: { by: 'ana', reason: 'ticket 7', txHash: '0xback', amountMinor: '10000000' },
    },
  ]);
  expect(await refusalOf('assign', id, '--merchant', MERCHANT, ...REASON)).toContain('already marked as returned');
});

test('refuses to assign money that a reorganization takes away in the same moment', async () => {
  const orderId = await payments.createOrder(appliedAsSeen);
  const { id, body } = await receive();
  const { client } = payments;
  const append = client.appendToStream.bind(client);
  client.appendToStream = async (...call: Parameters<typeof append>) => {
    client.appendToStream = append;
    const failed = { type: 'FailPayment', failureReason: 'reorg', at: new Date() } as const;
    await payments.anotherHandler().handle(id, failed, CONTEXT);
    return append(...call);
  };
  expect(await refusalOf('assign', id, '--order', orderId, ...REASON)).toContain('the payment failed (reorg)');
  expect(await payments.typesOf(id)).toEqual(['PaymentReceived', 'PaymentOrphaned', 'PaymentFailed']);
  // Mined again, it is unclaimed again.
  await receive(body);
  await unclaimed('assign', id, '--order', orderId, ...REASON);
  expect((await payments.register(body)).payment).toMatchObject({ order_id: orderId, status: 'applied' });
});

test('money that a reorganization takes away after the assignment fails at its order', async () => {
  const orderId = await payments.createOrder(appliedAsSeen);
  const { id, body } = await receive();
  await unclaimed('assign', id, '--order', orderId, ...REASON);
  const { notices } = payments.stub;
  const before = notices.length;
  expect(await payments.call('POST', `/payments/${id}/failure`, { failure_reason: 'reorg' })).toMatchObject({
    status: 200,
    body: { payment: { status: 'failed', order_id: orderId, merchant_id: MERCHANT } },
  });
  expect(notices.slice(before)).toMatchObject([{ failure_reason: 'reorg', payment: { id } }]);
  payments.stub.resetDecision(id);
  expect((await payments.register(body)).payment).toMatchObject({ order_id: orderId, merchant_id: MERCHANT });
  expect(await payments.typesOf(id)).toContain('PaymentReinstated');
});

test.each<[string, string[], RegExp | string]>([
  ['money of a merchant', ['assign', 'OWNED', '--merchant', MERCHANT, ...REASON], 'the payment is not unclaimed'],
  ['money of a merchant', ['return', 'OWNED', ...REASON], 'the payment is not unclaimed'],
  ['an unknown order', ['assign', 'ANY', '--order', newId('order'), ...REASON], /^there is no order ord_/],
  ['what is no order', ['assign', 'ANY', '--order', 'ord_7', ...REASON], 'ord_7 is not an order id'],
  ['an unknown merchant', ['assign', 'ANY', '--merchant', newId('merchant'), ...REASON], /^there is no merchant mer_/],
  ['no merchant', ['assign', 'ANY', '--merchant', UNCLAIMED_MERCHANT, ...REASON], 'is not the id of a merchant'],
  ['two owners', ['assign', 'ANY', '--merchant', MERCHANT, '--order', newId('order'), ...REASON], 'give either'],
  ['no owner', ['assign', 'ANY', ...REASON], 'give either --order or --merchant'],
  [
    'no reason',
    ['assign', 'ANY', '--merchant', MERCHANT, '--by', 'ana'],
    "required option '--reason <text>' not specified",
  ],
  ['an empty reason', ['return', 'ANY', '--reason', ' '], '--reason is empty'],
  ['a long reason', ['return', 'ANY', '--reason', 'x'.repeat(501)], '--reason is longer than 500 characters'],
  ['an option of another command', ['return', 'ANY', '--order', 'x', ...REASON], "unknown option '--order'"],
  ['an unknown payment', ['return', newId('payment'), ...REASON], 'the payment does not exist'],
  ['an unknown payment', ['show', newId('payment')], /^there is no payment pay_/],
  ['what is no payment', ['show', 'pay_7'], 'pay_7 is not a payment id'],
  ['another command', ['claim', 'ANY'], "unknown command 'claim'"],
  ['a name of every object', ['constructor', 'ANY'], "unknown command 'constructor'"],
])('refuses %s: %j', async (_, args, message) => {
  const { payment } = await payments.register(report(payments.addOrder(applied)));
  const { id } = await receive();
  const given = args.map((arg) => arg.replace(/^OWNED$/, payment.id).replace(/^ANY$/, id));
  expect(await refusalOf(...given)).toMatch(message);
  expect(await payments.typesOf(id)).toEqual(['PaymentReceived', 'PaymentOrphaned']);
});

test('refuses to take a merchant on trust if the database does not show merchants to the user', async () => {
  const { id } = await receive();
  await payments.pool.query('alter table gateway.merchant_ids rename to hidden');
  const refusal = await refusalOf('assign', id, '--merchant', MERCHANT, ...REASON).finally(() =>
    payments.pool.query('alter table gateway.hidden rename to merchant_ids'),
  );
  expect(refusal).toMatch('cannot read gateway.merchant_ids: use one that can');
  expect(await payments.typesOf(id)).toEqual(['PaymentReceived', 'PaymentOrphaned']);
});

test('refuses a deleted order, although its merchant is known', async () => {
  const orderId = await payments.createOrder(appliedAsSeen);
  await payments.events.deleted(orderId, []);
  const { id } = await receive();
  expect(await refusalOf('assign', id, '--order', orderId, ...REASON)).toMatch(`there is no order ${orderId}`);
});

test('counts what nobody resolved, and how old the oldest is, by currency', async () => {
  const registry = createServiceMetrics({ totals: () => ({}) });
  unclaimedMetrics(registry, payments.pool);
  const shown = async (name: string) =>
    Number(new RegExp(`^${name}{currency="ETH"} (.+)$`, 'm').exec(await registry.metrics())?.[1]);
  expect(await shown('unclaimed_payments')).toBe(NaN);
  const [first, second] = [await receive(deposit({ currency: 'ETH' })), await receive(deposit({ currency: 'ETH' }))];
  await ageBy('2 days', first.id);
  expect(await shown('unclaimed_payments')).toBe(2);
  expect(Math.floor((await shown('unclaimed_oldest_age_seconds')) / 60)).toBe(2 * 24 * 60);
  await unclaimed('assign', first.id, '--merchant', MERCHANT, ...REASON);
  await projected(first.id, { merchant_id: MERCHANT });
  expect(await shown('unclaimed_payments')).toBe(1);
  expect(await shown('unclaimed_oldest_age_seconds')).toBeLessThan(24 * 60 * 60);
  await unclaimed('return', second.id, ...REASON);
  await projected(second.id, { status: 'refunded' });
  expect(await shown('unclaimed_payments')).toBe(NaN);
});

test('PostgreSQL that was lost gets the same rows and counts from the event store', async () => {
  const { pool, client } = payments;
  const projection = paymentProjection(client);
  const rows = async () =>
    (await pool.query('select id, merchant_id, order_id, status, resource::text from payments.payments order by id'))
      .rows;
  await rebuild(payments.shadowTableOptions());
  const before = await rows();
  await pool.query('truncate payments.payments, payments.refunds');
  await rebuild(payments.shadowTableOptions());
  expect(await rows()).toEqual(before);
  expect(await verify(payments.shadowTableOptions())).toMatchObject({ differ: 0 });
  expect(await verifyCounts(pool, projection)).toMatchObject({ differ: 0 });
});
