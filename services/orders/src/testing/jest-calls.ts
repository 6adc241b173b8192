import type { buildApp } from '../app.ts';

/** The tokens of the callers of orders in tests. */
export const TOKENS = {
  gateway: ['token-of-the-gateway-for-orders-in-tests'],
  payments: ['token-of-payments-for-orders-in-the-tests'],
  'webhook-dispatcher': ['token-of-dispatchers-for-orders-in-tests'],
  admin: ['token-of-admin-commands-for-orders-in-tests'],
} as const;

type CallArguments = [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object, headers?: object];

/** Calls to this service, each of a caller that may make it; `inject` returns the headers of the answer too. */
export const callsOf = (app: ReturnType<typeof buildApp>) => {
  const inject = async (...[method, url, payload, more]: CallArguments) => {
    const headers = { authorization: `Bearer ${TOKENS[callerOf(url)][0]}`, 'x-actor': 'key:test', ...more };
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: response.statusCode, body: response.json(), headers: response.headers };
  };
  const call = async (...args: CallArguments) => {
    const { status, body } = await inject(...args);
    return { status, body };
  };
  return { inject, call };
};

const callerOf = (url: string): keyof typeof TOKENS => {
  if (/^\/orders\/[^/]+\/payments/.test(url)) return 'payments';
  return /\/messages|^\/merchants/.test(url) ? 'webhook-dispatcher' : 'gateway';
};
