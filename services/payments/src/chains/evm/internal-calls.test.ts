import { ChainNodeError } from '../chain-source.ts';
import { RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import { abilitiesOf, callsByCallTracer, callsByTraceBlock, isLacking } from './internal-calls.ts';

const hashOf = (digit: string) => `0x${digit.repeat(64)}`;
const [HASH, OTHER, TX1, TX2] = ['a', 'b', '1', '2'].map(hashOf) as [string, string, string, string];
const addressOf = (digit: string) => `0x${digit.repeat(40)}`;
const [FROM, TO, NEW] = ['c', 'd', 'e'].map(addressOf) as [string, string, string];

type Answer = unknown;
const nodeThat = (answers: Readonly<Record<string, Answer>>) => {
  const asked: string[] = [];
  const call: RpcNode['call'] = async (method, params = []) => {
    asked.push(`${method} ${String(params[0])}`);
    const answer = answers[method];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { node: { number: 2, call, close: async () => {} } satisfies RpcNode, asked };
};
const transactionOf = (hash: string) => ({ hash, blockHash: HASH, to: TO, from: FROM, value: 0n });
const block = {
  header: { hash: HASH, parentHash: OTHER, number: 16, timestamp: 1 },
  transactions: [transactionOf(TX1), transactionOf(TX2)],
};
const mismatch = (why: string) => ({ fault: 'mismatch', message: expect.stringContaining(why) });
const noMethod = () => new RpcError(-32_601, 'no such method', 'no_method');
const noState = () => new RpcError(-32_000, 'missing trie node', 'no_state');

describe('frames of the call tracer', () => {
  const frame = (changes: object = {}) => ({ type: 'CALL', from: FROM, to: TO, value: '0x5', ...changes });
  const read = async (...results: readonly unknown[]) => {
    const traces = results.map((result, index) => ({ txHash: [TX1, TX2][index], result }));
    const calls = await callsByCallTracer(nodeThat({ debug_traceBlockByHash: traces }).node, block);
    return [...calls].map(([hash, all]) => [hash, all.map(({ value }) => value)]);
  };
  const root = (...calls: readonly object[]) => frame({ value: '0x63', calls });

  test('count the coins that calls inside each transaction move, in order of execution', async () => {
    const nested = frame({ value: '0x1', calls: [frame({ value: '0x2' })] });
    expect(await read(root(nested, frame({ value: '0x3' })), root())).toEqual([
      [TX1, [1n, 2n, 3n]],
      [TX2, []],
    ]);
  });

  test.each([
    ['CALL', 1],
    ['CREATE', 1],
    ['CREATE2', 1],
    ['SELFDESTRUCT', 1],
    ['DELEGATECALL', 0],
    ['STATICCALL', 0],
    ['CALLCODE', 0],
  ])('of the type %s move coins %i times', async (type, count) => {
    const [[, values]] = (await read(root(frame({ type })), root())) as [[string, bigint[]]];
    expect(values).toHaveLength(count);
  });

  test.each([
    ['without a value', { value: undefined }],
    ['of nothing', { value: '0x0' }],
    ['to nobody', { to: null }],
    ['that was reverted', { error: 'execution reverted' }],
  ])('%s move nothing', async (_, changes) => {
    expect(await read(root(frame(changes)), root())).toEqual([
      [TX1, []],
      [TX2, []],
    ]);
  });

  test('inside a reverted one move nothing', async () => {
    const reverted = frame({ error: 'reverted', calls: [frame()] });
    expect(await read(root(reverted), root())).toMatchObject([
      [TX1, []],
      [TX2, []],
    ]);
  });

  test('name the sender, if the node does', async () => {
    const traces = [{ result: root(frame({ from: null }), frame()) }, { result: root() }];
    const calls = await callsByCallTracer(nodeThat({ debug_traceBlockByHash: traces }).node, block);
    expect(calls.get(TX1)).toEqual([
      { from: '', to: TO, value: 5n },
      { from: FROM, to: TO, value: 5n },
    ]);
  });

  test.each<[string, unknown[]]>([
    ['has not one trace for each transaction', [{ txHash: TX1, result: root() }]],
    [
      'contains traces out of order',
      [
        { txHash: TX2, result: root() },
        { txHash: TX1, result: root() },
      ],
    ],
  ])('are refused: the answer %s', async (why, traces) => {
    const { node } = nodeThat({ debug_traceBlockByHash: traces });
    await expect(callsByCallTracer(node, block)).rejects.toMatchObject(mismatch(why));
  });

  test('that a node does not have of this block are lacking', async () => {
    const traces = [
      { txHash: TX1, error: 'Resource not found' },
      { txHash: TX2, result: root() },
    ];
    const refused = callsByCallTracer(nodeThat({ debug_traceBlockByHash: traces }).node, block);
    await expect(refused).rejects.toMatchObject({ fault: 'refused' });
    await expect(refused.catch((error: unknown) => isLacking(error))).resolves.toBe(true);
  });
});

describe('traces of a block', () => {
  const trace = (transactionHash: string | null, path: number[], changes: object = {}) => ({
    type: 'call',
    action: { callType: 'call', from: FROM, to: TO, value: '0x5' },
    traceAddress: path,
    transactionHash,
    blockHash: HASH,
    ...changes,
  });
  const roots = [trace(TX1, []), trace(TX2, [])];
  const read = async (...traces: readonly object[]) => {
    const { node, asked } = nodeThat({ trace_block: [...roots, ...traces] });
    const calls = await callsByTraceBlock(node, block);
    expect(asked).toEqual(['trace_block 0x10']);
    return calls.get(TX1)!.map(({ from, to, value }) => [from, to, value]);
  };

  test('count the coins that calls move, and the roots are transactions', async () => {
    expect(await read(trace(TX1, [0]), trace(TX1, [0, 1]), trace(TX2, [0]))).toEqual([
      [FROM, TO, 5n],
      [FROM, TO, 5n],
    ]);
  });

  test.each<[string, object, unknown[]]>([
    [
      'a new contract gets coins',
      { type: 'create', action: { from: FROM, value: '0x7' }, result: { address: NEW } },
      [[FROM, NEW, 7n]],
    ],
    [
      'an ended contract gives its coins away',
      { type: 'suicide', action: { address: NEW, refundAddress: TO, balance: '0x8' } },
      [[NEW, TO, 8n]],
    ],
    [
      'a contract that could not be made gets none',
      { type: 'create', action: { from: FROM, value: '0x7' }, result: null },
      [],
    ],
    ['a delegated call moves none', { action: { callType: 'delegatecall', from: FROM, to: TO, value: '0x5' } }, []],
    ['a call of nothing moves none', { action: { callType: 'call', from: FROM, to: TO, value: '0x0' } }, []],
    ['a reverted call moves none', { error: 'Reverted' }, []],
    [
      'a call without a sender is one of nobody',
      { action: { callType: 'call', to: TO, value: '0x5' } },
      [['', TO, 5n]],
    ],
  ])('%s', async (_, changes, expected) => {
    expect(await read(trace(TX1, [0], changes))).toEqual(expected);
  });

  test('inside a reverted call move nothing, and those beside it do', async () => {
    const reverted = trace(TX1, [1], { error: 'Reverted' });
    expect(await read(trace(TX1, [0]), reverted, trace(TX1, [1, 0]), trace(TX1, [10]), trace(TX1, [2]))).toHaveLength(
      3,
    );
  });

  test('rewards belong to no transaction', async () => {
    expect(await read(trace(null, [], { type: 'reward' }), trace(TX1, [0], { type: 'reward' }))).toEqual([]);
  });

  test.each<[string, object[]]>([
    ['contains traces of another block', [...roots, trace(TX1, [0], { blockHash: OTHER })]],
    ['has no trace of a transaction', [trace(TX1, [])]],
  ])('are refused: the answer %s', async (why, traces) => {
    await expect(callsByTraceBlock(nodeThat({ trace_block: traces }).node, block)).rejects.toMatchObject(mismatch(why));
  });
});

test.each([
  ['a missing method', noMethod(), true],
  ['a missing state', noState(), true],
  ['a refusal', new ChainNodeError('refused', 'x'), true],
  ['a limit', new ChainNodeError('busy', 'x'), false],
  ['an unknown error', new RpcError(-32_000, 'x'), false],
  ['a bug', new TypeError('x'), false],
])('%s means that a node lacks traces: %s', (_, error, expected) => expect(isLacking(error)).toBe(expected));

describe('the abilities of a node', () => {
  const head = { hash: HASH, parentHash: OTHER, number: '0x10', timestamp: '0x1' };
  const all = { eth_getBlockByNumber: head, eth_getBlockReceipts: [], debug_traceBlockByHash: [], trace_block: [] };

  test.each([
    ['all', {}, { blockReceipts: true, internalCalls: 'both' }],
    ['no receipts of blocks', { eth_getBlockReceipts: noMethod() }, { blockReceipts: false, internalCalls: 'both' }],
    ['receipts that it does not know', { eth_getBlockReceipts: null }, { blockReceipts: false, internalCalls: 'both' }],
    [
      'no call tracer',
      { debug_traceBlockByHash: noMethod() },
      { blockReceipts: true, internalCalls: callsByTraceBlock },
    ],
    ['no traces of blocks', { trace_block: noMethod() }, { blockReceipts: true, internalCalls: callsByCallTracer }],
    [
      'no traces at all',
      { debug_traceBlockByHash: noMethod(), trace_block: noMethod() },
      { blockReceipts: true, internalCalls: null },
    ],
  ])('are known by asking about its newest block: %s', async (_, changes, { blockReceipts, internalCalls }) => {
    const { node, asked } = nodeThat({ ...all, ...changes });
    const found = await abilitiesOf(() => 0)(node);
    expect(found.blockReceipts).toBe(blockReceipts);
    // With both, a function of its own asks one, and then the other.
    if (internalCalls !== 'both') expect(found.internalCalls).toBe(internalCalls);
    else expect([callsByTraceBlock, callsByCallTracer, null]).not.toContain(found.internalCalls);
    expect(asked.slice(1)).toEqual([
      `eth_getBlockReceipts ${HASH}`,
      `debug_traceBlockByHash ${HASH}`,
      'trace_block 0x10',
    ]);
  });

  test.each([
    [{}, 10_000_000, 4],
    [{ eth_getBlockReceipts: noMethod() }, 599_999, 4],
    [{ eth_getBlockReceipts: noMethod() }, 600_000, 8],
    [{ debug_traceBlockByHash: noMethod(), trace_block: noMethod() }, 600_000, 8],
  ])('are asked again after ten minutes if something lacks: %j, after %i ms', async (changes, ms, questions) => {
    const { node, asked } = nodeThat({ ...all, ...changes });
    let nowMs = 0;
    const abilities = abilitiesOf(() => nowMs);
    await abilities(node);
    nowMs = ms;
    await abilities(node);
    expect(asked).toHaveLength(questions);
  });

  test('an error that says nothing is thrown, and nothing is known', async () => {
    const limit = new ChainNodeError('busy', 'later');
    await expect(abilitiesOf(() => 0)(nodeThat({ ...all, trace_block: limit }).node)).rejects.toBe(limit);
  });

  test('with both kinds of traces, the second is tried where the first lacks a block', async () => {
    const answers: Record<string, Answer> = { ...all };
    const { node } = nodeThat(answers);
    const { internalCalls } = await abilitiesOf(() => 0)(node);
    const empty = { ...block, transactions: [] };
    answers.debug_traceBlockByHash = noState();
    expect(await internalCalls!(node, empty)).toEqual(new Map());
    answers.trace_block = noMethod();
    await expect(internalCalls!(node, empty)).rejects.toMatchObject({ kind: 'no_method' });
    answers.debug_traceBlockByHash = new ChainNodeError('busy', 'later');
    await expect(internalCalls!(node, empty)).rejects.toMatchObject({ fault: 'busy' });
  });
});
