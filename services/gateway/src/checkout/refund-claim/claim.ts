import { chainFacts, transactionUrl } from '@cpg/assets';
import type { AddressFault, ClaimedRefund, PaymentPageSettings, Refund } from '@cpg/contracts';

/** What the page of a claim link says about an address: `not_now` while the refund takes none. */
type ClaimFault = AddressFault | 'not_now';

/** What the payer can do, or what has happened. */
export type ClaimStep =
  /** With the address that was refused. */
  | { readonly name: 'enter'; readonly refused?: { readonly address: string; readonly fault: ClaimFault } }
  | { readonly name: 'confirm'; readonly destination: string; readonly hasChecksum: boolean }
  | { readonly name: 'confirmed'; readonly destination: string }
  | {
      readonly name: 'sent';
      readonly destination: string;
      readonly txHash: string;
      /** Undefined where no explorer shows the network. */
      readonly txUrl: string | undefined;
    }
  | { readonly name: 'canceled' }
  | { readonly name: 'expired' };

/** The payer's view of a refund with a claim link. */
export interface ClaimView {
  readonly merchant: PaymentPageSettings;
  readonly amount: string;
  readonly currency: string;
  /** What the payer receives, as wallets name it. */
  readonly token: string;
  readonly network: { readonly title: string; readonly isTestnet: boolean };
  /** By which the payer and the merchant identify it. */
  readonly reference: string;
  readonly expiresAt: string | undefined;
  readonly step: ClaimStep;
}

/** The first step of the page of a claim link. */
export const stepOf = ({ refund, is_expired, explorer }: ClaimedRefund): ClaimStep => {
  const { status, destination, tx_hash: txHash } = refund;
  if (status === 'canceled') return { name: 'canceled' };
  if (destination === undefined) return { name: is_expired ? 'expired' : 'enter' };
  if (txHash === undefined) return { name: 'confirmed', destination };
  return { name: 'sent', destination, txHash, txUrl: transactionUrl({ explorer }, txHash) };
};

export const claimViewOf = (
  { refund, asset_label }: ClaimedRefund,
  { merchant, paymentReference, step }: Pick<ClaimView, 'merchant' | 'step'> & { paymentReference: string | undefined },
): ClaimView => ({
  merchant,
  amount: refund.amount,
  currency: refund.currency,
  token: asset_label ?? refund.currency,
  network: networkOf(refund),
  reference: paymentReference ?? refund.id,
  expiresAt: refund.claim_expires_at,
  step,
});

/** A refund with a claim link has both. */
const networkOf = ({ asset = '', network = '' }: Refund) => chainFacts(asset.split('/')[0]!, network);
