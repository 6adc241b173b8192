import { setTimeout as sleep } from 'node:timers/promises';
import { type AppendFault, type FaultCase, faultCases, plannedFaults } from '@cpg/embedded-eventstore/testing';
import { deletionStreamOf, OrderDeletionEvent } from '@cpg/contracts';
import { readStream } from '@cpg/event-sourcing';
import { newId, newRequestId } from '@cpg/platform';
import { CALLS, createDue, deletionOf, TIMER } from './jest-commands.ts';
import { type OrdersService, startOrders, until } from './jest-orders.ts';

/** An append is tried twice, so that one fault is hidden and two are not. */
const ATTEMPTS = 2;
/** After this, the timer retries an order that failed. */
const RETRY_DUE_AFTER_MS = 31_000;
const RETRIED_WITHIN_MS = 250;

const CALL_CASES = Object.entries(CALLS).flatMap(([name, { appends = 1 }]) => faultCases(name, appends, ATTEMPTS));
const DELETION_CASES = faultCases('delete', 2, ATTEMPTS);
const TIMER_CASES = Object.keys(TIMER).flatMap((name) => faultCases(name, 1, ATTEMPTS));

const prepareFor = (name: string) => (name === 'delete' ? CALLS.cancel : CALLS[name])?.prepare;

/** Tests that each command is done once, whichever of its appends fails in this way: either it succeeds, or its
 *  outcome is unknown and a repeat has the result. All commands run at the same time, because an append without an
 *  answer takes seconds. */
export const testWithAppendFaults = (fault: AppendFault): void => {
  const faults = plannedFaults();
  let service: OrdersService;
  const outcomes = new Map<string, Promise<unknown>>();
  const start = async (cases: readonly FaultCase[], run: (id: string, each: FaultCase) => Promise<unknown>) => {
    for (const each of cases) {
      const id = newId('order');
      // One after another: with all at once, the deposit instructions might come too late.
      await prepareFor(each.name)?.(service, id);
      const outcome = run(id, each);
      outcome.catch(() => {}); // The test of this case reports it.
      outcomes.set(each.title, outcome);
    }
  };
  beforeAll(async () => {
    service = await startOrders({ appendFaults: faults.faultOf, leases: true });
    const runs = caseRuns(service, faults, fault);
    await start(CALL_CASES, runs.runCall);
    await start(DELETION_CASES, runs.runDeletion);
    await Promise.allSettled(outcomes.values());
    // Last, because it advances the clock of all orders.
    await start(TIMER_CASES, runs.runTimer);
    await Promise.allSettled(outcomes.values());
  }, 120_000);
  afterAll(() => service.stop());

  test.each(CALL_CASES)('$title', async ({ title, name, times }) => {
    const { status, types, isTimed } = CALLS[name]!;
    const { first, ...rest } = (await outcomes.get(title)) as { first: unknown };
    const expected = times < ATTEMPTS ? status : 'outcome_unknown';
    // The timer appends the same event, and may meet the faults instead.
    expect(isTimed ? [status, expected] : [expected]).toContain(first);
    expect(rest).toEqual({
      status,
      repeatDiffers: false,
      types,
      isPublishedOnce: true,
      isFaulted: true,
    });
  });

  test('no reference has two orders', async () => {
    const { leased, different } = await referencesOf(service);
    expect(leased).toBeGreaterThan(0);
    expect(different).toBe(leased);
  });

  test.each(DELETION_CASES)('$title', async ({ title }) => {
    const deleted = { isHonest: true, records: 1, isRowDeleted: true, repeat: 404, isFaulted: true };
    expect(await outcomes.get(title)).toEqual(deleted);
  });

  test.each(TIMER_CASES)('$title', async ({ title, name }) => {
    const types = ['OrderCreated', TIMER[name]!.type];
    expect(await outcomes.get(title)).toEqual({ types, isPublishedOnce: true });
  });
};

/** Counts the payment references that orders have, and the different ones among them. */
const referencesOf = async (service: OrdersService) => {
  const { rows } = await service.pool.query<{ leased: number; different: number }>(
    `select count(reference)::int as leased, count(distinct reference)::int as different
     from (select resource ->> 'payment_reference' as reference from orders.orders) as orders
     where reference like 'LEASED%'`,
  );
  return rows[0]!;
};

/** Runs one case and resolves with what is then found. */
const caseRuns = (service: OrdersService, faults: ReturnType<typeof plannedFaults>, fault: AppendFault) => {
  const typesOf = async (id: string) => (await service.recordedOf(id))?.map(({ event }) => event.type) ?? null;
  /** Waits for as many messages as there are events. Then tells whether each event is published once and in order. */
  const isPublishedOnce = async (id: string, events: number) => {
    const messages = await until(async () => service.messagesOf(id).length >= events && service.messagesOf(id));
    return messages.length === events && messages.every(({ sequence }, index) => Number(sequence) === index);
  };

  const runCall = async (id: string, { name, skip, times }: FaultCase) => {
    const { call } = CALLS[name]!;
    const before = (await typesOf(id)) ?? [];
    const headers = { 'x-request-id': newRequestId() };
    const send = () => service.call(...call(id), headers);
    faults.plan(id, { fault, skip, times });
    const first = await send();
    const answer = first.status === 503 ? await send() : first;
    const repeat = await send();
    const types = (await typesOf(id))!;
    return {
      first: first.status === 503 ? first.body.code : first.status,
      status: answer.status,
      repeatDiffers: JSON.stringify(repeat) !== JSON.stringify(answer),
      // On a busy machine the deposit instructions of a new order may come later.
      types: types.slice(before.length).filter((type) => type !== 'OrderInstructed'),
      isPublishedOnce: await isPublishedOnce(id, types.length),
      isFaulted: faults.isOver(id),
    };
  };
  const runDeletion = async (id: string, { skip, times }: FaultCase) => {
    faults.plan(id, { fault, skip, times });
    const first = await service.call(...deletionOf(id));
    if (first.status === 503) await service.call(...deletionOf(id));
    await until(async () => (await service.recordedOf(id)) === null);
    const records = await readStream(service.client, deletionStreamOf(id), OrderDeletionEvent);
    return {
      // The reader of the event log finishes the deletion too, and its appends may meet the faults instead.
      isHonest: first.status === 200 || first.body.code === 'outcome_unknown',
      records: records!.length,
      isRowDeleted: (await service.rowOf(id)).deleted,
      repeat: (await service.call(...deletionOf(id))).status,
      isFaulted: faults.isOver(id),
    };
  };
  const runTimer = async (id: string, { name, times }: FaultCase) => {
    // The first append creates the order.
    faults.plan(id, { fault, skip: 1, times });
    await createDue(service, id, TIMER[name]!.order);
    await until(async () => faults.isOver(id));
    const types = await until(async () => {
      service.advanceClock(RETRY_DUE_AFTER_MS);
      await sleep(RETRIED_WITHIN_MS);
      const recorded = await typesOf(id);
      return recorded!.length > 1 && recorded;
    });
    return { types, isPublishedOnce: await isPublishedOnce(id, 2) };
  };
  return { runCall, runDeletion, runTimer };
};
