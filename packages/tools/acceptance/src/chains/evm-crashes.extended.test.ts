import { evmAssetOf, pay } from '@cpg/local-chain';
import { chainMetric, holdTransfers, LOCAL_NETWORK } from '../harness/chains.ts';
import { freeze } from '../harness/process-tree.ts';
import { until } from '../harness/until.ts';
import type { Deposit, Expected } from './desk.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';

const INSTANCES_APART = 100;
const PAID: Expected = { status: 'paid', payments: [{ status: 'applied' }] };

onEvm('crashes between a block and its commit', () => {
  let evm: EvmStack;
  beforeAll(async () => (evm = await startEvmStack(1, { scale: 'payments=2' })));
  afterAll(() => evm?.stop());

  const payDue = ({ asset, address, amount_units }: Deposit) =>
    pay(evm.call, evmAssetOf(asset), address, BigInt(amount_units));
  /** An order whose payment was read from its block, and not committed. */
  const readButNotCommitted = async () => {
    const { order, deposit } = await evm.desk.order();
    const held = await holdTransfers(evm.stack);
    await payDue(deposit);
    await held.areWaitedFor();
    return { order, held };
  };
  const isPaidOnce = async (orderId: string) => {
    const { events } = await evm.desk.hears(orderId, PAID);
    const decisions = events.filter((event) => ['order:paid', 'payment:applied'].includes(event));
    // A failure shows all events.
    expect({ events, decisions }).toEqual({ events, decisions: ['order:paid', 'payment:applied'] });
  };

  /** Only the instance that reads the chain has its metrics. */
  const reads = async (instance: number): Promise<boolean> => {
    const url = new URL(evm.stack.environment.PAYMENTS_URL!);
    url.port = String(Number(url.port) + instance * INSTANCES_APART);
    return (await chainMetric(evm.stack, 'chain_read_height', LOCAL_NETWORK, url.origin)) !== null;
  };
  const leader = () =>
    until('an instance that reads the chain', async () => ((await reads(1)) ? 1 : (await reads(2)) && 2));

  test('an order is paid once after kill -9 of the instance that reads the chain', async () => {
    const { order, held } = await readButNotCommitted();
    await evm.stack.kill(`payments-${await leader()}`);
    await held.release();
    await isPaidOnce(order.id);
  });

  test('an order is paid once after kill -9 of PostgreSQL', async () => {
    const { order, held } = await readButNotCommitted();
    await evm.stack.kill('postgres');
    await held.release();
    await isPaidOnce(order.id);
  });

  test('a frozen instance is replaced, and changes nothing when it resumes', async () => {
    const frozen = await leader();
    const { order, held } = await readButNotCommitted();
    const history = async () => (await evm.desk.shop.api.history(order.id)).items;
    const resume = freeze(evm.stack.pidOf(`payments-${frozen}`)!);
    let before;
    try {
      await held.release();
      await isPaidOnce(order.id);
      before = await history();
    } finally {
      resume();
    }
    await until('the frozen instance to stop reading', async () => !(await reads(frozen)));
    const { order: later, deposit } = await evm.desk.order();
    await payDue(deposit);
    await isPaidOnce(later.id);
    expect(await history()).toEqual(before);
  });
});
