import { type Network } from '@cpg/assets';
import { bitcoinAssets, rawBlock, REGTEST_ID, testWallet } from '../../testing/jest-bitcoin.ts';
import { type NodeProxy, startNodeProxy } from '../../testing/jest-node-proxy.ts';
import type { ChainNodeError } from '../chain-source.ts';
import { type NodeFault, ReorganizedError } from '../chain-source.ts';
import type { NodesOptions } from '../nodes/nodes.ts';
import { bitcoinSource } from './bitcoin-source.ts';
import { watchedIn } from '../reading/watched-addresses.ts';

// Bitcoin's first block.
const GENESIS =
  '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000';
const GENESIS_HASH = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';

const payer = testWallet(1);
const payee = testWallet(2);
const watched = watchedIn(new Set([payee.address]));
const paying = (index: number, units: bigint) =>
  payer.pay({ txid: 'ab'.repeat(32), index, units: 10_000n }, [{ address: payee.address, units }]);
const transactions = [paying(0, 1_000n), paying(1, 2_000n), paying(2, 3_000n)];
const block = rawBlock(transactions);
const ref = { height: 7, hash: block.hash };

let node: NodeProxy;
const opened: { close: () => Promise<void> }[] = [];
beforeAll(async () => {
  node = await startNodeProxy(async ({ method }) => {
    if (method === 'getblockhash') return REGTEST_ID.slice('bip122:'.length).padEnd(64, '0');
    if (method === 'getbestblockhash') return block.hash;
    if (method === 'getblockheader') return { height: 7, time: 1_700_000_000 };
    return method === 'getblock' ? block.raw : null;
  });
});
afterEach(() => void (node.falsify = () => undefined));
afterAll(async () => {
  for (const source of opened) await source.close();
  await node.close();
});

const open = (options: Partial<NodesOptions> = {}, table = bitcoinAssets()) => {
  const network = table.networks[0] as Extract<Network, { kind: 'bitcoin' }>;
  const source = bitcoinSource({
    network,
    asset: table.assets[0]!,
    nodes: { urls: [node.url], busyWaitsMs: [], ...options },
  });
  opened.push(source);
  return source;
};
/** Long enough for an answer on a busy machine. */
const PATIENT_MS = 2_000;
const answering = (method: string, answer: ReturnType<NodeProxy['falsify']>) =>
  void (node.falsify = (question) => (question.method === method ? answer : undefined));
const errorOf = (promise: Promise<unknown>): Promise<ChainNodeError> =>
  promise.then(
    () => Promise.reject(new Error('no error')),
    (error: ChainNodeError) => error,
  );

test('reads each payment of a block, with exact amounts', async () => {
  const { transfers, parent, time } = await open().block(ref, watched);
  expect(transfers.map(({ id, units }) => [id, units])).toEqual(
    transactions.map(({ id }, index) => [`${id}:0`, BigInt(index + 1) * 1_000n]),
  );
  expect({ parent, time }).toEqual({ parent: '00'.repeat(32), time: new Date(1_700_000_000_000) });
});

test('reads the first block of Bitcoin', async () => {
  node.falsify = ({ method }) => ({ result: method === 'getblock' ? GENESIS : GENESIS_HASH });
  const source = open({}, bitcoinAssets('bip122:000000000019d6689c085ae165831e93'));
  const genesis = await source.block({ height: 0, hash: GENESIS_HASH }, watched);
  expect(genesis).toMatchObject({ transfers: [], time: new Date('2009-01-03T18:15:05Z') });
});

test('finds payments to addresses that are watched since the block before', async () => {
  const source = open();
  const addresses = new Set([payer.address]);
  const growing = watchedIn(addresses);
  expect((await source.block(ref, growing)).transfers).toEqual([]);
  addresses.add(payee.address);
  expect((await source.block(ref, growing)).transfers).toHaveLength(3);
});

const falsified = (change: (bytes: Buffer) => Buffer) => change(Buffer.from(block.raw, 'hex')).toString('hex');
const repeated = rawBlock([...transactions, transactions[2]!]);

test.each<[string, unknown, NodeFault]>([
  ['another block', rawBlock(transactions, { time: 1 }).raw, 'mismatch'],
  ['a changed amount', block.raw.replace('e803000000000000', 'e903000000000000'), 'mismatch'],
  ['half a block', falsified((bytes) => bytes.subarray(0, 300)), 'mismatch'],
  ['bytes after the block', `${block.raw}00`, 'mismatch'],
  [
    'a count of transactions that is too high',
    falsified((bytes) => (bytes.writeUInt16LE(65_535, 81), bytes)),
    'mismatch',
  ],
  ['a repeated transaction', block.raw.slice(0, 162) + repeated.raw.slice(162), 'mismatch'],
  ['an odd number of hex digits', block.raw.slice(1), 'malformed'],
  ['a text that is no hex', `${block.raw.slice(0, -2)}\\n`, 'malformed'],
  ['decoded JSON with floats', { tx: [{ vout: [{ value: 0.00001 }] }] }, 'malformed'],
  ['nothing', null, 'malformed'],
])('refuses %s', async (_, result, fault) => {
  answering('getblock', { result });
  const faults: string[] = [];
  expect(await errorOf(open({ onFault: (kind) => faults.push(kind) }).block(ref, watched))).toMatchObject({ fault });
  expect(faults).toEqual([fault]);
});

