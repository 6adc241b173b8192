import { AppError, ERROR_CODES, ERROR_TEXTS, type ErrorCode, type FaultDetail } from '@cpg/contracts';
import { errorBody } from '@cpg/platform';

/** The errors that an operation returns besides those that follow from its path and method. */
const OWN: Record<string, readonly ErrorCode[]> = {
  createOrder: ['amount_too_small', 'network_unavailable', 'concurrent_update', 'rate_unavailable', 'order_deleted'],
  updateOrder: [
    'update_not_allowed',
    'order_state_conflict',
    'payment_in_progress',
    'amount_too_small',
    'rate_lock_exceeded',
    'concurrent_update',
    'rate_unavailable',
  ],
  deleteOrder: ['order_has_unsettled_funds', 'concurrent_update'],
  acceptOrder: ['order_state_conflict', 'concurrent_update', 'order_deleted'],
  cancelOrder: [
    'cancel_not_allowed',
    'order_state_conflict',
    'payment_in_progress',
    'concurrent_update',
    'order_deleted',
  ],
  captureOrder: ['order_state_conflict', 'concurrent_update', 'order_deleted'],
  refundOrder: ['nothing_to_refund', 'refund_too_large', 'order_state_conflict', 'concurrent_update', 'order_deleted'],
  refundPayment: [
    'refund_amount_required',
    'nothing_to_refund',
    'refund_too_large',
    'payment_conflict',
    'concurrent_update',
    'order_deleted',
  ],
  requestRefund: ['payment_conflict', 'concurrent_update', 'order_deleted'],
  createRefundClaim: ['payment_conflict', 'concurrent_update', 'order_deleted'],
  cancelRefund: ['payment_conflict', 'concurrent_update', 'order_deleted'],
  createApiKey: ['permission_exceeded', 'too_many_api_keys', 'api_key_inactive'],
  updateApiKey: ['permission_exceeded', 'api_key_inactive'],
  rotateApiKey: ['permission_exceeded', 'api_key_inactive'],
  createUser: ['permission_exceeded', 'email_taken'],
  updateUser: ['permission_exceeded', 'last_owner'],
  createSignInLink: ['permission_exceeded', 'user_disabled'],
  deleteUser: ['permission_exceeded', 'last_owner'],
  createWebhook: ['host_not_public', 'too_many_webhooks', 'webhook_deleted'],
  rotateWebhookSecret: ['too_many_secrets', 'webhook_deleted'],
  redeliver: ['webhook_disabled', 'delivery_expired', 'webhook_deleted'],
  replayEvents: ['webhook_disabled', 'replay_running', 'webhook_deleted'],
  cancelReplay: ['webhook_deleted'],
  registerPayment: ['rail_not_enabled', 'payment_conflict', 'concurrent_update'],
  reportProviderPayment: ['payment_conflict', 'concurrent_update'],
  confirmPayment: ['payment_conflict', 'concurrent_update'],
  failPayment: ['payment_conflict', 'concurrent_update'],
  advanceTime: ['order_state_conflict', 'concurrent_update', 'rate_unavailable'],
};

/** A fault that the body, the query or the headers of an operation can have. */
const FAULTS: Record<string, FaultDetail> = {
  createOrder: { path: 'items.0.unit_price', message: 'MXN has 2 decimals, this amount has 3' },
  replacePaymentPageSettings: { path: 'logo', message: 'must be a PNG, JPEG or WebP image' },
  getOverview: { path: 'timezone', message: 'must be a time zone, like UTC or America/Mexico_City' },
  getVolume: { path: 'from', message: 'must be a date, like 2026-01-31' },
  exportSettlements: { path: 'from', message: 'must be a date, like 2026-01-31' },
  getBalances: { path: 'at', message: 'needs a timezone, like 2026-01-31T12:00:00Z for UTC' },
  updateOrder: { path: 'expiration_minutes', message: 'must be at least 5' },
  getOrder: {
    path: 'at',
    message: 'needs a timezone, like 2026-01-31T12:00:00Z for UTC',
  },
  listOrderHistory: { path: 'cursor', message: 'must be the `next_cursor` of an earlier response' },
  refundOrder: { path: 'currency', message: 'must be a currency of the order: USDC, MXN' },
  refundPayment: { path: 'amount', message: 'USDC has 6 decimals, this amount has 7' },
  requestRefund: {
    path: 'destination',
    message: 'has a letter or digit that is wrong: its checksum (EIP-55) does not match, so copy it again',
  },
  createRefundClaim: {
    path: 'show_on_page',
    message: 'needs an order with a payment page of this gateway: leave it out, and send the link yourself',
  },
  createApiKey: { path: 'expires_at', message: 'is in the past' },
  updateApiKey: {
    path: 'allowed_ips.0',
    message: 'must be an IP address or a CIDR block, such as 203.0.113.7 or 203.0.113.0/24',
  },
  rotateApiKey: { path: 'overlap_seconds', message: 'must be at most 2592000' },
  listRequests: { path: 'status', message: 'must be an HTTP status, like 404, or a class of them, like 4xx' },
  createUser: { path: 'email', message: 'must be an email address' },
  updateUser: { path: 'body', message: 'must have name, role or status' },
  createSignInLink: { path: 'remove_totp', message: 'must be true or false' },
  createWebhook: { path: 'url', message: 'must use https' },
  updateWebhook: { path: 'url', message: 'cannot be changed: delete the webhook and create another for the new URL' },
  replayEvents: { path: 'to_date', message: 'must not be before from_date' },
  registerPayment: { path: 'amount', message: 'is required' },
  reportProviderPayment: { path: 'amount', message: 'is required' },
  failPayment: { path: 'reason', message: 'must not be empty' },
  advanceTime: { path: 'minutes', message: 'must be at most 43200' },
  health: { path: 'verbose', message: 'must be given only once' },
  ready: { path: 'verbose', message: 'must be given only once' },
  testWebhook: { path: 'webhook_id', message: 'is required' },
};
const LIST_FAULT: FaultDetail = { path: 'limit', message: 'must be a whole number from 1 to 100' };
const BODY_FAULT: FaultDetail = { path: 'body', message: 'is not valid JSON' };
const KEY_FAULT: FaultDetail = {
  path: 'idempotency-key',
  message: 'must be 1 to 255 visible ASCII characters, without spaces',
};

