import type { Stack } from '../harness/stack.ts';
import type { Baseline } from './baselines.ts';
import { cpuSeconds } from './cpu.ts';
import { ms, type Row } from './report.ts';

/** CPU milliseconds per order, by process. */
export type CpuPerOrder = ReadonlyMap<string, number>;

const PROCESSES = ['postgres', 'orders', 'payments', 'webhook-dispatcher-1', 'gateway', 'eventstore', 'kafka'];

/** Starts to measure the CPU time of each process of a stack. The returned function ends it and divides by the number
 *  of orders; null on a system without /proc. */
export const cpuMeter = (stack: Pick<Stack, 'pidOf'>): ((orders: number) => CpuPerOrder | null) => {
  const readAll = () => new Map(PROCESSES.map((name) => [name, cpuSeconds([stack.pidOf(name)!])]));
  const before = readAll();
  return (orders) => {
    const after = readAll();
    const perOrder = new Map<string, number>();
    for (const [name, started] of before) {
      const ended = after.get(name);
      if (started === null || ended == null) return null;
      perOrder.set(name, ((ended - started) * 1_000) / orders);
    }
    return perOrder;
  };
};

/** Compares all processes with the least that an order can cost: bare Fastify with zod and one durable insert. */
export const cpuRows = ({
  cpu,
  fastify,
  insert,
}: {
  readonly cpu: CpuPerOrder | null;
  readonly fastify: Baseline;
  readonly insert: Baseline;
}): Row[] => {
  const measure = 'CPU per order, all processes';
  if (!cpu || fastify.cpuMs === null || insert.cpuMs === null)
    return [{ measure, measured: 'not available on this system' }];
  const total = [...cpu.values()].reduce((sum, each) => sum + each, 0);
  const least = fastify.cpuMs + insert.cpuMs;
  return [
    { measure, measured: ms(total), baseline: { text: `Fastify and insert ${ms(least)}`, ratio: total / least } },
    ...[...cpu].map(([name, each]) => ({ measure: `  ${name}`, measured: ms(each) })),
  ];
};
