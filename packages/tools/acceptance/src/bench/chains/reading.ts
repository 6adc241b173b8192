import { monitorEventLoopDelay } from 'node:perf_hooks';
import { blocksAhead } from '@cpg/payments/blocks-ahead.js';
import { Pool } from 'undici';
import { atMost, ms, type Row } from '../report.ts';
import { inTurns } from '../timings.ts';
import { type BenchedChain, openBenched } from './benched-chain.ts';
import { fetchOnly } from './fetch-only.ts';
import type { Watched } from './watched.ts';

const ROUNDS = 7;
const WARM_UP = 3;
// Each address is encoded and looked up.
const MAX_RATIO = 4;

/** Compares reading blocks to only fetching them. CPU time is stable even on a busy machine. */
export const measureReading = async (chain: BenchedChain, watched: Watched, addresses: number): Promise<Row[]> => {
  const { name, calls } = chain;
  const { source, refs } = await openBenched(chain);
  const pool = new Pool(chain.url, { connections: 8 });
  let longestHoldMs = 0;
  const { cpuMs, counted } = cpuCounter(refs.length);
  const fetchAll = async () => {
    for (const ref of refs) await fetchOnly(pool, calls(ref));
  };
  const readAll = async () => {
    // A new one for each run: one that is enabled again counts the time in between as a hold.
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    for (const ref of refs) await source.block(ref, watched);
    delay.disable();
    longestHoldMs = Math.max(longestHoldMs, delay.max / 1e6);
  };
  const catchUp = async () => {
    const blocks = blocksAhead(source, { refresh: async () => watched }, refs.at(-1)!.height, 4);
    for (const { height } of refs) await blocks.block((await blocks.at(height))!);
  };
  try {
    const works = [counted('fetch', fetchAll), counted('read', readAll), catchUp];
    const [fetched, read, caughtUp] = (await inTurns(ROUNDS, works, WARM_UP)) as [number, number, number];
    const text = `${perSecond(refs.length, fetched)} fetched only, one after another`;
    return [
      {
        measure: `${name}: blocks per second in catch-up, ${addresses} addresses watched`,
        measured: perSecond(refs.length, caughtUp),
        baseline: { text, ratio: fetched / caughtUp },
        goal: atMost(caughtUp / fetched, MAX_RATIO, ' x the time of fetching'),
      },
      {
        measure: `${name}: blocks per second, read one after another`,
        measured: perSecond(refs.length, read),
        baseline: { text, ratio: fetched / read },
      },
      {
        measure: `${name}: CPU time of a block`,
        measured: ms(cpuMs.read),
        baseline: { text: `${ms(cpuMs.fetch)} fetched only`, ratio: cpuMs.read / cpuMs.fetch },
      },
      { measure: `${name}: longest hold of the event loop`, measured: ms(longestHoldMs) },
    ];
  } finally {
    await pool.destroy();
    await source.close();
  }
};

/** CPU time of this process by kind of work, for each of the `blocks` of one run. */
const cpuCounter = (blocks: number) => {
  const cpuMs = { fetch: 0, read: 0 };
  const counted = (kind: keyof typeof cpuMs, work: () => Promise<unknown>) => async () => {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    cpuMs[kind] += (user + system) / 1_000 / (ROUNDS + WARM_UP) / blocks;
  };
  return { cpuMs, counted };
};

const perSecond = (blocks: number, durationMs: number): string => ((blocks * 1_000) / durationMs).toFixed(1);
