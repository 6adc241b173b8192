import type { ErrorCode } from './errors.ts';

export interface ErrorText {
  /** The cause of the error. */
  readonly when: string;
  /** The action that the caller takes. */
  readonly remedy: string;
}

/** Texts of the error catalogue (`docs/errors.md`), in Markdown. */
export const ERROR_TEXTS: Record<ErrorCode, ErrorText> = {
  invalid_request: {
    when: 'The JSON, a field, a query parameter or a header is invalid or unknown.',
    remedy: 'Correct each fault that `details` lists. Do not retry the same request.',
  },
  amount_too_small: {
    when: 'The total is less than the smallest amount that an enabled rail takes in its currency: 0.00001 BTC on a chain by default.',
    remedy: 'Raise the total to the amount that the message names. Another `payment_currency` may have a smaller one.',
  },
  network_unavailable: {
    when: 'No network that can take the currency of the order is read at the moment: it has no nodes, its nodes are behind, or reading it halted. A deposit would not be seen. No order was created.',
    remedy:
      'Use another currency, or enable only a rail that is available: `payment_methods` of the merchant shows them. Retry later: the operator has an alarm.',
  },
  host_not_public: {
    when: 'DNS has no address, or a private one, for the host of the URL of a webhook.',
    remedy: 'Correct the DNS record, then repeat the request, also with the same `Idempotency-Key`.',
  },
  refund_amount_required: {
    when: 'The request names neither `amount` nor `what`, and the payment has no surplus that is due for refund: the order needs all of it.',
    remedy: 'Send the `amount` to refund, or `what`: `all` to refund all that is left of the payment.',
  },
  unauthorized: {
    when: 'The API key is missing, malformed, unknown, revoked, expired, from the other environment, or not allowed from this IP address.',
    remedy: 'Send a valid key in `x-api-key`. Do not retry: failed authentications are rate limited per address.',
  },
  invalid_signature: {
    when: 'The callback of a payment provider has no valid signature, or its timestamp is more than 5 minutes from now.',
    remedy: 'Check the secret and the clock. Sign the raw body again for each attempt.',
  },
  sign_in_failed: {
    when: 'The email address, the password, the code or the passkey of a sign-in is wrong, or the user is disabled.',
    remedy:
      'Check what was typed. After 10 attempts in 15 minutes, sign in from a browser where you signed in before, wait, or ask an owner of your merchant for a sign-in link.',
  },
  code_required: {
    when: 'The password or the link is right, and the user has an authenticator app.',
    remedy: 'Send the same request with `code`: the 6 digits that the app shows, or a recovery code.',
  },
  link_invalid: {
    when: 'The sign-in link was used, has expired, or was replaced by a newer one.',
    remedy: 'Ask who sent it for a new one.',
  },
  insufficient_scope: {
    when: 'The API key or the role of the user lacks the scope that this endpoint requires.',
    remedy:
      'Use a key with the scope that `required_scope` names. Create one with `POST /v1/api-keys` and a key that has this scope, or ask the operator of your gateway.',
  },
  permission_exceeded: {
    when: 'The API key or the user that is to be created or changed may do more than the caller: it has another scope, works from other addresses, or lives longer.',
    remedy: 'Ask for no more than the caller may do; `details` names what is too much. Or use a key that may do it.',
  },
  cross_site_request: {
    when: 'A page of another site sent the request, or it lacks the token of its session.',
    remedy:
      'Send requests with a session from the dashboard, with its `csrf_token` in `x-csrf-token`. Programs use an API key.',
  },
  sign_in_again: {
    when: 'The session is older than an hour, and the request adds a way to sign in: whoever took over the session could stay.',
    remedy: 'Sign in again, then repeat the request.',
  },
  merchant_disabled: {
    when: 'The operator of the gateway disabled the merchant. Its orders go on: payments are recorded, and webhooks delivered.',
    remedy: 'Ask the operator of your gateway.',
  },
  not_found: {
    when: 'The path or the resource does not exist, the resource was deleted, or it belongs to another merchant. A malformed id gives the same response.',
    remedy:
      'Check the path and the id, and check that the key belongs to the right merchant. To find an order by your own reference, list orders with `external_reference_id`.',
  },
  method_not_allowed: {
    when: 'The path exists but does not support this method.',
    remedy: 'Use a method from the `Allow` header.',
  },
  request_timeout: {
    when: 'The headers took longer than 2 seconds to arrive, or the body longer than 2 seconds and its size at 64 KB/s. Nothing was done. The connection is closed.',
    remedy: 'Send the request at once. Retry it.',
  },
  order_state_conflict: {
    when: 'The status of the order does not allow the operation. Examples: canceling an order that is paid or expired, changing its deadline, capturing a canceled order.',
    remedy: 'Read the order again and decide based on its `status`.',
  },
  cancel_not_allowed: {
    when: 'The order was created with `can_cancel` set to false.',
    remedy: 'Let the order expire. Set `can_cancel` to true in orders that you may want to cancel.',
  },
  update_not_allowed: {
    when: 'The order was created with `can_update` set to false, or it was already changed 1,000 times, or its items are paid at the page of an outside provider.',
    remedy: 'Create a new order. Set `can_update` to true in orders that you may want to change.',
  },
  payment_in_progress: {
    when: 'Money for the order was seen, perhaps not confirmed yet, so its items cannot be changed, nor can it be canceled with `if_unpaid`.',
    remedy:
      'Wait for `order:paid`, or for the payment to fail. Sell the rest of a changed cart by another order. To cancel all the same, leave out `if_unpaid` and refund the payment.',
  },
  order_has_unsettled_funds: {
    when: 'The order has money that is neither settled nor refunded: a payment applied to an unpaid order, a received payment, an orphan, a surplus that is due back, or a refund that is not settled.',
    remedy:
      'The message names a payment or a refund and what to do with it: refund it, capture the order, send or cancel the refund, or wait. Then delete the order.',
  },
  payment_conflict: {
    when: 'The status of the payment or of its refund does not allow the operation. Examples: refunding a payment that is not confirmed, canceling a refund that is sent. Or a report names a payment that is recorded with another amount, currency or order.',
    remedy:
      'The message says what to do. Read the payment and its refunds again. Report a different payment with its own transaction hash.',
  },
  rail_not_enabled: {
    when: 'The order does not enable the rail of the simulated payment.',
    remedy: 'Send a `payment_rail` that `enable_rails` of the order named.',
  },
  nothing_to_refund: {
    when: 'The payment, or all that is applied to the order, is already fully refunded; or `what` is `surplus`, and it has no surplus that is due for refund.',
    remedy:
      'If all is refunded, no action is needed. To give back a part that is applied to the order, send its `amount`. If pending refunds reserve the rest, cancel one to refund its amount in another way.',
  },
  refund_too_large: {
    when: 'The amount of the refund is larger than what is left of the payment, or of what is applied to the order.',
    remedy: 'Refund at most the amount that the message names, or send `what`: `all` to refund the rest.',
  },
  too_many_webhooks: {
    when: 'The merchant already has 20 webhooks.',
    remedy: 'Delete a webhook, or subscribe an existing webhook to more events.',
  },
  too_many_secrets: {
    when: 'Three secrets sign for the webhook: the current one and two that were replaced within the last 24 hours.',
    remedy: 'Use the newest secret. Rotate again when an old secret has expired, 24 hours after its replacement.',
  },
  too_many_api_keys: {
    when: 'The merchant already has 50 API keys that are active.',
    remedy: 'Revoke a key that is no longer used: `last_used_at` says when each one was used last.',
  },
  api_key_inactive: {
    when: 'The API key is revoked, or has expired, or was already rotated.',
    remedy: 'Create a new key, or rotate the successor of the rotated one.',
  },
  email_taken: {
    when: 'A user with this email address exists. An address belongs to one user of the gateway.',
    remedy: 'Use another address, or change the user who has it.',
  },
  last_owner: {
    when: 'The change would leave the merchant without an owner who can sign in.',
    remedy: 'Make another user an owner first.',
  },
  user_disabled: {
    when: 'The user is disabled, so that a sign-in link would not work.',
    remedy: 'Enable the user first.',
  },
  totp_enabled: {
    when: 'The user has an authenticator app already.',
    remedy: 'Remove it first, with one of its codes.',
  },
  too_many_passkeys: {
    when: 'The user has 20 passkeys already.',
    remedy: 'Delete one that is no longer used.',
  },
  webhook_disabled: {
    when: 'The webhook is disabled.',
    remedy: 'Enable it with PATCH. If the service disabled it, `disabled_reason` gives the reason.',
  },
  delivery_expired: {
    when: 'The body of the delivery is no longer stored: the delivery is older than 30 days, or its order was deleted.',
    remedy: 'Replay the time range of the event. Events of a deleted order cannot be replayed.',
  },
  replay_running: {
    when: 'An earlier replay of the webhook is neither done nor canceled.',
    remedy: 'Wait until it is done, or cancel it.',
  },
  idempotency_key_in_use: {
    when: 'Another request with this `Idempotency-Key` is still running.',
    remedy: 'Retry after a moment: the response is the same as for the first request.',
  },
  concurrent_update: {
    when: 'Concurrent requests kept changing the resource. Nothing was changed by this request.',
    remedy: 'Retry the request.',
  },
  order_deleted: {
    when: 'The request repeats an earlier one with the same `Idempotency-Key`, and the order of that request was deleted since.',
    remedy: 'Do not retry. To create another order, send a new `Idempotency-Key`.',
  },
  webhook_deleted: {
    when: 'The request repeats an earlier one with the same `Idempotency-Key`, and the webhook of that request was deleted since.',
    remedy: 'Do not retry. To create another webhook, send a new `Idempotency-Key`.',
  },
  payload_too_large: {
    when: 'The body is larger than 256 KiB.',
    remedy: 'Send fewer items or a smaller `metadata`.',
  },
  unsupported_media_type: {
    when: 'The content type of the body is not `application/json`, or the body is compressed.',
    remedy: 'Send JSON with the header `content-type: application/json`, without `content-encoding`.',
  },
  rate_lock_exceeded: {
    when: 'The new deadline is later than a change may lock the rates of the order: 24 hours from their quote by default, or the first deadline if that is later.',
    remedy: 'Choose an earlier deadline, or create orders with `expiration_auto_renewal` for longer ones.',
  },
  idempotency_key_reused: {
    when: 'This `Idempotency-Key` was used with a different request in the last 24 hours.',
    remedy: 'Generate a new key for each request. Reuse a key only to retry the same request.',
  },
  rate_limited: {
    when: 'The API key exceeded its rate limit, or too many requests with invalid keys came from this IP address.',
    remedy: 'Wait for the number of seconds in `Retry-After`.',
  },
  headers_too_large: {
    when: 'The path and the headers together are larger than 16 KiB.',
    remedy: 'Send fewer or shorter headers.',
  },
  internal_error: {
    when: 'The service has a fault.',
    remedy:
      'Retry the request; retry a POST with the same `Idempotency-Key`. If the error persists, report the `request_id`.',
  },
  rate_unavailable: {
    when: 'There is no recent exchange rate for a currency of the order. No order was created.',
    remedy: 'Retry after the number of seconds in `Retry-After`.',
  },
  overloaded: {
    when: 'The service has more requests in progress than it can answer in time. Nothing was done.',
    remedy:
      'Retry after the number of seconds in `Retry-After`, with a growing wait between attempts. A POST can keep its `Idempotency-Key`.',
  },
  dependency_unavailable: {
    when: 'A dependency of the service is unavailable. No order, payment or refund was changed.',
    remedy: 'Retry after the number of seconds in `Retry-After`.',
  },
  outcome_unknown: {
    when: 'The request was interrupted after it may have taken effect. It takes effect as a whole or not at all.',
    remedy:
      'Retry after the number of seconds in `Retry-After`. With the same `Idempotency-Key` you get the result of the first attempt. Without a key, read the resource first: a second POST can create a second order or refund.',
  },
};
