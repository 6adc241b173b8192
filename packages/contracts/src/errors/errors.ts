import { z } from 'zod';

/** Every error code that callers receive, with its HTTP status. Codes are stable. */
export const ERROR_CODES = {
  invalid_request: 400,
  amount_too_small: 400,
  network_unavailable: 400,
  host_not_public: 400,
  refund_amount_required: 400,
  unauthorized: 401,
  invalid_signature: 401,
  sign_in_failed: 401,
  code_required: 401,
  link_invalid: 401,
  insufficient_scope: 403,
  merchant_disabled: 403,
  permission_exceeded: 403,
  cross_site_request: 403,
  sign_in_again: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  order_state_conflict: 409,
  cancel_not_allowed: 409,
  update_not_allowed: 409,
  payment_in_progress: 409,
  order_has_unsettled_funds: 409,
  payment_conflict: 409,
  rail_not_enabled: 409,
  nothing_to_refund: 409,
  refund_too_large: 409,
  too_many_webhooks: 409,
  too_many_secrets: 409,
  too_many_api_keys: 409,
  api_key_inactive: 409,
  email_taken: 409,
  last_owner: 409,
  user_disabled: 409,
  totp_enabled: 409,
  too_many_passkeys: 409,
  webhook_disabled: 409,
  delivery_expired: 409,
  replay_running: 409,
  idempotency_key_in_use: 409,
  concurrent_update: 409,
  order_deleted: 410,
  webhook_deleted: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_lock_exceeded: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  rate_unavailable: 503,
  overloaded: 503,
  dependency_unavailable: 503,
  outcome_unknown: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface FaultDetail {
  /** Path of the field, like `items.0.unit_price`. */
  readonly path: string;
  readonly message: string;
}

/** A refusal that is reported to the caller. `message` says what was wrong and what to do. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly details: readonly FaultDetail[];
  /** The engine or service whose outage is the reason, such as `eventstore`. */
  readonly dependency: string | undefined;
  /** The service whose answer to a call this error is. */
  readonly answeredBy: string | undefined;
  /** The scope that the key lacks. */
  readonly requiredScope: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: readonly FaultDetail[];
      cause?: unknown;
      dependency?: string | undefined;
      answeredBy?: string | undefined;
      requiredScope?: string | undefined;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.statusCode = ERROR_CODES[code];
    this.details = options.details ?? [];
    this.dependency = options.dependency;
    this.answeredBy = options.answeredBy;
    this.requiredScope = options.requiredScope;
  }
}

/** A request can have a fault per byte: an answer to all of them would be larger than the request. */
export const MAX_FAULT_DETAILS = 20;

const MAX_PATH_LENGTH = 256;

/** A 400 that names the first faults. Paths have names that the client chose: long ones are cut. */
export const invalidRequest = (faults: readonly FaultDetail[]): AppError => {
  const details = faults.slice(0, MAX_FAULT_DETAILS).map(({ path, message }) => ({
    path: path.length <= MAX_PATH_LENGTH ? path : `${path.slice(0, MAX_PATH_LENGTH - 1)}…`,
    message,
  }));
  const texts = details.map(({ path, message }) => `${path}: ${message}`);
  return new AppError('invalid_request', texts.join('; '), { details });
};

export const isAppError = (error: unknown, code?: ErrorCode): error is AppError =>
  error instanceof AppError && (code === undefined || error.code === code);

/** The refusal after an interruption that leaves the caller without a result. `what` says what happened, and whether
 *  the request took effect, as far as that is known. */
export const outcomeUnknown = (what: string, cause?: unknown, dependency?: string): AppError =>
  new AppError(
    'outcome_unknown',
    `${what}: repeat the request with its Idempotency-Key, or read the resource before you send another one`,
    { cause, dependency },
  );

const TEMPORARY: readonly ErrorCode[] = [
  'overloaded',
  'dependency_unavailable',
  'outcome_unknown',
  'rate_unavailable',
  'concurrent_update',
];

/** Whether the same work may succeed later without a change of its input: a dependency is unavailable, a service is
 *  overloaded, or others keep changing the same resource. */
export const isTemporary = (error: unknown): error is AppError =>
  error instanceof AppError && TEMPORARY.includes(error.code);

/** Resolves to null instead of rejecting with `not_found`. */
export const nullIfNotFound = async <T>(answer: Promise<T>): Promise<T | null> => {
  try {
    return await answer;
  } catch (error) {
    if (isAppError(error, 'not_found')) return null;
    throw error;
  }
};

/** For the default branch of an exhaustive switch: a value that the types exclude is a bug. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
};

/** What is wrong with one field or parameter. */
export const ErrorDetail = z.object({
  path: z.string().describe('The field or parameter, like `items.0.unit_price`.'),
  message: z.string().describe('What is wrong with it.'),
});

export const ErrorBody = z.object({
  error: z.string().describe('The kind of error, for people.'),
  message: z.string().describe('The reason, for people. The text can change.'),
  statusCode: z.int().describe('The HTTP status.'),
  code: z.string().describe('A stable identifier. Base your error handling on it. [All codes](/docs/errors)'),
  request_id: z.string().describe('The id of the request. Include it when you contact support.'),
  required_scope: z
    .string()
    .optional()
    .describe('Only with `insufficient_scope`: the scope that the key needs for this operation.'),
  details: z
    .array(ErrorDetail)
    .optional()
    .describe('Only with status 400: one entry per invalid field or parameter, 20 at most.'),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
