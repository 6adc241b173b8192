import type { Asset, AssetTable } from '@cpg/assets';
import {
  AppError,
  type CheckedAddress,
  type ClaimAddressCall,
  type ClaimedRefund,
  type IssuedRefundClaim,
  type IssueRefundClaimCall,
  type Refund,
} from '@cpg/contracts';
import type { CallContext } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { hasChecksum, RefusedAddress } from '../addresses/recipient.ts';
import type { PaymentCommands } from '../matching/commands.ts';
import { hasEnded } from '../payment/refund-claim.ts';
import type { RefundDestinations, Sender } from './refund-destination.ts';
import { type RefundRow, refundOf, refundOfClaim } from './refund-rows.ts';

/** The links on which payers enter the addresses of their refunds. All are idempotent. */
export interface RefundClaims {
  /** Throws `payment_conflict` unless the refund was requested, is pending and has no destination. */
  readonly issue: (refundId: string, call: IssueRefundClaimCall, context: CallContext) => Promise<IssuedRefundClaim>;
  /** The others throw `not_found` for a hash that no refund has. */
  readonly show: (tokenHash: string) => Promise<ClaimedRefund>;
  readonly check: (tokenHash: string, call: ClaimAddressCall) => Promise<CheckedAddress>;
  /** Records the address before it resolves. Throws `payment_conflict` if the link has ended, or the refund takes no
   *  address. */
  readonly confirm: (tokenHash: string, call: ClaimAddressCall, context: CallContext) => Promise<CheckedAddress>;
}

export interface RefundClaimsOptions {
  readonly commands: Pick<PaymentCommands, 'run'>;
  readonly db: Queryable;
  readonly destinations: RefundDestinations;
  readonly table: AssetTable;
  /** Public address of the gateway. */
  readonly publicUrl: string;
  readonly now: () => Date;
  /** The time by which links end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
}

const CLAIM_DAYS = 30;
const DAY_MS = 86_400_000;

export const refundClaims = ({
  commands,
  db,
  destinations,
  table,
  publicUrl,
  now,
  endsBy,
}: RefundClaimsOptions): RefundClaims => {
  const claimed = async (tokenHash: string): Promise<RefundRow & { readonly sends: Asset }> => {
    const refund = await refundOfClaim(db, tokenHash);
    if (!refund) throw new AppError('not_found', 'no refund has this claim link');
    const sends = table.assets.find(({ id }) => id === refund.asset);
    if (!sends) throw new Error(`the file of assets lacks ${refund.asset}: add it again`);
    return { ...refund, sends };
  };

  return {
    issue: async (refundId, { merchant_id: merchantId, token_hash: tokenHash, show_on_page: onPage }, context) => {
      const refund = await refundOf(db, merchantId, refundId);
      if (!refund) throw new AppError('not_found', 'the refund does not exist');
      const at = now();
      const expiresAt = new Date(at.getTime() + CLAIM_DAYS * DAY_MS);
      const command = { type: 'IssueRefundClaim', refundId, tokenHash, onPage, expiresAt, at } as const;
      await commands.run(refund.paymentId, command, context);
      return { refund: (await refundOf(db, merchantId, refundId))!.resource, public_url: publicUrl };
    },

    show: async (tokenHash) => {
      const { resource: refund, isClaimOnPage, sends } = await claimed(tokenHash);
      const { claim_expires_at: expiresAt } = refund;
      const { explorer } = sends.network;
      return {
        refund,
        ...(sends.label !== undefined && { asset_label: sends.label }),
        ...(explorer !== undefined && { explorer }),
        on_page: isClaimOnPage,
        is_expired: expiresAt !== undefined && hasEnded(expiresAt, endsBy()),
      };
    },

    check: async (tokenHash, { address }) => {
      const { resource, sends } = await claimed(tokenHash);
      return orFault(async () => ({
        destination: await destinations.check(address, senderOf(resource, sends)),
        has_checksum: hasChecksum(sends.network, address),
      }));
    },

    confirm: async (tokenHash, { address }, context) => {
      const { id: refundId, paymentId, resource, sends } = await claimed(tokenHash);
      return orFault(async () => {
        const route = await destinations.routeTo(address, senderOf(resource, sends));
        const times = { endsBy: endsBy(), at: now() };
        await commands.run(paymentId, { type: 'ClaimRefund', refundId, tokenHash, ...route, ...times }, context);
        return { destination: route.destination, has_checksum: hasChecksum(sends.network, address) };
      });
    },
  };
};

const senderOf = ({ merchant_id: merchantId }: Refund, { network }: Asset): Sender => ({ merchantId, network });

const orFault = async (answer: () => Promise<CheckedAddress>): Promise<CheckedAddress> => {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof RefusedAddress)) throw error;
    return { fault: error.fault };
  }
};
