import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ExpectedRevision } from '../events.ts';
import { invalid } from '../refusals.ts';
import { clampToInt64 } from './messages.ts';

interface NamedExpectations {
  hasAny(): boolean;
  hasNoStream(): boolean;
  hasStreamExists(): boolean;
}

interface ExpectedRevisionOptions extends NamedExpectations {
  hasRevision(): boolean;
  getRevision(): string;
}

/** The expected revision of an append, delete or tombstone request. Throws `invalid` if it is missing. */
export const expectedRevisionOf = (options: ExpectedRevisionOptions): ExpectedRevision => {
  if (options.hasRevision()) return clampToInt64(options.getRevision());
  return namedExpectationOf(options);
};

/** The same for one append of a batch, where the field has another name. */
export const batchExpectedRevisionOf = (options: streamsPb.BatchAppendReq.Options): ExpectedRevision => {
  if (options.hasStreamPosition()) return clampToInt64(options.getStreamPosition());
  return namedExpectationOf(options);
};

const namedExpectationOf = (options: NamedExpectations): ExpectedRevision => {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  throw invalid('an expected revision is required');
};
