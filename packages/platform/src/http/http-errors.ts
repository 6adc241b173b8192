import { type OutgoingHttpHeaders, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError, type ErrorBody, type ErrorCode, INTERNAL_HEADERS, invalidRequest } from '@cpg/contracts';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { newRequestId } from '../ids.ts';
import type { Outages } from '../outages/outages.ts';

/** Largest request body of the public API. */
export const BODY_LIMIT_BYTES = 256 * 1024;

const RETRY_AFTER_SECONDS = 1;

// Refusals with another status than 503 that a repeat of the same request soon overcomes.
const TRANSIENT = new Set<ErrorCode>(['idempotency_key_in_use', 'concurrent_update']);

// The API reference fixes `error` and `message` of these refusals.
const FIXED_TEXTS: Partial<Record<ErrorCode, { error: string; message: string }>> = {
  unauthorized: { error: 'Unauthorized', message: 'Invalid API key provided' },
  insufficient_scope: { error: 'Forbidden', message: 'Insufficient scope' },
  rate_limited: { error: 'Rate limit exceeded', message: 'Too many requests. Please try again later.' },
};

// Requests that Fastify rejects itself, by Fastify's error code.
const FASTIFY_ERRORS: Record<string, (request: FastifyRequest) => AppError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ({ routeOptions: { bodyLimit } }) =>
    new AppError('payload_too_large', `the body is larger than ${(bodyLimit ?? BODY_LIMIT_BYTES) / 1024} KiB`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new AppError('unsupported_media_type', 'send JSON with the header content-type: application/json'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () =>
    invalidRequest([{ path: 'body', message: 'is empty: send a JSON object, or omit content-type' }]),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    invalidRequest([{ path: 'body', message: 'does not have the length given in content-length' }]),
  FST_ERR_CTP_INVALID_JSON_BODY: () => invalidRequest([{ path: 'body', message: 'is not valid JSON' }]),
  // No valid id looks like this, so the answer is the same as for an unknown id.
  FST_ERR_BAD_URL: () => new AppError('not_found', 'there is no resource at this path'),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('not_found', 'there is no resource at this path'),
};

/** The response body of an error. */
export const errorBody = (error: AppError, requestId: string): ErrorBody => {
  const fixed = FIXED_TEXTS[error.code];
  return {
    error: fixed?.error ?? STATUS_CODES[error.statusCode] ?? 'Error',
    message: fixed?.message ?? error.message,
    statusCode: error.statusCode,
    code: error.code,
    request_id: requestId,
    ...(error.requiredScope !== undefined && { required_scope: error.requiredScope }),
    ...(error.details.length > 0 && { details: [...error.details] }),
  };
};

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error that answers the request; null for another answer. */
    errorCode: string | null;
  }
}

/** Answers a request with an error. Logs it from status 500 on, unless it belongs to an outage, which counts it. */
export const sendError = (
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  outages?: Pick<Outages, 'refused'>,
) => {
  const appError = toAppError(error, request);
  request.errorCode = appError.code;
  // The service that refuses for overload counts it.
  if (appError.statusCode >= 500 && appError.code !== 'overloaded') {
    // `refused` also counts the request for the end of the outage.
    const isOutage = appError.statusCode === 503 && outages?.refused(appError);
    request.log[isOutage ? 'debug' : 'error'](
      {
        err: error,
        requestId: request.id,
        // In an internal service: the id that the client of the gateway sees. A stranger's header is not logged.
        callerRequestId: request.serviceCaller && request.headers[INTERNAL_HEADERS.requestId],
        route: request.routeOptions.url,
      },
      'request failed',
    );
  }
  const isTransient = appError.statusCode === 503 || TRANSIENT.has(appError.code);
  if (isTransient && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_AFTER_SECONDS);
  // A plain string bypasses the route's response schema.
  return reply
    .code(appError.statusCode)
    .type('application/json; charset=utf-8')
    .serializer((body: string) => body)
    .send(JSON.stringify(errorBody(appError, request.id)));
};

/** The responses that have not ended, by connection. */
const openResponses = new WeakMap<Socket, Set<ServerResponse>>();

