import { type NodeProxy, startNodeProxy } from '../../testing/jest-node-proxy.ts';
import { agreedPositions, type Head, staleAfterMs, timesOfBlocks } from './agreement.ts';
import type { NodeFault } from '../chain-source.ts';
import { type Nodes, openNodes } from './nodes.ts';

const NOON_MS = Date.parse('2026-01-31T12:00:00.000Z');
const MINUTE_MS = 60_000;
const STALE_MS = 3 * MINUTE_MS;

/** What a node shows: blocks a minute apart, the last one at `nowMs` unless it is frozen. */
interface Shown {
  height: number;
  time: number;
  /** The first block of another branch. */
  fork?: number;
}

let nowMs: number;
/** By how much the wall clock was set. */
let setMs: number;
let shown: Shown[];
let proxies: NodeProxy[];
let nodes: Nodes;
let faults: { fault: NodeFault; node: number; message: string }[];

const hashOf = ({ fork }: Shown, at: number) => `${fork !== undefined && at >= fork ? 'other' : 'main'}-${at}`;

const open = async (count: number, staleMs: number | null = STALE_MS) => {
  nowMs = NOON_MS;
  setMs = 0;
  faults = [];
  shown = Array.from({ length: count }, () => ({ height: 100, time: NOON_MS }));
  proxies = await Promise.all(
    shown.map((node) =>
      startNodeProxy(({ method, params: [at] }) =>
        Promise.resolve(
          method === 'head'
            ? { height: node.height, hash: hashOf(node, node.height), time: node.time }
            : (at as number) > node.height
              ? null
              : hashOf(node, at as number),
        ),
      ),
    ),
  );
  nodes = openNodes(
    {
      urls: proxies.map(({ url }) => url),
      nowMs: () => nowMs,
      busyWaitsMs: [],
      onFault: (fault, node, { message }) => faults.push({ fault, node, message }),
    },
    async () => {},
  );
  return agreedPositions(
    nodes,
    {
      head: async (node) => {
        const { time, ...ref } = (await node.call('head')) as Omit<Head, 'time'> & { time: number };
        return { ...ref, time: new Date(time) };
      },
      hashAt: async (node, height) => (await node.call('hash', [height])) as string | null,
    },
    { staleMs, now: () => new Date(nowMs + setMs), nowMs: () => nowMs },
  );
};
afterEach(async () => {
  await nodes.close();
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

/** A minute passes, and these nodes show a new block. */
const mine = (...numbers: number[]) => {
  nowMs += MINUTE_MS;
  for (const number of numbers) {
    shown[number - 1]!.height += 1;
    shown[number - 1]!.time = nowMs;
  }
};

test('reports nodes that differ as a fault of each side, and names them', async () => {
  const positions = await open(2);
  shown[1]!.fork = 1;
  const text = 'the nodes differ on the block at height 7: node 1 says main-7, node 2 says other-7';
  await expect(positions.at(7)).rejects.toThrow(text);
  expect(faults).toEqual([1, 2].map((node) => ({ fault: 'disagreement', node, message: text })));
});

test('names only the one node that differs from two others', async () => {
  const positions = await open(3);
  shown[1]!.fork = 1;
  await expect(positions.tip()).rejects.toThrow('nodes 1 and 3 say main-100, node 2 says other-100');
  expect(faults.map(({ node }) => node)).toEqual([2]);
});

test('a frozen node holds the others back only until its newest block is too old', async () => {
  const positions = await open(2);
  mine(1);
  expect(await positions.tip()).toMatchObject({ height: 100, isNewest: false });
  mine(1);
  mine(1);
  expect(await positions.tip()).toMatchObject({ height: 100, isNewest: false });
  expect(faults).toEqual([]);
  mine(1);
  expect(await positions.tip()).toEqual({ height: 104, hash: 'main-104', isNewest: true, stalled: null });
  expect(await positions.at(103)).toEqual({ height: 103, hash: 'main-103' });
  expect(faults).toMatchObject([
    { fault: 'stale', node: 2, message: 'node 2 shows nothing newer than block 100 of 2026-01-31T12:00:00.000Z' },
  ]);
  expect(positions.nodes()).toMatchObject([
    { number: 1, height: 104, isUsed: true },
    { number: 2, height: 100, isUsed: false },
  ]);

  Object.assign(shown[1]!, shown[0]);
  mine(1);
  expect(await positions.tip()).toMatchObject({ height: 104, isNewest: false });
  expect(positions.nodes()).toMatchObject([{ isUsed: true }, { isUsed: true }]);
});

test('a node that is ahead on an invented branch does not win', async () => {
  const positions = await open(2);
  Object.assign(shown[1]!, { height: 5_000, fork: 101 });
  for (let minute = 0; minute < 10; minute += 1) {
    shown[1]!.time = nowMs;
    expect(await positions.tip()).toMatchObject({ height: 100, hash: 'main-100', isNewest: false });
    if (minute === 0) mine(1);
    else nowMs += MINUTE_MS / 10;
  }
  await expect(positions.at(101)).rejects.toThrow(
    'the nodes differ on the block at height 101: node 1 says main-101, node 2 says other-101',
  );
});

test('says that the chain stalled while every node is frozen, and at once that it is current again', async () => {
  const positions = await open(2);
  shown[1]!.height = 99;
  nowMs += STALE_MS;
  expect(await positions.tip()).toMatchObject({ height: 99, stalled: undefined });
  nowMs += 1;
  const { stalled } = await positions.tip();
  expect(stalled).toBe(
    'the newest block of each node is older than 3 minutes: node 1 has block 100 of 2026-01-31T12:00:00.000Z, ' +
      'node 2 has block 99 of 2026-01-31T12:00:00.000Z',
  );
  mine(1);
  expect(await positions.tip()).toMatchObject({ height: 101, stalled: null, isNewest: true });
});

test('a chain whose blocks come on demand is current, however old its newest block is', async () => {
  const positions = await open(1, null);
  nowMs += 30 * 24 * 60 * MINUTE_MS;
  expect(await positions.tip()).toMatchObject({ isNewest: true, stalled: null });
});

test.each([-1, 1])('waits as long for a node although the wall clock moves by %s hours', async (hours) => {
  const positions = await open(2, null);
  mine(1);
  expect(await positions.tip()).toMatchObject({ height: 100, stalled: undefined });
  setMs = hours * 60 * MINUTE_MS;
  expect(await positions.tip()).toMatchObject({ height: 100, stalled: undefined });
  nowMs += 3 * MINUTE_MS;
  expect((await positions.tip()).stalled).toMatch(/^since 2026-01-31T12:01:00.000Z the nodes do not agree/);
});

test('says that the chain stalled when a node lacks a block for long that it cannot be proven to lack', async () => {
  const positions = await open(2, null);
  mine(1);
  expect(await positions.tip()).toMatchObject({ height: 100, isNewest: false, stalled: undefined });
  nowMs += 3 * MINUTE_MS;
  expect((await positions.tip()).stalled).toMatch(
    /^since 2026-01-31T12:01:00.000Z the nodes do not agree on a block after 100: node 1 has block 101 .*node 2 has block 100/,
  );
  mine(2);
  expect(await positions.tip()).toMatchObject({ height: 101, isNewest: true, stalled: null });
});

test.each([
  ['six blocks below, and no deeper', 100, 95, 94],
  ['seven blocks below', 100, 94, null],
  ['the first block of all, and no deeper', 3, 1, 0],
  ['no block at all', 3, 0, null],
])('nodes on different branches agree on %s', async (_, height, fork, agreed) => {
  const positions = await open(2);
  for (const node of shown) node.height = height;
  shown[1]!.fork = fork;
  if (agreed === null)
    await expect(positions.tip()).rejects.toThrow(`the nodes differ on the block at height ${height}`);
  else expect(await positions.tip()).toMatchObject({ height: agreed, hash: `main-${agreed}`, isNewest: false });
});

test('a block that one node lacks is on no height of the others', async () => {
  const positions = await open(2);
  shown[1]!.height = 99;
  expect(await positions.at(100)).toBeNull();
  expect(await positions.at(99)).toEqual({ height: 99, hash: 'main-99' });
});

test('a node may lack a block for three minutes, counted anew at each height', async () => {
  const positions = await open(2, null);
  const stalledAfter = async (ms: number) => {
    nowMs += ms;
    return (await positions.tip()).stalled;
  };
  mine(1);
  expect(await stalledAfter(0)).toBeUndefined();
  expect(await stalledAfter(3 * MINUTE_MS - 1)).toBeUndefined();
  mine(2);
  mine(1);
  expect(await stalledAfter(0)).toBeUndefined();
  expect(await stalledAfter(3 * MINUTE_MS - 1)).toBeUndefined();
  expect(await stalledAfter(1)).toMatch(/^since .* the nodes do not agree on a block after 101/);
});

test.each([
  ['eip155:1', { lagMs: 3 * MINUTE_MS, leadMs: 15_000 }],
  ['bip122:000000000019d6689c085ae165831e93', { lagMs: 90 * MINUTE_MS, leadMs: 120 * MINUTE_MS }],
  ['eip155:31337', null],
])('the times of blocks of %s are bounded by %j', (chainId, expected) =>
  expect(timesOfBlocks(chainId)).toEqual(expected),
);

test('knows the bounds of chains, and none for those of one machine or of unknown pace', () => {
  expect(staleAfterMs('eip155:1')).toBe(3 * MINUTE_MS);
  expect(staleAfterMs('eip155:8453')).toBe(3 * MINUTE_MS);
  expect(staleAfterMs('bip122:000000000019d6689c085ae165831e93')).toBe(90 * MINUTE_MS);
  for (const chainId of ['eip155:31337', 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328', 'eip155:999999'])
    expect(staleAfterMs(chainId)).toBeNull();
});
