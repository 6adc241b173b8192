import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Checkout, Order } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import { orderOf, paymentOf, projectOrder } from '../../testing/jest-resources.ts';

const CHAIN = 'eip155:8453';
const TRANSFER = `0x${'ab'.repeat(32)}:0`;

let gateway: TestGateway;
let url: string;
let order: Order;
const reference = 'REFERENCE';

beforeAll(async () => {
  gateway = await startGateway();
  const merchant = await gateway.merchant();
  order = orderOf(newId('order'), merchant.id, { status: 'awaiting_payment', payments: [] });
  gateway.payments.respond = () => ({
    status: 200,
    body: {
      order_id: order.id,
      merchant_id: merchant.id,
      deposits: [
        {
          rail: 'gateway_pay',
          network: 'base',
          chain_id: CHAIN,
          asset: `${CHAIN}/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913`,
          address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
          decimals: 6,
          required_confirmations: 12,
          explorer: 'https://basescan.org',
        },
      ],
    },
  });
  await projectOrder(gateway.pool, order);
  await gateway.pool.query("insert into payments.chain_cursors (network, height) values ('base', 100)");
  await gateway.app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(gateway.app.server.address() as { port: number }).port}/pay/${reference}`;
});
afterAll(() => gateway.close());

/** Opens the stream of the page. `next` resolves with the next version that it tells. */
const openStream = async () => {
  const [response] = (await once(get(`${url}/events`, { agent: false }), 'response')) as [IncomingMessage];
  const versions: string[] = [];
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    for (const [, version] of text.matchAll(/event: changed\ndata: (.*)\n/g)) versions.push(version!);
  });
  const next = async () => {
    while (versions.length === 0) await sleep(10);
    return versions.shift()!;
  };
  return { response, next };
};
const fetchPage = async (accept: string) => (await fetch(url, { headers: { accept, connection: 'close' } })).text();
const shownVersion = async () => /data-version="(\w+)"/.exec(await fetchPage('text/html'))![1];
const checkout = async () => JSON.parse(await fetchPage('application/json')) as Checkout;

/** Changes the row of the order, as its projection does. */
const change = async (more: Partial<Order>) => {
  order = { ...order, ...more };
  await gateway.pool.query('update orders.orders set revision = revision + 1, resource = $2 where id = $1', [
    order.id,
    order,
  ]);
};

test('tells each version that the page has: as it was opened, a payment, a block, and the end', async () => {
  const { response, next } = await openStream();
  const first = await next();
  expect(first).toBe(await shownVersion());

  const payment = paymentOf(newId('payment'), order.merchant_id, {
    order_id: order.id,
    status: 'received',
    provider_id: `${CHAIN}/${TRANSFER}`,
    tx_hash: TRANSFER.slice(0, 66),
  });
  await gateway.pool.query(
    `insert into payments.chain_transfers (network, id, address, asset, units, seen_at, height)
     values ('base', $1, '0x', 'usdc', 1, now(), 100)`,
    [TRANSFER],
  );
  await change({ payments: [payment] });
  const seen = await next();
  expect(seen).toBe(await shownVersion());
  expect((await checkout()).payments).toMatchObject([
    { confirmations: 1, tx_url: `https://basescan.org/tx/${payment.tx_hash}` },
  ]);

  await gateway.pool.query("update payments.chain_cursors set height = 101 where network = 'base'");
  const deeper = await next();
  expect(deeper).toBe(await shownVersion());
  expect((await checkout()).payments).toMatchObject([{ confirmations: 2 }]);

  // What the payer does not see changes nothing: the next version is that of the deletion.
  await change({ metadata: { table: 'B8' } });
  await gateway.pool.query(
    'update orders.orders set deleted = true, resource = null, revision = revision + 1 where id = $1',
    [order.id],
  );
  expect(await next()).toBe('deleted');
  if (!response.readableEnded) await once(response, 'end');
  expect(new Set([first, seen, deeper]).size).toBe(3);
});

test('answers a stream of an unknown page as the page', async () => {
  gateway.payments.respond = () => ({ status: 404, body: { code: 'not_found', message: 'none' } });
  const [stream, page] = await Promise.all(
    [`${url}X/events`, `${url}X`].map(async (each) => {
      const { status, headers } = await fetch(each, { headers: { accept: 'text/html', connection: 'close' } });
      return [status, headers.get('content-type')];
    }),
  );
  expect(stream).toEqual(page);
});
