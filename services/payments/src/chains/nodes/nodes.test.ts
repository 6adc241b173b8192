import { type NodeProxy, startNodeProxy } from '../../testing/jest-node-proxy.ts';
import { type NodeFault, WrongChainError } from '../chain-source.ts';
import type { RpcNode } from './json-rpc.ts';
import { type Nodes, openNodes } from './nodes.ts';

const MINUTE_MS = 60_000;
let proxy: NodeProxy;
let nodes: Nodes;
let nowMs: number;
let chain: string;

const requireMain = async (node: RpcNode) => {
  if ((await node.call('chain')) !== 'main') throw new WrongChainError(`node ${node.number} serves another chain`);
};

beforeEach(async () => {
  nowMs = 0;
  chain = 'main';
  proxy = await startNodeProxy(({ method }) => Promise.resolve(method === 'chain' ? chain : 7));
  nodes = openNodes({ urls: [proxy.url], nowMs: () => nowMs }, requireMain);
});
afterEach(async () => {
  await nodes.close();
  await proxy.close();
});

const height = () => nodes.all((node) => node.call('height'));
const checks = () => proxy.asked.filter(({ method }) => method === 'chain').length;

test('checks a node before the first question, and once a minute', async () => {
  await Promise.all([height(), height()]);
  nowMs = MINUTE_MS - 1;
  await height();
  expect(checks()).toBe(1);
  nowMs = MINUTE_MS;
  await Promise.all([height(), height()]);
  nowMs = 2 * MINUTE_MS - 1;
  await height();
  expect(checks()).toBe(2);
});

test('finds a node of another chain that took the place of one without an outage', async () => {
  await height();
  chain = 'test';
  nowMs = MINUTE_MS;
  await expect(height()).rejects.toThrow(WrongChainError);
  await expect(height()).rejects.toThrow(WrongChainError);
  chain = 'main';
  await expect(height()).resolves.toEqual([7]);
});

describe('with two nodes', () => {
  let other: NodeProxy;
  let both: Nodes;
  let faults: [NodeFault, number][];
  beforeEach(async () => {
    other = await startNodeProxy(({ method }) => Promise.resolve(method === 'chain' ? 'main' : 8));
    faults = [];
    const onFault = (fault: NodeFault, node: number) => void faults.push([fault, node]);
    const urls = [proxy.url, other.url];
    both = openNodes({ urls, nowMs: () => nowMs, busyWaitsMs: [], onFault }, requireMain);
  });
  afterEach(async () => {
    await both.close();
    await other.close();
  });
  const heights = () => both.all((node) => node.call('height'));
  const asked = () => proxy.asked.splice(0).filter(({ method }) => method === 'height').length;
  const refuse = (status: number, error?: { code: number; message: string }) => {
    proxy.falsify = ({ method }) =>
      method === 'height' ? (error ? { error } : { raw: 'refused', status }) : undefined;
  };

  test('goes on with the right one while the other serves another chain, and says which', async () => {
    chain = 'test';
    expect(await heights()).toEqual([8]);
    expect(await both.first((node) => node.call('height'))).toMatchObject({ answer: 8 });
    expect(faults).toEqual([['wrong_chain', 1]]);
    chain = 'main';
    nowMs = 10_000;
    expect(await heights()).toEqual([7, 8]);
  });

  test('believes that the chain is wrong when no node serves the right one', async () => {
    chain = 'test';
    other.falsify = () => 'silence';
    await other.close();
    await expect(heights()).rejects.toThrow(WrongChainError);
  });

  test.each([
    ['HTTP 429', 429, undefined],
    ['a rate limit', 200, { code: -32_005, message: 'daily request count exceeded, request rate limited' }],
    ['bitcoind that starts', 500, { code: -28, message: 'Loading block index…' }],
  ])('asks the other one after %s, and the first again after pauses that grow', async (_, status, error) => {
    refuse(status, error);
    expect(await heights()).toEqual([8]);
    expect(faults).toEqual([['busy', 1]]);
    expect(asked()).toBe(1);
    for (const [atMs, questions] of [
      [999, 0],
      [1_000, 1],
      [2_999, 0],
      [3_000, 1],
      [6_999, 0],
      [7_000, 1],
    ] as const) {
      nowMs = atMs;
      await heights();
      expect([atMs, asked()]).toEqual([atMs, questions]);
    }
    proxy.falsify = () => undefined;
    nowMs = 15_000;
    expect(await heights()).toEqual([7, 8]);
  });

  test('leaves a node alone that asks for it, also if it is the only one', async () => {
    proxy.falsify = () => ({ raw: '', status: 429, headers: { 'retry-after': '60' } });
    await expect(height()).rejects.toMatchObject({ fault: 'busy', message: 'node 1, chain: HTTP status 429' });
    expect(proxy.asked.splice(0)).toHaveLength(1);
    nowMs = 59_999;
    await expect(height()).rejects.toMatchObject({ fault: 'busy' });
    expect(proxy.asked).toEqual([]);
    proxy.falsify = () => undefined;
    nowMs = 60_000;
    expect(await height()).toEqual([7]);
  });

  test('asks nodes that are not in use only where the others do not answer', async () => {
    const used = await both.each(() => Promise.resolve(null));
    both.use([used[1]!.node]);
    expect(await heights()).toEqual([8]);
    expect(await both.each((node) => node.call('height'), { evenUnused: true })).toHaveLength(2);
    other.falsify = () => ({ raw: '', status: 503 });
    expect(await both.first((node) => node.call('height'))).toMatchObject({ answer: 7 });
    expect(await heights()).toEqual([7]);
  });
});
