import { RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import { fetchBlock, fetchBlockReceipts, fetchLogs, fetchReceipt, TRANSFER_TOPIC } from './block.ts';

const hashOf = (digit: string) => `0x${digit.repeat(64)}`;
const [HASH, OTHER, TX1, TX2] = ['a', 'b', '1', '2'].map(hashOf) as [string, string, string, string];
const ADDRESS = `0x${'5a'.repeat(20)}`;

const transactionOf = (hash: string) => ({ hash, blockHash: HASH, to: ADDRESS, from: ADDRESS, value: '0x1' });
const blockOf = (...transactions: object[]) => ({
  hash: HASH,
  parentHash: OTHER,
  number: '0x10',
  timestamp: '0x1',
  transactions,
});
const logOf = (transactionHash: string, logIndex: number, changes: object = {}) => ({
  address: ADDRESS,
  topics: [TRANSFER_TOPIC],
  data: '0x',
  logIndex: `0x${logIndex.toString(16)}`,
  transactionHash,
  blockHash: HASH,
  ...changes,
});
const receiptOf = (transactionHash: string, logs: object[] = [], changes: object = {}) => ({
  transactionHash,
  blockHash: HASH,
  status: '0x1',
  cumulativeGasUsed: '0x1',
  logs,
  ...changes,
});

/** A node with one answer, and the questions to it. */
const nodeThat = (answer: unknown) => {
  const asked: unknown[] = [];
  const call: RpcNode['call'] = async (method, params) => {
    asked.push([method, params]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { node: { number: 2, call, close: async () => {} } satisfies RpcNode, asked };
};
const block = {
  header: { hash: HASH, parentHash: OTHER, number: 16, timestamp: 1 },
  transactions: [TX1, TX2].map((hash) => ({ ...transactionOf(hash), value: 1n })),
};
const mismatch = (why: string) => ({
  fault: 'mismatch',
  message: expect.stringMatching(new RegExp(`^node 2, eth_\\w+: ${why}$`)),
});

describe('a block', () => {
  const ref = { height: 16, hash: HASH };

  test('is read by its hash, with its transactions and the whole answer', async () => {
    const answer = blockOf(transactionOf(TX1), transactionOf(TX2));
    const { node, asked } = nodeThat(answer);
    expect(await fetchBlock(node, ref)).toEqual({ ...block, answer });
    expect(asked).toEqual([['eth_getBlockByHash', [HASH, true]]]);
  });

  test('that the node does not know is null', async () => {
    expect(await fetchBlock(nodeThat(null).node, ref)).toBeNull();
  });

  test.each([
    ['is another block than the requested one', { ...blockOf(), hash: OTHER }],
    ['has another height than the requested block', { ...blockOf(), number: '0x11' }],
    [
      'contains a transaction of another block',
      blockOf(transactionOf(TX1), { ...transactionOf(TX2), blockHash: OTHER }),
    ],
    ['contains a transaction twice', blockOf(transactionOf(TX1), transactionOf(TX1))],
  ])('is refused that %s', async (why, answer) => {
    await expect(fetchBlock(nodeThat(answer).node, ref)).rejects.toMatchObject(mismatch(why));
  });
});

/** Faults of the receipt of the first transaction. */
const FAULTY: readonly [string, object][] = [
  ['contains a receipt of another transaction', receiptOf(OTHER)],
  ['contains a receipt of another block', receiptOf(TX1, [], { blockHash: OTHER })],
  ['contains a foreign log', receiptOf(TX1, [logOf(TX1, 0), logOf(TX2, 1)])],
  ['contains a foreign log', receiptOf(TX1, [logOf(TX1, 0, { blockHash: OTHER })])],
  ['contains logs out of order', receiptOf(TX1, [logOf(TX1, 3), logOf(TX1, 3)])],
  ['contains logs out of order', receiptOf(TX1, [logOf(TX1, 3), logOf(TX1, 2)])],
];

describe('the receipts of a block', () => {
  test('are those of its transactions, in their order', async () => {
    const { node, asked } = nodeThat([receiptOf(TX1, [logOf(TX1, 0), logOf(TX1, 1)]), receiptOf(TX2, [logOf(TX2, 2)])]);
    const receipts = await fetchBlockReceipts(node, block);
    expect(receipts!.map(({ transactionHash, logs }) => [transactionHash, logs.length])).toEqual([
      [TX1, 2],
      [TX2, 1],
    ]);
    expect(asked).toEqual([['eth_getBlockReceipts', [HASH]]]);
    expect(await fetchBlockReceipts(nodeThat(null).node, block)).toBeNull();
  });

  test.each<[string, object[]]>([
    ['has not one receipt for each transaction', [receiptOf(TX1)]],
    ['has not one receipt for each transaction', [receiptOf(TX1), receiptOf(TX2), receiptOf(TX2)]],
    ['contains a receipt of another transaction', [receiptOf(TX2), receiptOf(TX1)]],
    ...FAULTY.map(([why, faulty]): [string, object[]] => [why, [faulty, receiptOf(TX2)]]),
  ])('are refused: the answer %s', async (why, answer) => {
    await expect(fetchBlockReceipts(nodeThat(answer).node, block)).rejects.toMatchObject(mismatch(why));
  });
});

describe('the receipt of one transaction', () => {
  const [transaction] = block.transactions;

  test('is read by its hash', async () => {
    const { node, asked } = nodeThat(receiptOf(TX1, [logOf(TX1, 7)]));
    expect(await fetchReceipt(node, transaction!)).toMatchObject({ transactionHash: TX1, logs: [{ logIndex: 7 }] });
    expect(asked).toEqual([['eth_getTransactionReceipt', [TX1]]]);
    expect(await fetchReceipt(nodeThat(null).node, transaction!)).toBeNull();
  });

  test.each(FAULTY)('is refused: the answer %s', async (why, faulty) => {
    await expect(fetchReceipt(nodeThat(faulty).node, transaction!)).rejects.toMatchObject(mismatch(why));
  });
});

describe('the logs of a block', () => {
  test.each([
    ['all of them', undefined, { blockHash: HASH }],
    ['the transfers of some tokens', [ADDRESS], { blockHash: HASH, address: [ADDRESS], topics: [TRANSFER_TOPIC] }],
  ])('are asked for: %s', async (_, tokens, filter) => {
    const { node, asked } = nodeThat([logOf(TX1, 0), logOf(TX2, 1)]);
    expect(await fetchLogs(node, block, tokens)).toHaveLength(2);
    expect(asked).toEqual([['eth_getLogs', [filter]]]);
  });

  test.each(['unknown block', 'Block not found', 'header not found: 0x1'])(
    'of a block that the node does not know, by the error "%s", are null',
    async (message) => {
      expect(await fetchLogs(nodeThat(new RpcError(-32_000, message)).node, block)).toBeNull();
    },
  );

  test('any other error says nothing about the block', async () => {
    const error = new RpcError(-32_000, 'query returned more than 10000 results');
    await expect(fetchLogs(nodeThat(error).node, block)).rejects.toBe(error);
    const foreign = new Error('unknown block');
    await expect(fetchLogs(nodeThat(foreign).node, block)).rejects.toBe(foreign);
    expect(await fetchLogs(nodeThat(null).node, block)).toBeNull();
  });

  test('of another block are refused', async () => {
    const answer = [logOf(TX1, 0), logOf(TX1, 1, { blockHash: OTHER })];
    await expect(fetchLogs(nodeThat(answer).node, block)).rejects.toMatchObject(
      mismatch('contains a log of another block'),
    );
  });
});
