import { type NodeProxy, startNodeProxy } from '../testing/jest-node-proxy.ts';
import { WrongChainError } from './chain-source.ts';
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
