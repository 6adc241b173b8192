import type { Order } from '@cpg/contracts';
import { evmAssetOf, pay } from '@cpg/local-chain';
import type { Deposit } from '../chains/desk.ts';
import { onEvm } from '../chains/evm-stack.ts';
import { type Api, createApi } from '../harness/api.ts';
import { chainOf, LOCAL_NETWORK } from '../harness/local-chain.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { serviceAdmin } from '../harness/service-admin.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { buildEarlierVersion, type EarlierVersion, hasCommit } from './earlier-version.ts';

/** The last commit with a local chain that recorded no account keys. It read no chains. */
const EARLIER = '52765af';
/** The account key of the earlier version. This version derives none of its addresses. */
const EARLIER_KEY =
  'xpub6Bk1cJ7i6nLHqG7gmaUCBPKkFhBEuof5RyAjrooUtipo2yBKWz66YigEs1zYQ299R17VMtEdw5wcyqTRA9e5ZE9c9vvhTgjVpzwpZHNQMRj';
const SLOW = 600_000;
const RECOVERS_WITHIN_MS = 60_000;

const isThere = await hasCommit(EARLIER);
if (!isThere) console.warn(`skipped: this checkout does not have commit ${EARLIER}; a full clone has it`);

(isThere ? onEvm : describe.skip)('open orders with addresses of an earlier version and an earlier account key', () => {
  let earlier: EarlierVersion;
  let stack: Stack;
  let api: Api;
  let paidBefore: Order;
  let txHash: string;
  let unpaid: Order;

  beforeAll(async () => {
    earlier = await buildEarlierVersion(EARLIER);
    const old = await startStack({ launcher: earlier.launcher, env: { CHAIN: 'on', EVM_XPUB: EARLIER_KEY } });
    api = createApi(old);
    paidBefore = await api.createOrder(orderBody());
    unpaid = await api.createOrder(orderBody());
    txHash = await payOrder(old, paidBefore);
    await old.interrupt();
    stack = await old.startThisVersion({ EVM_XPUB: '' });
  }, SLOW);

  afterAll(async () => {
    await api?.close();
    await stack?.stop();
    earlier?.remove();
  }, SLOW);

  const isPaidBy = (orderId: string, txHash: string) =>
    until(
      `order ${orderId} is paid`,
      async () => {
        const { status, payments } = await api.order(orderId);
        return status === 'paid' && payments.length === 1 && payments[0]!.tx_hash === txHash;
      },
      { withinMs: RECOVERS_WITHIN_MS },
    );

  test(
    'money that came before the upgrade pays its order',
    async () => {
      await isPaidBy(paidBefore.id, txHash);
    },
    SLOW,
  );

  test(
    'money that comes after the upgrade pays its order at the address that it showed before',
    async () => {
      expect(depositOf(await api.order(unpaid.id)).address).toBe(depositOf(unpaid).address);
      await isPaidBy(unpaid.id, await payOrder(stack, unpaid));
    },
    SLOW,
  );

  test(
    'an order that is created after the upgrade is paid too',
    async () => {
      const order = await api.createOrder(orderBody());
      await isPaidBy(order.id, await payOrder(stack, order));
    },
    SLOW,
  );

  test(
    'passes audit verify and projections verify',
    async () => {
      for (const command of ['audit verify', 'projections verify'])
        expect([command, await serviceAdmin(stack, 'payments', command).outcome()]).toEqual([
          command,
          { code: 0, output: expect.any(String) },
        ]);
    },
    SLOW,
  );
});

const depositOf = ({ deposit_instructions }: Order): Deposit =>
  deposit_instructions.find(
    (each): each is Deposit => each.rail === 'crypto_deposit' && each.network === LOCAL_NETWORK,
  )!;

/** Pays an order on the chain of a stack. Resolves to the transaction. */
const payOrder = async (stack: Stack, order: Order): Promise<string> => {
  const { asset, address, amount_units } = depositOf(order);
  return (await pay(chainOf(stack)!, evmAssetOf(asset), address, BigInt(amount_units))).transactionHash;
};
