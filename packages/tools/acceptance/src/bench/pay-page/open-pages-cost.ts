import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '../../harness/until.ts';
import { cpuSeconds } from '../cpu.ts';
import { residentBytes } from '../memory.ts';
import type { PayersMessage } from './payers.ts';

const PAYERS = fileURLToPath(new URL('./payers.js', import.meta.url));
/** Until what was allocated to open them is collected. */
const SETTLE_MS = 10_000;
const IDLE_MS = 15_000;
const OPEN_WITHIN_MS = 300_000;

export interface OpenPagesCost {
  readonly bytesPerPage: number;
  /** CPU milliseconds per second while nothing changes, by process. */
  readonly idleCpuMs: readonly number[];
  /** From a change of every page until every payer was told. */
  readonly toldMs: number;
  /** CPU milliseconds of that, by process. */
  readonly toldCpuMs: readonly number[];
}

/** Opens all pages and changes them at once; the first of `pids` is the server. */
export const costOfOpenPages = async (
  urls: readonly string[],
  pids: readonly number[],
  prepareChange: () => Promise<() => Promise<unknown>>,
): Promise<OpenPagesCost> => {
  const cpuMs = () => pids.map((pid) => cpuSeconds([pid])! * 1_000);
  const since = (before: readonly number[]) => cpuMs().map((value, n) => value - before[n]!);
  const emptyBytes = residentBytes(pids[0]!)!;
  const payers = fork(PAYERS, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    let latest: PayersMessage = { begun: 0, told: 0, lastToldAtMs: 0, refusals: 0 };
    payers.on('message', (message: PayersMessage) => void (latest = message));
    payers.send(urls);
    await until('every page to be open', () => latest.begun === urls.length, {
      withinMs: OPEN_WITHIN_MS,
    });
    if (latest.refusals > 0) console.log(`${latest.refusals} streams were refused at first`);
    await sleep(SETTLE_MS);
    const beforeIdle = cpuMs();
    await sleep(IDLE_MS);
    const idleCpuMs = since(beforeIdle).map((value) => value / (IDLE_MS / 1_000));
    const bytesPerPage = (residentBytes(pids[0]!)! - emptyBytes) / urls.length;
    const change = await prepareChange();
    const beforeChange = cpuMs();
    const changedAtMs = performance.timeOrigin + performance.now();
    await change();
    await until('every payer to be told', () => latest.told >= urls.length, { withinMs: OPEN_WITHIN_MS });
    return { bytesPerPage, idleCpuMs, toldMs: latest.lastToldAtMs - changedAtMs, toldCpuMs: since(beforeChange) };
  } finally {
    payers.kill();
  }
};
