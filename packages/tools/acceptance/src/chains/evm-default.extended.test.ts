import { evmAssetOf, mineBlocks, mined, pay, reorganize } from '@cpg/local-chain';
import { EventStoreDBClient } from '@eventstore/db-client';
import { rpcOf, LOCAL_NETWORK } from '../harness/chains.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { readOrderStream } from '../harness/order-stream.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { type Desk, openDesk } from './desk.ts';
import { onEvm } from './evm-stack.ts';

onEvm('the chain that npm start runs', () => {
  let stack: Stack;
  let desk: Desk;
  beforeAll(async () => {
    stack = await startStack({ env: { CHAIN: 'on' } });
    desk = await openDesk(stack, LOCAL_NETWORK);
  });
  afterAll(async () => {
    await desk?.close();
    await stack?.stop();
  });

  test('an order is paid on it, and stays paid when a reorganization moves the payment', async () => {
    const call = rpcOf(stack)!;
    const { order, deposit } = await desk.order();
    const paid = await pay(call, evmAssetOf(deposit.asset), deposit.address, BigInt(deposit.amount_units));
    const tx_hash = paid.transactionHash;
    await desk.hears(order.id, { status: 'paid', payments: [{ status: 'applied', tx_hash }] });
    await mineBlocks(call);
    await reorganize(call, 2, [{ hash: tx_hash, block: 1 }]);
    const { blockNumber, blockHash } = await mined(call, tx_hash);
    const block = { height: Number(blockNumber), hash: blockHash };
    await desk.sees(order.id, { status: 'paid', payments: [{ status: 'applied', tx_hash, block }] });
  });

  test('money at the address behind a payment page is a payment of the page', async () => {
    const order = await desk.shop.api.createOrder(orderBody({ enable_rails: ['gateway_pay'] }));
    const { asset, address } = await behindPage(stack, order.id);
    const paid = await pay(rpcOf(stack)!, evmAssetOf(asset), address, 10_000_000n);
    const payment = { status: 'applied', payment_rail: 'gateway_pay', tx_hash: paid.transactionHash } as const;
    const { events } = await desk.hears(order.id, { status: 'paid', payments: [payment] });
    expect(events).toEqual(expect.arrayContaining(['payment:applied', 'order:paid']));
  });
});

/** The deposit address that the page of an order shows, as recorded. */
const behindPage = async ({ eventstoreUrl }: Stack, orderId: string) => {
  const client = EventStoreDBClient.connectionString(eventstoreUrl);
  try {
    const [created] = (await readOrderStream(client, orderId))!;
    if (created?.event.type !== 'OrderCreated') throw new Error('the order has no creation');
    const page = created.event.data.instructions?.[0];
    if (page?.rail !== 'gateway_pay') throw new Error('the order has no payment page');
    return page.deposits![0]!;
  } finally {
    await client.dispose();
  }
};
