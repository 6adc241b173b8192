import { depositsOf, OWN_PROVIDERS } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';
import { findInLog } from '@cpg/event-sourcing';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { payableProjection } from './payable-projection.ts';
import { ordersPayableAt, type PayableOwner, type PayAt } from './payable-rows.ts';
import { merchantOfOrder } from './merchant-of-order.ts';
import { type Payable, payableChangeAbout } from './payable.ts';

/** The order paid at an address or reference, spelled as in its instructions; null if none.
 *  Knows every order recorded before the call. Throws `dependency_unavailable` if it cannot read an event that may show
 *  the address or reference. */
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
