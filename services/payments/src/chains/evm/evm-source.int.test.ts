import type { Network } from '@cpg/assets';
import { type ChainNode, startAnvil } from '@cpg/local-chain';
import { evmPayer, localAssets, OTHER_TOKEN, TOKEN } from '../../testing/jest-evm.ts';
import { type NodeProxy, startNodeProxy } from '../../testing/jest-node-proxy.ts';
import { type BlockRef, ChainNodeError, ReorganizedError, WrongChainError } from '../chain-source.ts';
import { type NodesOptions } from '../nodes.ts';
import { evmSource } from './evm-source.ts';

const WATCHED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const OTHER = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const STRANGER = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
const watched = new Set([WATCHED, OTHER]);
const ETH = 'eip155:31337/slip44:60';
const USDC = `eip155:31337/erc20:${TOKEN}`;
const USDT = `eip155:31337/erc20:${OTHER_TOKEN}`;

let anvil: ChainNode;
let proxy: NodeProxy;
let pay: ReturnType<typeof evmPayer>;
const opened: { close: () => Promise<void> }[] = [];

beforeAll(async () => {
  anvil = await startAnvil();
  pay = evmPayer(anvil);
  await pay.deploy();
  proxy = await startNodeProxy(({ method, params }) => anvil.call(method, ...params));
});
afterEach(() => void (proxy.falsify = () => undefined));
afterAll(async () => {
  for (const source of opened) await source.close();
  await proxy.close();
  await anvil.stop();
});

const open = (options: Partial<NodesOptions> = {}, table = localAssets()) => {
  const network = table.networks[0] as Extract<Network, { kind: 'evm' }>;
  const source = evmSource({ network, assets: table.assets, nodes: { urls: [anvil.url], ...options } });
  opened.push(source);
  return source;
};

/** The block that contains a transaction. */
const blockOf = async (hash: string): Promise<BlockRef> => {
  const receipt = await anvil.call<{ blockHash: string; blockNumber: string }>('eth_getTransactionReceipt', hash);
  return { height: Number(receipt.blockNumber), hash: receipt.blockHash };
};
const transfersWith = async (hash: string, source = open()) =>
  (await source.block(await blockOf(hash), watched)).transfers;

/** Mines what `send` sends in one block. */
const inOneBlock = async (send: () => Promise<string[]>): Promise<string[]> => {
  await anvil.call('evm_setAutomine', false);
  const hashes = await send();
  await anvil.call('evm_mine');
  await anvil.call('evm_setAutomine', true);
  return hashes;
};

test('finds the native coin and each configured token, and follows the blocks', async () => {
  const source = open();
  await source.verify();
  const before = await source.tip();
  const [coin, token, other] = await inOneBlock(async () => [
    await pay.native(WATCHED, 7n),
    await pay.token(OTHER, 25_500_000n),
    await pay.token(WATCHED, 3n, OTHER_TOKEN),
    await pay.native(STRANGER, 9n),
    await pay.token(STRANGER, 9n),
  ]);
  const tip = await source.tip();
  expect(tip).toEqual(await source.at(before.height + 1));
  expect(await source.at(tip.height + 1)).toBeNull();
  const block = await source.block(tip, watched);
  expect(block).toMatchObject({ ref: tip, parent: before.hash });
  expect(Math.abs(block.time.getTime() - Date.now())).toBeLessThan(600_000);
  expect(block.transfers).toEqual([
    { id: `${coin}:native`, txHash: coin, address: WATCHED, asset: ETH, units: 7n },
    { id: `${token}:0`, txHash: token, address: OTHER, asset: USDC, units: 25_500_000n },
    { id: `${other}:0`, txHash: other, address: WATCHED, asset: USDT, units: 3n },
  ]);
});

test('finds calls inside a transaction, alike by both kinds of traces', async () => {
  const hash = await pay.internal({ to: WATCHED, units: 5n }, { to: OTHER, units: 6n });
  const expected = [
    { id: `${hash}:native1`, txHash: hash, address: WATCHED, asset: ETH, units: 5n },
    { id: `${hash}:native2`, txHash: hash, address: OTHER, asset: ETH, units: 6n },
  ];
  expect(await transfersWith(hash)).toEqual(expected);
  proxy.falsify = ({ method }) =>
    method.startsWith('debug_') ? { error: { code: -32_601, message: 'no such method' } } : undefined;
  expect(await transfersWith(hash, open({ urls: [proxy.url] }))).toEqual(expected);
  expect(proxy.asked.map(({ method }) => method)).toContain('trace_block');
});

