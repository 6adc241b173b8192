import { type AssetTable, readAssets } from '@cpg/assets';
import { type ChainNode, mined, startAnvil } from '@cpg/local-chain';
import { evmPayer, tokenCode } from '../testing/jest-evm.ts';
import { type NodeProxy, startNodeProxy } from '../testing/jest-node-proxy.ts';
import { type NodeAnswers, type NodeReceipt, sealed } from '../testing/jest-sealed-block.ts';
import { TRANSFER_TOPIC } from './evm/block.ts';
import { openChainSource } from './open-chain-source.ts';
import { watchedIn } from './reading/watched-addresses.ts';

// Each network of the bundled table, on a node with its chain id and its contracts. What anvil cannot make, a proxy
// adds to its answers, so that block, receipts and hash fit each other.

const PAYEE = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const watched = watchedIn(new Set([PAYEE]));
const NULL_ADDRESS = `0x${'0'.repeat(40)}`;
const hashOf = (digit: string) => `0x${digit.repeat(64)}`;

type Fields = Record<string, unknown>;

interface Added {
  readonly transaction: Fields & { readonly hash: string };
  readonly receipt?: Partial<NodeReceipt>;
  readonly isFirst?: boolean;
  /** Its receipt is not in the root of the receipts. */
  readonly isUnrooted?: boolean;
  /** Units that it pays, and the label or currency of what it pays. */
  readonly pays?: readonly [string, bigint];
}

const plain = { value: '0x0', nonce: '0x0', gas: '0x0', gasPrice: '0x0', input: '0x', v: '0x0', r: '0x0', s: '0x0' };

/** A token of the table moves to the payee without a transaction of anybody. */
const mintLog = (contract: string, units: bigint) => ({
  address: contract.toLowerCase(),
  topics: [TRANSFER_TOPIC, `0x${'0'.repeat(64)}`, `0x${PAYEE.slice(2).toLowerCase().padStart(64, '0')}`],
  data: `0x${units.toString(16).padStart(64, '0')}`,
});

/** The transactions that nobody signed. Sources: OP Stack specification, "Deposits"; Nitro, `arbitrum_types.go`; Bor,
 *  "State sync", PIP-74; BEP-95 and the system contracts of BNB Smart Chain. */
const ADDED: Readonly<Record<string, (contract: (name: string) => string) => readonly Added[]>> = {
  base: () => [
    {
      // The attributes of the L1 block open every block.
      isFirst: true,
      transaction: {
        ...plain,
        hash: hashOf('a'),
        type: '0x7e',
        from: '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001',
        to: '0x4200000000000000000000000000000000000015',
        sourceHash: hashOf('1'),
        mint: '0x0',
        depositReceiptVersion: '0x1',
      },
      receipt: { depositNonce: '0x1c9c380', depositReceiptVersion: '0x1', gasUsed: '0xb41e' },
    },
    {
      // Ether that comes from L1.
      transaction: {
        ...plain,
        hash: hashOf('b'),
        type: '0x7e',
        from: '0x977f82a600a1414e583f7f13623f1ac5d58b1c0b',
        to: PAYEE.toLowerCase(),
        value: '0x64',
        sourceHash: hashOf('2'),
        mint: '0x64',
        depositReceiptVersion: '0x1',
      },
      receipt: { depositNonce: '0x7', depositReceiptVersion: '0x1', gasUsed: '0x5208' },
      pays: ['ETH', 100n],
    },
  ],
  polygon: (contract) => [
    {
      // State sync as Bor answered it before PIP-74: a legacy transaction that is in no root.
      isUnrooted: true,
      transaction: { ...plain, hash: hashOf('a'), type: '0x0', from: NULL_ADDRESS, to: NULL_ADDRESS },
      receipt: { logs: [mintLog(contract('USDC.e'), 500n)] },
      pays: ['USDC.e', 500n],
    },
  ],
  'polygon since PIP-74': (contract) => [
    {
      transaction: { ...plain, hash: hashOf('a'), type: '0x7f', from: NULL_ADDRESS, to: NULL_ADDRESS },
      receipt: { logs: [mintLog(contract('USDC'), 500n)] },
      pays: ['USDC', 500n],
    },
  ],
  arbitrum: () => [
    {
      // The start of a block.
      isFirst: true,
      transaction: {
        ...plain,
        hash: hashOf('a'),
        type: '0x6a',
        from: '0x00000000000000000000000000000000000a4b05',
        to: '0x00000000000000000000000000000000000a4b05',
      },
      receipt: { gasUsedForL1: '0x0', l1BlockNumber: '0x1406f40' },
    },
    {
      // Ether that comes from L1.
      transaction: {
        ...plain,
        hash: hashOf('b'),
        type: '0x64',
        from: '0x977f82a600a1414e583f7f13623f1ac5d58b1c0b',
        to: PAYEE.toLowerCase(),
        value: '0x64',
        requestId: hashOf('3'),
      },
      receipt: { gasUsedForL1: '0x0', l1BlockNumber: '0x1406f40' },
      pays: ['ETH', 100n],
    },
    {
      // A ticket for a call that came from L1.
      transaction: {
        ...plain,
        hash: hashOf('c'),
        type: '0x69',
        from: '0x977f82a600a1414e583f7f13623f1ac5d58b1c0b',
        to: '0x000000000000000000000000000000000000006e',
        ticketId: hashOf('4'),
      },
      receipt: { gasUsedForL1: '0x0', l1BlockNumber: '0x1406f40', gasUsed: '0x5208' },
    },
  ],
  bnb: () => [
    {
      // The validator pays the system contract what it earned by the block.
      transaction: {
        ...plain,
        hash: hashOf('a'),
        type: '0x0',
        from: NULL_ADDRESS,
        to: '0x0000000000000000000000000000000000001000',
        value: '0x1bc16d674ec80000',
        gas: '0x7fffffffffffffff',
      },
      receipt: { gasUsed: '0x5a3c' },
    },
  ],
  ethereum: () => [],
};

