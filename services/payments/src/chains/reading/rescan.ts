import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { type Block, type BlockRef, type ChainSource, isCorrected, type Transfer } from '../chain-source.ts';
import type { ChainStore } from './chain-store.ts';
import { scopeOf } from './reading.ts';
import { compareReadings, knownIdsOf, readBlock, type Scope } from './recheck.ts';
import { isTakenOut, type SeenTransfer } from './seen-transfer.ts';
import { numberOf } from './transfer-rows.ts';
import type { WatchedAddresses } from './watched-addresses.ts';

/** A difference found by a rescan. `missing`: the transfer is not known in this block. `different`: it is known
 *  with another amount, asset or address. `not_shown`: it is known in this block, and nodes do not show it now. */
interface RescanFinding {
  readonly kind: 'missing' | 'different' | 'not_shown';
  readonly transfer: Pick<Transfer, 'id' | 'address' | 'asset'> & { readonly units: string };
  readonly block: BlockRef;
}

/** A rescan that an operator asked for: it goes beside the reading, from `from` up to the last block that had been read
 *  when it began. */
export interface Rescan {
  readonly from: number;
  /** Null until it begins. */
  readonly to: number | null;
  /** The next block. */
  readonly next: number;
  /** Whether the rescan counts as a further reading of the blocks that differ; otherwise it only shows them. */
  readonly apply: boolean;
  /** The first `FINDINGS_SHOWN`. `found` counts all. */
  readonly findings: readonly RescanFinding[];
  readonly found: number;
  readonly finishedAt: Date | null;
}

export interface RescanStore {
  /** The one that is not finished; null for none. */
  readonly load: () => Promise<Rescan | null>;
  /** Saves the progress, and adds findings. False if an operator asked for another one meanwhile. */
  readonly save: (
    rescan: Rescan,
    progress: { readonly to: number; readonly next: number; readonly finishedAt: Date | null },
    findings: readonly RescanFinding[],
  ) => Promise<boolean>;
}

export interface RescannerOptions {
  readonly network: string;
  readonly source: Pick<ChainSource, 'at' | 'block'>;
  readonly store: Pick<ChainStore, 'load' | 'commit' | 'ofBlock'>;
  readonly rescans: RescanStore;
  readonly watched: WatchedAddresses;
  /** CAIP-19: the assets of the network. */
  readonly assets: ReadonlySet<string>;
  readonly now: () => Date;
  readonly log: Logger;
}

const BLOCKS_AT_ONCE = 4;
const LOOK_AGAIN_MS = 5_000;
const LONGEST_PAUSE_MS = 30_000;

/** Reads blocks again beside the reading of a chain, whose cursor stays. Only transfers that differ are written, so
 *  nothing is reported again that did not change. What was found is saved before anything is written, because a
 *  repeat after a crash no longer finds it. `found` may count the findings of the last blocks twice after a crash. */
export const rescanner = (options: RescannerOptions) => {
  const { network, source, store, rescans, watched, now, log } = options;

  const blockAt = async (height: number): Promise<Block> => {
    const ref = await source.at(height);
    if (!ref) throw new Error(`the nodes do not have block ${height}`);
    return source.block(ref, await watched.refresh());
  };

  /** Compares a block with what is known, and writes what differs. The cursor must not move meanwhile, because the
   *  reading may be about to take back this block. */
  const compare = async (block: Block, apply: boolean): Promise<readonly RescanFinding[]> => {
    for (;;) {
      const { state, halted, rescanFrom } = await store.load();
      if (!state || halted !== null || rescanFrom !== null) throw new Error('reading of the chain stands still');
      const cursor = state.window.at(-1)!;
      const known = await store.ofBlock(block.ref, knownIdsOf(block.transfers));
      const { findings, changed } = compareBlock(known, block, await scopeOf(known, options), now());
      if (!apply || changed.length === 0) return findings;
      if (await store.commit(cursor, { cursor, transfers: changed })) return findings;
    }
  };

  const compareAll = async (blocks: readonly Block[], apply: boolean): Promise<RescanFinding[]> => {
    const findings: RescanFinding[] = [];
    for (const block of blocks) findings.push(...(await compare(block, apply)));
    return findings;
  };

  /** Reads the next blocks of the rescan that an operator asked for. False without one. */
  const readOn = async (): Promise<boolean> => {
    const rescan = await rescans.load();
    const { state } = await store.load();
    if (!rescan || !state) return false;
    const to = rescan.to ?? state.window.at(-1)!.height;
    const count = Math.max(0, Math.min(BLOCKS_AT_ONCE, to - rescan.next + 1));
    const blocks = await Promise.all(Array.from({ length: count }, (_, n) => blockAt(rescan.next + n)));
    const known = [...rescan.findings];
    /** False if an operator asked for another rescan meanwhile. */
    const save = async (found: readonly RescanFinding[], progress: Pick<Rescan, 'next' | 'finishedAt'>) => {
      const findings = found.filter((each) => !known.some((other) => isDeepStrictEqual(each, other)));
      if (!(await rescans.save({ ...rescan, findings: known }, { to, ...progress }, findings))) return false;
      known.push(...findings);
      for (const { kind, transfer, block } of findings)
        log.warn({ network, height: block.height, kind, ...transfer, isApplied: rescan.apply }, FOUND);
      return true;
    };
    let findings = await compareAll(blocks, false);
    if (rescan.apply && findings.length > 0) {
      if (!(await save(findings, { next: rescan.next, finishedAt: null }))) return true;
      findings = await compareAll(blocks, true);
    }
    const next = rescan.next + blocks.length;
    const finishedAt = next > to ? now() : null;
    if ((await save(findings, { next, finishedAt })) && finishedAt)
      log.info(
        { network, from: rescan.from, to, found: rescan.found + known.length - rescan.findings.length },
        'the rescan is complete',
      );
    return true;
  };

  return {
    readOn,
    /** Follows requests until `signal` aborts. */
    follow: async (signal: AbortSignal): Promise<void> => {
      let failures = 0;
      while (!signal.aborted) {
        let pauseMs = LOOK_AGAIN_MS;
        try {
          if (await readOn()) pauseMs = 0;
          failures = 0;
        } catch (error) {
          failures += 1;
          pauseMs = Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** Math.min(failures, 10));
          if (failures === 1 && !signal.aborted) log.warn({ network, err: error }, 'the rescan failed, retrying');
        }
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    },
  };
};

