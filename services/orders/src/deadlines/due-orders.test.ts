import { after, cancel, dueAt, existing } from '../testing/jest-deciding.ts';
import { createOrder, minutesAfterNoon, offer } from '../testing/orders.ts';
import type { OrderCommand } from '../order/command.ts';
import type { ExistingOrder } from '../order/state.ts';
import { dueOrders } from './deadlines.ts';

const CONTEXT = { actor: 'timer', requestId: 'req_test', correlationId: 'req_test' };

/** What the timer does with an order at this time. */
const runAt = async (at: Date, order: ExistingOrder) => {
  const done: string[] = [];
  await dueOrders({
    commands: {
      runAndNotify: async (_: string, command: OrderCommand) => void done.push(command.type),
    } as never,
    payablesOf: async () => {
      done.push('find payables');
      return undefined;
    },
    awaitsChains: async () => {
      done.push('ask for chains');
      return false;
    },
    rates: {} as never,
    rateLockMaxMinutes: 60,
    assets: {} as never,
    now: () => at,
    endsBy: () => at,
  })(order, CONTEXT);
  return done;
};

const created = createOrder();
const seenInTime = offer(1, 10_000_000n, { confirmed: false, at: minutesAfterNoon(59) });

test('an order expires at its deadline, and not a millisecond before', async () => {
  const order = existing(after(created));
  expect(await runAt(dueAt, order)).toEqual(['ask for chains', 'ExpireOrder']);
  expect(await runAt(new Date(dueAt.getTime() - 1), order)).toEqual([]);
});

test('an order that awaits the confirmation of money asks nobody, and is left alone', async () => {
  expect(await runAt(dueAt, existing(after(created, seenInTime)))).toEqual([]);
});

test('an order without instructions looks for them, until it has ended', async () => {
  const uninstructed = createOrder({ instructions: undefined });
  expect(await runAt(minutesAfterNoon(1), existing(after(uninstructed)))).toEqual(['find payables']);
  expect(await runAt(minutesAfterNoon(1), existing(after(uninstructed, cancel)))).toEqual([]);
});