const withAdded = (answers: NodeAnswers, added: readonly Added[]): Promise<NodeAnswers> => {
  const place = { blockNumber: answers.block.number, chainId: '0x1' };
  const receiptOf = ({ transaction, receipt }: Added): NodeReceipt => ({
    type: transaction.type,
    from: transaction.from,
    to: transaction.to,
    contractAddress: null,
    status: '0x1',
    gasUsed: '0x0',
    effectiveGasPrice: '0x0',
    logs: [],
    ...receipt,
  });
  const at = (isFirst: boolean) => added.filter((each) => (each.isFirst ?? false) === isFirst);
  const transactions = (isFirst: boolean) => at(isFirst).map(({ transaction }) => ({ ...transaction, ...place }));
  const unrooted = new Set(added.filter(({ isUnrooted }) => isUnrooted).map(({ transaction }) => transaction.hash));
  const { block, receipts } = answers;
  return sealed(
    {
      block: { ...block, transactions: [...transactions(true), ...block.transactions, ...transactions(false)] },
      receipts: [...at(true).map(receiptOf), ...receipts, ...at(false).map(receiptOf)],
    },
    ({ hash }) => unrooted.has(hash as string),
  );
};

const started: { close: () => Promise<void> }[] = [];
afterAll(async () => {
  for (const { close } of started.reverse()) await close();
});

/** A node of a network of the bundled table, with its tokens, and a proxy before it. */
const startNetwork = async (name: string) => {
  const table: AssetTable = readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18, NETWORKS: [name] });
  const [network] = table.networks;
  const chainId = Number(network!.chainId.slice('eip155:'.length));
  const node = await startAnvil({ chainId, ...(name === 'base' && { moreArgs: ['--optimism'] }) });
  started.push({ close: node.stop });
  for (const { contract, decimals } of table.assets)
    if (contract) await node.call('anvil_setCode', contract, tokenCode(decimals));
  const proxy = await startNodeProxy(({ method, params }) => node.call(method, ...params));
  started.push(proxy);
  const source = openChainSource(network!, table.assets, { urls: [proxy.url] });
  started.push(source);
  return { table, node, proxy, source };
};

