import { type AssetTable, type Network, refundAddressesOf } from '@cpg/assets';
import { AppError } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { MerchantAccounts } from '../addresses/account-book.ts';
import { recipientOn, RefusedAddress } from '../addresses/recipient.ts';
import { chainKindOf } from '../chains/chain-kind.ts';
import { heightOf } from '../chains/chain-status.ts';
import { isDepositAddress } from '../payables/deposit-addresses.ts';
import type { AddressRefund } from '../payment/command.ts';

/** The merchant of a refund, and the network on which it sends. */
export interface Sender {
  readonly merchantId: string;
  readonly network: Network;
}

/** Where a refund goes, and how its transfer is recognized. */
export type Route = Pick<AddressRefund, 'destination' | 'senders' | 'afterHeight'>;

/** Checks the addresses that refunds go to, whoever gave them. */
export interface RefundDestinations {
  /** The declared refund addresses of the merchant. Throws `payment_conflict` without any. */
  readonly sendersOf: (sender: Sender) => Promise<readonly string[]>;
  /** The address in its canonical form. Throws RefusedAddress. */
  readonly check: (text: string, sender: Sender) => Promise<string>;
  /** The route to a checked address. The height is read before the merchant learns that it may send. Throws like the
   *  others, and `dependency_unavailable` before the chain is read. */
  readonly routeTo: (text: string, sender: Sender) => Promise<Route>;
}

export interface RefundDestinationsOptions {
  readonly db: Queryable;
  readonly readAccounts: MerchantAccounts['read'];
  readonly table: AssetTable;
}

export const refundDestinations = ({ db, readAccounts, table }: RefundDestinationsOptions): RefundDestinations => {
  const tokens = new Set(table.assets.flatMap(({ contract }) => (contract === undefined ? [] : [contract])));

  const declaredBy = async ({ merchantId, network }: Sender): Promise<readonly string[]> => {
    const { settings } = await readAccounts();
    return refundAddressesOf(settings, merchantId, network.name);
  };
  const sendersOf: RefundDestinations['sendersOf'] = async (sender) => {
    const senders = await declaredBy(sender);
    if (senders.length > 0) return senders;
    throw new AppError(
      'payment_conflict',
      `you have no refund address on ${sender.network.name}: ask your operator to declare the address of your wallet (admin refund-addresses add), or record the refund without "settle"`,
    );
  };
  const check: RefundDestinations['check'] = async (text, sender) => {
    const destination = recipientOn(sender.network, text);
    if (tokens.has(destination))
      throw new RefusedAddress('token', 'is the contract of a token: money that is sent there is lost');
    if ((await declaredBy(sender)).includes(destination))
      throw new RefusedAddress('not_of_payer', 'is one of your own refund addresses');
    if (await isDepositAddress(db, destination))
      throw new RefusedAddress(
        'not_of_payer',
        'is a deposit address of this gateway: ask the payer for an own address',
      );
    return destination;
  };
  return {
    sendersOf,
    check,
    routeTo: async (text, sender) => {
      const senders = await sendersOf(sender);
      const destination = await check(text, sender);
      const { name, chainId } = sender.network;
      const height = await heightOf(db, name);
      if (height === null)
        throw new AppError('dependency_unavailable', `no block of ${name} was read yet: try again later`);
      const { graceBlocks } = chainKindOf(chainId);
      return { destination, senders, afterHeight: Math.max(0, height - graceBlocks) };
    },
  };
};
