import { type Methods, type Route, ROUTES } from '../generated/methods.ts';
import { listOf } from './list.ts';
import { OPTION_NAMES, type RawResponse } from './methods.ts';
import { type ApiRequest, checkNames, type ClientOptions, createSender, type Timing } from './send.ts';

/** The same methods, with the whole response. Each list is one page. */
export type RawMethods = {
  [Id in keyof Methods]: Methods[Id] extends (...args: infer Args) => PromiseLike<infer Data>
    ? (...args: Args) => Promise<RawResponse<Data>>
    : never;
};

export interface Client extends Methods {
  readonly raw: RawMethods;
}

/** A client of the gateway's API. Its methods have the names of the operations in the reference. They throw ApiError for a
 *  refusal and ConnectionError if there is no answer. Requests that take effect once are retried: GET, PUT, DELETE, and
 *  POST with its Idempotency-Key. Others are retried only after a refusal that says that nothing was done. */
export const createClient = (options: ClientOptions): Client => clientOf(options);

/** `timing` replaces waits and random numbers in tests. */
export const clientOf = (options: ClientOptions, timing?: Timing): Client => {
  const send = createSender(options, timing);
  const raw: Record<string, (...args: unknown[]) => Promise<RawResponse<unknown>>> = {};
  const methods: Record<string, (...args: unknown[]) => unknown> = {};
  for (const [id, route] of Object.entries(ROUTES)) {
    raw[id] = async (...args) => send(route, requestOf(id, route, args));
    methods[id] = route.list
      ? (...args) => listOf(send, route, requestOf(id, route, args))
      : async (...args) => (await send(route, requestOf(id, route, args))).data;
  }
  return { ...methods, raw } as unknown as Client;
};

/** Arguments in their order: parameters of the path, the body, the query, options. */
const requestOf = (id: string, { path, takes }: Route, args: readonly unknown[]): ApiRequest => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const values = names.map((name, index) => {
    const value = args[index];
    // An empty id would be the path of the list.
    if (typeof value !== 'string' || value === '') throw new TypeError(`${id}: ${name} must be a non-empty string`);
    return [name, value] as const;
  });
  const rest = args.slice(names.length);
  const taken = Object.fromEntries(takes.map((part, index) => [part, rest[index]]));
  const options = rest[takes.length] ?? {};
  checkNames(id, options, OPTION_NAMES);
  return { path: Object.fromEntries(values), ...taken, options };
};
