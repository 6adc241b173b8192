import { createApi } from '../harness/api.ts';
import { startStack } from '../harness/stack.ts';
import { orderClient } from './order-client.ts';
import { residentBytes } from './process-costs.ts';
import { atMost, mib, rate, type Row } from './report.ts';
import { sustained } from './timings.ts';
import { startWebhookSink } from './webhook-sink.ts';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const CONNECTIONS = 8;
/** Caches and pools fill during this part of the time, which is not a leak. */
const WARM_UP_PART = 0.3;
const GROWTH_ALLOWED = 1.15;
const PROCESSES = ['gateway', 'orders', 'payments', 'webhook-dispatcher-1', 'eventstore', 'kafka', 'postgres'];

/** Measures the memory of every process under load for SOAK_MINUTES (default 10). After the warm-up it must stay
 *  flat. */
export const soak = async (): Promise<Row[]> => {
  const stack = await startStack();
  try {
    const api = createApi(stack);
    const sink = await startWebhookSink(api);
    const orders = orderClient({ ...stack, connections: CONNECTIONS });
    const forMs = MINUTES * 60_000;
    const sizes = () => PROCESSES.map((name) => residentBytes(stack.pidOf(name)!));

    const warm = await sustained({ at: CONNECTIONS, forMs: forMs * WARM_UP_PART }, orders.create);
    sink.receivedAtMs.clear();
    const before = sizes();
    console.log(`${rate(warm.perSecond)}, warm after ${Math.round((forMs * WARM_UP_PART) / 1_000)} s`);
    const long = await sustained({ at: CONNECTIONS, forMs: forMs * (1 - WARM_UP_PART) }, orders.create);
    const after = sizes();
    await Promise.all([orders.close(), api.close()]);
    sink.close();
    return [
      { measure: 'orders during the measurement', measured: String(long.count) },
      ...PROCESSES.map((name, index) => {
        const growth = after[index]! / before[index]!;
        return {
          measure: `${name}: resident memory, at the end`,
          measured: mib(after[index]!),
          goal: atMost(growth, GROWTH_ALLOWED, ' times'),
          baseline: { text: `after warm-up ${mib(before[index]!)}`, ratio: growth },
        };
      }),
    ];
  } finally {
    await stack.stop();
  }
};