/** Those whose connection closes after them. */
const closing = new WeakSet<ServerResponse>();

/** Answers what Node.js would refuse without a body: an expectation other than `100-continue`, which may be ignored, and
 *  the method CONNECT. */
export const answerUncommonRequests = (server: Server): void => {
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('connect', (_request, socket) =>
    refuse(socket as Socket, new AppError('method_not_allowed', 'this is no proxy')),
  );
};

/** Lets `answerClientError` know which responses have not ended. */
export const followResponses = (server: Server): void => {
  server.on('request', ({ socket }, response) => {
    const open = openResponses.get(socket) ?? new Set();
    openResponses.set(socket, open.add(response));
    response.once('close', () => open.delete(response));
  });
};

/** Answers a request that Node.js refuses before Fastify has it, and closes its connection. While an earlier request of
 *  the connection runs, its client would take the refusal for that answer: the connection closes after the answer. */
export const answerClientError = (error: ClientError, socket: Socket): void => {
  const open = [...(openResponses.get(socket) ?? [])];
  // A request that is still arriving is itself the refused one, unless its answer has begun.
  const running = open.findLast(({ req, headersSent }) => req.complete || headersSent);
  if (running && socket.writable) {
    // Node.js reports the error again for every later chunk of the connection.
    if (!closing.has(running)) running.once('close', () => socket.destroySoon());
    closing.add(running);
    return;
  }
  // A client opens a connection ahead of time: it must not take a refusal for the answer to its first request.
  if (socket.writable && socket.bytesRead > 0 && error.code !== 'ECONNRESET') {
    refuse(socket, CLIENT_ERRORS[error.code ?? '']?.() ?? notHttp(error));
    return;
  }
  socket.destroySoon();
};

/** `reason` is what the parser of Node.js refused. */
type ClientError = NodeJS.ErrnoException & { readonly reason?: string };

const notHttp = ({ reason }: ClientError): AppError =>
  new AppError('invalid_request', `the request is not valid HTTP/1.1${reason ? `: ${reason}` : ''}`);

/** Answers a connection that has no request for Fastify, and closes it. */
const refuse = (socket: Socket, refusal: AppError): void => {
  const requestId = newRequestId();
  const body = JSON.stringify(errorBody(refusal, requestId));
  const head = [
    `HTTP/1.1 ${refusal.statusCode} ${STATUS_CODES[refusal.statusCode]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
};

const CLIENT_ERRORS: Record<string, () => AppError> = {
  // The limit of Node.js, which no service changes.
  HPE_HEADER_OVERFLOW: () => new AppError('headers_too_large', 'the headers are larger than 16 KiB'),
  ERR_HTTP_REQUEST_TIMEOUT: () => new AppError('request_timeout', 'the request arrived too slowly: nothing was done'),
};

const toAppError = (error: FastifyError | AppError, request: FastifyRequest): AppError => {
  if (error instanceof AppError) return error;
  const known = FASTIFY_ERRORS[error.code];
  if (known) return known(request);
  if (error.statusCode && error.statusCode >= 400 && error.statusCode < 500) {
    return new AppError('invalid_request', error.message, { cause: error });
  }
  return new AppError('internal_error', 'an internal error occurred; your request did not cause it', { cause: error });
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The page of a 503 that bypasses onSend; null for a client that takes JSON. */
    unavailablePage?: (request: FastifyRequest, retryAfterSeconds: number) => UnavailablePage | null;
  }
}

interface UnavailablePage {
  readonly html: string;
  readonly headers: OutgoingHttpHeaders;
}

/** Sends 503 with a JSON body, or the page of the route. It bypasses the onSend hooks: a refusal for overload must be
 *  cheap, and after the time limit a hook may be the one that hangs. */
export const sendUnavailable = (reply: FastifyReply, json: string): void => {
  const { request } = reply;
  const page = request.routeOptions.config?.unavailablePage?.(request, RETRY_AFTER_SECONDS);
  const body = page?.html ?? json;
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.hijack();
  reply.raw
    .writeHead(503, {
      ...headers,
      ...page?.headers,
      'retry-after': String(RETRY_AFTER_SECONDS),
      'content-type': page ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
};
