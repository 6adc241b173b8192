import type { Expectation } from '../events.ts';
import { invalid } from '../refusals.ts';
import { int64Of } from './messages.ts';

interface ExpectedRevision {
  hasAny(): boolean;
  hasNoStream(): boolean;
  hasStreamExists(): boolean;
  hasRevision(): boolean;
  getRevision(): string;
}

/** Throws `invalid` when the request does not say what it expects. */
export const expectationOf = (options: ExpectedRevision): Expectation => {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  if (options.hasRevision()) return int64Of(options.getRevision());
  throw invalid('an expected revision is required');
};
