import { AppError } from '@cpg/core';
import type { z } from 'zod';

export type ResourceName = 'order' | 'payment' | 'webhook' | 'delivery';

/** One answer for what never was, is deleted, or is another merchant's, so that an id tells nothing. */
export const notFound = (resource: ResourceName): AppError => new AppError('not_found', `no ${resource} has this id`);

/** The id in a path. A malformed one cannot be anybody's. */
export const idIn = (pattern: z.ZodType<string>, resource: ResourceName, id: string): string => {
  if (!pattern.safeParse(id).success) throw notFound(resource);
  return id;
};

export const found = <T>(resource: ResourceName, value: T | null | undefined): T => {
  if (value === null || value === undefined) throw notFound(resource);
  return value;
};
