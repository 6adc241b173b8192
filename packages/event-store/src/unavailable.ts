import { AppError } from '@cpg/core';

/** The error for callers when a request to the event store failed for a technical reason. */
export const asUnavailable = (cause: unknown): AppError =>
  new AppError('dependency_unavailable', 'the event store is unavailable: try again', { cause });