const FOUND = 'a rescan found a transfer that differs from what was read';

/** Compares a block with its transfers that are known. `changed` has those that differ, after one more reading of the
 *  block: like any other, they are settled by further readings. */
const compareBlock = (
  known: readonly SeenTransfer[],
  block: Block,
  scope: Scope,
  now: Date,
): { readonly findings: readonly RescanFinding[]; readonly changed: readonly SeenTransfer[] } => {
  const { shown, missing } = compareReadings(known, block, scope);
  const finding = (kind: RescanFinding['kind'], { id, address, asset, units }: Transfer): RescanFinding => ({
    kind,
    transfer: { id, address, asset, units: String(units) },
    block: block.ref,
  });
  const unread = shown
    .map((each, n) => ({ ...each, original: block.transfers[n]! }))
    .filter((each) => each.known?.block?.hash !== block.ref.hash);
  const different = unread.filter(({ transfer }) => isCorrected(transfer)).map(({ original }) => original);
  const added = unread.filter(({ transfer }) => !isCorrected(transfer));
  const notShown = missing.filter((each) => !isTakenOut(each));
  const ids = new Set([...unread.map(({ transfer }) => transfer.id), ...notShown.map(({ id }) => id)]);
  const { changed } = readBlock(known, block, { scope, firstNodes: [], now });
  return {
    findings: [
      ...added.map(({ transfer }) => finding('missing', transfer)),
      ...different.map((each) => finding('different', each)),
      ...notShown
        .filter(({ id }) => !different.some((each) => each.id === id))
        .map((each) => finding('not_shown', each)),
    ],
    changed: changed.filter(({ id }) => ids.has(id)),
  };
};

interface RescanRow {
  readonly network: string;
  readonly from_height: string;
  readonly to_height: string | null;
  readonly next_height: string;
  readonly apply: boolean;
  readonly findings: readonly RescanFinding[];
  readonly found: string;
  readonly finished_at: Date | null;
}

/** More are in the log. */
const FINDINGS_SHOWN = 100;

const rescanOf = (row: RescanRow): Rescan => ({
  from: Number(row.from_height),
  to: numberOf(row.to_height),
  next: Number(row.next_height),
  apply: row.apply,
  findings: row.findings,
  found: Number(row.found),
  finishedAt: row.finished_at,
});

/** The last rescan of each network. */
export const readRescans = async (db: Queryable): Promise<ReadonlyMap<string, Rescan>> => {
  const { rows } = await db.query<RescanRow>('select * from payments.chain_rescans');
  return new Map(rows.map((row) => [row.network, rescanOf(row)]));
};

/** Asks the process that reads a network for a rescan. It takes the place of the one before. */
export const requestRescan = async (
  db: Queryable,
  network: string,
  { from, apply }: Pick<Rescan, 'from' | 'apply'>,
): Promise<void> => {
  await db.query(
    `insert into payments.chain_rescans (network, from_height, next_height, apply) values ($1, $2, $2, $3)
     on conflict (network) do update set from_height = excluded.from_height, next_height = excluded.next_height,
       apply = excluded.apply, to_height = null, findings = '[]', found = 0, finished_at = null`,
    [network, from, apply],
  );
};

export const rescanRows = (db: Queryable, network: string): RescanStore => ({
  load: async () => {
    const { rows } = await db.query<RescanRow>({
      name: 'chain-rescan',
      text: 'select * from payments.chain_rescans where network = $1 and finished_at is null',
      values: [network],
    });
    return rows[0] ? rescanOf(rows[0]) : null;
  },
  save: async (rescan, { to, next, finishedAt }, findings) => {
    const shown = findings.slice(0, Math.max(0, FINDINGS_SHOWN - rescan.findings.length));
    const { rowCount } = await db.query({
      name: 'save-chain-rescan',
      text: `update payments.chain_rescans set to_height = $5, next_height = $6, finished_at = $7,
               findings = findings || $8::jsonb, found = found + $9
             where network = $1 and from_height = $2 and next_height = $3 and apply = $4 and finished_at is null`,
      values: [
        network,
        rescan.from,
        rescan.next,
        rescan.apply,
        to,
        next,
        finishedAt,
        JSON.stringify(shown),
        findings.length,
      ],
    });
    return rowCount === 1;
  },
});
