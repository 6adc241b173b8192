import { AppError, ID_PREFIXES, isAppError } from '@cpg/contracts';
import { z } from 'zod';

/** The body of operations without parameters: absent, or an empty object. */
export const NoBody = z.strictObject({}).nullish();

export type ResourceName = 'merchant' | 'order' | 'payment' | 'refund' | 'webhook' | 'delivery' | 'replay' | 'apiKey';

const wordOf = (resource: ResourceName): string => (resource === 'apiKey' ? 'API key' : resource);

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
  if (!pattern.safeParse(id).success) throw notFound(resource);
  return id;
};

/** Returns `value`, or throws the 404 when there is none. */
export const orNotFound = <T>(resource: ResourceName, value: T | null | undefined): T => {
  if (value === null || value === undefined) throw notFound(resource);
  return value;
};