const STATUS_TEXTS: Record<number, string> = {
  400: 'The request is not valid. `details` lists the invalid fields, 20 at most.',
  401: 'The API key is missing, malformed, unknown, revoked, expired, or of the other environment; or the signature of a provider is not valid. Where the header alone shows the mistake, `details` names it.',
  403: 'The API key lacks the required scope, or its merchant is disabled. See `code`.',
  404: 'No resource has this id: it does not exist, is deleted, or belongs to another merchant.',
  409: 'The state of the resource does not allow the request, or another request is in progress. See `code`.',
  410: 'The request repeats an earlier one with the same `Idempotency-Key`, and its order or webhook was deleted since.',
  408: 'The body arrived too slowly.',
  413: 'The body is larger than 256 KiB, or than 1.5 MiB where it may contain a logo.',
  415: 'The body is not `application/json`, or it is compressed.',
  422: 'This `Idempotency-Key` was used with a different request, or the rates cannot be locked for so long. See `code`.',
  429: 'Too many requests.',
  503: 'The service is overloaded, a dependency is unavailable, or there is no current exchange rate. Try again.',
};

export interface ErrorContext {
  readonly operationId: string;
  /** The scope that a key needs. */
  readonly scope: string | undefined;
  /** Whether the operation is under `/v1`. */
  readonly versioned: boolean;
  /** Whether the request names a resource that may not exist. */
  readonly namesResource: boolean;
  /** Whether a request can have an effect. */
  readonly changes: boolean;
  readonly hasBody: boolean;
  readonly takesIdempotencyKey: boolean;
}

/** The error responses of an operation by status, each with an example for every code. */
export const errorResponses = (context: ErrorContext): Record<string, object> => responsesOf(codesOf(context), context);

/** The error responses of a health check, which needs no key and has no limit. */
export const healthErrors = (operationId: string): Record<string, object> =>
  responsesOf(['invalid_request'], {
    operationId,
    scope: undefined,
    versioned: false,
    namesResource: false,
    changes: false,
    hasBody: false,
    takesIdempotencyKey: false,
  });

const responsesOf = (codes: ErrorCode[], context: ErrorContext): Record<string, object> => {
  const statuses = [...new Set(codes.map((code) => ERROR_CODES[code]))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      responseOf(
        status,
        codes.filter((code) => ERROR_CODES[code] === status),
        context,
      ),
    ]),
  );
};

const codesOf = ({
  operationId,
  versioned,
  namesResource,
  changes,
  hasBody,
  takesIdempotencyKey,
}: ErrorContext): ErrorCode[] => [
  'invalid_request',
  ...(operationId === 'reportProviderPayment' ? (['invalid_signature'] as const) : (['unauthorized'] as const)),
  ...(versioned ? (['insufficient_scope', 'merchant_disabled'] as const) : []),
  ...(namesResource ? (['not_found'] as const) : []),
  ...(hasBody ? (['request_timeout', 'payload_too_large', 'unsupported_media_type'] as const) : []),
  ...(changes ? (['outcome_unknown'] as const) : []),
  ...(takesIdempotencyKey ? (['idempotency_key_reused'] as const) : []),
  // A repeat of `createOrder` that arrives while the first request runs gets the same order.
  ...(takesIdempotencyKey && operationId !== 'createOrder' ? (['idempotency_key_in_use'] as const) : []),
  'rate_limited',
  'overloaded',
  'dependency_unavailable',
  ...(OWN[operationId] ?? []),
];

const responseOf = (status: number, codes: ErrorCode[], context: ErrorContext) => ({
  description: STATUS_TEXTS[status],
  headers: Object.fromEntries(
    ['X-Request-Id', ...(hasRetryAfter(codes) ? ['Retry-After'] : [])].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  ),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/ApiError' },
      examples: Object.fromEntries(
        codes.map((code) => [code, { summary: ERROR_TEXTS[code].when, value: exampleOf(code, context) }]),
      ),
    },
  },
});

const hasRetryAfter = (codes: ErrorCode[]): boolean =>
  codes.some((code) => ERROR_CODES[code] >= 429 || code === 'idempotency_key_in_use' || code === 'concurrent_update');

const exampleOf = (code: ErrorCode, context: ErrorContext) => {
  const details = code === 'invalid_request' ? [faultOf(context)] : [];
  const message = details.map((fault) => `${fault.path}: ${fault.message}`).join('; ') || plain(ERROR_TEXTS[code].when);
  const requiredScope = code === 'insufficient_scope' ? context.scope : undefined;
  return errorBody(new AppError(code, message, { details, requiredScope }), 'req_01KG9Q5H6J7K8M9N0P1Q2R3S4T');
};

const faultOf = ({ operationId, changes, takesIdempotencyKey }: ErrorContext): FaultDetail =>
  FAULTS[operationId] ?? (takesIdempotencyKey ? KEY_FAULT : changes ? BODY_FAULT : LIST_FAULT);

const plain = (markdown: string): string => markdown.replaceAll('`', '');
