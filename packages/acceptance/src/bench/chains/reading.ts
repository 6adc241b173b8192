import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { AssetTable } from '@cpg/assets';
import { openChainSource } from '@cpg/payments/open-chain-source.js';
import { Pool } from 'undici';
import { atMost, ms, type Row } from '../report.ts';
import { inTurns } from '../timings.ts';
import { type Call, fetchOnly } from './fetch-only.ts';
import { watchedIn } from './watched.ts';

export interface BenchedChain {
  readonly name: string;
  readonly url: string;
  readonly table: AssetTable;
  /** Height of the first block to read. */
  readonly first: number;
  readonly blocks: number;
  /** The calls that fetch all that is to be known of one block. */
  readonly calls: (ref: { hash: string; height: number }) => readonly Call[];
}

const ROUNDS = 7;
const WARM_UP = 3;
const MAX_RATIO = 1.5;

/** The source of a chain, and the blocks to read. */
export const openBenched = async ({ url, table, first, blocks }: BenchedChain) => {
  const source = openChainSource(table.networks[0]!, table.assets, { urls: [url] });
  await source.verify();
  const refs = await Promise.all(Array.from({ length: blocks }, (_, index) => source.at(first + index)));
  return { source, refs: refs.map((ref) => ref!) };
};

/** Reads the blocks of a node, and compares it with fetching them without looking: by the clock, and by the CPU time of
 *  this process, which a busy machine does not stretch. */
export const measureReading = async (chain: BenchedChain, addresses: number): Promise<Row[]> => {
  const { source, refs } = await openBenched(chain);
  const pool = new Pool(chain.url, { connections: 8 });
  const watched = await watchedIn(chain.table, addresses);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const cpu = { fetching: 0, reading: 0 };
  const counted = (kind: keyof typeof cpu, work: () => Promise<unknown>) => async () => {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    cpu[kind] += (user + system) / 1_000 / (ROUNDS + WARM_UP) / refs.length;
  };
  try {
    const [fetched, read] = await inTurns(
      ROUNDS,
      [
        counted('fetching', async () => {
          for (const ref of refs) await fetchOnly(pool, chain.calls(ref));
        }),
        counted('reading', async () => {
          delay.enable();
          for (const ref of refs) await source.block(ref, watched);
          delay.disable();
        }),
      ],
      WARM_UP,
    );
    return [
      {
        measure: `${chain.name}: blocks per second, ${addresses} addresses watched`,
        measured: perSecond(refs.length, read!),
        baseline: { text: `${perSecond(refs.length, fetched!)} fetched only`, ratio: fetched! / read! },
        goal: atMost(read! / fetched!, MAX_RATIO, ' x the time of fetching'),
      },
      {
        measure: `${chain.name}: CPU time of a block`,
        measured: ms(cpu.reading),
        baseline: { text: `${ms(cpu.fetching)} fetched only`, ratio: cpu.reading / cpu.fetching },
      },
      { measure: `${chain.name}: longest hold of the event loop`, measured: ms(delay.max / 1e6) },
    ];
  } finally {
    await pool.destroy();
    await source.close();
  }
};

const perSecond = (blocks: number, durationMs: number): string => ((blocks * 1_000) / durationMs).toFixed(1);
