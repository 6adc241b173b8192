import { localAssets, OTHER_TOKEN, PAYER, TOKEN } from '../../testing/jest-evm.ts';
import { startNodeProxy } from '../../testing/jest-node-proxy.ts';
import {
  anvil,
  blockOf,
  ETH,
  inOneBlock,
  open,
  OTHER,
  pay,
  proxy,
  STRANGER,
  transfersWith,
  WATCHED,
  watched,
} from '../../testing/jest-evm-source.ts';
import { type BlockRef, ChainNodeError, type NodeFault, ReorganizedError, WrongChainError } from '../chain-source.ts';

const USDC = `eip155:31337/erc20:${TOKEN}`;
const USDT = `eip155:31337/erc20:${OTHER_TOKEN}`;

test('finds the native coin and each configured token with its sender, and follows the blocks', async () => {
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
  expect(tip).toMatchObject((await source.at(before.height + 1))!);
  expect(await source.at(tip.height + 1)).toBeNull();
  const block = await source.block(tip, watched);
  expect(block).toMatchObject({ ref: tip, parent: before.hash });
  expect(Math.abs(block.time.getTime() - Date.now())).toBeLessThan(600_000);
  expect(block.transfers).toEqual([
    { id: `${coin}:native`, txHash: coin, address: WATCHED, sender: PAYER, asset: ETH, units: 7n },
    { id: `${token}:0`, txHash: token, address: OTHER, sender: PAYER, asset: USDC, units: 25_500_000n },
    { id: `${other}:0`, txHash: other, address: WATCHED, sender: PAYER, asset: USDT, units: 3n },
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
  await expect(open({ urls: [proxy.url] }).tip()).rejects.toThrow(WrongChainError);
  const faults: unknown[] = [];
  const source = open({ urls: [anvil.url, proxy.url], onFault: (fault, node) => faults.push([fault, node]) });
  expect(await source.tip()).toMatchObject({ isNewest: true });
  expect(faults).toEqual([['wrong_chain', 2]]);
});

test('never takes a rate limit for a token without decimals, or for a node without traces', async () => {
  const hash = await pay.internal({ to: WATCHED, units: 5n }, { to: OTHER, units: 6n });
  const limit = { error: { code: -32_005, message: 'rate limit exceeded' } };
  for (const method of ['eth_call', 'debug_traceBlockByHash', 'trace_block', 'eth_getBlockReceipts']) {
    let isLimited = true;
    proxy.falsify = (question) => (isLimited && question.method === method ? limit : undefined);
    let nowMs = 0;
    const source = open({ urls: [proxy.url], busyWaitsMs: [], nowMs: () => nowMs });
    await expect(transfersWith(hash, source)).rejects.toMatchObject({ name: 'ChainNodeError', fault: 'busy' });
    isLimited = false;
    nowMs = 1_000;
    expect(await transfersWith(hash, source)).toHaveLength(2);
  }
});

test('leaves out a frozen node, and trusts no node alone while both are current', async () => {
  const { timestamp } = await anvil.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
  let nowMs = Number(timestamp) * 1_000;
  const frozen = await anvil.call('eth_getBlockByNumber', 'latest', false);
  const table = localAssets(6, 'eip155:1');
  proxy.falsify = ({ method, params: [at] }, honest) => {
    if (method === 'eth_chainId') return { result: '0x1' };
    if (at === 'latest' && method === 'eth_getBlockByNumber') return { result: frozen };
    const { number } = (method === 'eth_getBlockByNumber' ? (honest as { number: string } | null) : null) ?? {};
    return Number(number ?? 0) > Number((frozen as { number: string }).number) ? { result: null } : undefined;
  };
  const current = await startNodeProxy(({ method, params }) =>
    method === 'eth_chainId' ? Promise.resolve('0x1') : anvil.call(method, ...params),
  );
  const source = open({ urls: [current.url, proxy.url], now: () => new Date(nowMs) }, table);
  const before = await source.tip();
  const paid = await blockOf(await pay.token(WATCHED, 4n));
  expect(await source.tip()).toMatchObject({ height: before.height, isNewest: false });
  const newest = await anvil.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
  nowMs = (Number(newest.timestamp) + 3 * 60 + 1) * 1_000;
  expect(await source.tip()).toMatchObject({
    height: before.height,
    stalled: expect.stringMatching(/^the newest block of/),
  });
  await anvil.call('evm_increaseTime', 3 * 60);
  await anvil.call('evm_mine');
  expect(await source.tip()).toMatchObject({ isNewest: true, stalled: null });
  expect((await source.block(paid, watched)).transfers).toHaveLength(1);
  await current.close();
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

  test('waits where nodes differ on a hash, and for a node that is behind', async () => {
    const source = open({ urls: [anvil.url, proxy.url] });
    const tip = await source.tip();
    lie({
      eth_getBlockByNumber: (block: { number: string }) =>
        block.number === `0x${tip.height.toString(16)}` ? { ...block, hash: `0x${'2'.repeat(64)}` } : block,
    });
    expect(await faultOf(source.at(tip.height))).toBe('disagreement');
    expect((await source.tip()).height).toBe(tip.height - 1);
    const first = await anvil.call('eth_getBlockByNumber', '0x1', false);
    proxy.falsify = ({ params: [block] }) => (block === 'latest' ? { result: first } : undefined);
    expect(await source.tip()).toMatchObject({ height: 1, isNewest: false });
  });
});

test('names a node that shows a block and not its receipts, and believes another one', async () => {
  const hash = await pay.token(WATCHED, 4n);
  proxy.falsify = ({ method }) => (/Receipts?$|getLogs$/.test(method) ? { result: null } : undefined);
  const faults: (number | NodeFault)[][] = [];
  const onFault = (fault: NodeFault, node: number) => void faults.push([node, fault]);
  const source = open({ urls: [proxy.url, anvil.url], onFault });
  expect(await transfersWith(hash, source)).toHaveLength(1);
  expect(faults).toContainEqual([1, 'refused']);
});
