import {
  CheckedAddress,
  type ClaimAddressCall,
  ClaimedRefund,
  IssuedRefundClaim,
  type IssueRefundClaimCall,
  Availability,
  type ConfirmationCall,
  type DepositSettingsCall,
  DepositSettingsView,
  type FailureCall,
  type HistoryQuery,
  PaymentPageAddresses,
  type ProviderCallbackCall,
  RecordedHistory,
  RecordedProviderPayment,
  Refund,
  type RefundCall,
  RefundRequest,
  type RefundRequestCall,
  RegisteredPayment,
  type RegisterPaymentCall,
} from '@cpg/contracts';
import type { CallContext, InternalClient } from '@cpg/platform';
import { withNotFound } from '../ids.ts';

const AVAILABILITY_TIMEOUT_MS = 1_000;

/** Calls to the payments service. All are idempotent, except some of `register`. */
export const paymentsClient = (client: InternalClient) => {
  const command = (id: string, name: string, body: object, context: CallContext): Promise<RegisteredPayment> =>
    withNotFound(
      'payment',
      client.call('POST', `/payments/${id}/${name}`, { context, response: RegisteredPayment, body }),
    );
  return {
    /** Reports a payment seen on a rail. The same rail and provider id identify the same payment.
     *  A report that can reinstate a failed payment is sent once.
     *  Of two, the first one could take effect last, after the payment failed. */
    register: (payment: RegisterPaymentCall, context: CallContext): Promise<RegisteredPayment> =>
      client.call('POST', '/payments', {
        context,
        response: RegisteredPayment,
        body: payment,
        idempotent: payment.reinstates === false,
      }),
    /** Passes on a callback of an outside provider as it arrived. The same callback again is the same payment. */
    receiveCallback: (
      provider: string,
      call: ProviderCallbackCall,
      context: CallContext,
    ): Promise<RecordedProviderPayment> => {
      const path = `/providers/${encodeURIComponent(provider)}/callbacks`;
      return client.call('POST', path, { context, response: RecordedProviderPayment, body: call });
    },
    confirm: (id: string, call: ConfirmationCall, context: CallContext) => command(id, 'confirmation', call, context),
    fail: (id: string, call: FailureCall, context: CallContext) => command(id, 'failure', call, context),
    refund: (id: string, call: RefundCall, context: CallContext) => command(id, 'refunds', call, context),
    /** What the merchant's wallet sends for a refund. Throws `not_found`. */
    refundRequest: (id: string, call: RefundRequestCall, context: CallContext): Promise<RefundRequest> =>
      withNotFound(
        'refund',
        client.call('POST', `/refunds/${id}/request`, { context, response: RefundRequest, body: call }),
      ),
    /** Gives a refund a claim link, which replaces its earlier one. Throws `not_found`. */
    issueRefundClaim: (id: string, call: IssueRefundClaimCall, context: CallContext): Promise<IssuedRefundClaim> =>
      withNotFound(
        'refund',
        client.call('POST', `/refunds/${id}/claim`, { context, response: IssuedRefundClaim, body: call }),
      ),
    /** The refund of a claim link, by the hash of its token. Throws `not_found`, like the next two. */
    claimedRefund: (hash: string, context: CallContext): Promise<ClaimedRefund> =>
      client.call('GET', `/claims/${hash}`, { context, response: ClaimedRefund }),
    checkClaimAddress: (hash: string, call: ClaimAddressCall, context: CallContext): Promise<CheckedAddress> =>
      client.call('POST', `/claims/${hash}/check`, { context, response: CheckedAddress, body: call }),
    confirmClaimAddress: (hash: string, call: ClaimAddressCall, context: CallContext): Promise<CheckedAddress> =>
      client.call('POST', `/claims/${hash}/confirm`, { context, response: CheckedAddress, body: call }),
    cancelRefund: (id: string, merchantId: string, context: CallContext): Promise<Refund> =>
      withNotFound(
        'refund',
        client.call('POST', `/refunds/${id}/cancel`, { context, response: Refund, body: { merchant_id: merchantId } }),
      ),
    /** The currencies and networks that new orders can be paid with now. */
    availability: (context: CallContext): Promise<Availability> =>
      client.call('GET', '/availability', {
        context,
        response: Availability,
        timeoutMs: AVAILABILITY_TIMEOUT_MS,
        connectRetryMs: 0,
      }),
    /** The accounts and confirmations that apply to a merchant. */
    depositSettings: (merchantId: string, context: CallContext): Promise<DepositSettingsView> =>
      client.call('GET', `/merchants/${merchantId}/deposit-settings`, { context, response: DepositSettingsView }),
    changeDepositSettings: (
      merchantId: string,
      body: DepositSettingsCall,
      context: CallContext,
    ): Promise<DepositSettingsView> =>
      client.call('POST', `/merchants/${merchantId}/deposit-settings`, {
        context,
        body,
        response: DepositSettingsView,
      }),
    /** The addresses behind a payment page. Throws `not_found`. */
    pageAddresses: (reference: string, context: CallContext): Promise<PaymentPageAddresses> =>
      client.call('GET', `/pages/${encodeURIComponent(reference)}`, { context, response: PaymentPageAddresses }),
    /** One page of the recorded events of an order's payments. */
    history: (orderId: string, query: HistoryQuery, context: CallContext): Promise<RecordedHistory> =>
      client.call('GET', `/orders/${orderId}/history`, { context, query, response: RecordedHistory }),
  };
};

export type PaymentsClient = ReturnType<typeof paymentsClient>;