test.each<[string, ReturnType<NodeProxy['falsify']>, NodeFault]>([
  ['no answer', 'silence', 'timeout'],
  ['a page', { raw: '<html>' }, 'malformed'],
  ['a page with a status', { raw: '<html>', status: 502 }, 'busy'],
  ['a refusal', { raw: 'Forbidden', status: 403 }, 'refused'],
  ['half an answer', { raw: '{"jsonrpc":"2.0","id":1,"resu' }, 'malformed'],
  ['the answer to another question', { raw: '{"jsonrpc":"2.0","id":999,"result":1}' }, 'malformed'],
  ['an error', { error: { code: -1, message: 'anything' } }, 'refused'],
  ['a node that starts', { error: { code: -28, message: 'Loading block index…' } }, 'busy'],
  ['too much', { result: 'x'.repeat(70_000) }, 'too_large'],
  ['a number in place of a hash', { result: 1.5 }, 'malformed'],
])('reports %s as a fault of the node', async (_, answer, fault) => {
  const source = open({ maxBytes: 65_536, ...(answer === 'silence' && { timeoutMs: PATIENT_MS }) });
  await source.verify();
  answering('getbestblockhash', answer);
  expect(await errorOf(source.tip())).toMatchObject({ name: 'ChainNodeError', fault });
});

test.each([{ height: 1.5, time: 1 }, { height: -1, time: 1 }, { height: 7 }, null])(
  'reports the header %j as a fault of the node',
  async (result) => {
    answering('getblockheader', { result });
    expect(await errorOf(open().tip())).toMatchObject({ fault: 'malformed' });
  },
);

test('asks for the header of each newest block once', async () => {
  const source = open();
  for (let time = 0; time < 3; time += 1) expect(await source.tip()).toMatchObject({ ...ref, isNewest: true });
  expect(source.nodes!()).toMatchObject([{ number: 1, ...ref, time: new Date(1_700_000_000_000), isUsed: true }]);
  node.asked.splice(0);
  await source.tip();
  expect(node.asked.map(({ method }) => method)).toEqual(['getbestblockhash']);
});

test('never shows the URL of a node, nor what it repeats of it', async () => {
  const url = node.url.replace('http://', 'http://operator:open-sesame@') + '/v3/0123456789abcdef?key=fedcba9876543210';
  answering('getbestblockhash', { error: { code: -1, message: 'open-sesame\n/v3/0123456789abcdef fedcba9876543210' } });
  const error = await errorOf(open({ urls: [url] }).tip());
  expect(error.message).toBe('node 1, getbestblockhash: error -1: … /v3/… …');
  const unreachable = await errorOf(open({ urls: ['http://operator:open-sesame@127.0.0.1:1/secret-path'] }).tip());
  expect([unreachable.fault, unreachable.message]).toEqual(['unreachable', 'node 1, getblockhash: ECONNREFUSED']);
  expect(unreachable.cause).toBeUndefined();
});

test('asks the next node where one fails, and the failed one again after a pause', async () => {
  let nowMs = 0;
  let answers = false;
  const flaky = await startNodeProxy(async ({ method }) =>
    method === 'getblock' ? block.raw : REGTEST_ID.slice(7).padEnd(64, '0'),
  );
  flaky.falsify = () => (answers ? undefined : 'silence');
  const source = open({ urls: [flaky.url, node.url], timeoutMs: PATIENT_MS, nowMs: () => nowMs });
  expect((await source.block(ref, watched)).transfers).toHaveLength(3);
  answers = true;
  const askedBefore = flaky.asked.length;
  await source.block(ref, watched);
  expect(flaky.asked).toHaveLength(askedBefore);
  nowMs = 10_001;
  await source.block(ref, watched);
  expect(flaky.asked.map(({ method }) => method).slice(askedBefore)).toEqual(['getblockhash', 'getblock']);
  await flaky.close();
});

test('reports a block that no node knows as reorganized', async () => {
  answering('getblock', { error: { code: -5, message: 'Block not found' } });
  await expect(open().block(ref, watched)).rejects.toThrow(ReorganizedError);
});

test('reports a pruned block as refused', async () => {
  answering('getblock', { error: { code: -1, message: 'Block not available (pruned data)' } });
  expect(await errorOf(open().block(ref, watched))).toMatchObject({
    fault: 'refused',
    message: 'node 1, getblock: error -1: Block not available (pruned data)',
  });
});
