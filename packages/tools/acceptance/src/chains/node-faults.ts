import type { ChainNode } from '@cpg/local-chain';
import { chainMetric, untilChain } from '../harness/chains.ts';
import type { NodeRoute } from '../harness/proxies.ts';
import type { Stack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import type { Deposit, Desk, Expected } from './desk.ts';

/** A stack that reads its chain through a route. */
export interface RoutedStack {
  readonly stack: Stack;
  readonly network: string;
  readonly route: NodeRoute;
}

export interface NodeFault {
  /** Resolves once operators can see the fault. */
  readonly begin: (unpaid: Deposit) => Promise<void>;
  readonly end: () => Promise<void>;
}

const untilLogged = ({ log }: Stack, text: string) =>
  until(`the log to say "${text}"`, () => log.some((line) => line.includes(text)));

/** Blocks the route until log and metrics say so. Resolves to a function that ends the block. */
const takeNodeDown = async ({ stack, network, route }: RoutedStack) => {
  const faults = () => chainMetric(stack, 'chain_node_faults_total', network);
  const before = (await faults()) ?? 0;
  stack.log.length = 0;
  const unblock = await route.block();
  await untilLogged(stack, 'reading of the chain failed');
  await until('a metric to count the faults', async () => ((await faults()) ?? 0) > before);
  return unblock;
};

/** The fault of a node that is down. */
export const nodeDown = (routed: RoutedStack): NodeFault => {
  let end: () => Promise<void>;
  return {
    begin: async () => void (end = await takeNodeDown(routed)),
    end: () => end(),
  };
};

/** Another node takes the place of one that went down. */
export const replaceNode = async (routed: RoutedStack, node: ChainNode): Promise<void> => {
  const unblock = await takeNodeDown(routed);
  routed.route.leadTo(node);
  await unblock();
};

/** Another node takes the place of one that goes on to run, so nothing was unreachable. */
export const swapNode = async ({ stack, route }: RoutedStack, node: ChainNode): Promise<void> => {
  stack.log.length = 0;
  route.leadTo(node);
};

/** Waits until log and health say that the node is behind the blocks that were read. */
export const untilBehind = async ({ stack, network }: RoutedStack): Promise<void> => {
  await untilLogged(stack, 'the nodes are behind');
  await untilChain(stack, network, ({ tip, height }) => tip! < height!);
};

/** Waits until log, metric and health say that reading halted, with the reason. */
export const untilHalted = async ({ stack, network }: RoutedStack, reason: RegExp): Promise<void> => {
  await untilLogged(stack, 'reading of the chain halted');
  const { halted } = await untilChain(stack, network, (state) => state.halted !== undefined);
  expect(halted).toMatch(reason);
  expect(await chainMetric(stack, 'chain_halted', network)).toBe(1);
};

/** Pays one order before, one during and one after a fault of the node: each is paid once, and the
 *  second only when the fault is over. `pay` confirms a payment on the real chain, and resolves to
 *  its transaction. */
export const payThrough = async (
  desk: Desk,
  open: () => ReturnType<Desk['order']>,
  pay: (deposit: Deposit) => Promise<string>,
  { begin, end }: NodeFault,
): Promise<void> => {
  const paidBy = (tx_hash: string): Expected => ({ status: 'paid', payments: [{ status: 'applied', tx_hash }] });
  const [before, during, after] = [await open(), await open(), await open()];
  const first = paidBy(await pay(before.deposit));
  await desk.hears(before.order.id, first);

  await begin(during.deposit);
  const second = paidBy(await pay(during.deposit));
  expect(await desk.shop.api.order(during.order.id)).toEqual(during.order);
  await desk.sees(before.order.id, first);

  await end();
  await desk.hears(during.order.id, second);
  const third = paidBy(await pay(after.deposit));
  await desk.hears(after.order.id, third);
  await desk.sees(before.order.id, first);
};
