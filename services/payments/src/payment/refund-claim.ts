import { AppError, type PaymentEvent } from '@cpg/contracts';
import type { ClaimRefund, IssueRefundClaim } from './command.ts';
import { requestedRefund, requireDestination } from './refund-request.ts';
import type { ExistingPayment } from './state.ts';

/** Gives a refund that needs a destination a claim link, which replaces its earlier one. Ignores a repeat. */
export const issueRefundClaim = (
  { refundId, tokenHash, onPage, expiresAt, at }: IssueRefundClaim,
  payment: ExistingPayment,
): PaymentEvent[] => {
  if (requestedRefund(payment, refundId).claim?.tokenHash === tokenHash) return [];
  const { claim } = requireDestination(payment, refundId);
  if (claim && claim.number >= MAX_CLAIMS)
    throw new AppError(
      'payment_conflict',
      `the refund already had ${MAX_CLAIMS} claim links: cancel it, and request another one`,
    );
  const data = { refundId, tokenHash, onPage, expiresAt: expiresAt.toISOString(), at: at.toISOString() };
  return [{ type: 'PaymentRefundClaimIssued', data }];
};

/** Sets the destination that the payer confirmed on the last claim link, once. Ignores a repeat. */
export const claimRefund = (
  { refundId, tokenHash, destination, senders, afterHeight, endsBy, at }: ClaimRefund,
  payment: ExistingPayment,
): PaymentEvent[] => {
  const known = requestedRefund(payment, refundId);
  // A newer link replaced this one after it was read.
  if (known.claim?.tokenHash !== tokenHash) throw new AppError('not_found', 'the refund has no such claim link');
  if (known.destination === destination) return [];
  const { amountMinor, reason, network, asset, claim, at: requestedAt } = requireDestination(payment, refundId);
  if (hasEnded(claim!.expiresAt, endsBy))
    throw new AppError('payment_conflict', 'the claim link has expired: the merchant can issue another one');
  return [
    {
      type: 'PaymentRefundClaimed',
      data: {
        refundId,
        amountMinor: String(amountMinor),
        ...(reason !== undefined && { reason }),
        // Every refund that is requested has them.
        network: network!,
        asset: asset!,
        destination,
        senders: [...senders],
        afterHeight,
        requestedAt,
        at: at.toISOString(),
      },
    },
  ];
};

/** Whether a claim link has expired. */
export const hasEnded = (expiresAt: string, endsBy: Date): boolean => Date.parse(expiresAt) <= endsBy.getTime();

/** Bounds the events of a payment. */
const MAX_CLAIMS = 20;
