import { evmAssetOf, pay } from '@cpg/local-chain';
import { type Desk, openDesk } from './chains/desk.ts';
import { chainOf, LOCAL_NETWORK } from './harness/chains.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
const call = chainOf(stack);
/** The stack runs no chain where npm has no binary for the platform. */
const onChain = call ? test : test.skip;
let desk: Desk;

afterAll(() => desk?.close());

onChain('money on the chain of the stack pays an order, and Kafka and the webhook tell it', async () => {
  desk = await openDesk(stack, LOCAL_NETWORK);
  const { order, deposit } = await desk.order();
  const paid = await pay(call!, evmAssetOf(deposit.asset), deposit.address, BigInt(deposit.amount_units));
  const payment = { status: 'applied', tx_hash: paid.transactionHash } as const;
  const { events } = await desk.hears(order.id, { status: 'paid', payments: [payment] });
  expect(events).toEqual(expect.arrayContaining(['payment:applied', 'order:paid']));
});
