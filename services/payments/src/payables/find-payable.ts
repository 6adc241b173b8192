import { depositsOf, OWN_PROVIDERS, type PaymentRail } from '@cpg/contracts';
import { findInLog } from '@cpg/event-sourcing';
import type { Logger } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { payableProjection } from './payable-projection.ts';
import { merchantOfOrder, type Payable, payableChangeAbout } from './payable.ts';

/** The order paid at an address or reference, spelled as in its instructions; null if none.
 *  Knows every order recorded before the call. Throws `dependency_unavailable` while it cannot: the rows are too far
 *  behind, or it cannot read an event that may show the address or reference. */
export type FindPayable = (payAt: PayAt) => Promise<PayableOwner | null>;

export const findPayable = ({
  client,
  readModel,
  log,
}: {
  client: EventStoreDBClient;
  readModel: Queryable;
  log: Logger;
}): FindPayable => {
  const merchantOf = (orderId: string) => merchantOfOrder(client, orderId);
  const inRows = async (payAt: PayAt): Promise<PayableOwner[] | null> => {
    const owners = await ordersPayableAt(readModel, payAt);
    return owners.length > 0 ? owners : null;
  };
  const inEvent = async (entry: AllStreamResolvedEvent, payAt: PayAt): Promise<PayableOwner[] | null> => {
    const change = await payableChangeAbout('address' in payAt ? payAt.address : payAt.reference, entry, merchantOf);
    // Reserved indexes are no order's yet. A deleted order is still found by its address or reference.
    if (!change || change.kind === 'reserved') return null;
    const found = change.payables.find((payable) => isPaidAt(payable, payAt));
    return found ? [{ orderId: found.orderId, merchantId: found.merchantId, rail: found.instruction.rail }] : null;
  };
  const projection = payableProjection(client);
  const find = (payAt: PayAt) =>
    findInLog({
      client,
      db: readModel,
      projection,
      inRows: () => inRows(payAt),
      inEvent: (entry) => inEvent(entry, payAt),
    });
  return async (payAt) => {
    const [owner, ...others] = (await inRows(payAt)) ?? (await find(payAt)) ?? [];
    if (others.length === 0) return owner ?? null;
    const orderIds = [owner!, ...others].map(({ orderId }) => orderId);
    log.error({ ...payAt, orderIds }, 'several orders are paid at one address: its money belongs to none of them');
    return null;
  };
};

const isPaidAt = ({ instruction }: Payable, payAt: PayAt): boolean =>
  'address' in payAt
    ? depositsOf(instruction).some(({ address }) => address === payAt.address)
    : instruction.rail === 'gateway_pay' &&
      OWN_PROVIDERS.includes(instruction.provider) &&
      instruction.paymentReference === payAt.reference;

/** Where a payer is asked to pay: an address, or the reference of a page of this gateway. An outside provider chooses
 *  its references, also one that another order has. */
type PayAt = { readonly address: string } | { readonly reference: string };

interface PayableOwner {
  readonly orderId: string;
  /** Null in the rows of earlier versions. */
  readonly merchantId: string | null;
  /** The rail of the instruction that shows the address or the reference: money there is money of this rail. */
  readonly rail: PaymentRail;
}

/** The orders that are paid at an address or by a reference: one, unless a backup restored by an earlier version gave
 *  an address out twice. */
const ordersPayableAt = async (db: Queryable, payAt: PayAt): Promise<PayableOwner[]> => {
  const [column, value, condition, earlier] =
    'address' in payAt
      ? ([
          'address',
          payAt.address,
          'address = $1',
          'select order_id, null, rail from payments.deposit_addresses',
        ] as const)
      : ([
          'reference',
          payAt.reference,
          `reference = $1 and provider in (${OWN_PROVIDERS.map((name) => `'${name}'`).join(', ')})`,
          "select order_id, null, 'gateway_pay' from payments.payment_references",
        ] as const);
  const { rows } = await db.query<{ order_id: string; merchant_id: string | null; rail: PaymentRail }>({
    name: `orders payable at ${column}`,
    text: `select order_id, max(merchant_id) as merchant_id, max(rail) as rail
           from (select order_id, merchant_id, rail from payments.payables where ${condition}
                 union all ${earlier} where ${condition}) as found
           group by order_id`,
    values: [value],
  });
  return rows.map((row) => ({ orderId: row.order_id, merchantId: row.merchant_id, rail: row.rail }));
};
