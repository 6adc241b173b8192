import { AppError, invalidRequest, outcomeUnknown } from '@cpg/contracts';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { AnyApp } from './any-app.ts';
import { drainConnectionsOnClose } from './drain.ts';
import {
  answerClientError,
  answerUncommonRequests,
  BODY_LIMIT_BYTES,
  errorBody,
  followResponses,
  sendError,
} from './http-errors.ts';
import { newRequestId } from '../ids.ts';
import type { Logger } from '../log/logger.ts';
import { keepDeadlines, limitBodyTime, limitResponseTime } from './time-limits.ts';
import type { Outages } from '../outages/outages.ts';
import { describeIssue, validationDetails } from '../config/validation-messages.ts';

/** Limit for calls between services. They carry a client's body plus the fields that the gateway adds. */
export const INTERNAL_BODY_LIMIT_BYTES = 4 * BODY_LIMIT_BYTES;

const RESPONSE_TIMEOUT_MS = 12_000;
const HEADERS_TIMEOUT_MS = 2_000;
const CHECK_CONNECTIONS_EVERY_MS = 500;
/** Fastify, its plugins and our limits each wait for the end of a response. Node.js takes more than 10 for a leak. */
const LISTENERS_PER_RESPONSE = 20;

export interface CreateAppOptions extends Pick<
  FastifyServerOptions,
  'trustProxy' | 'requestTimeout' | 'bodyLimit' | 'rewriteUrl'
> {
  readonly log: Logger;
  /** A request without a response after this time gets 503. Default: 12 s. */
  readonly responseTimeoutMs?: number;
  /** Whether an error means that a dependency is unavailable. Such errors become 503. */
  readonly isTransientError?: ((error: unknown) => boolean) | undefined;
  /** Counts the requests that an outage refuses. Without it each is logged. */
  readonly outages?: Pick<Outages, 'refused' | 'ongoing'> | undefined;
}

/** Creates a Fastify instance with zod validation, the error table, request ids, a response timeout and graceful
 *  draining. */
export const createApp = ({
  log,
  isTransientError = () => false,
  outages,
  responseTimeoutMs = RESPONSE_TIMEOUT_MS,
  ...options
}: CreateAppOptions) => {
  // With Fastify's own logger type all apps have the same type.
  const loggerInstance: FastifyBaseLogger = log;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: 30_000,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_CONNECTIONS_EVERY_MS,
      // Node.js would refuse it without a body: `refuseMissingHost` does.
      requireHostHeader: false,
    },
    clientErrorHandler: answerClientError,
    genReqId: newRequestId,
    // A request that arrives while the app closes is answered normally, with `connection: close`.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 512 },
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply, outages),
    ...options,
  }).withTypeProvider<ZodTypeProvider>();
  app.server.on('request', (_request, response) => response.setMaxListeners(LISTENERS_PER_RESPONSE));
  drainConnectionsOnClose(app);
  followResponses(app.server);
  answerUncommonRequests(app.server);
  app.decorateRequest('errorCode', null);
  refuseMissingHost(app);
  limitBodyTime(app);
  limitResponseTime(app, responseTimeoutMs, (request) => timeoutBody(request, outages));
  keepDeadlines(app, responseTimeoutMs);
  app.setValidatorCompiler(({ schema, httpPart }) => (data: unknown) => {
    // Fastify passes null for an absent body.
    const present = httpPart === 'body' && data === null ? undefined : data;
    const expected = schema as z.ZodType;
    const parsed = expected.safeParse(present, { error: (issue) => describeIssue(issue, expected) });
    return parsed.success
      ? { value: parsed.data }
      : { error: invalidRequest(validationDetails(parsed.error, httpPart, expected)) };
  });
  // Response schemas only document: the values are typed, and the receiving client parses them again.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  app.setErrorHandler((error: FastifyError | AppError, request, reply) =>
    sendError(isTransientError(error) ? databaseUnavailable(error) : error, request, reply, outages),
  );
  app.setNotFoundHandler((request) => {
    throw new AppError('not_found', `there is no endpoint ${request.method} ${request.url.split('?')[0]}`);
  });
  return app;
};

/** HTTP/1.1 requires the header `host`. Node.js reads the first 2000 headers. */
const refuseMissingHost = (app: AnyApp): void => {
  app.addHook('onRequest', async ({ id, headers, raw }: FastifyRequest, reply) => {
    if (headers.host !== undefined || raw.httpVersion === '1.0') return;
    reply.header('x-request-id', id).header('connection', 'close');
    throw invalidRequest([{ path: 'host', message: 'is required: send the header `host` among the first 2000' }]);
  });
};

const timeoutBody = (request: FastifyRequest, outages: CreateAppOptions['outages']): string => {
  // The dependency that a request waited for is not known here: most likely one that is unavailable.
  const dependency = outages?.ongoing()[0];
  const error = isSafe(request)
    ? new AppError('dependency_unavailable', 'the request timed out: retry it', { dependency })
    : outcomeUnknown('the request timed out and may have taken effect', undefined, dependency);
  if (!outages?.refused(error))
    request.log.error({ requestId: request.id, route: request.routeOptions.url }, 'request timed out');
  request.errorCode = error.code;
  return JSON.stringify(errorBody(error, request.id));
};

/** Whether the method cannot have an effect (RFC 9110, 9.2.1). */
const isSafe = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

/** The outages tell by the cause whether it belongs to one: a deadlock does not. */
const databaseUnavailable = (cause: unknown): AppError =>
  new AppError('dependency_unavailable', 'the database is temporarily unavailable: retry the request', { cause });
