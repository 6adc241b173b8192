import { depositsOf } from '@cpg/contracts';
import type { Queryable } from '@cpg/postgres';
import { followLog } from '@cpg/stream-relay';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { merchantOfOrder } from '../payables/merchant-of-order.ts';
import { payableChangeIn } from '../payables/payable.ts';
import { payableProjection } from '../projections/payable-projection.ts';
import { addressesOfOtherAccounts, addressesWithoutEvents } from '../projections/payables.ts';

export interface EarlierAddressesOptions {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly networks: readonly string[];
}

/** The addresses of earlier keys that orders recorded before a call show, without those that an
 *  earlier call returned. Each call names the keys of now, whose addresses are left out.
 *  Throws `dependency_unavailable` if that is not known yet. */
export const earlierAddresses = ({ client, db, networks }: EarlierAddressesOptions) => {
  const found = new Set<string>();
  const followWithout = (fingerprints: readonly string[]) =>
    followLog({
      client,
      db,
      projection: payableProjection(client),
      readRows: async () => {
        for (const address of await addressesWithoutEvents(db, networks)) found.add(address);
        for (const address of await addressesOfOtherAccounts(db, networks, fingerprints)) found.add(address);
      },
      handle: async (entries) => {
        for (const entry of entries)
          for (const { network, address, derivation } of await depositsIn(entry))
            if (networks.includes(network) && !fingerprints.includes(derivation.fingerprint)) found.add(address);
      },
    });
  const depositsIn = async (entry: AllStreamResolvedEvent) => {
    const change = await payableChangeIn(entry, (orderId) => merchantOfOrder(client, orderId));
    if (!change || change.kind === 'reserved') return [];
    return (change.payables ?? []).flatMap(({ instruction }) => depositsOf(instruction));
  };
  let keys: string | undefined;
  let follow: () => Promise<void>;
  return async (fingerprints: readonly string[]): Promise<string[]> => {
    // Those of a key that is no longer one of now were left out.
    const now = [...fingerprints].sort().join();
    if (now !== keys) follow = followWithout(fingerprints);
    keys = now;
    await follow();
    const addresses = [...found];
    found.clear();
    return addresses;
  };
};
