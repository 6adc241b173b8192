import { timingSafeEqual } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { type ErrorBody, INTERNAL_HEADERS } from '@cpg/contracts';
import { AppError, type FaultDetail } from '@cpg/core';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { drainConnectionsOnClose } from './drain.ts';
import { newRequestId } from './ids.ts';
import type { Logger } from './logger.ts';
import { limitResponseTime } from './response-timeout.ts';

export const BODY_LIMIT_BYTES = 256 * 1024;
/** What a service takes from another: what a client may send has more around it by then. */
export const INTERNAL_BODY_LIMIT_BYTES = 4 * BODY_LIMIT_BYTES;

const RETRY_AFTER_SECONDS = 1;

const ANSWER_WITHIN_MS = 12_000;

const TOO_LONG = 'this takes longer than it may: try again';

// `error` and `message` of these are fixed by the API reference.
const FIXED: Record<number, { error: string; message?: string }> = {
  401: { error: 'Unauthorized', message: 'Invalid API key provided' },
  403: { error: 'Forbidden', message: 'Insufficient scope' },
  429: { error: 'Rate limit exceeded', message: 'Too many requests. Please try again later.' },
};

// What Fastify itself refuses, by its own error code.
const FASTIFY_REFUSALS: Record<string, (error: FastifyError) => AppError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new AppError('payload_too_large', `the body is larger than ${BODY_LIMIT_BYTES / 1024} KiB`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new AppError('unsupported_media_type', 'send the body as application/json'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () =>
    invalidRequest([{ path: 'body', message: 'is empty: send a JSON object, or no content-type' }]),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    invalidRequest([{ path: 'body', message: 'is not as long as content-length says' }]),
  FST_ERR_CTP_INVALID_JSON_BODY: () => invalidRequest([{ path: 'body', message: 'is not valid JSON' }]),
  // No id is written like that: it is answered as any other that does not exist.
  FST_ERR_BAD_URL: () => new AppError('not_found', 'there is nothing at this path'),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('not_found', 'there is nothing at this path'),
};

/** An instance of ours, whatever its routes are typed by. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type provider differs from plugin to plugin
export type AnyApp = FastifyInstance<any, any, any, any, any>;

export interface CreateAppOptions extends Pick<FastifyServerOptions, 'trustProxy' | 'requestTimeout' | 'bodyLimit'> {
  readonly log: Logger;
  /** A request that has no answer by then gets 503. */
  readonly responseTimeoutMs?: number;
  /** Whether an error says that something this service depends on is away: the answer is 503 then. */
  readonly isTransientError?: (error: unknown) => boolean;
}

/** A Fastify instance with zod schemas, the error table and request ids. */
export const createApp = ({
  log,
  isTransientError: isOutage = () => false,
  responseTimeoutMs: answerWithinMs = ANSWER_WITHIN_MS,
  ...options
}: CreateAppOptions) => {
  // Typed by its interface, so that every app of ours has one type.
  const loggerInstance: FastifyBaseLogger = log;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: 30_000,
    genReqId: newRequestId,
    // What still comes while it closes is answered, and told to connect anew.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 512 },
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
    ...options,
  }).withTypeProvider<ZodTypeProvider>();
  drainConnectionsOnClose(app);
  limitResponseTime(app, answerWithinMs, (request) => {
    request.log.error({ requestId: request.id, route: request.routeOptions.url }, 'request took too long');
    return JSON.stringify(errorBody(new AppError('dependency_unavailable', TOO_LONG), request.id));
  });
  app.setValidatorCompiler(({ schema }) => (data: unknown) => {
    const parsed = (schema as z.ZodType).safeParse(data);
    return parsed.success ? { value: parsed.data } : { error: invalidRequest(validationDetails(parsed.error)) };
  });
  // Answers are typed values, checked when they were made and again by who reads them: their schemas document them.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  app.setErrorHandler((error: FastifyError | AppError, request, reply) => {
    if (!isOutage(error)) return answerError(error, request, reply);
    const away = new AppError('dependency_unavailable', 'the database is not available right now: try again', {
      cause: error,
    });
    return answerError(away, request, reply);
  });
  app.setNotFoundHandler((request) => {
    throw new AppError('not_found', `there is no ${request.method} ${request.url.split('?')[0]}`);
  });
  return app;
};

/** Refuses every call that does not carry the token that the services share. */
export const requireInternalToken = (app: AnyApp, token: string): void => {
  const expected = Buffer.from(`Bearer ${token}`);
  app.addHook('onRequest', async (request: FastifyRequest) => {
    const given = Buffer.from(request.headers[INTERNAL_HEADERS.authorization] ?? '');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw new AppError('unauthorized', 'a call between services must carry INTERNAL_TOKEN');
    }
  });
};

/** The faults of a zod error, one per field; an unknown field is named itself. */
export const validationDetails = (error: z.ZodError): FaultDetail[] =>
  error.issues.flatMap((issue) => {
    const at = (...more: PropertyKey[]) => [...issue.path, ...more].map(String).join('.') || 'body';
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: at(key), message: 'is not a known field' }));
    return [{ path: at(), message: issue.message }];
  });

export const invalidRequest = (details: FaultDetail[]): AppError =>
  new AppError('invalid_request', details.map(({ path, message }) => `${path}: ${message}`).join('; '), { details });

/** The body of an error answer. */
export const errorBody = (error: AppError, requestId: string): ErrorBody => {
  const fixed = FIXED[error.statusCode];
  return {
    error: fixed?.error ?? STATUS_CODES[error.statusCode] ?? 'Error',
    message: fixed?.message ?? error.message,
    statusCode: error.statusCode,
    code: error.code,
    request_id: requestId,
    ...(error.details.length > 0 && { details: [...error.details] }),
  };
};

const answerError = (error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply) => {
  const refusal = refusalOf(error);
  if (refusal.statusCode >= 500)
    request.log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  if (refusal.statusCode === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  // A string goes out as it is: no response schema stands between an error and its caller.
  return reply
    .code(refusal.statusCode)
    .type('application/json; charset=utf-8')
    .serializer((body: string) => body)
    .send(JSON.stringify(errorBody(refusal, request.id)));
};

const refusalOf = (error: FastifyError | AppError): AppError => {
  if (error instanceof AppError) return error;
  const known = FASTIFY_REFUSALS[error.code];
  if (known) return known(error);
  if (error.statusCode && error.statusCode >= 400 && error.statusCode < 500) {
    return new AppError('invalid_request', error.message, { cause: error });
  }
  return new AppError('internal_error', 'something went wrong on our side; nothing you sent was the cause', {
    cause: error,
  });
};
