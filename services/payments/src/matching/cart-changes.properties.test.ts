import { type DomainMessage, webhookEventsOf } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import fc from 'fast-check';
import { appliedMinor } from '../../../orders/src/order/state.ts';
import { paymentIdOf } from '../payment/identity.ts';
import { type BothServices, createCall, SHOWN_CHAIN, startBothServices } from '../testing/jest-both-services.ts';
import { fate } from '../testing/jest-order-histories.ts';

let both: BothServices;
beforeAll(() => void (both = startBothServices()));
afterAll(() => both.stop());

type Command = { readonly do: 'cancel' } | { readonly do: 'change'; readonly price: number };
type Report = { readonly do: 'see' | 'confirm' | 'fail'; readonly n: number; readonly minutesAgo: number };
type Step =
  | Command
  | Report
  | { readonly do: 'deliver'; readonly index: number }
  | { readonly do: 'race'; command: Command; report: Report; first: boolean };

/** What each payment brings. Prices are among them, or between them. */
const AMOUNTS = ['10', '4', '15', '6'];
const n = fc.integer({ min: 1, max: AMOUNTS.length });
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constant({ do: 'cancel' } as const),
  fc.constantFrom(4, 6, 10, 15, 20).map((price) => ({ do: 'change', price }) as const),
);
const report: fc.Arbitrary<Report> = fc.record({
  do: fc.constantFrom('see', 'see', 'confirm', 'fail' as const),
  n,
  // Before the last change of the order: blocks are read late.
  minutesAgo: fc.constantFrom(0, 0, 1, 30),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  command,
  report,
  fc.record({ do: fc.constant('race' as const), command, report, first: fc.boolean() }),
  fc.nat(99).map((index) => ({ do: 'deliver' as const, index })),
);
const history = fc.record({
  partialPayments: fc.boolean(),
  steps: fc.array(fc.record({ step, fates: fc.array(fate, { maxLength: 4 }) }), { minLength: 2, maxLength: 12 }),
  lastDeliveries: fc.infiniteStream(fc.nat(99)),
});

const itemsOf = (price: number) => [{ name: 'tea', quantity: 1, unit_price: String(price), currency: 'USD' }];

/** One order, its commands and the reports about its payments. */
const run = (orderId: string, merchantId: string) => {
  const providerIdOf = (k: number) => `${SHOWN_CHAIN}/${orderId}:${k}`;
  const paymentOf = (k: number) => paymentIdOf('gateway_pay', providerIdOf(k));
  return {
    command: (given: Command) =>
      given.do === 'cancel'
        ? both.orders('POST', `/orders/${orderId}/cancel`, { merchant_id: merchantId, if_unpaid: true })
        : both.orders('PATCH', `/orders/${orderId}`, {
            merchant_id: merchantId,
            changes: { items: itemsOf(given.price) },
          }),
    report: ({ do: what, n: k, minutesAgo }: Report) => {
      if (what === 'confirm')
        return both.payments('POST', `/payments/${paymentOf(k)}/confirmation`, { confirmations: 12 });
      if (what === 'fail') return both.payments('POST', `/payments/${paymentOf(k)}/failure`, {});
      return both.payments('POST', '/payments', {
        order_id: orderId,
        rail: 'gateway_pay',
        provider_id: providerIdOf(k),
        amount: AMOUNTS[k - 1],
        currency: 'USDC',
        confirmed: false,
        confirmations: 0,
        seen_at: both.minutesAgo(minutesAgo),
      });
    },
    /** Money that payments has recorded, whether or not the order knows of it. */
    seen: () =>
      both
        .paymentsOf(orderId)
        .filter(({ status }) => status !== 'failed' && status !== 'refunded')
        .map(({ paymentId }) => paymentId),
  };
};

const refusal = ({ status, body }: { status: number; body: unknown }): string | null =>
  status === 200 ? null : (body as { code: string }).code;

test('a cancel or a change of items is refused once money was seen, or all later money is decided by it and announced', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ partialPayments, steps, lastDeliveries }) => {
      const [orderId, merchantId] = [newId('order'), newId('merchant')];
      both.reset(false);
      const capabilities = { partial_payments: partialPayments };
      await both.orders('POST', '/orders', createCall({ orderId, merchantId }, { capabilities }));
      // No payment is older than the order.
      both.passMinutes(40);
      const { command: give, report: tell, seen } = run(orderId, merchantId);
      let total = 10_000_000n;
      const note = (
        given: Command,
        answer: Awaited<ReturnType<typeof give>>,
        before: { seen: string[]; status: string },
      ) => {
        const code = refusal(answer);
        const { order } = both.orderOf(orderId);
        if (code === null && given.do === 'change') total = BigInt(given.price) * 1_000_000n;
        if (code === null && given.do === 'cancel') expect(order.status).toBe('canceled');
        if (code !== null) expect(order.status === 'canceled').toBe(before.status === 'canceled');
        // Only an accepted change gives the order another total.
        expect(order.totalMinor).toBe(total);
        // Money may fail while the command runs.
        const wasSeen = seen().filter((paymentId) => before.seen.includes(paymentId));
        if (code === null && before.status !== 'canceled') expect(wasSeen).toEqual([]);
      };
      const stateBefore = () => ({ seen: seen(), status: both.orderOf(orderId).order.status });

      for (const { step: each, fates } of steps) {
        both.setFates(fates);
        if (each.do === 'deliver') {
          const message = both.inFlight[each.index % both.inFlight.length];
          if (message) await both.deliver(message, { again: true });
        } else if (each.do === 'race') {
          const before = stateBefore();
          const start = [() => give(each.command), () => tell(each.report)] as const;
          const [one, other] = each.first ? start : [...start].reverse();
          const answers = await Promise.all([one(), other()]);
          note(each.command, answers[each.first ? 0 : 1], before);
        } else if (each.do === 'cancel' || each.do === 'change') {
          const before = stateBefore();
          note(each, await give(each), before);
        } else await tell(each);
      }

      const published: DomainMessage[] = [];
      both.setFates([]);
      for (const { paymentId, status } of both.paymentsOf(orderId))
        if (status === 'received')
          await both.payments('POST', `/payments/${paymentId}/confirmation`, { confirmations: 12 });
      for (const index of lastDeliveries) {
        const message = both.inFlight[index % both.inFlight.length];
        if (!message) break;
        published.push(message);
        await both.deliver(message, { again: false });
      }

      expect(both.bookDifferences(orderId)).toEqual([]);
      const { order } = both.orderOf(orderId);
      expect(order.totalMinor).toBe(total);
      if (order.status === 'paid') expect(appliedMinor(order) >= total).toBe(true);
      const announced = new Set(
        published
          .filter((message) => webhookEventsOf(message).includes('payment:orphaned'))
          .map(({ subject }) => subject),
      );
      for (const { paymentId, status, orphanReason } of both.paymentsOf(orderId)) {
        if (order.status === 'canceled' && status !== 'failed')
          expect([status, orphanReason]).toEqual(['orphan', 'canceled']);
        if (status === 'orphan') expect(announced).toContain(paymentId);
      }
    }),
    { numRuns: 200 },
  );
}, 600_000);

test('money that comes again after its payment failed counts before the order hears of it', async () => {
  const [orderId, merchantId] = [newId('order'), newId('merchant')];
  both.reset(false);
  await both.orders('POST', '/orders', createCall({ orderId, merchantId }));
  const { command: give, report: tell, seen } = run(orderId, merchantId);
  await tell({ do: 'see', n: 1, minutesAgo: 0 });
  await tell({ do: 'fail', n: 1, minutesAgo: 0 });
  both.setFates(['request lost']);
  await tell({ do: 'see', n: 1, minutesAgo: 0 });
  expect(both.orderOf(orderId).order.payments).toMatchObject([{ status: 'failed' }]);
  expect(seen()).toHaveLength(1);

  both.setFates([]);
  expect(refusal(await give({ do: 'cancel' }))).toBe('payment_in_progress');
  expect(refusal(await give({ do: 'change', price: 4 }))).toBe('payment_in_progress');
  const removed = await both.orders('DELETE', `/orders/${orderId}`, { merchant_id: merchantId });
  expect(refusal(removed)).toBe('order_has_unsettled_funds');
});
