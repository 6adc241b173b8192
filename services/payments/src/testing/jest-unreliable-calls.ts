import { AppError } from '@cpg/contracts';
import type { InternalClient } from '@cpg/platform';
import type { buildApp } from '../app.ts';
import { CONTEXT, TOKENS } from './jest-fixtures.ts';

/** What happens to a call between the services. */
export type CallFate = 'delivered' | 'request lost' | 'request timed out' | 'response lost';

export type Answer = { readonly status: number; readonly body: never };

type App = ReturnType<typeof buildApp>;

/** Internal clients whose requests or responses get lost as `setFates` says. Later calls are delivered. */
export const unreliableCalls = () => {
  let fates: CallFate[] = [];
  return {
    setFates: (next: readonly CallFate[]) => void (fates = [...next]),
    clientOf: (target: () => App, caller: 'orders' | 'payments'): InternalClient => ({
      call: async (method, url, { body, response }) => {
        const fate = fates.shift() ?? 'delivered';
        const unavailable = new AppError('dependency_unavailable', fate);
        if (fate === 'request lost') throw unavailable;
        if (fate === 'request timed out')
          throw new AppError('dependency_unavailable', fate, { cause: new DOMException(fate, 'TimeoutError') });
        const answer = await inject(target(), method, url, body, TOKENS[caller][0]);
        if (fate === 'response lost') throw unavailable;
        if (answer.status >= 400) {
          const { code, message } = answer.body as { code: 'not_found'; message: string };
          throw new AppError(code, message);
        }
        return response.parse(answer.body);
      },
      callForText: () => Promise.reject(new Error('these services do not call so')),
      checkReady: async () => {},
      close: async () => {},
    }),
  };
};

/** Sends one request to a service, by default of the gateway. Throws when it answers 500. */
export const inject = async (
  app: App,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload?: unknown,
  token: string = TOKENS.gateway[0],
): Promise<Answer> => {
  const headers = { authorization: `Bearer ${token}`, 'x-actor': CONTEXT.actor, 'x-request-id': CONTEXT.requestId };
  const options = { method, url, headers, ...(payload !== undefined && { payload: payload as object }) };
  const { statusCode: status, body } = await app.inject(options);
  if (status === 500) throw new Error(`${method} ${url} answered 500`);
  return { status, body: (body === '' || status === 204 ? undefined : JSON.parse(body)) as never };
};