test('reads the second kind of traces of a block whose state the node has no more', async () => {
  const hash = await pay.internal({ to: WATCHED, units: 5n }, { to: OTHER, units: 6n });
  const expected = await transfersWith(hash);
  const isTrace = ({ method }: { method: string }) => method === 'debug_traceBlockByHash';
  proxy.falsify = (question) => {
    const hasProbed = proxy.asked.filter(isTrace).length > 1;
    return isTrace(question) && hasProbed ? { result: [{ txHash: hash, error: 'Resource not found' }] } : undefined;
  };
  expect(await transfersWith(hash, open({ urls: [proxy.url] }))).toEqual(expected);
});

test('finds the growth of balances where a node has no traces', async () => {
  const [, direct] = await inOneBlock(async () => [
    await pay.internal({ to: WATCHED, units: 5n }, { to: STRANGER, units: 6n }),
    await pay.native(WATCHED, 1n),
    await pay.internal({ to: OTHER, units: 2n }, { to: OTHER, units: 1n }),
  ]);
  const { height } = await blockOf(direct!);
  const lacking = /^(debug_|trace_)/;
  proxy.falsify = ({ method }) => (lacking.test(method) ? { error: { code: -32_601, message: 'no' } } : undefined);
  expect(await transfersWith(direct!, open({ urls: [proxy.url] }))).toEqual([
    { id: `${direct}:native`, txHash: direct, address: WATCHED, asset: ETH, units: 1n },
    { id: `${WATCHED}:surplus-${height}-5`, txHash: null, address: WATCHED, asset: ETH, units: 5n },
    { id: `${OTHER}:surplus-${height}-3`, txHash: null, address: OTHER, asset: ETH, units: 3n },
  ]);
  expect(await transfersWith(direct!, open({ urls: [proxy.url, anvil.url] }))).toEqual(await transfersWith(direct!));
});

describe('of a block without traces', () => {
  let hash: string;
  const isTrace = ({ method }: { method: string }) => /^(debug_|trace_)/.test(method);
  const refused = { error: { code: -32_000, message: 'missing trie node' } };
  /** A node that has traces of its newest block, as the probe finds out, and no others. */
  const openPruned = async (also: (method: string) => boolean = () => false, options: Partial<NodesOptions> = {}) => {
    const source = open({ urls: [proxy.url], ...options });
    await source.block(await source.tip(), watched);
    proxy.falsify = (question) => (isTrace(question) || also(question.method) ? refused : undefined);
    return source;
  };
  beforeAll(async () => void (hash = await pay.internal({ to: WATCHED, units: 5n }, { to: OTHER, units: 6n })));

  test('reads the balances', async () => {
    const { height } = await blockOf(hash);
    expect((await transfersWith(hash, await openPruned())).map(({ id }) => id)).toEqual([
      `${WATCHED}:surplus-${height}-5`,
      `${OTHER}:surplus-${height}-6`,
    ]);
  });

  test('asks another node where the state is missing too, and says so where there is none', async () => {
    const isState = (method: string) => method === 'eth_call';
    const faults: string[] = [];
    const source = await openPruned(isState, { onFault: (fault) => faults.push(fault) });
    await expect(transfersWith(hash, source)).rejects.toMatchObject({
      fault: 'no_state',
      message: expect.stringMatching(/^node 1 has neither traces nor the state of block \d+, .*missing trie node\)$/),
    });
    expect(faults).toEqual(['no_state']);
    proxy.falsify = () => undefined;
    const two = await openPruned(isState, { urls: [proxy.url, anvil.url] });
    expect((await transfersWith(hash, two)).map(({ id }) => id)).toEqual([`${hash}:native1`, `${hash}:native2`]);
    proxy.falsify = () => undefined;
    const unreachable = await openPruned(isState, { urls: [proxy.url, 'http://127.0.0.1:1'] });
    await expect(transfersWith(hash, unreachable)).rejects.toMatchObject({ fault: 'unreachable' });
  });

  test('looks for no coins of contracts where no address is watched', async () => {
    const source = await openPruned((method) => method === 'eth_call');
    expect((await source.block(await blockOf(hash), new Set())).transfers).toEqual([]);
  });
});

