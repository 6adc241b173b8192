import { believedCalls, type CallsEvidence, type Growth, needsBalances, type ShownCalls } from './calls-evidence.ts';

const PAYEE = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
const PAYER = `0x${'1'.repeat(40)}`;

const shown = (node: number, ...units: readonly bigint[]): ShownCalls => ({
  node,
  calls: new Map([['0xa', units.map((value) => ({ from: PAYER, to: PAYEE, value }))]]),
  transfers: units.map((each, index) => ({
    id: `0xa:native${index + 1}`,
    txHash: '0xa',
    address: PAYEE,
    asset: 'eth',
    units: each,
  })),
});
const grew = (node: number, units: bigint): Growth => ({ node, units: new Map([[PAYEE, units]]) });
const verdict = (evidence: Partial<CallsEvidence>) => {
  const found = believedCalls({ shown: [], growths: [], brought: () => 0n, ...evidence });
  return found.kind === 'undecided'
    ? 'undecided'
    : { units: found.transfers.map(({ units }) => units), nodes: found.nodes, faulty: found.faulty };
};

test('two nodes that show the same need no balances', () => {
  expect(needsBalances([shown(1, 5n), shown(2, 5n)])).toBe(false);
  expect(needsBalances([shown(1), shown(2)])).toBe(false);
  expect(needsBalances([shown(1)])).toBe(false);
  expect(needsBalances([shown(1, 5n)])).toBe(true);
  expect(needsBalances([shown(1, 5n), shown(2)])).toBe(true);
});

test.each<[string, Partial<CallsEvidence>, ReturnType<typeof verdict>]>([
  ['nothing, which one node shows', { shown: [shown(1)] }, { units: [], nodes: [1], faulty: [] }],
  ['what two nodes show', { shown: [shown(1, 5n), shown(2, 5n)] }, { units: [5n], nodes: [1, 2], faulty: [] }],
  ['what one node shows, without balances', { shown: [shown(1, 5n)] }, { units: [5n], nodes: [1], faulty: [] }],
  [
    'what fits balances of all nodes',
    { shown: [shown(1), shown(2, 5n)], growths: [grew(1, 5n), grew(2, 5n)] },
    { units: [5n], nodes: [2], faulty: [1] },
  ],
  [
    'what fits the balance of a node that shows another amount',
    { shown: [shown(1, 9n), shown(2, 5n)], growths: [grew(1, 5n)] },
    { units: [5n], nodes: [2], faulty: [1] },
  ],
  [
    'that there is no call, if balances did not grow',
    { shown: [shown(1, 9n), shown(2), shown(3)], growths: [grew(1, 0n), grew(2, 0n), grew(3, 0n)] },
    { units: [], nodes: [2, 3], faulty: [1] },
  ],
  [
    'what fits together with the values of transactions',
    { shown: [shown(1, 5n), shown(2, 6n)], growths: [grew(1, 8n), grew(2, 8n)], brought: () => 3n },
    { units: [5n], nodes: [1], faulty: [2] },
  ],
])('believes %s', (_, evidence, expected) => {
  expect(verdict(evidence)).toEqual(expected);
});

test('counts what the payee pays on by a call', () => {
  const forwarded = {
    ...shown(1, 5n),
    calls: new Map([
      [
        '0xa',
        [
          { from: PAYER, to: PAYEE, value: 5n },
          { from: PAYEE, to: PAYER, value: 5n },
        ],
      ],
    ]),
  };
  expect(verdict({ shown: [forwarded], growths: [grew(1, 0n)] })).toMatchObject({ units: [5n] });
});

test.each<[string, Partial<CallsEvidence>]>([
  ['nodes differ and no balance is known', { shown: [shown(1, 9n), shown(2, 5n)] }],
  ['each node fits its own balances', { shown: [shown(1, 9n), shown(2, 5n)], growths: [grew(1, 9n), grew(2, 5n)] }],
  ['only the balances of the node itself fit', { shown: [shown(1, 9n), shown(2, 5n)], growths: [grew(1, 9n)] }],
  ['nothing fits', { shown: [shown(1, 9n), shown(2, 5n)], growths: [grew(1, 7n), grew(2, 7n)] }],
  ['the only node contradicts its balances', { shown: [shown(1, 9n)], growths: [grew(1, 5n)] }],
])('decides nothing if %s', (_, evidence) => {
  expect(verdict(evidence)).toBe('undecided');
});
