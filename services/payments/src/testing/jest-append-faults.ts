import { type AppendFault, type FaultCase, faultCases, plannedFaults } from '@cpg/embedded-eventstore/testing';
import { newId } from '@cpg/platform';
import { paymentIdOf } from '../payment/identity.ts';
import { applied, DECIDED_AT, held, MERCHANT, report } from './jest-fixtures.ts';
import { type PaymentsService, startPayments } from './jest-payments.ts';

/** An append is tried twice, so that one fault is hidden and two are not. */
const ATTEMPTS = 2;

type Report = ReturnType<typeof report>;

/** A command of the HTTP API, and its effect on one payment. */
interface CallOfPayment {
  /** The report of the payment. */
  readonly report: (service: PaymentsService) => Report;
  /** Brings the reported payment into the state before the command. By default nothing is recorded. */
  readonly prepare?: (service: PaymentsService, id: string, report: Report) => Promise<unknown>;
  readonly call: (id: string, report: Report) => readonly [url: string, body: object];
  readonly status: number;
  /** The events that it records, in order. */
  readonly types: readonly string[];
  readonly appends: number;
}

/** Applies a payment once it is confirmed. */
const decide: Parameters<PaymentsService['addOrder']>[0] = (payment, confirmed) => ({
  ...(confirmed ? applied : held)(payment, confirmed),
  ...(payment.sighting !== undefined && { sighting: payment.sighting }),
});
const REFUND_ID = newId('refund');
const reported = (service: PaymentsService, _: string, body: Report) => service.register(body);
const failed = async (service: PaymentsService, id: string, body: Report) => {
  await service.register(body);
  await service.call('POST', `/payments/${id}/failure`, {});
  service.stub.resetDecision(id);
};
const ofOrder = (changes: object = {}) => ({
  report: (service: PaymentsService) => report(service.addOrder(decide), changes),
});

const CALLS: Record<string, CallOfPayment> = {
  report: {
    ...ofOrder(),
    call: (_, body) => ['/payments', body],
    status: 201,
    types: ['PaymentReceived', 'PaymentApplied'],
    appends: 2,
  },
  'report for an unknown order': {
    report: () => report(newId('order')),
    call: (_, body) => ['/payments', body],
    status: 201,
    types: ['PaymentReceived', 'PaymentOrphaned'],
    appends: 1,
  },
  'report again after a failure': {
    ...ofOrder(),
    prepare: failed,
    call: (_, body) => ['/payments', body],
    status: 201,
    types: ['PaymentReinstated', 'PaymentApplied'],
    appends: 2,
  },
  confirm: {
    ...ofOrder({ confirmed: false }),
    prepare: async (service, id, body) => {
      await reported(service, id, body);
      service.stub.resetDecision(id);
    },
    call: (id) => [`/payments/${id}/confirmation`, {}],
    status: 200,
    types: ['PaymentConfirmed', 'PaymentApplied'],
    appends: 2,
  },
  fail: {
    ...ofOrder(),
    prepare: reported,
    call: (id) => [`/payments/${id}/failure`, {}],
    status: 200,
    types: ['PaymentFailed'],
    appends: 1,
  },
  refund: {
    ...ofOrder(),
    prepare: reported,
    call: (id) => [`/payments/${id}/refunds`, { merchant_id: MERCHANT, refund_id: REFUND_ID, amount: '4' }],
    status: 200,
    types: ['PaymentRefunded'],
    appends: 1,
  },
  'outcome of the order': {
    ...ofOrder({ confirmed: false }),
    prepare: reported,
    call: (payment_id) => [
      '/outcomes',
      { outcomes: [{ status: 'orphan', payment_id, orphan_reason: 'late', at: DECIDED_AT }] },
    ],
    status: 204,
    types: ['PaymentOrphaned'],
    appends: 1,
  },
};

const CASES = Object.entries(CALLS).flatMap(([name, { appends }]) => faultCases(name, appends, ATTEMPTS));

/** Tests that each command is done once, whichever of its appends fails in this way: either it succeeds, or its
 *  outcome is unknown and a repeat has the result. All commands run at the same time, because an append without an
 *  answer takes seconds. */
export const testWithAppendFaults = (fault: AppendFault): void => {
  const faults = plannedFaults();
  let service: PaymentsService;
  const outcomes = new Map<string, Promise<unknown>>();
  beforeAll(async () => {
    service = await startPayments({ appendFaults: faults.faultOf });
    for (const each of CASES) outcomes.set(each.title, run(each));
    await Promise.allSettled(outcomes.values());
  }, 120_000);
  afterAll(() => service.stop());

  const run = async ({ name, skip, times }: FaultCase) => {
    const { report: reportOf, prepare, call } = CALLS[name]!;
    const body = reportOf(service);
    const id = paymentIdOf(body.rail, body.provider_id);
    await prepare?.(service, id, body);
    const before = (await service.typesOf(id)) ?? [];
    const send = () => service.call('POST', ...call(id, body));
    faults.plan(id, { fault, skip, times });
    const first = await send();
    const answer = first.status === 503 ? await send() : first;
    const repeat = await send();
    return {
      first: first.status === 503 ? (first.body as { code: string }).code : first.status,
      status: answer.status,
      repeatDiffers: JSON.stringify(repeat) !== JSON.stringify(answer),
      types: (await service.typesOf(id))!.slice(before.length),
      isFaulted: faults.isOver(id),
    };
  };

  test.each(CASES)('$title', async ({ title, name, times }) => {
    const { status, types } = CALLS[name]!;
    const first = times < ATTEMPTS ? status : 'outcome_unknown';
    expect(await outcomes.get(title)).toEqual({ first, status, repeatDiffers: false, types, isFaulted: true });
  });
};