test('finds the growth of the balance of an address that pays in the same block', async () => {
  await anvil.call('anvil_setBalance', OTHER, '0xde0b6b3a7640000');
  await anvil.call('anvil_impersonateAccount', OTHER);
  const send = (to: string, value: string) =>
    anvil.call<string>('eth_sendTransaction', { from: OTHER, to, value, gas: '0x493e0' });
  const [hash] = await inOneBlock(async () => [
    await pay.internal({ to: WATCHED, units: 5n }, { to: OTHER, units: 7n }),
    await send(STRANGER, '0x64'),
    await send(OTHER, '0x3'),
  ]);
  const { height } = await blockOf(hash!);
  for (const lacking of [/^(debug_|trace_)/, /^(debug_|trace_|eth_getBlockReceipts)/]) {
    proxy.falsify = ({ method }) => (lacking.test(method) ? { error: { code: -32_601, message: 'no' } } : undefined);
    expect((await transfersWith(hash!, open({ urls: [proxy.url] }))).map(({ id }) => id)).toEqual([
      expect.stringMatching(/:native$/),
      `${WATCHED}:surplus-${height}-5`,
      `${OTHER}:surplus-${height}-7`,
    ]);
  }
});

test('ignores failed transactions, whatever they tried to pay', async () => {
  const hashes = await inOneBlock(async () => [
    await pay.reverted({ to: WATCHED, units: 5n }, { to: OTHER, units: 6n }),
    await pay.native(WATCHED, 1n),
  ]);
  expect((await transfersWith(hashes[0]!)).map(({ id }) => id)).toEqual([`${hashes[1]}:native`]);
});

test('reads the receipts one by one where a node has no receipts of a block', async () => {
  const hashes = await inOneBlock(async () => [
    await pay.token(STRANGER, 1n),
    await pay.token(WATCHED, 2n),
    await pay.native(OTHER, 3n),
  ]);
  proxy.falsify = ({ method }) =>
    method === 'eth_getBlockReceipts' ? { error: { code: -32_601, message: 'no such method' } } : undefined;
  expect(await transfersWith(hashes[0]!, open({ urls: [proxy.url] }))).toEqual(await transfersWith(hashes[0]!));
});

test('keeps the id of a transfer that is mined again elsewhere, and reports the orphaned block', async () => {
  const source = open();
  const hash = await pay.token(WATCHED, 8n);
  const orphaned = await blockOf(hash);
  const raw = await anvil.call<string>('debug_getRawTransaction', hash);
  const [before] = await transfersWith(hash);
  await anvil.call('anvil_reorg', 1, [[raw, 0]]);
  await expect(source.block(orphaned, watched)).rejects.toThrow(ReorganizedError);
  expect(await blockOf(hash)).not.toEqual(orphaned);
  expect((await transfersWith(hash))[0]).toEqual(before);

  proxy.falsify = ({ method }) =>
    method === 'eth_getBlockReceipts' ? { error: { code: -32_601, message: 'no such method' } } : undefined;
  await expect(open({ urls: [proxy.url] }).block(orphaned, watched)).rejects.toThrow(ReorganizedError);
});

test('refuses another chain, a token without code and other decimals, and names what differs', async () => {
  await expect(open({}, localAssets(6, 'eip155:1')).verify()).rejects.toThrow(
    'node 1 of ethereum-local serves eip155:31337, but configured is eip155:1',
  );
  await expect(open({}, localAssets(18)).verify()).rejects.toThrow(/has 6 decimals on node 1, configured are 18$/);
  proxy.falsify = ({ method }) => (method === 'eth_getCode' ? { result: '0x' } : undefined);
  await expect(open({ urls: [proxy.url] }).verify()).rejects.toThrow(
    /USDC on ethereum-local .* has no code on node 1$/,
  );
  await expect(open({ urls: [anvil.url, proxy.url] }).tip()).rejects.toThrow(WrongChainError);
});

