import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openShop } from '../harness/merchants.ts';
import { startStack } from '../harness/stack.ts';
import { atLeast, atMost, both, ms, rate, type Row } from './report.ts';
import type { Answer, Load, LoadResult } from './overload/generator.ts';
import { timingsOf } from './timings.ts';

const GENERATOR = fileURLToPath(new URL('./overload/generator.js', import.meta.url));
const MERCHANTS = 4;
/** As in the benchmark of order creates. */
const CONNECTIONS = 24;
/** Until the code of the services is compiled. */
const WARM_UP_MS = 20_000;
const CAPACITY_MS = 10_000;
const OVERLOAD_MS = 15_000;
const NORMAL_MS = 5_000;
const RECOVERY_MS = 2_000;
/** The part of the capacity that is a normal load. */
const NORMAL_PART = 0.5;
const FACTORS = [2, 5];

/** Measures how the stack refuses more order creates than it can handle, from several merchants. The generator is a
 *  process of its own on the same machine: its part of the CPUs, and what refusals cost, count against the stack. */
export const overload = async (): Promise<Row[]> => {
  // As `npm start` runs it, without rate limits.
  const stack = await startStack({ env: { LOG_LEVEL: 'info' } });
  const generator = startGenerator();
  try {
    const shops = await Promise.all(Array.from({ length: MERCHANTS }, () => openShop(stack)));
    await Promise.all(shops.map(({ api }) => api.close()));
    const common = { baseUrl: stack.baseUrl, apiKeys: shops.map(({ key }) => key) };
    console.log(`${WARM_UP_MS / 1_000} s of warm-up`);
    await generator.run({ ...common, connections: CONNECTIONS, forMs: WARM_UP_MS });
    console.log(`capacity: ${CONNECTIONS} requests at a time`);
    const full = await generator.run({ ...common, connections: CONNECTIONS, forMs: CAPACITY_MS });
    const capacity = perSecond(full);
    const normal = { ...common, perSecond: capacity * NORMAL_PART };

    const rows = [
      row('capacity, orders per second', rate(capacity)),
      row('its latency, median and p99', both(timingsOf(accepted(full)))),
    ];
    for (const factor of FACTORS) {
      console.log(`${factor} times the capacity for ${OVERLOAD_MS / 1_000} s`);
      const before = await generator.run({ ...normal, forMs: NORMAL_MS });
      const over = await generator.run({ ...common, perSecond: capacity * factor, forMs: OVERLOAD_MS });
      await generator.run({ ...normal, forMs: RECOVERY_MS });
      const after = await generator.run({ ...normal, forMs: NORMAL_MS });
      rows.push(...rowsOf(factor, capacity, { before, over, after }));
    }
    return rows;
  } finally {
    generator.close();
    await stack.stop();
  }
};

const rowsOf = (
  factor: number,
  capacity: number,
  { before, over, after }: Record<'before' | 'over' | 'after', LoadResult>,
): Row[] => {
  const goodput = perSecond(over) / capacity;
  const latency = timingsOf(accepted(over));
  const refused = over.answers.filter(isRefused).map(({ tookMs }) => tookMs);
  const failed = over.answers.length - refused.length - accepted(over).length;
  const late = timingsOf(over.answers.map(({ lateMs }) => lateMs));
  const [normal, again] = [timingsOf(accepted(before)), timingsOf(accepted(after))];
  return [
    row(`at ${factor} times: goodput`, `${Math.round(goodput * 100)} %`, atLeast(goodput * 100, 90, ' %')),
    row('  accepted, median and p99', both(latency), atMost(latency.p99, 1_000, ' ms')),
    refused.length === 0
      ? row('  refused', 'none')
      : row(
          `  refused (${refused.length}), median and p99`,
          both(timingsOf(refused)),
          atMost(timingsOf(refused).p99, 100, ' ms'),
        ),
    row('  neither accepted nor refused', String(failed), atMost(failed, 0, '')),
    row('  last answer after the load', ms(over.elapsedMs - OVERLOAD_MS)),
    row(
      '  generator: late at p99, CPUs',
      `${ms(late.p99)}, ${((over.cpuSeconds * 1_000) / over.elapsedMs).toFixed(2)}`,
    ),
    row(`  at half the capacity before, median and p99`, both(normal)),
    row(
      `  the same ${RECOVERY_MS / 1_000} s after the load`,
      `${both(again)}, ${after.answers.length - accepted(after).length} not accepted`,
      atMost(after.answers.length - accepted(after).length, 0, ' not accepted'),
    ),
  ];
};

const startGenerator = () => {
  const child = fork(GENERATOR, { execArgv: [] });
  return {
    run: async (load: Load): Promise<LoadResult> => {
      child.send(load);
      const [result] = (await once(child, 'message')) as [LoadResult];
      await sleep(0);
      return result;
    },
    close: () => child.kill(),
  };
};

const isAccepted = ({ status }: Answer): boolean => status === 201;
const isRefused = ({ status }: Answer): boolean => status === 503 || status === 429;
const accepted = ({ answers }: LoadResult): number[] => answers.filter(isAccepted).map(({ tookMs }) => tookMs);
/** Orders per second until the last answer: what is accepted after the end of a load counts with the time that it
 *  took. */
const perSecond = (result: LoadResult): number => (accepted(result).length * 1_000) / result.elapsedMs;

const row = (measure: string, measured: string, goal?: Row['goal']): Row => ({ measure, measured, goal });
