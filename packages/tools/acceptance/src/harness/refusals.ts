import type { ErrorBody } from '@cpg/contracts';
import { type Api, type Method, refusalOf, type SendOptions } from './api.ts';

/** Sends a request that must be refused, checks the headers of the response, and resolves with its error body. */
export const requestRefusal = async (
  api: Api,
  method: Method,
  path: string,
  options: SendOptions,
): Promise<ErrorBody> => {
  const answer = await api.send(method, path, options);
  const refusal = refusalOf(answer);
  const { 'content-type': type, 'x-request-id': requestId } = answer.headers;
  expect({ type, requestId }).toEqual({ type: 'application/json; charset=utf-8', requestId: refusal.request_id });
  return refusal;
};

/** The paths of the invalid fields. */
export const pathsOf = ({ details }: ErrorBody): string[] => (details ?? []).map(({ path }) => path);
