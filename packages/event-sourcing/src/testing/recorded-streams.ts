import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newContext } from '@cpg/platform';
import { endOf } from '../store/append.ts';
import { type DomainEvent, linkEvents } from '../store/recorded.ts';

/** A stream as a release records it. */
export interface RecordedStream<Resource> {
  readonly stream: string;
  /** The resource as the API shows it after the last event. */
  readonly resource: Resource;
  readonly events: {
    readonly revision: number;
    readonly type: string;
    readonly data: Record<string, unknown> & { readonly at: string };
    readonly metadata: { readonly hash: string; readonly previousHash: string };
  }[];
}

/** The stream of some events with its hash chain, as JSON. It has nothing random, so it is the same in every run. */
export const recordedStream = <Resource>(
  stream: string,
  resource: Resource,
  events: readonly DomainEvent[],
): RecordedStream<Resource> => {
  const context = newContext('service:test');
  const linked = linkEvents(events, stream, endOf(stream, null), context, { causationId: context.requestId });
  const recorded = linked.map(({ revision, event, metadata: { previousHash, hash } }) => ({
    revision,
    ...event,
    metadata: { previousHash, hash },
  }));
  return JSON.parse(JSON.stringify({ stream, resource, events: recorded })) as RecordedStream<Resource>;
};

/** The streams of each file of a folder, oldest release first. A release that records another shape adds a file. */
export const readRecordedVersions = <Resource>(
  folder: string,
): [version: string, streams: RecordedStream<Resource>[]][] =>
  readdirSync(folder)
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(join(folder, file), 'utf8')) as RecordedStream<Resource>[],
    ]);
