import { createLogger } from '@cpg/platform';
import { type ChainProcesses, transferOf, USDC, watchNewChain } from '../../testing/jest-chain-process.ts';
import type { SimulatedChain } from '../../testing/jest-simulated-chain.ts';
import type { Block, Transfer } from '../chain-source.ts';
import type { ChainStore } from './chain-store.ts';
import { type Rescan, rescanner, type RescanStore } from './rescan.ts';
import { watchedIn } from './watched-addresses.ts';

const log = createLogger({ name: 'rescan', level: 'silent' });
const seen = transferOf('seen');
/** Money that no reading shows at first. */
const missed = transferOf('missed');
const watched = { refresh: async () => watchedIn(new Set([seen.address, missed.address])) };

/** The request of an operator, in memory. */
const requested = (from: number, apply: boolean) => {
  let rescan: Rescan = { from, to: null, next: from, apply, findings: [], found: 0, finishedAt: null };
  const rescans: RescanStore = {
    load: async () => (rescan.finishedAt ? null : rescan),
    save: async (_, progress, findings) => {
      const all = [...rescan.findings, ...findings];
      rescan = { ...rescan, ...progress, findings: all, found: all.length };
      return true;
    },
  };
  return { rescans, current: () => rescan };
};

interface Changes {
  readonly block?: (block: Block) => Block;
  readonly store?: Partial<ChainStore>;
  /** The process dies before it saves this often, from 1. */
  readonly diesAtSave?: number;
  readonly request?: ReturnType<typeof requested>;
}

/** Runs a whole rescan beside a reading. */
const rescan = async (
  { chain, watching }: { chain: SimulatedChain; watching: ChainProcesses },
  apply: boolean,
  { block = (each) => each, store = {}, diesAtSave = 0, request = requested(1, apply) }: Changes = {},
) => {
  const { rescans, current } = request;
  let saves = 0;
  const save: RescanStore['save'] = async (...given) => {
    saves += 1;
    if (saves === diesAtSave) throw new Error('died');
    return rescans.save(...given);
  };
  const { readOn } = rescanner({
    network: 'simulated',
    source: { at: chain.source.at, block: async (...asked) => block(await chain.source.block(...asked)) },
    store: { ...watching.tables.store, ...store },
    rescans: { ...rescans, save },
    watched,
    assets: new Set([USDC.id]),
    now: watching.now,
    log,
  });
  while (await readOn());
  return current();
};

const started = async () => {
  const both = await watchNewChain();
  both.chain.setLie((transfers) => transfers.filter(({ id }) => id !== missed.id));
  both.chain.mine(seen);
  const block = both.chain.mine(missed);
  both.chain.mineMany(3);
  await both.watching.readOn();
  both.chain.setLie(null);
  return { ...both, block };
};
const findingOf = (kind: string, { id, address, asset, units }: Transfer, block: object) => ({
  kind,
  transfer: { id, address, asset, units: String(units) },
  block,
});

test('shows what was missed, and changes nothing', async () => {
  const { block, ...both } = await started();
  const before = both.watching.tables.transfers();
  expect(await rescan(both, false)).toMatchObject({
    to: 8,
    next: 9,
    found: 1,
    findings: [findingOf('missing', missed, block)],
  });
  expect(both.watching.tables.transfers()).toEqual(before);
});

test('adds what was missed, while the reading goes on, and announces nothing else', async () => {
  const { block, ...both } = await started();
  const { chain, watching } = both;
  const events = watching.events.length;
  const before = watching.paymentOf(seen);
  const window = watching.tables.window();
  await rescan(both, true);
  expect(watching.tables.window()).toEqual(window);
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(missed)).toMatchObject({ status: 'applied', block });
  expect(watching.events.slice(events).filter(({ type }) => type === 'PaymentReceived')).toMatchObject([
    { data: { providerId: `eip155:31337/${missed.id}` } },
  ]);
  expect(watching.paymentOf(seen)).toEqual(before);
  expect(await rescan(both, true)).toMatchObject({ found: 0 });
});

test('shows other amounts, and transfers that a node does not show now; applied, further readings decide', async () => {
  const { block: _, ...both } = await started();
  const { chain, watching } = both;
  const before = watching.tables.transfers();
  const ref = chain.refAt(4);
  const larger = { ...seen, units: 1_000n * seen.units };
  const lie = (transfers: readonly Transfer[]) => (block: Block) =>
    block.ref.height === 4 ? { ...block, transfers } : { ...block, transfers: [] };
  expect((await rescan(both, false, { block: lie([larger]) })).findings).toEqual([findingOf('different', larger, ref)]);
  expect((await rescan(both, false, { block: lie([]) })).findings).toEqual([findingOf('not_shown', seen, ref)]);
  expect(watching.tables.transfers()).toEqual(before);
  await rescan(both, true, { block: lie([larger]) });
  for (let time = 0; time < 5; time += 1) {
    watching.passHours(1);
    await watching.readOn();
  }
  expect(watching.paymentOf(seen)).toMatchObject({ status: 'applied', amountMinor: seen.units });
  expect(watching.payments().filter(({ status }) => status === 'applied')).toHaveLength(1);
});

test('compares a block again when the reading moved meanwhile', async () => {
  const { block, ...both } = await started();
  const { chain, watching } = both;
  let commits = 0;
  const commit: ChainStore['commit'] = async (...given) => {
    commits += 1;
    if (commits === 1) {
      chain.mine();
      await watching.readOn();
    }
    return watching.tables.store.commit(...given);
  };
  await rescan(both, true, { store: { commit } });
  expect(commits).toBe(2);
  expect(watching.progress().height).toBe(9);
  await watching.readOn();
  expect(watching.paymentOf(missed)).toMatchObject({ status: 'applied', block });
});

test('a reorganization takes back what a rescan added', async () => {
  const { block: _, ...both } = await started();
  const { chain, watching } = both;
  await rescan(both, true);
  chain.drop(4);
  chain.mineMany(12);
  await watching.readOn();
  expect(watching.paymentOf(missed)?.status ?? 'failed').toBe('failed');
});

test('adds nothing while reading halted', async () => {
  const { block: _, ...both } = await started();
  const { watching } = both;
  await watching.tables.store.mark({ tip: null, readAt: null, halted: 'wrong chain' });
  await expect(rescan(both, true)).rejects.toThrow('stands still');
  expect(watching.tables.transfers().map(({ id }) => id)).toEqual([seen.id]);
});

test.each([
  ['before it saved what it found', 2, [seen.id]],
  ['after it added a transfer', 3, [seen.id, missed.id]],
])('a process that dies %s goes on without adding it twice, and shows it once', async (_, diesAtSave, ids) => {
  const { block: __, ...both } = await started();
  const { watching } = both;
  const request = requested(1, true);
  await expect(rescan(both, true, { diesAtSave, request })).rejects.toThrow('died');
  expect(watching.tables.transfers().map(({ id }) => id)).toEqual(ids);
  expect(await rescan(both, true, { request })).toMatchObject({
    found: 1,
    findings: [{ kind: 'missing', transfer: { id: missed.id } }],
  });
  await watching.readOn();
  expect(watching.events.filter(({ type }) => type === 'PaymentReceived')).toHaveLength(2);
});
