import type { Queryable } from '@cpg/platform/postgres';
import { type AddressDetails, addressDetails, watchForGood } from '../../payables/payable-rows.ts';
import { receivingPath } from '../../addresses/account-key.ts';

/** Lines about the orders that show an address. With `watch`, money there is looked for again, for good: also where the
 *  address has retired. */
export const archivedAddress = async (
  db: Queryable,
  address: string,
  { watch }: { readonly watch: boolean },
): Promise<string[]> => {
  if (watch) await watchForGood(db, address);
  const found = await addressDetails(db, address);
  if (found.length === 0) return [`no order shows ${address}, spelled like this`];
  const isWatched = found.some((each) => each.isWatched);
  const state = isWatched ? 'money there is looked for' : 'it has retired: money there is not looked for';
  return [...found.map(lineOf), watch ? 'money there is looked for from now on: rescan the blocks before' : state];
};

const lineOf = ({ orderId, merchantId, network, account, index, endedAt }: AddressDetails): string => {
  const path = index === null ? 'an unknown path' : `path ${receivingPath(index)}`;
  const end = endedAt ? `ended at ${endedAt.toISOString()}` : 'not ended, as far as is known';
  return `order ${orderId} of ${merchantId ?? 'an unknown merchant'} on ${network}: account ${account}, ${path}, ${end}`;
};
