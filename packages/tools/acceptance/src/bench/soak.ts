import { startStack } from '../harness/stack.ts';
import { createApi } from '../harness/api.ts';
import { residentBytes } from './memory.ts';
import { creator } from './orders.ts';
import { mib, type Row } from './report.ts';
import { sustained } from './timings.ts';
import { startWebhookSink } from './webhook-sink.ts';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const CONNECTIONS = 8;
/** Caches and pools fill during this part of the time, which is not a leak. */
const WARM_UP_PART = 0.3;
const GROWTH_ALLOWED = 1.15;

/** Measures the memory of every process under load for SOAK_MINUTES (default 10). After the warm-up it must stay
 *  flat. */
export const soak = async (): Promise<Row[]> => {
  const stack = await startStack();
  try {
    const names = ['gateway', 'orders', 'payments', 'webhook-dispatcher-1', 'eventstore', 'kafka', 'postgres'];
    const sink = await startWebhookSink();
    const api = createApi(stack);
    const { id } = await api.createWebhook({ url: sink.url, events: ['order:created'] });
    await api.updateWebhook(id, { is_enabled: true });
    const orders = creator({ ...stack, connections: CONNECTIONS });
    const forMs = MINUTES * 60_000;
    const sizes = () => names.map((name) => residentBytes(stack.pidOf(name)!) ?? NaN);

    const warm = await sustained({ at: CONNECTIONS, forMs: forMs * WARM_UP_PART }, orders.create);
    sink.receivedAtMs.clear();
    const before = sizes();
    console.log(`${Math.round(warm.perSecond)} orders/s, warm after ${Math.round((forMs * WARM_UP_PART) / 1_000)} s`);
    const long = await sustained({ at: CONNECTIONS, forMs: forMs * (1 - WARM_UP_PART) }, orders.create);
    const after = sizes();
    await Promise.all([orders.close(), api.close()]);
    sink.close();
    return [
      { measure: 'orders during the measurement', measured: String(long.count) },
      ...names.map((name, index) => {
        const growth = after[index]! / before[index]!;
        return {
          measure: `${name}: resident memory, at the end`,
          measured: mib(after[index]!),
          goal: { text: `< x ${GROWTH_ALLOWED}`, met: growth < GROWTH_ALLOWED },
          baseline: { text: `after warm-up ${mib(before[index]!)}`, ratio: growth },
        };
      }),
    ];
  } finally {
    await stack.stop();
  }
};
