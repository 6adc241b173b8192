import { AppError } from '@cpg/contracts';

/** The name of the event store in outages and readiness. */
export const EVENT_STORE = 'eventstore';

/** The error for callers when a request to the event store failed for a technical reason. */
export const asUnavailable = (cause: unknown): AppError =>
  new AppError('dependency_unavailable', 'the event store is unavailable: try again', {
    cause,
    dependency: EVENT_STORE,
  });
