import type { Asset } from '@cpg/assets';
import type { Transfer } from '../chain-source.ts';
import { RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import type { Nodes } from '../nodes/nodes.ts';
import { arrivalsReader, coinsAt } from './balances.ts';
import { TRANSFER_TOPIC } from './block.ts';
import type { Body } from './body.ts';

const word = (value: bigint) => value.toString(16).padStart(64, '0');
const addressOf = (digit: string) => `0x${digit.repeat(40)}`;
const [PAYEE, OTHER, PAYER, TOKEN] = ['A', 'b', 'c', 'd'].map(addressOf) as [string, string, string, string];
const [BEFORE, HERE] = ['0xbefore', '0xhere'];
type Call = { readonly to?: string; readonly data: string };

const nodeThat = (answer: (call: Call, blockHash: string) => string, number = 1): RpcNode => ({
  number,
  call: async (_, params) => {
    const [call, at] = params as [Call, { readonly blockHash: string }];
    return answer(call, at.blockHash);
  },
  close: async () => {},
});
const lacking = (): never => {
  throw new RpcError(-32_000, 'missing trie node', 'no_state');
};

describe('coins after a block', () => {
  const many = Array.from({ length: 501 }, (_, n) => `0x${n.toString(16).padStart(40, 'E')}`);

  test('are asked for 500 addresses at once, and belong to them in order', async () => {
    const asked: string[] = [];
    const node = nodeThat(({ data }, blockHash) => {
      expect(blockHash).toBe(HERE);
      const count = asked.push(data) === 1 ? 500 : 1;
      return `0x${Array.from({ length: count }, (_, n) => word(BigInt(n + 1_000 * asked.length))).join('')}`;
    });
    const balances = await coinsAt(node, HERE, many);
    expect(balances!.size).toBe(501);
    expect([0, 499, 500].map((n) => balances!.get(many[n]!))).toEqual([1_000n, 1_499n, 2_000n]);
    const digits = many.map((address) => address.slice(2).toLowerCase());
    const [first, second] = asked;
    expect(first!.endsWith(digits.slice(0, 500).join(''))).toBe(true);
    expect(second!.endsWith(digits[500]!)).toBe(true);
    // The code before the addresses is the same.
    expect(first!.length - second!.length).toBe(499 * 40);
  });

  test('are unknown to a node without the state of the block', async () => {
    expect(await coinsAt(nodeThat(lacking), HERE, many)).toBeNull();
    expect(await coinsAt(nodeThat(lacking), HERE, [])).toEqual(new Map());
  });

  test.each([`0x${word(1n)}`, `0x${word(1n).repeat(3)}`, '0x'])(
    'are refused in an answer of another length',
    async (answer) => {
      await expect(
        coinsAt(
          nodeThat(() => answer),
          HERE,
          [PAYEE, OTHER],
        ),
      ).rejects.toMatchObject({
        fault: 'mismatch',
        message: 'node 1, eth_call: has not one balance for each address',
      });
    },
  );

  test('an error of the connection is no answer', async () => {
    const broken = nodeThat(() => {
      throw new TypeError('a bug');
    });
    await expect(coinsAt(broken, HERE, [PAYEE])).rejects.toThrow('a bug');
  });
});

const COIN = 'eip155:1/slip44:60';
const TAXED = 'eip155:1/erc20:taxed';
const assets = [{ id: COIN }, { id: TAXED, contract: TOKEN.toUpperCase().replace('0X', '0x') }] as unknown as Asset[];

const logOf = (from: string, to: string, units: bigint, changes: object = {}) => ({
  address: TOKEN,
  topics: [TRANSFER_TOPIC, ...[from, to].map((address) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`)],
  data: `0x${word(units)}`,
  ...changes,
});
type AnyLog = ReturnType<typeof logOf>;
const transferOf = (units: bigint, address = PAYEE, asset = TAXED): Transfer => ({
  id: `0x1:${units}`,
  txHash: '0x1',
  address,
  asset,
  units,
});
const bodyOf = (transfers: readonly Transfer[], logs: readonly AnyLog[], failed: readonly AnyLog[] = []) =>
  ({
    block: { header: { hash: HERE, parentHash: BEFORE } },
    transfers,
    isProven: true,
    receipts: [
      { status: '0x1', logs },
      { status: '0x0', logs: failed },
    ],
  }) as unknown as Body;

/** Nodes that say by how much the tokens of each address grew; null for a node without state. */
const nodesThat = (...growths: readonly (bigint | null)[]) => {
  const asked: Call[] = [];
  const nodes = growths.map((growth, index) =>
    nodeThat((call, blockHash) => {
      asked.push(call);
      if (growth === null) return lacking();
      return `0x${word(blockHash === BEFORE ? 1_000n : 1_000n + growth)}`;
    }, index + 1),
  );
  const each: Nodes['each'] = (ask) => Promise.all(nodes.map(async (node) => ({ node, answer: await ask(node) })));
  return { nodes: { each } as Nodes, asked };
};
const unitsOf = ({ transfers }: { readonly transfers: readonly Transfer[] }) => transfers.map(({ units }) => units);

test('a transfer of which all arrived keeps its units and its proof', async () => {
  const { nodes, asked } = nodesThat(100n);
  const arrived = await arrivalsReader(nodes, assets)(bodyOf([transferOf(100n)], [logOf(PAYER, PAYEE, 100n)]));
  expect([unitsOf(arrived), arrived.isProven]).toEqual([[100n], true]);
  expect(asked[0]).toEqual({
    to: TOKEN.toUpperCase().replace('0X', '0x'),
    data: `0x70a08231${PAYEE.slice(2).toLowerCase().padStart(64, '0')}`,
  });
});

test.each<[string, readonly (bigint | null)[], bigint]>([
  ['what arrived counts', [90n], 90n],
  ['the most that a node says counts', [90n, 95n, 80n], 95n],
  ['never more than the logs say', [90n, 500n], 100n],
  ['nodes without state say nothing', [null, 90n], 90n],
  ['without any state, the logs count', [null, null], 100n],
])('of nodes that differ, %s', async (_, growths, units) => {
  const { nodes } = nodesThat(...growths);
  const arrived = await arrivalsReader(nodes, assets)(bodyOf([transferOf(100n)], [logOf(PAYER, PAYEE, 100n)]));
  expect(unitsOf(arrived)).toEqual([units]);
  expect(arrived.isProven).toBe(units === 100n);
});

test('a transfer of which nothing arrived is left out', async () => {
  const { nodes } = nodesThat(0n);
  const arrived = await arrivalsReader(nodes, assets)(bodyOf([transferOf(100n)], [logOf(PAYER, PAYEE, 100n)]));
  expect(arrived).toEqual({ transfers: [], isProven: false });
});

test('what an address paid in the block came to it before', async () => {
  const { nodes } = nodesThat(-40n);
  const logs = [logOf(PAYER, PAYEE, 100n), logOf(PAYEE, OTHER, 140n)];
  expect(unitsOf(await arrivalsReader(nodes, assets)(bodyOf([transferOf(100n)], logs)))).toEqual([100n]);
});

test('several transfers to an address share what arrived, and are asked about once', async () => {
  const { nodes, asked } = nodesThat(270n);
  const logs = [logOf(PAYER, PAYEE, 100n), logOf(PAYER, PAYEE, 200n)];
  const arrived = await arrivalsReader(nodes, assets)(bodyOf([transferOf(100n), transferOf(200n)], logs));
  expect(unitsOf(arrived)).toEqual([90n, 180n]);
  expect(asked).toHaveLength(2);
});

test.each<[string, AnyLog, readonly AnyLog[]]>([
  ['of another token', logOf(PAYER, PAYEE, 900n, { address: OTHER }), []],
  [
    'that are no transfers',
    logOf(PAYER, PAYEE, 900n, { topics: ['0x1', ...logOf(PAYER, PAYEE, 1n).topics.slice(1)] }),
    [],
  ],
  ['whose data is no amount', logOf(PAYER, PAYEE, 900n, { data: '0x09' }), []],
  ['to another address', logOf(PAYER, OTHER, 900n), []],
  ['of failed transactions', logOf(PAYER, OTHER, 1n), [logOf(PAYER, PAYEE, 900n)]],
])('logs %s do not count', async (_, log, failed) => {
  const { nodes } = nodesThat(100n);
  const body = bodyOf([transferOf(100n)], [logOf(PAYER, PAYEE, 100n), log], failed);
  expect(await arrivalsReader(nodes, assets)(body)).toMatchObject({ transfers: [{ units: 100n }], isProven: true });
});

test('coins of the chain are not asked about', async () => {
  const { nodes, asked } = nodesThat(0n);
  const arrived = await arrivalsReader(nodes, assets)(bodyOf([transferOf(7n, PAYEE, COIN)], []));
  expect([unitsOf(arrived), arrived.isProven, asked]).toEqual([[7n], true, []]);
});

test('a token that once kept a fee is never proven by logs again', async () => {
  let growth = 90n;
  const nodes = nodesThat(100n);
  const read = arrivalsReader({ ...nodes.nodes, each: (ask) => nodesThat(growth).nodes.each(ask) }, assets);
  const body = bodyOf([transferOf(100n)], [logOf(PAYER, PAYEE, 100n)]);
  expect((await read(body)).isProven).toBe(false);
  growth = 100n;
  expect(await read(body)).toMatchObject({ transfers: [{ units: 100n }], isProven: false });
  const unproven = { ...bodyOf([transferOf(7n, PAYEE, COIN)], []), isProven: false };
  expect((await read(unproven)).isProven).toBe(false);
});
