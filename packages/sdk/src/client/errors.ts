import type { ErrorCode } from '../generated/methods.ts';

export interface FaultDetail {
  /** The field or parameter, like `items.0.unit_price`. */
  readonly path: string;
  readonly message: string;
}

/** The gateway refused the request. `code` is stable: decide by it. `message` is for people and can change. With status
 *  500 or more the request may have taken effect: send it again with the same `idempotency_key`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** What went wrong: docs/errors.md says for each code what to do. `unreadable_answer` if the answer is not from the
   *  gateway, for example of a proxy. A newer gateway may send codes that this type does not name. */
  readonly code: ErrorCode | 'unreadable_answer' | (string & {});
  /** The HTTP status. */
  readonly status: number;
  /** The id of the request, for questions to the operator. */
  readonly request_id: string | undefined;
  /** The `Idempotency-Key` of the request, your own or the one that the client made. */
  readonly idempotency_key: string | undefined;
  /** The scope that the API key lacks, with the code `insufficient_scope`. */
  readonly required_scope: string | undefined;
  /** What is wrong, by field: with status 400 one entry for each invalid field, 20 at most. */
  readonly details: readonly FaultDetail[];
  /** The whole error body, with fields that this version does not know. */
  readonly body: unknown;
  readonly headers: Headers;

  constructor(response: Response, body: unknown, key: string | undefined) {
    const fields: Partial<Record<string, unknown>> = typeof body === 'object' && body !== null ? { ...body } : {};
    const isOwn = typeof fields.code === 'string' && typeof fields.message === 'string';
    super(isOwn ? fullMessage(fields) : `HTTP ${response.status}, not an answer of the gateway: ${excerptOf(body)}`);
    this.code = isOwn ? String(fields.code) : 'unreadable_answer';
    this.status = response.status;
    this.request_id =
      typeof fields.request_id === 'string' ? fields.request_id : (response.headers.get('x-request-id') ?? undefined);
    this.idempotency_key = key;
    this.required_scope = typeof fields.required_scope === 'string' ? fields.required_scope : undefined;
    this.details = detailsIn(fields);
    this.body = body;
    this.headers = response.headers;
  }
}

/** No answer arrived: the connection failed or the time limit passed. The request may have taken effect: send it again
 *  with the same `idempotency_key`, which is on this error if the request had one. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly reason: 'network' | 'timeout';
  readonly idempotency_key: string | undefined;

  constructor(reason: 'network' | 'timeout', message: string, options: { cause: unknown; key: string | undefined }) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.idempotency_key = options.key;
  }
}

const excerptOf = (body: unknown): string =>
  (typeof body === 'string' ? body : (JSON.stringify(body) ?? '')).slice(0, 200);

type Fields = Partial<Record<string, unknown>>;

const detailsIn = ({ details }: Fields): FaultDetail[] => (Array.isArray(details) ? (details as FaultDetail[]) : []);

/** The texts of 401 and 403 are fixed: what they leave to other fields is added. */
const fullMessage = (fields: Fields): string => {
  const message = String(fields.message);
  const { required_scope: scope } = fields;
  const more = detailsIn(fields).map((detail) => `${detail.path}: ${detail.message}`);
  if (typeof scope === 'string') more.push(`the key needs ${scope}`);
  return [message, ...more.filter((text) => !message.includes(text))].join('; ');
};