/** Pays each asset of a table once, in one block. */
const payEach = async ({ assets }: AssetTable, node: ChainNode) => {
  const pay = evmPayer(node);
  await node.call('evm_setAutomine', false);
  const paid: string[] = [];
  for (const [n, { contract }] of assets.entries()) {
    const units = BigInt(n + 1) * 1_000n;
    paid.push(await (contract ? pay.token(PAYEE, units, contract) : pay.native(PAYEE, units)));
  }
  await node.call('evm_mine');
  await node.call('evm_setAutomine', true);
  const { blockHash } = await mined(node.call, paid[0]!);
  const block = await node.call<NodeAnswers['block']>('eth_getBlockByHash', blockHash, true);
  const receipts = await node.call<NodeAnswers['receipts']>('eth_getBlockReceipts', blockHash);
  return { block, receipts };
};

/** The node serves the answers in the place of its own block. */
const serve = (proxy: NodeProxy, { block, receipts }: NodeAnswers) => {
  const honest = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
  const isHere = (id: unknown) => id === block.hash || id === block.number;
  proxy.falsify = ({ method, params: [id] }, answer) => {
    if (method === 'eth_getBlockByNumber' && isHere(id))
      return { result: { ...block, transactions: block.transactions.map(({ hash }) => hash) } };
    if (method === 'eth_getBlockByHash' && isHere(id)) return { result: block };
    if (method === 'eth_getBlockReceipts' && isHere(id)) return { result: receipts };
    if (method === 'eth_getTransactionReceipt' && honest.has(id)) return { result: honest.get(id) };
    if (method === 'debug_traceBlockByHash' && isHere(id)) return { result: tracesOf(block) };
    return answer === undefined ? undefined : { result: answer };
  };
};

const tracesOf = ({ transactions }: NodeAnswers['block']) =>
  transactions.map(({ hash, from, to, value }) => ({
    txHash: hash,
    result: { type: 'CALL', from, to, value, gas: '0x0', gasUsed: '0x0', input: '0x' },
  }));

test('a sealed block without changes is the block of the node', async () => {
  const { table, node } = await startNetwork('ethereum');
  const answers = await payEach(table, node);
  const again = await sealed(answers);
  expect(again.block).toEqual(answers.block);
  expect(again.receipts.map(({ logsBloom, logs }) => ({ logsBloom, logs: logs.length }))).toEqual(
    answers.receipts.map(({ logsBloom, logs }) => ({ logsBloom, logs: logs.length })),
  );
});

test('a block is final when the node calls it so, and stays final', async () => {
  const { node, proxy, source } = await startNetwork('base');
  await node.call('anvil_mine', '0x1');
  const ref = (await source.at(1))!;
  expect(await source.isFinal!(ref)).toBe(false);
  await node.call('anvil_mine', '0x100');
  expect(await source.isFinal!(ref)).toBe(true);
  proxy.falsify = () => ({ error: { code: -32_602, message: 'unknown tag' } });
  expect(await source.isFinal!(ref)).toBe(true);
  await expect(source.isFinal!({ ...ref, height: 300 })).rejects.toThrow(/unknown tag/);
});

test.each(Object.keys(ADDED))('reads %s as it comes, with the transactions that nobody signed', async (chain) => {
  const [name] = chain.split(' ') as [string];
  const { table, node, proxy, source } = await startNetwork(name);
  await source.verify();
  // Blocks of the chain have the form that their hash proves.
  const honest = await payEach(table, node);
  const { number: before } = honest.block as unknown as { number: string };
  expect((await source.block((await source.at(Number(before)))!, watched)).transfers).toHaveLength(table.assets.length);
  const nameOf = (id: string) =>
    table.assets.filter((each) => each.id === id).map(({ label, currency }) => label ?? currency)[0];
  const contract = (label: string) => table.assets.find((each) => (each.label ?? each.currency) === label)!.contract!;
  const added = ADDED[chain]!(contract);
  const answers = await withAdded(await payEach(table, node), added);
  serve(proxy, answers);
  const { number, hash } = answers.block as unknown as { number: string; hash: string };
  const ref = await source.at(Number(number));
  expect(ref).toEqual({ height: Number(number), hash });
  const { transfers } = await source.block(ref!, watched);
  expect(transfers.map(({ asset, units }) => [nameOf(asset), units])).toEqual([
    ...table.assets.map(({ label, currency }, n) => [label ?? currency, BigInt(n + 1) * 1_000n]),
    ...added.flatMap(({ pays }) => (pays ? [pays] : [])),
  ]);
});
