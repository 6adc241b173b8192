import { setTimeout as sleep } from 'node:timers/promises';
import { creator } from '../orders.ts';
import { ms, type Row } from '../report.ts';
import { type Timings, timingsOf } from '../timings.ts';
import { onStage, type Stage } from './stage.ts';

const ORDERS_PER_SECOND = 100;
/** As long as it takes until the services' code is compiled. */
const WARM_UP_MS = 20_000;
const FOR_MS = 10_000;

/** From when the event happened, which is just before its commit, to the first byte at the receiver. */
export const latency = async (): Promise<Row[]> => {
  const { median, p99 } = await onStage(1, async (stage) => {
    console.log(`${ORDERS_PER_SECOND} orders a second`);
    await feel(stage, WARM_UP_MS);
    return feel(stage, FOR_MS);
  });
  return [
    {
      measure: `event to first byte at ${ORDERS_PER_SECOND} orders/s, median`,
      measured: ms(median),
      goal: { text: '< 10 ms', met: median < 10 },
    },
    { measure: 'the same, p99', measured: ms(p99), goal: { text: '< 40 ms', met: p99 < 40 } },
  ];
};

const feel = async ({ stack, endpoints }: Stage, forMs: number): Promise<Timings> => {
  const orders = creator({ ...stack, connections: 32 });
  const began = performance.now();
  const created: Promise<unknown>[] = [];
  await endpoints.received();
  for (let n = 0; n < (ORDERS_PER_SECOND * forMs) / 1_000; n += 1) {
    created.push(orders.create());
    await sleep(Math.max(0, began + ((n + 1) * 1_000) / ORDERS_PER_SECOND - performance.now()));
  }
  await Promise.all(created);
  await sleep(1_000);
  await orders.close();
  const { delays } = await endpoints.received();
  return timingsOf(delays.map(([, delayMs]) => delayMs));
};
