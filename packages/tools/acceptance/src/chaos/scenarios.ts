import type { OrderStatus, PaymentStatus } from '@cpg/contracts';

/** The expected state of a payment. Amounts in whole USDT. */
export interface ExpectedPayment {
  readonly paid: number;
  readonly status: PaymentStatus;
  readonly applied?: number;
  readonly unapplied?: number;
  readonly refunded?: number;
}

/** What a merchant and a payer do with one order of 10 USDT. Each action retries until it is answered. */
export interface OrderActions {
  readonly pay: (amount: number, outcome?: 'confirmed' | 'pending') => Promise<ReportedPayment>;
  readonly confirm: (payment: ReportedPayment) => Promise<void>;
  readonly fail: (payment: ReportedPayment) => Promise<void>;
  readonly refund: (payment: ReportedPayment, amount?: number) => Promise<void>;
  readonly cancel: () => Promise<void>;
  readonly expire: () => Promise<void>;
  readonly deleteOrder: () => Promise<void>;
}

interface ReportedPayment {
  readonly hash: string;
  readonly id: string;
  /** It took several attempts.
   *  One without an answer can still take effect, when a frozen process resumes.
   *  If the payment has failed by then, it is received again. */
  readonly isRepeated: boolean;
}

/** The expected state of an order after a scenario. */
export interface Outcome {
  /** Null after its deletion. */
  readonly status: OrderStatus | null;
  readonly payments: readonly (readonly [ReportedPayment, ExpectedPayment])[];
}

const paidBy = (payment: ReportedPayment): Outcome => ({
  status: 'paid',
  payments: [[payment, { paid: 10, status: 'applied', applied: 10 }]],
});

export const SCENARIOS: Record<string, (actions: OrderActions) => Promise<Outcome>> = {
  'paid at once': async ({ pay }) => paidBy(await pay(10)),
  'paid in two parts': async ({ pay }) => {
    const [part, rest] = [await pay(4), await pay(6)];
    return {
      status: 'paid',
      payments: [
        [part, { paid: 4, status: 'applied', applied: 4 }],
        [rest, { paid: 6, status: 'applied', applied: 6 }],
      ],
    };
  },
  'overpaid and the surplus refunded': async ({ pay, refund }) => {
    const much = await pay(12);
    await refund(much, 2);
    return { status: 'paid', payments: [[much, { paid: 12, status: 'applied', applied: 10, refunded: 2 }]] };
  },
  'paid twice, the second payment refunded': async ({ pay, refund }) => {
    const [once, twice] = [await pay(10), await pay(10)];
    await refund(twice);
    return {
      status: 'paid',
      payments: [
        [once, { paid: 10, status: 'applied', applied: 10 }],
        [twice, { paid: 10, status: 'refunded', refunded: 10 }],
      ],
    };
  },
  'paid and refunded in two parts': async ({ pay, refund }) => {
    const all = await pay(10);
    await refund(all, 4);
    await refund(all);
    return { status: 'reversed', payments: [[all, { paid: 10, status: 'refunded', refunded: 10 }]] };
  },
  'confirmed late': async ({ pay, confirm }) => {
    const seen = await pay(10, 'pending');
    await confirm(seen);
    return paidBy(seen);
  },
  'dropped and paid again': async ({ pay, confirm, fail }) => {
    const seen = await pay(10, 'pending');
    if (seen.isRepeated) {
      await confirm(seen);
      return paidBy(seen);
    }
    await fail(seen);
    const again = await pay(10);
    return {
      status: 'paid',
      payments: [
        [seen, { paid: 10, status: 'failed' }],
        [again, { paid: 10, status: 'applied', applied: 10 }],
      ],
    };
  },
  'reversed by a reorganization': async ({ pay, fail }) => {
    const all = await pay(10);
    if (all.isRepeated) return paidBy(all);
    await fail(all);
    return { status: 'reversed', payments: [[all, { paid: 10, status: 'failed' }]] };
  },
  'canceled after a partial payment': async ({ pay, cancel }) => {
    const part = await pay(4);
    await cancel();
    return { status: 'canceled', payments: [[part, { paid: 4, status: 'orphan' }]] };
  },
  'expired and paid late': async ({ pay, expire }) => {
    await expire();
    const late = await pay(10);
    return { status: 'expired', payments: [[late, { paid: 10, status: 'orphan' }]] };
  },
  deleted: async ({ expire, deleteOrder }) => {
    await expire();
    await deleteOrder();
    return { status: null, payments: [] };
  },
};