describe('with hostile nodes', () => {
  type Answers = Record<string, (honest: never) => unknown>;
  const lie = (answers: Answers) => {
    proxy.falsify = ({ method }, honest) =>
      answers[method] && honest ? { result: answers[method](honest as never) } : undefined;
  };
  const faultOf = async (promise: Promise<unknown>) => {
    const error = await promise.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ChainNodeError);
    return (error as ChainNodeError).fault;
  };
  let paid: BlockRef;
  beforeAll(async () => void (paid = await blockOf(await pay.token(WATCHED, 4n))));

  type AnyBlock = { transactions: object[] };
  type AnyReceipt = { logs: object[] };
  test.each<[string, Answers, string]>([
    ['another block', { eth_getBlockByHash: (b: object) => ({ ...b, hash: `0x${'1'.repeat(64)}` }) }, 'mismatch'],
    ['another height', { eth_getBlockByHash: (b: object) => ({ ...b, number: '0x999' }) }, 'mismatch'],
    ['a number in place of hex', { eth_getBlockByHash: (b: object) => ({ ...b, number: 1.5 }) }, 'malformed'],
    ['no parent', { eth_getBlockByHash: (b: object) => ({ ...b, parentHash: undefined }) }, 'malformed'],
    [
      'hashes in place of transactions',
      { eth_getBlockByHash: (b: object) => ({ ...b, transactions: ['0x1'] }) },
      'malformed',
    ],
    [
      'a transaction twice',
      { eth_getBlockByHash: (b: AnyBlock) => ({ ...b, transactions: [...b.transactions, ...b.transactions] }) },
      'mismatch',
    ],
    ['missing receipts', { eth_getBlockReceipts: () => [] }, 'mismatch'],
    [
      'receipts of another block',
      { eth_getBlockReceipts: (r: object[]) => r.map((x) => ({ ...x, blockHash: `0x${'1'.repeat(64)}` })) },
      'mismatch',
    ],
    [
      'removed logs',
      {
        eth_getBlockReceipts: (r: AnyReceipt[]) =>
          r.map((x) => ({ ...x, logs: x.logs.map((l) => ({ ...l, removed: true })) })),
      },
      'malformed',
    ],
    [
      'a repeated log',
      { eth_getBlockReceipts: (r: AnyReceipt[]) => r.map((x) => ({ ...x, logs: [...x.logs, ...x.logs] })) },
      'mismatch',
    ],
    ['missing traces', { debug_traceBlockByHash: () => [] }, 'mismatch'],
  ])('refuses %s', async (_, answers, fault) => {
    const faults: string[] = [];
    const source = open({ urls: [proxy.url], onFault: (kind) => faults.push(kind) });
    await source.verify();
    lie(answers);
    expect(await faultOf(source.block(paid, watched))).toBe(fault);
    expect(faults).toEqual([fault]);
    expect((await open({ urls: [proxy.url, anvil.url] }).block(paid, watched)).transfers).toHaveLength(1);
  });

  test('credits nothing that another node does not show', async () => {
    lie({
      eth_getBlockReceipts: (receipts: AnyReceipt[]) =>
        receipts.map((each) => ({ ...each, logs: each.logs.map((log) => ({ ...log, data: `0x${'f'.repeat(64)}` })) })),
    });
    expect(await faultOf(open({ urls: [proxy.url, anvil.url] }).block(paid, watched))).toBe('disagreement');
  });

  test('waits where nodes differ on a hash, and for a node that is behind', async () => {
    const source = open({ urls: [anvil.url, proxy.url] });
    const tip = await source.tip();
    lie({
      eth_getBlockByNumber: (block: { number: string }) =>
        block.number === `0x${tip.height.toString(16)}` ? { ...block, hash: `0x${'2'.repeat(64)}` } : block,
    });
    expect(await faultOf(source.at(tip.height))).toBe('disagreement');
    expect((await source.tip()).height).toBe(tip.height - 1);
    proxy.falsify = ({ method }) => (method === 'eth_blockNumber' ? { result: '0x1' } : undefined);
    expect((await source.tip()).height).toBe(1);
  });
});
