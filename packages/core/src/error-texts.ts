import type { ErrorCode } from './errors.ts';

export interface ErrorText {
  /** When a caller hears it. */
  readonly when: string;
  /** What the caller does about it. */
  readonly remedy: string;
}

/** What the error catalogue says of each code. */
export const ERROR_TEXTS: Record<ErrorCode, ErrorText> = {
  invalid_request: {
    when: 'The JSON, a field, a query parameter or a header is not valid; a field or parameter that does not exist counts too.',
    remedy: '`details` names every fault by its path: correct them. The same request fails again.',
  },
  unauthorized: {
    when: 'The API key is missing, malformed, unknown, revoked, expired, of the other environment, or not allowed from this address.',
    remedy: 'Send a valid key in `x-api-key`. Do not retry: failed authentications are limited per address.',
  },
  insufficient_scope: {
    when: 'The key is good but lacks the scope of this endpoint.',
    remedy: 'Use a key with the scope that the endpoint names.',
  },
  not_found: {
    when: 'There is no such path, or no such resource: it never was, is deleted, or belongs to another merchant. All three are answered alike.',
    remedy: 'Check the id and the key. A malformed id is answered so too.',
  },
  method_not_allowed: {
    when: 'The path exists, and takes other methods.',
    remedy: 'Use a method that the header `Allow` names.',
  },
  order_state_conflict: {
    when: 'The status of the order does not allow it: to cancel or move the deadline of one that is closed, to capture a canceled one.',
    remedy: 'Read the order again and decide by its `status`.',
  },
  cancel_not_allowed: {
    when: 'The order was created with `can_cancel` false.',
    remedy: 'Let it expire, or create orders with `can_cancel` true.',
  },
  update_not_allowed: {
    when: 'The order was created with `can_update` false, or was changed 1,000 times.',
    remedy: 'Create a new order, with `can_update` true if it may change.',
  },
  order_has_unsettled_funds: {
    when: 'The order to delete holds money: it is paid in part, or has a payment that is received or an orphan not refunded.',
    remedy: 'Capture or refund its payments first, then delete it.',
  },
  payment_conflict: {
    when: 'The money is known with another amount, currency or order, or the status of the payment does not allow it.',
    remedy: 'Read the payment again. Other money needs a hash of its own.',
  },
  nothing_to_refund: {
    when: 'All of the payment is refunded already.',
    remedy: 'Nothing: the payer has the money back.',
  },
  too_many_webhooks: {
    when: 'The merchant has 20 webhooks.',
    remedy: 'Delete one, or subscribe an existing one to more events.',
  },
  webhook_disabled: {
    when: 'The webhook to deliver to is disabled.',
    remedy: 'Enable it with PATCH; `disabled_reason` says why the service turned it off, if it did.',
  },
  delivery_expired: {
    when: 'The body of the delivery is no longer kept: it is older than 30 days, or its order was deleted.',
    remedy: 'Replay the range in which it happened, unless its order was deleted.',
  },
  replay_running: {
    when: 'An earlier replay of the webhook still has events to queue.',
    remedy: 'Wait until it is done, or disable the webhook, which ends it.',
  },
  idempotency_key_in_use: {
    when: 'A request with this `Idempotency-Key` is running.',
    remedy: 'Send the same request again in a moment: it gets the answer of the first.',
  },
  concurrent_update: {
    when: 'Others kept changing the resource at the same time.',
    remedy: 'Send the same request again. Nothing was done.',
  },
  payload_too_large: {
    when: 'The body is larger than 256 KiB.',
    remedy: 'Send less: fewer items, smaller `metadata`.',
  },
  unsupported_media_type: {
    when: 'The body is not `application/json`.',
    remedy: 'Send JSON, with `content-type: application/json`.',
  },
  idempotency_key_reused: {
    when: 'This `Idempotency-Key` was used with another request in the last 24 hours.',
    remedy: 'Make a new key for each request, and keep it only to repeat that request.',
  },
  rate_limited: {
    when: 'The key sent more requests than its limit, or the address too many bad keys.',
    remedy: 'Wait as many seconds as `Retry-After` says.',
  },
  internal_error: {
    when: 'A fault of ours.',
    remedy:
      'Send the same request again, a POST under the same `Idempotency-Key`; report the `request_id` if it stays.',
  },
  rate_unavailable: {
    when: 'There is no fresh rate for a currency of the order. No order was created.',
    remedy: 'Send the same request again after `Retry-After` seconds.',
  },
  dependency_unavailable: {
    when: 'Something that the service depends on is down. Nothing was half done.',
    remedy: 'Send the same request again after `Retry-After` seconds, a POST under the same `Idempotency-Key`.',
  },
};
