import { depositsOf } from '@cpg/contracts';
import type { Queryable } from '@cpg/postgres';
import { findInLog } from '@cpg/stream-relay';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { merchantOfOrder } from '../payables/merchant-of-order.ts';
import { payableChangeIn } from '../payables/payable.ts';
import { payableProjection } from '../projections/payable-projection.ts';
import { addressesOfOtherAccounts, addressesWithoutEvents } from '../projections/payables.ts';

export interface EarlierAddressesOptions {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly networks: readonly string[];
}

/** The addresses of earlier keys that orders recorded before the call show.
 *  Throws `dependency_unavailable` if the read model of payables is too far behind. */
export const earlierAddresses = ({ client, db, networks }: EarlierAddressesOptions) => {
  let withoutEvents: readonly string[] | undefined;
  return async (fingerprints: readonly string[]): Promise<string[]> => {
    // No row is added any more whose address was not watched before.
    withoutEvents ??= await addressesWithoutEvents(db, networks);
    const addresses = [...withoutEvents];
    const source = { client, db, projection: payableProjection(client) };
    await findInLog({
      ...source,
      inRows: async () => {
        addresses.push(...(await addressesOfOtherAccounts(db, networks, fingerprints)));
        return null;
      },
      inEvent: async (entry) => {
        const change = await payableChangeIn(entry, (orderId) => merchantOfOrder(client, orderId));
        if (!change || change.kind === 'reserved') return null;
        const deposits = (change.payables ?? []).flatMap(({ instruction }) => depositsOf(instruction));
        const shown = deposits.filter(
          ({ network, derivation }) => networks.includes(network) && !fingerprints.includes(derivation.fingerprint),
        );
        addresses.push(...shown.map(({ address }) => address));
        return null;
      },
    });
    return addresses;
  };
};
