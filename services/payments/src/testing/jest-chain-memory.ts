import type { ChainState, ChainStore, OpenTransfer, ReadBlock, ReadMark } from '../chains/reading/chain-store.ts';
import type { ChainStream, RecordedPlace } from '../chains/reading/chain-stream.ts';
import { isOpen, type SeenTransfer } from '../chains/reading/seen-transfer.ts';
import type { Crashes } from './jest-simulated-chain.ts';

const isSameBlock = (a: ReadBlock | null, b: ReadBlock | null) => a?.height === b?.height && a?.hash === b?.hash;

/** The tables of one chain in memory. Passes the same tests as those in PostgreSQL. */
export const memoryChainStore = (windowBlocks: number) => {
  let state: ChainState | null = null;
  let rescanFrom: number | null = null;
  let mark: ReadMark = { tip: null, readAt: null, halted: null, stalled: null };
  let waiting: string | null = null;
  const transfers = new Map<string, SeenTransfer>();
  const all = () => [...transfers.values()].toSorted((a, b) => a.seenAt.getTime() - b.seenAt.getTime());
  const cursor = () => state?.window.at(-1) ?? null;
  const put = (changed: readonly SeenTransfer[]) => {
    for (const { unitsAtAddress: _, ...transfer } of changed as readonly OpenTransfer[]) {
      const { required = null, reported = null, pending = null, failure = null } = transfers.get(transfer.id) ?? {};
      transfers.set(transfer.id, { ...transfer, required, reported, pending, failure });
    }
  };
  /** Sum of the transfers to the same address and asset, without other ones that failed or that readings do not
   *  show. */
  const unitsWith = ({ id, address, asset }: SeenTransfer): bigint =>
    all()
      .filter((other) => other.address === address && other.asset === asset)
      .filter((other) => other.id === id || (other.seen.isShown && other.reported?.status !== 'failed'))
      .reduce((sum, { units }) => sum + units, 0n);
  const store: ChainStore = {
    load: async () => ({ state, readAt: mark.readAt, halted: mark.halted, stalled: mark.stalled ?? null, rescanFrom }),
    begin: async (genesis, from, change) => {
      if (!isSameBlock(cursor(), from)) return false;
      state = { genesis, window: [change.cursor], rechecked: change.cursor.height };
      rescanFrom = null;
      mark = { ...mark, halted: null };
      put(change.transfers);
      return true;
    },
    commit: async (from, change) => {
      if (!isSameBlock(cursor(), from) || rescanFrom !== null) return false;
      const { height } = change.cursor;
      const kept = state!.window.filter((block) => block.height < height && block.height >= height - windowBlocks);
      const rechecked = Math.min(change.rechecked ?? state!.rechecked, height);
      state = { ...state!, window: [...kept, change.cursor], rechecked };
      mark = { ...mark, halted: null };
      put(change.transfers);
      return true;
    },
    mark: async (next) => {
      const { tip, readAt, halted, stalled = mark.stalled, nodes = mark.nodes } = next;
      mark = { tip: tip ?? mark.tip, readAt: readAt ?? mark.readAt, halted, stalled, nodes };
    },
    markWaiting: async (reason) => void (waiting = reason),
    withIds: async (ids) => all().filter(({ id }) => ids.includes(id)),
    ofBlock: async ({ hash }, ids) =>
      all().filter(({ id, block, lostHash }) => ids.includes(id) || (block?.hash ?? lostHash) === hash),
    above: async (height) => all().filter(({ block }) => block !== null && block.height > height),
    open: async () =>
      all()
        .filter(isOpen)
        .map((transfer) => ({ ...transfer, unitsAtAddress: unitsWith(transfer) })),
    saveReports: async (changes) => {
      for (const { id, required, reported, pending, failure } of changes)
        transfers.set(id, { ...transfers.get(id)!, required, reported, pending, failure });
    },
  };
  return {
    store,
    transfers: all,
    window: () => state?.window ?? [],
    rechecked: () => state?.rechecked ?? null,
    mark: () => mark,
    waiting: () => waiting,
    requestRescan: (from: number) => void (rescanFrom = from),
    lose: () => {
      state = null;
      transfers.clear();
    },
  };
};

/** The same tables, whose process dies at a write. */
export const dyingChainStore = (store: ChainStore, { write }: Pick<Crashes, 'write'>): ChainStore => ({
  ...store,
  begin: (...given) => write(() => store.begin(...given)),
  commit: (...given) => write(() => store.commit(...given)),
  mark: (...given) => write(() => store.mark(...given)),
  saveReports: (...given) => write(() => store.saveReports(...given)),
});

/** The stream of one chain in memory. */
export const memoryChainStream = ({ write }: Pick<Crashes, 'write'>) => {
  const places: RecordedPlace[] = [];
  const stream: ChainStream = {
    last: async () => places.at(-1) ?? null,
    started: (place) => write(async () => void places.push(place)),
    readUpTo: ({ height, hash }) => write(async () => void places.push({ height, hash })),
  };
  return { stream, places };
};
