import type { buildApp } from '../app.ts';

export const TOKEN = 'a-token-that-services-share-in-tests';

type CallArguments = [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object, headers?: object];

/** Calls of another service to this one; `inject` returns the headers of the answer too. */
export const callsOf = (app: ReturnType<typeof buildApp>) => {
  const inject = async (...[method, url, payload, more]: CallArguments) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-actor': 'key:test', ...more };
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: response.statusCode, body: response.json(), headers: response.headers };
  };
  const call = async (...args: CallArguments) => {
    const { status, body } = await inject(...args);
    return { status, body };
  };
  return { inject, call };
};
