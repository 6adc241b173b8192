import { AppError } from '@cpg/contracts';

/** The name of the event store in outages and readiness. */
export const EVENT_STORE = 'eventstore';

/** The error for callers when a request to the event store failed for a technical reason. */
export const asUnavailable = (cause: unknown): AppError =>
  new AppError('dependency_unavailable', 'the event store is unavailable: try again', {
    cause,
    dependency: EVENT_STORE,
  });

/** A recorded event that this version cannot read: its data do not match the schema, or `evolve` fails on it. A retry
 *  does not help; a fixed version does. */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError';
  readonly stream: string;
  readonly revision: number;

  constructor({ stream, revision, type }: { stream: string; revision: number; type: string }, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`event ${revision} (${type}) of stream ${stream} cannot be read: ${reason}`, { cause });
    this.stream = stream;
    this.revision = revision;
  }
}
