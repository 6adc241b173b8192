import { AppError, ID_PREFIXES, isAppError } from '@cpg/contracts';
import { z } from 'zod';

/** The body of operations without parameters: absent, or an empty object. */
export const NoBody = z.strictObject({}).nullish();

export type ResourceName =
  | 'merchant'
  | 'order'
  | 'payment'
  | 'refund'
  | 'webhook'
  | 'delivery'
  | 'replay'
  | 'apiKey'
  | 'user'
  | 'session'
  | 'passkey';
export type IdKind = keyof typeof ID_PREFIXES;

/** The kinds of resources that messages call by other words. */
const WORDS: Partial<Record<IdKind, string>> = { apiKey: 'API key', orderRefund: 'refund of an order' };
const wordOf = (kind: IdKind): string => WORDS[kind] ?? kind;

/** The word with its article. */
export const named = (kind: IdKind): string => `${/^[aeo]/i.test(wordOf(kind)) ? 'an' : 'a'} ${wordOf(kind)}`;

/** The kind of resource that a text with this prefix names; undefined if it has no known prefix. */
export const kindOf = (text: string): IdKind | undefined => {
  const [, prefix] = /^([a-z]{3})_/i.exec(text) ?? [];
  return (Object.keys(ID_PREFIXES) as IdKind[]).find((kind) => ID_PREFIXES[kind] === prefix?.toLowerCase());
};

/** A query parameter with the id of a resource: one of another kind would find nothing. */
export const idParameter = (kind: IdKind, pattern: z.ZodType<string>) =>
  z.string().refine((id) => pattern.safeParse(id).success, {
    error: `must be the id of ${named(kind)}: \`${ID_PREFIXES[kind]}_\` and 26 capital letters and digits`,
  });

/** An id in a path. The handler validates its form: a malformed id is 404, like an unknown one. */
export const idInPath = (resource: ResourceName) =>
  z.string().describe(`The ${wordOf(resource)} id: \`${ID_PREFIXES[resource]}_\` and a ULID.`);

/** The path parameter `id`. */
export const pathId = (resource: ResourceName) => z.object({ id: idInPath(resource) });

/** The same 404 for a resource that does not exist, is deleted, or belongs to another merchant: ids must not leak
 *  information. */
export const notFound = (resource: ResourceName): AppError =>
  new AppError(
    'not_found',
    `no ${wordOf(resource)} has this id. The ${wordOf(resource)} may be deleted, or belong to another merchant. An id starts with "${ID_PREFIXES[resource]}_".`,
  );

/** Replaces `not_found` of another service by the 404 of the public API. */
export const withNotFound = async <T>(resource: ResourceName, response: Promise<T>): Promise<T> => {
  try {
    return await response;
  } catch (error) {
    throw isAppError(error, 'not_found') ? notFound(resource) : error;
  }
};

/** Validates an id from a path. A malformed id is 404, like an unknown one. */
export const parseId = (pattern: z.ZodType<string>, resource: ResourceName, id: string): string => {
  if (id === '')
    throw new AppError(
      'not_found',
      `the path has no id: add the id of the ${wordOf(resource)}, or leave out the "/" at the end to list`,
    );
  if (pattern.safeParse(id).success) return id;
  const kind = kindOf(id);
  if (kind === undefined || kind === resource) throw notFound(resource);
  const place = kind === 'orderRefund' ? ', which `refunds` of the order shows' : '';
  throw new AppError('not_found', `no ${wordOf(resource)} has this id: it is the id of ${named(kind)}${place}`);
};

/** Returns `value`, or throws the 404 when there is none. */
export const orNotFound = <T>(resource: ResourceName, value: T | null | undefined): T => {
  if (value === null || value === undefined) throw notFound(resource);
  return value;
};
